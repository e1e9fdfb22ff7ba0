/** One field of a type: a summary line that opens for editing. */
import { ActionIcon, Button, Checkbox, Group, Select, SimpleGrid, Stack } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconChevronRight, IconTrash } from '@tabler/icons-react';
import { FIELD_ROLES, unmetShape } from '../../../../src/contract/field-roles.ts';
import { DATA_TYPES } from '../../../../src/lib/data-types/index.ts';
import { dataTypeName, dataTypeTexts } from '../../fields/data-type-texts.ts';
import { typeOf } from '../../fields/view.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { DescriptionInputs, NameInputs } from '../config/form-parts.tsx';
import { PartCode } from '../config/part-code.tsx';
import { type ItemValue, nameIn, type Path } from '../config/yaml-text.ts';
import { FieldLimits } from './field-limits.tsx';
import { type FieldItem, ofType } from './model.ts';
import { roleTexts, texts } from './texts.ts';
import classes from './types.module.css';

interface FieldRowProps {
  field: FieldItem;
  open: boolean;
  toggle: () => void;
  set: (path: Path, value: unknown) => void;
  remove: () => void;
  up?: () => void;
  down?: () => void;
}

export function FieldRow({ field, open, toggle, set, remove, up, down }: FieldRowProps) {
  const t = useText(texts);
  const types = useText(dataTypeTexts);
  const language = useLanguage();
  const name = nameIn(field.name, language) || field.code;
  const marks = [
    field.required === true ? t.required : '',
    field.readOnly === true ? t.readOnly : '',
    field.multiple === true ? t.multiple : '',
  ].filter((mark) => mark !== '');
  return (
    <li className={classes.row} data-open={open || undefined}>
      <button type="button" className={classes.rowHead} aria-expanded={open} onClick={toggle}>
        <IconChevronRight size={14} className={classes.chevron} />
        <span className={classes.rowName}>{name}</span>
        <code>{field.code}</code>
        <span className={classes.rowType}>{dataTypeName(types, field.dataType)}</span>
        {marks.length > 0 && <span className={classes.rowMarks}>{marks.join(' · ')}</span>}
      </button>
      {open && <FieldSettings field={field} set={set} remove={remove} up={up} down={down} />}
    </li>
  );
}

interface FieldSettingsProps {
  field: FieldItem;
  set: (path: Path, value: unknown) => void;
  remove: () => void;
  up: (() => void) | undefined;
  down: (() => void) | undefined;
}

function FieldSettings({ field, set, remove, up, down }: FieldSettingsProps) {
  const t = useText(texts);
  const types = useText(dataTypeTexts);
  return (
    <Stack gap="sm" className={classes.rowBody}>
      <NameInputs item={field as unknown as ItemValue} set={set} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <PartCode label={t.code} list={['fields']} part={field} onChange={(code) => set(['code'], code)} />
        <Select
          label={t.dataType}
          data={DATA_TYPES.map((one) => ({ value: one, label: types[one] }))}
          value={field.dataType}
          searchable
          allowDeselect={false}
          onChange={(value) => value !== null && set([], ofType(field, value))}
        />
      </SimpleGrid>
      <Group gap="lg">
        {(['required', 'readOnly', 'multiple'] as const).map((key) => (
          <Checkbox
            key={key}
            label={t[key]}
            checked={field[key] === true}
            onChange={(event) => set([key], event.currentTarget.checked || undefined)}
          />
        ))}
      </Group>
      <RoleChoice field={field} set={set} />
      <DescriptionInputs item={field as unknown as ItemValue} set={set} />
      <SearchChoice field={field} set={set} />
      <FieldLimits field={field} set={set} />
      <Group gap="xs">
        <Button variant="default" leftSection={<IconTrash size={14} />} onClick={remove}>
          {t.remove}
        </Button>
        <ActionIcon aria-label={t.up} disabled={up === undefined} onClick={up}>
          <IconArrowUp size={16} />
        </ActionIcon>
        <ActionIcon aria-label={t.down} disabled={down === undefined} onClick={down}>
          <IconArrowDown size={16} />
        </ActionIcon>
      </Group>
    </Stack>
  );
}

/** Offers the roles that a field of this shape can have. */
function RoleChoice({ field, set }: FieldPartProps) {
  const t = useText(texts);
  const names = useText(roleTexts);
  const shape = { dataType: field.dataType, multiple: field.multiple === true };
  const possible = FIELD_ROLES.filter((role) => role === field.role || unmetShape(role, shape) === undefined);
  if (possible.length === 0) return null;
  return (
    <Select
      label={t.role}
      description={t.roleHint}
      data={possible.map((role) => ({ value: role, label: names[role] }))}
      value={field.role ?? null}
      placeholder={t.none}
      clearable
      onChange={(role) => set(['role'], role ?? undefined)}
    />
  );
}

type FieldPartProps = Pick<FieldRowProps, 'field' | 'set'>;

function SearchChoice({ field, set }: FieldPartProps) {
  const t = useText(texts);
  const now = { text: typeOf(field.dataType).searched === true, filter: false, facet: false, ...field.search };
  const names = { text: t.searchText, filter: t.searchFilter, facet: t.searchFacet };
  return (
    <Checkbox.Group
      label={t.search}
      value={(['text', 'filter', 'facet'] as const).filter((key) => now[key])}
      onChange={(keys) =>
        set(['search'], { text: keys.includes('text'), filter: keys.includes('filter'), facet: keys.includes('facet') })
      }
    >
      <Group gap="lg" mt={4}>
        {(['text', 'filter', 'facet'] as const).map((key) => (
          <Checkbox key={key} value={key} label={names[key]} />
        ))}
      </Group>
    </Checkbox.Group>
  );
}
