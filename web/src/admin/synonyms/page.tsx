/** Synonyms: groups of words that mean the same in searches. */
import { TagsInput } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { configPage } from '../config/config-screen.tsx';
import { codesAt } from '../config/form-parts.tsx';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { texts } from './texts.ts';

function WordsForm({ item, set }: ItemFormProps) {
  const t = useText(texts);
  const words = codesAt(item, []);
  return (
    <TagsInput
      label={t.words}
      description={t.wordsHint}
      placeholder={words.length < 2 ? t.placeholder : undefined}
      maxTags={20}
      splitChars={[',', ' ']}
      value={words}
      onChange={(next) => set([], next)}
    />
  );
}

export default configPage({
  section: 'synonyms',
  screen: 'synonyms',
  texts,
  template: '[]\n',
  codeOf: (item) => codesAt(item, [])[0] ?? '',
  form: WordsForm,
});
