/** Knowledge bases: languages, sections, and visibility in the portal. */
import { NativeSelect, SimpleGrid, Stack, TagsInput } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { configPage } from '../config/config-screen.tsx';
import { at, CodeInput, NameInputs, textAt } from '../config/form-parts.tsx';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { TreeLines } from '../config/tree-lines.tsx';
import { texts } from './texts.ts';

const TEMPLATE = `code: my-base
name:
  ru-RU: Новая база
  en-US: New base
visibility: internal
locales: [ru-RU, en-US]
sections: []
`;

function BaseForm(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  const locales = at(item, ['locales']);
  return (
    <Stack gap="sm">
      <CodeInput {...props} />
      <NameInputs item={item} set={set} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <NativeSelect
          label={t.visibility}
          value={textAt(item, ['visibility'])}
          onChange={(event) => set(['visibility'], event.currentTarget.value)}
          data={(['internal', 'portal'] as const).map((value) => ({ value, label: t[value] }))}
        />
        <TagsInput
          label={t.locales}
          description={t.localesHint}
          data={['ru-RU', 'en-US']}
          value={Array.isArray(locales) ? locales.map(String) : []}
          onChange={(list) => set(['locales'], list)}
        />
      </SimpleGrid>
      <TreeLines item={item} set={set} property="sections" title={t.sections} add={t.addSection} stem="section" />
    </Stack>
  );
}

export default configPage({
  section: 'knowledgeBases',
  screen: 'bases',
  texts,
  template: TEMPLATE,
  form: BaseForm,
});
