/** Service catalogs: categories, items, their forms and audiences. */
import { Button, Checkbox, Group, Stack, Title } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { Block, codedOf, freeCode } from '../config/block.tsx';
import { configPage } from '../config/config-screen.tsx';
import { at, CodeInput, NameInputs } from '../config/form-parts.tsx';
import form from '../config/form-parts.module.css';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { TreeLines } from '../config/tree-lines.tsx';
import { useCodes } from '../config/type-shape.ts';
import { nameIn } from '../config/yaml-text.ts';
import { EntryForm } from './entry-form.tsx';
import { texts } from './texts.ts';

const TEMPLATE = `code: my-catalog
name:
  ru-RU: Новый каталог
  en-US: New catalog
active: false
categories:
  - code: common
    name:
      ru-RU: Общее
      en-US: Common
items: []
`;

interface Coded {
  code: string;
  name?: unknown;
}

function CatalogForm(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  return (
    <Stack gap="sm">
      <CodeInput {...props} />
      <NameInputs item={item} set={set} />
      <Checkbox
        label={t.active}
        checked={at(item, ['active']) !== false}
        onChange={(event) => set(['active'], event.currentTarget.checked ? undefined : false)}
      />
      <TreeLines item={item} set={set} property="categories" title={t.categories} add={t.addCategory} stem="category" />
      <CatalogItems item={item} set={set} />
    </Stack>
  );
}

function CatalogItems({ item, set }: { item: ItemFormProps['item']; set: ItemFormProps['set'] }) {
  const t = useText(texts);
  const language = useLanguage();
  const types = useCodes('types');
  const categories = codedOf<Coded>(at(item, ['categories']));
  const entries = codedOf<Coded>(at(item, ['items']));
  const add = (): void =>
    set(
      ['items'],
      [
        ...entries,
        {
          code: freeCode('item', entries),
          category: categories[0]?.code ?? '',
          type: types[0]?.code ?? '',
          form: [],
          audience: { everyone: true },
        },
      ],
    );
  return (
    <>
      <Group justify="space-between">
        <Title order={2} size="h3">
          {t.items}
        </Title>
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          disabled={categories.length === 0}
          title={categories.length === 0 ? t.noCategory : undefined}
          onClick={add}
        >
          {t.addItem}
        </Button>
      </Group>
      <ul className={form.lines}>
        {entries.map((entry, index) => (
          <Block
            // An item's code can change while it is typed; only the index identifies it.
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            name={nameIn(entry.name, language) || entry.code}
            code={entry.code}
            remove={() => set(['items'], entries.toSpliced(index, 1))}
          >
            <EntryForm
              entry={entry as Coded & Record<string, unknown>}
              set={(path, value) => set(['items', index, ...path], value)}
              categories={categories.map(({ code, name }) => ({ code, name: nameIn(name, language) || code }))}
            />
          </Block>
        ))}
      </ul>
    </>
  );
}

export default configPage({
  section: 'catalogs',
  screen: 'catalogs',
  texts,
  template: TEMPLATE,
  form: CatalogForm,
});
