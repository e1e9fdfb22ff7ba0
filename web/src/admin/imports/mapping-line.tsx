/** One mapping line of a definition: source column and target. */
import { ActionIcon, Autocomplete, NumberInput, Select, TagsInput } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { FieldSchema } from '../../api/types.ts';
import { typeFieldsQuery } from '../../desk/queries.ts';
import { useText } from '../../i18n/text.ts';
import classes from './imports.module.css';
import type { TargetKind } from './queries.ts';
import { texts } from './texts.ts';

export interface MappingValues {
  source: string;
  target: string | null;
  transform: string[];
  precedence: number | string;
}

/** Import targets other than records, with the field names of the identity API. */
const TARGETS: Readonly<Record<Exclude<TargetKind, 'object'>, readonly string[]>> = {
  user: ['login', 'displayName', 'email', 'locale', 'timezone', 'employeeId', 'externalId'],
  group: ['code', 'name'],
  organization: ['code', 'name', 'parentId', 'managerUserId', 'location'],
};

const TRANSFORMS = [
  'trim',
  'lower',
  'upper',
  'integer',
  'decimal',
  'boolean',
  'user:login',
  'group:code',
  'org-unit:code',
];

interface MappingLineProps {
  line: MappingValues;
  /** Known column names. */
  columns: string[];
  fields: { value: string; label: string }[];
  change: (part: Partial<MappingValues>) => void;
  remove: () => void;
}

export function MappingLine({ line, columns, fields, change, remove }: MappingLineProps) {
  const t = useText(texts);
  // A field that no longer exists is kept; validation reports it.
  const known = line.target === null || fields.some(({ value }) => value === line.target);
  const choices = known ? fields : [...fields, { value: line.target ?? '', label: line.target ?? '' }];
  return (
    <div className={classes.line} role="group" aria-label={line.source}>
      <Autocomplete label={t.column} data={columns} value={line.source} onChange={(source) => change({ source })} />
      <Select
        label={t.field}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': t.removeRow }}
        data={choices}
        value={line.target}
        onChange={(target) => change({ target })}
      />
      <TagsInput
        label={t.transform}
        placeholder={line.transform.length === 0 ? t.transformHint : ''}
        splitChars={[]}
        data={TRANSFORMS}
        value={line.transform}
        onChange={(transform) => change({ transform })}
      />
      <NumberInput
        label={t.precedence}
        min={0}
        value={line.precedence}
        onChange={(precedence) => change({ precedence })}
      />
      <ActionIcon aria-label={`${t.removeRow} ${line.source}`} onClick={remove}>
        <IconX size={14} />
      </ActionIcon>
    </div>
  );
}

/** The possible targets of a column; `type` is the id of a record type. */
export function useTargets(kind: TargetKind, type: string | null): { value: string; label: string }[] {
  const { data } = useQuery({ ...typeFieldsQuery(type ?? ''), enabled: kind === 'object' && type !== null });
  if (kind !== 'object') return TARGETS[kind].map((one) => ({ value: one, label: one }));
  const fields = (data?.fields as FieldSchema[] | undefined) ?? [];
  return fields.map((field) => ({ value: field.code, label: field.name }));
}
