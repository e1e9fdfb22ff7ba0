/** Editor of a draft. */
import { Button, Group, Loader, Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { type BodyOf, call } from '../../api/client.ts';
import type { knowledge } from '../../api/types.ts';
import { PersonPicker } from '../../fields/pickers.tsx';
import type { RichNode } from '../../fields/rich-text.tsx';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Panel } from '../../ui/page.tsx';
import { imagesOf } from './article-text.tsx';
import { knowledgeKey, type Version } from './queries.ts';
import { texts } from './texts.ts';

const RichTextEditor = lazy(() => import('../../fields/rich-text-editor.tsx'));

type Changes = BodyOf<typeof knowledge.editDraft>;

export function DraftEditor({ version, onDirty }: { version: Version; onDirty: (dirty: boolean) => void }) {
  const t = useText(texts);
  const [changes, setChanges] = useState<Changes>({});
  const set = (part: Changes): void => {
    setChanges((before) => ({ ...before, ...part }));
    onDirty(true);
  };
  const save = useAction({
    run: () =>
      call<typeof knowledge.editDraft>('PATCH', `/kb/article-versions/${version.versionId}`, { body: changes }),
    touches: [knowledgeKey],
    done: t.saved,
    after: () => {
      setChanges({});
      onDirty(false);
    },
    quiet: true,
  });
  const now = { ...version, ...changes };
  const dirty = Object.keys(changes).length > 0;
  return (
    <Panel>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (dirty) save.mutate();
        }}
      >
        <Stack gap="sm">
          <FaultAlert error={save.error} />
          <TextInput
            label={t.name}
            required
            value={now.title}
            onChange={(event) => set({ title: event.currentTarget.value })}
          />
          <Textarea
            label={t.summary}
            autosize
            minRows={2}
            maxLength={2000}
            value={now.summary ?? ''}
            onChange={(event) => set({ summary: event.currentTarget.value === '' ? null : event.currentTarget.value })}
          />
          <Suspense fallback={<Loader size="xs" />}>
            <RichTextEditor
              label={t.text}
              value={version.bodyDocument as unknown as RichNode}
              onChange={(value) =>
                set({ bodyDocument: (value ?? { type: 'doc', content: [] }) as unknown as Record<string, unknown> })
              }
              recordId={imagesOf(version.id)}
            />
          </Suspense>
          <TagsInput label={t.tags} value={now.tags ?? []} onChange={(tags) => set({ tags })} maxTags={50} />
          <PersonPicker
            label={t.responsible}
            value={now.responsibleId ?? null}
            onChange={(responsibleId) => set({ responsibleId })}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending} disabled={!dirty || now.title.trim() === ''}>
              {t.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}
