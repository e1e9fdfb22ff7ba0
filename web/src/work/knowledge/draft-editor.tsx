/** Editor of a draft. */
import { Loader, TagsInput, Textarea, TextInput } from '@mantine/core';
import { lazy, Suspense, useEffect } from 'react';
import { call } from '../../api/client.ts';
import type { knowledge } from '../../api/types.ts';
import { PersonPicker } from '../../fields/pickers.tsx';
import type { RichNode } from '../../fields/rich-text.tsx';
import { useText } from '../../i18n/text.ts';
import { FormFrame, useForm } from '../../ui/form.tsx';
import { Panel } from '../../ui/page.tsx';
import { imagesOf } from './articles.tsx';
import { knowledgeKey, type Version } from './queries.ts';
import { texts } from './texts.ts';

const RichTextEditor = lazy(() => import('../../fields/rich-text-editor.tsx'));

export function DraftEditor({ version, onDirty }: { version: Version; onDirty: (dirty: boolean) => void }) {
  const t = useText(texts);
  const form = useForm({
    draft: `article.${version.versionId}`,
    start: {
      title: version.title,
      summary: version.summary ?? '',
      bodyDocument: version.bodyDocument,
      tags: version.tags,
      responsibleId: version.responsibleId,
    },
    send: (_values, { summary, ...changed }) =>
      call<typeof knowledge.editDraft>('PATCH', `/kb/article-versions/${version.versionId}`, {
        body: { ...changed, ...(summary === undefined ? {} : { summary: summary === '' ? null : summary }) },
      }),
    ready: ({ title }, changed) => Object.keys(changed).length > 0 && title.trim() !== '',
    touches: [knowledgeKey],
    done: t.saved,
  });
  useEffect(() => onDirty(form.dirty), [onDirty, form.dirty]);
  return (
    <Panel>
      <FormFrame form={form} label={t.save}>
        <TextInput label={t.name} required {...form.text('title')} />
        <Textarea label={t.summary} autosize minRows={2} maxLength={2000} {...form.text('summary')} />
        <Suspense fallback={<Loader size="xs" />}>
          <RichTextEditor
            label={t.text}
            // The editor reads its value once: discarding the draft needs a new one.
            key={String(form.restored)}
            value={form.values.bodyDocument as unknown as RichNode}
            onChange={(value) =>
              form.set({ bodyDocument: (value ?? { type: 'doc', content: [] }) as unknown as Record<string, unknown> })
            }
            recordId={imagesOf(version.id)}
          />
        </Suspense>
        <TagsInput label={t.tags} maxTags={50} {...form.input('tags')} />
        <PersonPicker label={t.responsible} {...form.input('responsibleId')} />
      </FormFrame>
    </Panel>
  );
}
