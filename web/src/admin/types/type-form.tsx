/** Form of a record type: name, numbering, workflow and fields. */
import { Button, Group, Select, SimpleGrid, Stack, TextInput, Title } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { typeOf } from '../../fields/view.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { CodeInput, DescriptionInputs, LocalizedInputs, NameInputs, textAt } from '../config/form-parts.tsx';
import { useCreateFirst } from '../config/missing.tsx';
import type { ItemFormProps } from '../config/item-editor.tsx';
import { sectionQuery } from '../config/queries.ts';
import { nameIn } from '../config/yaml-text.ts';
import { FieldRow } from './field-row.tsx';
import { LayoutEditor } from './layout-editor.tsx';
import { fieldsOf, layoutItem, sectionsOf, withoutField } from './model.ts';
import { texts } from './texts.ts';
import classes from './types.module.css';
import { isActive } from '../../../../src/contract/state.ts';

const PLURAL = ['plural'] as const;

export function TypeForm(props: ItemFormProps) {
  const { item, set } = props;
  const t = useText(texts);
  const language = useLanguage();
  const workflows = useQuery(sectionQuery('workflows'));
  const fields = fieldsOf(item);
  const titles = fields.filter(({ dataType, multiple }) => typeOf(dataType).title === true && multiple !== true);
  return (
    <Stack gap="sm">
      <NameInputs item={item} set={set} />
      <LocalizedInputs item={item} set={set} path={PLURAL} ru={t.pluralRu} en={t.pluralEn} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <CodeInput {...props} />
        <Select
          label={t.category}
          data={[
            { value: 'object', label: t.object },
            { value: 'dictionary', label: t.dictionary },
          ]}
          value={textAt(item, ['category']) || 'object'}
          allowDeselect={false}
          onChange={(value) => set(['category'], value)}
        />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <Select
          label={t.titleField}
          data={titles.map(({ code, name }) => ({ value: code, label: nameIn(name, language) || code }))}
          value={textAt(item, ['title']) || null}
          placeholder={t.ownTitle}
          clearable
          clearButtonProps={{ 'aria-label': t.none }}
          onChange={(value) => set(['title'], value ?? undefined)}
        />
        <Select
          label={t.workflow}
          {...useCreateFirst('workflows', workflows.data?.length)}
          data={(workflows.data ?? [])
            .filter(isActive)
            .map(({ code, name }) => ({ value: code, label: nameIn(name, language) || code }))}
          value={textAt(item, ['workflow']) || null}
          placeholder={t.none}
          clearable
          clearButtonProps={{ 'aria-label': t.none }}
          onChange={(value) => set(['workflow'], value ?? undefined)}
        />
        <NumberingInputs item={item} set={set} />
        {(fields.some(({ role }) => role === 'assignee') || textAt(item, ['assignable']) !== '') && (
          <Select
            label={t.assignable}
            data={[
              { value: '', label: t.assignableAble },
              { value: 'anyone', label: t.assignableAnyone },
            ]}
            value={textAt(item, ['assignable'])}
            allowDeselect={false}
            onChange={(value) => set(['assignable'], value === 'anyone' ? value : undefined)}
          />
        )}
      </SimpleGrid>
      <DescriptionInputs item={item} set={set} />
      <FieldList item={item} set={set} />
      <LayoutEditor item={item} set={set} />
    </Stack>
  );
}

/** Prefix and number of digits of record numbers. */
function NumberingInputs({ item, set }: { item: ItemFormProps['item']; set: ItemFormProps['set'] }) {
  const t = useText(texts);
  const prefix = textAt(item, ['numbering', 'prefix']);
  return (
    <>
      <TextInput
        label={t.prefix}
        value={prefix}
        placeholder={t.none}
        onChange={(event) => {
          const value = event.currentTarget.value.toUpperCase();
          if (value === '') set(['numbering'], undefined);
          else if (prefix === '') set(['numbering'], { prefix: value });
          else set(['numbering', 'prefix'], value);
        }}
      />
      {prefix !== '' && (
        <TextInput
          label={t.digits}
          value={textAt(item, ['numbering', 'digits'])}
          placeholder="7"
          inputMode="numeric"
          onChange={(event) => {
            const digits = Number(event.currentTarget.value);
            set(['numbering', 'digits'], Number.isInteger(digits) && digits > 0 ? digits : undefined);
          }}
        />
      )}
    </>
  );
}

/** The fields of the type; one at a time is open for editing. */
function FieldList({ item, set }: Pick<ItemFormProps, 'item' | 'set'>) {
  const t = useText(texts);
  const fields = fieldsOf(item);
  const sections = sectionsOf(item);
  const [open, setOpen] = useState<number>();
  const move = (from: number, to: number): void => {
    const moved = fields[from];
    if (moved === undefined) return;
    setOpen(to);
    set(['fields'], fields.toSpliced(from, 1).toSpliced(to, 0, moved));
  };
  return (
    <>
      <Group justify="space-between" mt="xs">
        <Title order={2} size="h3">
          {t.fields}
        </Title>
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() => {
            const code = freeCode(fields.map((field) => field.code));
            set(['fields'], [...fields, { code, dataType: 'string' }]);
            setOpen(fields.length);
          }}
        >
          {t.addField}
        </Button>
      </Group>
      <ul className={classes.rows}>
        {fields.map((field, index) => (
          <FieldRow
            // A field's code can change while it is typed; only the index identifies it.
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            field={field}
            open={open === index}
            toggle={() => setOpen(open === index ? undefined : index)}
            set={(path, value) => set(['fields', index, ...path], value)}
            remove={() => {
              setOpen(undefined);
              set(['fields'], fields.toSpliced(index, 1));
              set(['layout'], layoutItem(withoutField(sections, field.code)));
            }}
            {...(index === 0 ? {} : { up: () => move(index, index - 1) })}
            {...(index === fields.length - 1 ? {} : { down: () => move(index, index + 1) })}
          />
        ))}
      </ul>
    </>
  );
}

function freeCode(taken: readonly string[]): string {
  for (let number = 1; ; number++) if (!taken.includes(`field${number}`)) return `field${number}`;
}
