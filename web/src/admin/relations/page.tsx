/** Relation definitions: record types, cardinality and names. */
import { Checkbox, NativeSelect, SimpleGrid, Stack } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { ChooseItems, ChooseOne } from '../config/choices.tsx';
import { configPage } from '../config/config-screen.tsx';
import { at, CodeInput, codesAt, LocalizedInputs, NameInputs, textAt } from '../config/form-parts.tsx';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { useTypeShape } from '../config/type-shape.ts';
import { texts } from './texts.ts';

const TEMPLATE = `code: related-to
name:
  ru-RU: Связано с
  en-US: Related to
sourceTypes: []
targetTypes: []
cardinality: many-to-many
`;

const CARDINALITIES = ['many-to-many', 'many-to-one', 'one-to-many', 'one-to-one'] as const;

function RelationForm(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  const sources = codesAt(item, ['sourceTypes']);
  const { fields } = useTypeShape(sources);
  const references = fields.filter(({ dataType }) => dataType === 'reference');
  return (
    <Stack gap="sm">
      <CodeInput {...props} />
      <NameInputs item={item} set={set} />
      <LocalizedInputs item={item} set={set} path={['inverseName']} ru={t.inverseRu} en={t.inverseEn} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <ChooseItems
          section="types"
          label={t.sources}
          required
          value={sources}
          onChange={(codes) => set(['sourceTypes'], codes)}
        />
        <ChooseItems
          section="types"
          label={t.targets}
          required
          value={codesAt(item, ['targetTypes'])}
          onChange={(codes) => set(['targetTypes'], codes)}
        />
        <NativeSelect
          label={t.cardinality}
          value={textAt(item, ['cardinality']) || 'many-to-many'}
          onChange={(event) => set(['cardinality'], event.currentTarget.value)}
          data={CARDINALITIES.map((value) => ({ value, label: t[value] }))}
        />
        <ChooseOne
          label={t.field}
          description={t.fieldHint}
          placeholder={t.noField}
          choices={references}
          value={textAt(item, ['field']) || null}
          onChange={(code) => set(['field'], code ?? undefined)}
        />
      </SimpleGrid>
      <Checkbox
        label={t.acyclic}
        checked={at(item, ['acyclic']) === true}
        onChange={(event) => set(['acyclic'], event.currentTarget.checked || undefined)}
      />
      <Checkbox
        label={t.duplicate}
        checked={at(item, ['duplicate']) === true}
        onChange={(event) => set(['duplicate'], event.currentTarget.checked || undefined)}
      />
      <Checkbox
        label={t.active}
        checked={at(item, ['active']) !== false}
        onChange={(event) => set(['active'], event.currentTarget.checked ? undefined : false)}
      />
    </Stack>
  );
}

export default configPage({
  section: 'relationDefinitions',
  screen: 'relations',
  texts,
  template: TEMPLATE,
  form: RelationForm,
});
