/** Form of a catalog item: category, form fields, created record and audience. */
import { SimpleGrid } from '@mantine/core';
import { useText } from '../../i18n/text.ts';
import { Assignments } from '../config/assignments.tsx';
import { AudiencePart } from '../config/audience-part.tsx';
import { ChooseItem, ChooseOne } from '../config/choices.tsx';
import { at, DescriptionInputs, NameInputs, textAt } from '../config/form-parts.tsx';
import { PartCode } from '../config/part-code.tsx';
import { FormFields } from '../config/form-fields.tsx';
import { type Named, useTypeShape } from '../config/type-shape.ts';
import type { ItemValue, Path } from '../config/yaml-text.ts';
import { texts } from './texts.ts';

interface EntryFormProps {
  entry: ItemValue;
  set: (path: Path, value: unknown) => void;
  categories: readonly Named[];
}

export function EntryForm({ entry, set, categories }: EntryFormProps) {
  const t = useText(texts);
  const type = textAt(entry, ['type']);
  const { fields } = useTypeShape(type === '' ? [] : [type]);
  const given = at(entry, ['set']);
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <PartCode
          label={t.code}
          list={['items']}
          part={{ code: textAt(entry, ['code']), was: entry['was'] }}
          onChange={(code) => set(['code'], code)}
        />
        <ChooseOne
          label={t.category}
          choices={categories}
          value={textAt(entry, ['category']) || null}
          clearable={false}
          onChange={(code) => set(['category'], code)}
        />
      </SimpleGrid>
      <NameInputs item={entry} set={set} />
      <DescriptionInputs item={entry} set={set} />
      <RecordInputs type={type} set={set} entry={entry} />
      <FormFields
        label={t.form}
        value={at(entry, ['form'])}
        fields={fields.filter(({ readOnly }) => !readOnly)}
        onChange={(list) => set(['form'], list)}
      />
      <SpecialFields fields={fields} entry={entry} set={set} />
      <Assignments
        label={t.set}
        value={typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {}}
        onChange={(next) => set(['set'], next)}
        fields={fields}
      />
      <AudiencePart item={entry} set={set} />
    </>
  );
}

interface RecordInputsProps {
  type: string;
  set: (path: Path, value: unknown) => void;
  entry: Readonly<Record<string, unknown>>;
}

/** Which records the item creates, and for which service. */
function RecordInputs({ type, set, entry }: RecordInputsProps) {
  const t = useText(texts);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <ChooseItem
        section="types"
        label={t.type}
        value={type || null}
        clearable={false}
        onChange={(code) => set(['type'], code)}
      />
      <ChooseItem
        section="services"
        label={t.service}
        placeholder={t.none}
        value={textAt(entry, ['service']) || null}
        onChange={(code) => set(['service'], code ?? undefined)}
      />
    </SimpleGrid>
  );
}

interface SpecialFieldsProps {
  fields: ReturnType<typeof useTypeShape>['fields'];
  entry: Readonly<Record<string, unknown>>;
  set: (path: Path, value: unknown) => void;
}

/** The fields that take the requester and the asset. */
function SpecialFields({ fields, entry, set }: SpecialFieldsProps) {
  const t = useText(texts);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <ChooseOne
        label={t.requesterField}
        placeholder={t.none}
        choices={fields.filter(({ dataType }) => dataType === 'user')}
        value={textAt(entry, ['requesterField']) || null}
        onChange={(code) => set(['requesterField'], code ?? undefined)}
      />
      <ChooseOne
        label={t.assetField}
        description={t.assetHint}
        placeholder={t.none}
        choices={fields.filter(({ dataType }) => dataType === 'reference')}
        value={textAt(entry, ['assetField']) || null}
        onChange={(code) => set(['assetField'], code ?? undefined)}
      />
    </SimpleGrid>
  );
}
