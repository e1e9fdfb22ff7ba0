/** The page of a new article: title and text first. Its code is made from the title. It may start with the text of a record. */
import { Loader, Select, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { codeFromTitle } from '../../../../src/lib/code-from-title.ts';
import { call } from '../../api/client.ts';
import type { knowledgeAdmin } from '../../api/types.ts';
import { useSession } from '../../app/session.ts';
import type { RichNode } from '../../fields/rich-text.tsx';
import { type Language, useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { type Form, FormFrame, useForm } from '../../ui/form.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { type Started, useRecordText } from './from-record.ts';
import classes from './knowledge.module.css';
import { type Base, basesQuery, knowledgeKey } from './queries.ts';
import { texts } from './texts.ts';

const RichTextEditor = lazy(() => import('../../fields/rich-text-editor.tsx'));

export function NewArticlePage({ recordId }: { recordId: string | undefined }) {
  const t = useText(texts);
  const { data: bases, error } = useQuery(basesQuery(useLanguage()));
  const started = useRecordText(recordId);
  const failed = error ?? started.error;
  return (
    <Page title={t.create} back={{ label: t.back, href: '/work/knowledge' }}>
      <FaultAlert error={failed} />
      {(bases === undefined || started.data === undefined) && failed === null && <Loader size="sm" />}
      {bases !== undefined && started.data !== undefined && (
        <NewArticle key={recordId ?? ''} bases={bases} recordId={recordId} started={started.data} />
      )}
    </Page>
  );
}

interface NewArticleProps {
  bases: readonly Base[];
  recordId: string | undefined;
  started: Started;
}

function NewArticle({ bases, recordId, started }: NewArticleProps) {
  const t = useText(texts);
  const form = useArticleForm(bases, recordId, started);
  return (
    <FormFrame form={form} label={t.saveDraft}>
      <div className={classes.columns}>
        <Panel>
          <Stack gap="sm">
            <TextInput
              label={t.name}
              description={form.values.title.trim() === '' ? undefined : t.codeMade(codeFromTitle(form.values.title))}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              size="md"
              required
              data-autofocus
              autoFocus
              maxLength={300}
              {...form.text('title')}
            />
            <Suspense fallback={<Loader size="xs" />}>
              <RichTextEditor
                label={t.text}
                required
                // The editor reads its value once: discarding the draft needs a new one.
                key={String(form.restored)}
                value={form.values.bodyDocument}
                onChange={(bodyDocument) => form.set({ bodyDocument })}
              />
            </Suspense>
          </Stack>
        </Panel>
        <div>
          <Place form={form} bases={bases} />
        </div>
      </div>
    </FormFrame>
  );
}

interface Values {
  title: string;
  bodyDocument: RichNode | null;
  summary: string;
  base: string | null;
  section: string | null;
  locale: string | null;
  audience: string;
}

/** Base, section and language, the readers, and a summary. */
function Place({ form, bases }: { form: Form<Values>; bases: readonly Base[] }) {
  const t = useText(texts);
  const { base, section, locale } = placeOf(bases, form.values, useLanguage());
  const named = (list: readonly { id: string; name: string }[]) =>
    list.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Panel title={t.place}>
      <Stack gap="sm">
        <Select
          label={t.base}
          required
          allowDeselect={false}
          data={named(bases)}
          value={base?.id ?? null}
          onChange={(id) => form.set({ base: id, section: null })}
        />
        <Select
          label={t.section}
          required
          allowDeselect={false}
          searchable
          data={named(base?.sections ?? [])}
          value={section?.id ?? null}
          onChange={(id) => form.set({ section: id })}
        />
        {(base?.locales.length ?? 0) > 1 && (
          <Select
            label={t.locale}
            required
            allowDeselect={false}
            data={base?.locales ?? []}
            value={locale ?? null}
            onChange={(code) => form.set({ locale: code })}
          />
        )}
        <div>
          <Text size="xs" fw={500} mb={4}>
            {t.whoReads}
          </Text>
          <SegmentedControl
            aria-label={t.whoReads}
            fullWidth
            size="xs"
            data={[
              { value: 'everyone', label: t.allReaders },
              { value: 'later', label: t.later },
            ]}
            {...form.input('audience')}
          />
          {form.values.audience === 'everyone' && (
            <Text size="xs" c="dimmed" mt={4}>
              {base?.visibility === 'portal' ? t.everyonePortal : t.everyoneInternal}
            </Text>
          )}
        </div>
        <Textarea label={t.summary} autosize minRows={2} maxLength={2000} {...form.text('summary')} />
      </Stack>
    </Panel>
  );
}

/** The chosen base, section and language; what is not chosen is the first base and section and the user's language. */
function placeOf(bases: readonly Base[], chosen: Pick<Values, 'base' | 'section' | 'locale'>, language: Language) {
  const base = bases.find((one) => one.id === chosen.base) ?? bases[0];
  const section = base?.sections.find((one) => one.id === chosen.section) ?? base?.sections[0];
  const locale = base?.locales.find((one) => one === (chosen.locale ?? language)) ?? base?.locales[0];
  return { base, section, locale };
}

function useArticleForm(bases: readonly Base[], recordId: string | undefined, started: Started): Form<Values> {
  const t = useText(texts);
  const language = useLanguage();
  const navigate = useNavigate();
  const { user } = useSession();
  return useForm<Values, { versionId: string }>({
    draft: recordId === undefined ? 'article.new' : `article.new.${recordId}`,
    start: { ...started, summary: '', base: null, section: null, locale: null, audience: 'everyone' },
    send: ({ title, bodyDocument, summary, audience, ...chosen }, _changed, idempotencyKey) => {
      const { base, section, locale } = placeOf(bases, chosen, language);
      return call<typeof knowledgeAdmin.draftArticle>('POST', '/kb/drafts', {
        idempotencyKey,
        body: {
          baseId: base?.id ?? '',
          sectionId: section?.id ?? '',
          title: title.trim(),
          locale: locale ?? '',
          bodyDocument: bodyDocument as unknown as Record<string, unknown>,
          responsibleId: user.id,
          ...(summary.trim() === '' ? {} : { summary: summary.trim() }),
          audiences: audience === 'everyone' ? [{ kind: 'everyone' }] : [],
        },
      });
    },
    ready: ({ title, bodyDocument, ...chosen }) => {
      const { section, locale } = placeOf(bases, chosen, language);
      return section !== undefined && locale !== undefined && title.trim() !== '' && bodyDocument !== null;
    },
    touches: [knowledgeKey],
    done: t.created,
    after: async ({ versionId }) => {
      await navigate({ to: '/work/$', params: { _splat: `knowledge/versions/${versionId}` } });
    },
  });
}
