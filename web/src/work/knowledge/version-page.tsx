/** One version: its text (editable while a draft), audience, other versions and available actions. */
import { Button, List, Loader, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ToneMark } from '../../admin/connections/tone.tsx';
import { call } from '../../api/client.ts';
import type { knowledge, knowledgeAdmin } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ArticleText } from './articles.tsx';
import { AudiencePanel } from './audience-panel.tsx';
import { DraftEditor } from './draft-editor.tsx';
import classes from './knowledge.module.css';
import { knowledgeKey, type Version, versionQuery, versionsOfQuery } from './queries.ts';
import { texts } from './texts.ts';
import { TONES } from './versions.tsx';

const BACK = '/work/knowledge';

export function VersionPage({ id }: { id: string }) {
  const t = useText(texts);
  const { data, error, refetch } = useQuery(versionQuery(id));
  if (data !== undefined) return <Known version={data} />;
  return (
    <Page title={t.title} back={{ label: t.back, href: BACK }}>
      <FaultAlert error={error} retry={() => void refetch()} />
      {error === null && <Loader size="sm" />}
    </Page>
  );
}

function Known({ version }: { version: Version }) {
  const t = useText(texts);
  const has = useHas();
  const navigate = useNavigate();
  const [dirty, setDirty] = useState(false);
  const open = (id: string): void => void navigate({ to: '/work/$', params: { _splat: `knowledge/versions/${id}` } });
  const commands = useVersionCommands(version, open);
  const { publish, archive, restore, copy } = commands;
  const draft = version.state === 'DRAFT';
  return (
    <Page
      title={version.title}
      hint={
        <ToneMark tone={TONES[version.state]}>{`${t[version.state]} · ${version.locale} · ${version.code}`}</ToneMark>
      }
      back={{ label: t.back, href: BACK }}
      actions={<VersionActions version={version} commands={commands} dirty={dirty} />}
    >
      <FaultAlert error={publish.error ?? archive.error ?? restore.error ?? copy.error} />
      <div className={classes.columns}>
        <div>
          {draft ? (
            <DraftEditor key={version.versionId} version={version} onDirty={setDirty} />
          ) : (
            <Panel>
              <ArticleText document={version.bodyDocument} articleId={version.id} main />
            </Panel>
          )}
        </div>
        <div>
          {draft && <Publishing version={version} dirty={dirty} />}
          <AudiencePanel
            versionId={version.versionId}
            editable={draft || (version.state === 'ACTIVE' && has('kb.publish'))}
          />
          <ReviewPanel version={version} />
          <Neighbours version={version} onOpen={open} />
        </div>
      </div>
    </Page>
  );
}

interface VersionActionsProps {
  version: Version;
  commands: ReturnType<typeof useVersionCommands>;
  /** True if the draft has unsaved changes; it cannot be published then. */
  dirty: boolean;
}

/** What is missing before the draft can be published. */
function useMissing(version: Version, dirty: boolean): string[] {
  const t = useText(texts);
  const has = useHas();
  return [
    ...(dirty ? [t.missingSaved] : []),
    ...(version.audiences.length === 0 ? [t.missingAudience] : []),
    ...(has('kb.publish') ? [] : [t.missingRight]),
  ];
}

function Publishing({ version, dirty }: { version: Version; dirty: boolean }) {
  const t = useText(texts);
  const missing = useMissing(version, dirty);
  return (
    <Panel>
      <div role="status">
        {missing.length === 0 ? (
          <Text size="sm">{t.ready}</Text>
        ) : (
          <>
            <Text size="sm">{t.missing}</Text>
            <List size="sm">
              {missing.map((one) => (
                <List.Item key={one}>{one}</List.Item>
              ))}
            </List>
          </>
        )}
      </div>
    </Panel>
  );
}

/** The review date of the article, and what its readers say. */
function ReviewPanel({ version }: { version: Version }) {
  const t = useText(texts);
  const { views, helpful, notHelpful } = version.feedback;
  const review = useAction({
    run: (reviewOn: string | null) =>
      call<typeof knowledgeAdmin.setReview>('PUT', `/kb/articles/${version.id}/review`, { body: { reviewOn } }),
    touches: [knowledgeKey],
    done: t.reviewSaved,
  });
  const figures = [
    [t.views, views],
    [t.helpful, helpful],
    [t.notHelpful, notHelpful],
  ] as const;
  return (
    <Panel title={t.review}>
      <TextInput
        key={version.reviewOn}
        type="date"
        label={t.reviewOn}
        defaultValue={version.reviewOn ?? ''}
        onBlur={(event) => {
          // A part of a date is not the wish to remove it.
          if (event.currentTarget.validity.badInput) return;
          const day = event.currentTarget.value === '' ? null : event.currentTarget.value;
          if (day !== version.reviewOn) review.mutate(day);
        }}
      />
      <dl className={classes.figures}>
        {figures.map(([name, count]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="tabular">{count}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

/** The buttons of the actions that the state of the version allows. */
function VersionActions({ version, commands, dirty }: VersionActionsProps) {
  const t = useText(texts);
  const has = useHas();
  const { publish, archive, restore, copy } = commands;
  const draft = version.state === 'DRAFT';
  const missing = useMissing(version, dirty);
  const { data: versions } = useQuery(versionsOfQuery(version.id));
  const replaces = versions?.rows.some((one) => one.state === 'ACTIVE' && one.locale === version.locale) ?? true;
  const ask = async (title: string, body: string, yes: string, act: () => void, danger = false): Promise<void> => {
    if (await confirm({ title, body, yes, danger })) act();
  };
  return (
    <>
      {draft && has('kb.publish') && (
        <Button
          disabled={missing.length > 0}
          loading={publish.isPending}
          onClick={() =>
            replaces ? void ask(t.publishTitle, t.publishBody, t.publish, () => publish.mutate()) : publish.mutate()
          }
        >
          {t.publish}
        </Button>
      )}
      {version.state === 'ACTIVE' && (
        <Button
          variant="default"
          loading={copy.isPending}
          onClick={() => void ask(t.newVersionTitle, t.newVersionBody, t.newVersion, () => copy.mutate())}
        >
          {t.newVersion}
        </Button>
      )}
      {version.state === 'ARCHIVED' ? (
        <Button variant="default" loading={restore.isPending} onClick={() => restore.mutate()}>
          {t.restore}
        </Button>
      ) : (
        <Button
          variant="default"
          loading={archive.isPending}
          onClick={() => void ask(t.archiveTitle, t.archiveBody, t.archive, () => archive.mutate(), true)}
        >
          {t.archive}
        </Button>
      )}
    </>
  );
}

function useVersionCommands(version: Version, open: (id: string) => void) {
  const t = useText(texts);
  const shared = { touches: [knowledgeKey], quiet: true } as const;
  const publish = useAction({
    ...shared,
    run: () =>
      call<typeof knowledge.publishVersion>('POST', '/kb/articles/publish', { body: { versionId: version.versionId } }),
    done: t.published,
  });
  const archive = useAction({
    ...shared,
    run: async () => {
      const query = { locale: version.locale };
      const material = await call<typeof knowledgeAdmin.getArticleState>('GET', `/kb/articles/${version.id}/material`, {
        query,
      });
      return call<typeof knowledge.archiveArticle>('POST', '/kb/articles/archive', {
        body: { versionId: material.versionId, version: material.version, confirmed: true },
      });
    },
    done: t.archived,
  });
  const restore = useAction({
    ...shared,
    run: () => call<typeof knowledgeAdmin.restoreVersion>('POST', `/kb/article-versions/${version.versionId}/restore`),
    done: t.restored,
  });
  const copy = useAction({
    ...shared,
    run: () =>
      call<typeof knowledge.createArticle>('POST', '/kb/articles', {
        body: {
          baseId: version.baseId,
          sectionId: version.sectionId,
          code: version.code,
          title: version.title,
          locale: version.locale,
          visibility: version.visibility,
          summary: version.summary,
          tags: version.tags,
          responsibleId: version.responsibleId,
          bodyDocument: version.bodyDocument,
        },
      }),
    done: t.created,
    after: (made) => open(made.versionId),
  });
  return { publish, archive, restore, copy };
}

/** Other versions of the article, in all languages. */
function Neighbours({ version, onOpen }: { version: Version; onOpen: (id: string) => void }) {
  const t = useText(texts);
  const { data } = useQuery(versionsOfQuery(version.id));
  return (
    <Panel title={t.versions}>
      {data?.rows.map((one) => (
        <Button
          key={one.versionId}
          fullWidth
          justify="space-between"
          variant={one.versionId === version.versionId ? 'light' : 'subtle'}
          color="gray"
          c="var(--d-text)"
          fw={400}
          aria-current={one.versionId === version.versionId ? 'page' : undefined}
          onClick={() => onOpen(one.versionId)}
          rightSection={one.locale}
        >
          <ToneMark tone={TONES[one.state]}>{t[one.state]}</ToneMark>
        </Button>
      ))}
    </Panel>
  );
}
