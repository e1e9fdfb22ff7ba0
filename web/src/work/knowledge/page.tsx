/** The knowledge base, for readers and authors. */
import { Button, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { ARTICLE_READING_RIGHTS } from '../../../../src/contract/rights.ts';
import { NotFoundPage } from '../../app/error-pages.tsx';
import { useHas } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { Page, type ScreenProps } from '../../ui/page.tsx';
import { ArticlePage } from './articles.tsx';
import { KnowledgeBrowser } from './browser.tsx';
import { NewArticlePage } from './new-article.tsx';
import { ownDraftsQuery } from './queries.ts';
import { texts } from './texts.ts';
import { VersionPage } from './version-page.tsx';
import { Versions } from './versions.tsx';

const ROOT = '/work/knowledge';

export default function KnowledgePage({ path }: ScreenProps) {
  const has = useHas();
  const [first, id] = path;
  if (first === 'articles' && id !== undefined) return <ArticlePage key={id} id={id} root={ROOT} />;
  if (first === 'versions' && id !== undefined) return <VersionPage key={id} id={id} />;
  const writes = has('kb.write');
  if (first === 'new' && writes) return <NewArticlePage recordId={id} />;
  const tab = first === 'sections' ? 'articles' : first;
  const known = tab === undefined || tab === 'articles' || (writes && ['drafts', 'review', 'write'].includes(tab));
  return known ? <Overview tab={tab} sectionId={first === 'sections' ? id : undefined} /> : <NotFoundPage />;
}

function Overview({ tab, sectionId }: { tab: string | undefined; sectionId: string | undefined }) {
  const t = useText(texts);
  const has = useHas();
  const navigate = useNavigate();
  const reads = ARTICLE_READING_RIGHTS.some(has);
  const writes = has('kb.write');
  const drafts = useQuery({ ...ownDraftsQuery, enabled: writes && tab === undefined });
  // Authors land on their drafts if they have any.
  const start = (drafts.data?.rows.length ?? 0) > 0 ? 'drafts' : 'articles';
  const open = tab ?? (reads ? start : 'drafts');
  const go = (splat: string): void => void navigate({ to: '/work/$', params: { _splat: splat } });
  if (tab === undefined && drafts.isLoading) return null;
  const version = (one: { versionId: string }): void => go(`knowledge/versions/${one.versionId}`);
  return (
    <Page
      title={t.title}
      actions={writes && <Button renderRoot={(props) => <Link to={`${ROOT}/new`} {...props} />}>{t.create}</Button>}
    >
      <Tabs value={open} onChange={(next) => go(`knowledge/${next ?? ''}`)} keepMounted={false}>
        {writes && (
          <Tabs.List mb="md">
            {reads && <Tabs.Tab value="articles">{t.read}</Tabs.Tab>}
            <Tabs.Tab value="drafts">{t.drafts}</Tabs.Tab>
            <Tabs.Tab value="review">{t.reviewDue}</Tabs.Tab>
            <Tabs.Tab value="write">{t.write}</Tabs.Tab>
          </Tabs.List>
        )}
        {reads && (
          <Tabs.Panel value="articles">
            <KnowledgeBrowser key={sectionId ?? ''} root={ROOT} sectionId={sectionId} />
          </Tabs.Panel>
        )}
        {writes && (
          <>
            <Tabs.Panel value="drafts">
              <Versions label={t.drafts} only={{ state: 'DRAFT', own: 'true' }} empty={t.noDrafts} onOpen={version} />
            </Tabs.Panel>
            <Tabs.Panel value="review">
              <Versions label={t.reviewDue} only={{ state: 'ACTIVE', reviewDue: 'true' }} onOpen={version} />
            </Tabs.Panel>
            <Tabs.Panel value="write">
              <Versions label={t.write} onOpen={version} />
            </Tabs.Panel>
          </>
        )}
      </Tabs>
    </Page>
  );
}
