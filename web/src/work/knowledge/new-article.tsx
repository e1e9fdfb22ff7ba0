/** Creates a draft: of a new article, or a new version of the article with the given code. */
import { Button, Group, Modal, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { knowledge } from '../../api/types.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { basesQuery, knowledgeKey } from './queries.ts';
import { texts } from './texts.ts';

interface Props {
  opened: boolean;
  onClose: () => void;
  onMade: (versionId: string) => void;
}

export function NewArticle(props: Props) {
  const t = useText(texts);
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={t.create}>
      <Form {...props} />
    </Modal>
  );
}

function Form({ onClose, onMade }: Props) {
  const t = useText(texts);
  const language = useLanguage();
  const { data: bases = [] } = useQuery(basesQuery(language));
  const [chosenBase, setBase] = useState<string | null>(null);
  const [chosenSection, setSection] = useState<string | null>(null);
  const [chosenLocale, setLocale] = useState<string | null>(null);
  const [code, setCode] = useState('');
  const [title, setTitle] = useState('');
  const [body, setBody] = useState('');
  const base = bases.find((one) => one.id === chosenBase) ?? (bases.length === 1 ? bases[0] : undefined);
  const section = base?.sections.find((one) => one.id === chosenSection) ?? base?.sections[0];
  const locale = base?.locales.find((one) => one === (chosenLocale ?? language)) ?? base?.locales[0];
  const create = useAction({
    run: () =>
      call<typeof knowledge.createArticle>('POST', '/kb/articles', {
        body: {
          baseId: base?.id ?? '',
          sectionId: section?.id ?? '',
          code: code.trim(),
          title: title.trim(),
          locale: locale ?? '',
          visibility: base?.visibility ?? 'internal',
          body: body.trim(),
        },
      }),
    touches: [knowledgeKey],
    done: t.created,
    after: (made) => onMade(made.versionId),
    quiet: true,
  });
  const ready =
    section !== undefined && locale !== undefined && code.trim() !== '' && title.trim() !== '' && body.trim() !== '';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) create.mutate();
      }}
    >
      <Stack gap="sm">
        <FaultAlert error={create.error} />
        <TextInput
          label={t.name}
          required
          value={title}
          onChange={(event) => setTitle(event.currentTarget.value)}
          data-autofocus
        />
        <TextInput
          label={t.code}
          description={t.codeHint}
          required
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <Select
          label={t.base}
          required
          allowDeselect={false}
          data={bases.map((one) => ({ value: one.id, label: one.name }))}
          value={base?.id ?? null}
          onChange={setBase}
        />
        <Group grow>
          <Select
            label={t.section}
            required
            allowDeselect={false}
            data={(base?.sections ?? []).map((one) => ({ value: one.id, label: one.name }))}
            value={section?.id ?? null}
            onChange={setSection}
          />
          <Select
            label={t.locale}
            required
            allowDeselect={false}
            data={base?.locales ?? []}
            value={locale ?? null}
            onChange={setLocale}
          />
        </Group>
        <Textarea
          label={t.text}
          required
          autosize
          minRows={3}
          value={body}
          onChange={(event) => setBody(event.currentTarget.value)}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t.cancel}
          </Button>
          <Button type="submit" loading={create.isPending} disabled={!ready}>
            {t.create}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
