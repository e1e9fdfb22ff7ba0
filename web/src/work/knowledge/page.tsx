/** The knowledge base, for readers and authors. */
import { Button, Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ARTICLE_READING_RIGHTS } from '../../../../src/contract/rights.ts';
import { useHas } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { Page, type ScreenProps } from '../../ui/page.tsx';
import { ArticlePage, Articles } from './articles.tsx';
import { NewArticle } from './new-article.tsx';
import { texts } from './texts.ts';
import { VersionPage } from './version-page.tsx';
import { Versions } from './versions.tsx';

export default function KnowledgePage({ path }: ScreenProps) {
  const [first, id] = path;
  if (first === 'articles' && id !== undefined) return <ArticlePage id={id} />;
  if (first === 'versions' && id !== undefined) return <VersionPage key={id} id={id} />;
  return <Overview tab={first} />;
}

function Overview({ tab }: { tab: string | undefined }) {
  const t = useText(texts);
  const has = useHas();
  const navigate = useNavigate();
  const [creating, setCreating] = useState(false);
  const reads = ARTICLE_READING_RIGHTS.some(has);
  const writes = has('kb.write');
  const go = (splat: string): void => void navigate({ to: '/work/$', params: { _splat: splat } });
  return (
    <Page title={t.title} actions={writes && <Button onClick={() => setCreating(true)}>{t.create}</Button>}>
      <Tabs value={tab ?? (reads ? 'read' : 'write')} onChange={(next) => go(`knowledge/${next ?? ''}`)}>
        {reads && writes && (
          <Tabs.List mb="md">
            <Tabs.Tab value="read">{t.read}</Tabs.Tab>
            <Tabs.Tab value="write">{t.write}</Tabs.Tab>
          </Tabs.List>
        )}
        {reads && (
          <Tabs.Panel value="read">
            <Articles onOpen={(one) => go(`knowledge/articles/${one.id}`)} />
          </Tabs.Panel>
        )}
        {writes && (
          <Tabs.Panel value="write">
            <Versions onOpen={(one) => go(`knowledge/versions/${one.versionId}`)} />
          </Tabs.Panel>
        )}
      </Tabs>
      {writes && (
        <NewArticle
          opened={creating}
          onClose={() => setCreating(false)}
          onMade={(versionId) => go(`knowledge/versions/${versionId}`)}
        />
      )}
    </Page>
  );
}
