/** Creates a draft: of a new article, or a new version of the article with the given code. */
import { Group, Modal, Select, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import type { knowledge } from '../../api/types.ts';
import { type Language, useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { FormFrame, useForm } from '../../ui/form.tsx';
import { type Base, basesQuery, knowledgeKey } from './queries.ts';
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
  const form = useArticleForm(bases, onMade);
  const { base, section, locale } = placeOf(bases, form.values, language);
  return (
    <FormFrame form={form} label={t.create} onCancel={onClose}>
      <TextInput label={t.name} required data-autofocus {...form.text('title')} />
      <TextInput label={t.code} description={t.codeHint} required {...form.text('code')} />
      <Select
        label={t.base}
        required
        allowDeselect={false}
        data={bases.map((one) => ({ value: one.id, label: one.name }))}
        value={base?.id ?? null}
        onChange={(id) => form.set({ base: id })}
      />
      <Group grow>
        <Select
          label={t.section}
          required
          allowDeselect={false}
          data={(base?.sections ?? []).map((one) => ({ value: one.id, label: one.name }))}
          value={section?.id ?? null}
          onChange={(id) => form.set({ section: id })}
        />
        <Select
          label={t.locale}
          required
          allowDeselect={false}
          data={base?.locales ?? []}
          value={locale ?? null}
          onChange={(code) => form.set({ locale: code })}
        />
      </Group>
      <Textarea label={t.text} required autosize minRows={3} {...form.text('body')} />
    </FormFrame>
  );
}

interface ChosenPlace {
  base: string | null;
  section: string | null;
  locale: string | null;
}

/** The chosen base, section and language; what is not chosen is the only base, its first section and the user's language. */
function placeOf(bases: readonly Base[], chosen: ChosenPlace, language: Language) {
  const base = bases.find((one) => one.id === chosen.base) ?? (bases.length === 1 ? bases[0] : undefined);
  const section = base?.sections.find((one) => one.id === chosen.section) ?? base?.sections[0];
  const locale = base?.locales.find((one) => one === (chosen.locale ?? language)) ?? base?.locales[0];
  return { base, section, locale };
}

function useArticleForm(bases: readonly Base[], onMade: (versionId: string) => void) {
  const t = useText(texts);
  const language = useLanguage();
  const nowhere: ChosenPlace = { base: null, section: null, locale: null };
  return useForm({
    draft: 'article.new',
    start: { ...nowhere, code: '', title: '', body: '' },
    send: ({ code, title, body, ...chosen }) => {
      const { base, section, locale } = placeOf(bases, chosen, language);
      return call<typeof knowledge.createArticle>('POST', '/kb/articles', {
        body: {
          baseId: base?.id ?? '',
          sectionId: section?.id ?? '',
          code: code.trim(),
          title: title.trim(),
          locale: locale ?? '',
          visibility: base?.visibility ?? 'internal',
          body: body.trim(),
        },
      });
    },
    ready: ({ code, title, body, ...chosen }) => {
      const { section, locale } = placeOf(bases, chosen, language);
      return section !== undefined && locale !== undefined && [code, title, body].every((text) => text.trim() !== '');
    },
    touches: [knowledgeKey],
    done: t.created,
    after: (made) => onMade(made.versionId),
  });
}
