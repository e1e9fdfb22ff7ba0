/** One mapping line of a definition: source column and target. */
import { ActionIcon, Autocomplete, NumberInput, Select } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { FieldSchema } from '../../api/types.ts';
import { typeFieldsQuery } from '../../desk/queries.ts';
import { useText } from '../../i18n/text.ts';
import type { TargetField } from './guess.ts';
import classes from './imports.module.css';
import type { TargetKind } from './queries.ts';
import { texts } from './texts.ts';
import { Transforms } from './transforms.tsx';

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

const NO_SAMPLE: readonly string[] = [];
const ORDER: ('label' | 'input' | 'description')[] = ['label', 'input', 'description'];

interface MappingLineProps {
  line: MappingValues;
  /** Known column names. */
  columns: string[];
  fields: readonly TargetField[];
  /** Values of the column in the sample file. */
  sample?: readonly string[];
  change: (part: Partial<MappingValues>) => void;
  remove: () => void;
}

export function MappingLine({ line, columns, fields, sample = NO_SAMPLE, change, remove }: MappingLineProps) {
  const t = useText(texts);
  // A field that no longer exists is kept; validation reports it.
  const known = line.target === null || fields.some(({ value }) => value === line.target);
  const choices = known ? fields : [...fields, { value: line.target ?? '', label: line.target ?? '' }];
  return (
    <div className={classes.line} role="group" aria-label={line.source}>
      <Autocomplete
        label={t.column}
        data={columns}
        value={line.source}
        onChange={(source) => change({ source })}
        {...(sample.length === 0 ? {} : { description: sample.join(' · '), inputWrapperOrder: ORDER })}
      />
      <Select
        label={t.field}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': t.removeRow }}
        data={[...choices]}
        value={line.target}
        onChange={(target) => change({ target })}
      />
      <Transforms
        column={line.source}
        value={line.transform}
        field={fields.find(({ value }) => value === line.target)}
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
export function useTargets(kind: TargetKind, type: string | null): TargetField[] {
  const { data } = useQuery({ ...typeFieldsQuery(type ?? ''), enabled: kind === 'object' && type !== null });
  if (kind !== 'object') return TARGETS[kind].map((one) => ({ value: one, label: one }));
  const fields = (data?.fields as FieldSchema[] | undefined) ?? [];
  return fields.map(({ code, name, dataType, constraints: { options, types } }) => ({
    value: code,
    label: name,
    dataType,
    ...(options === undefined ? {} : { options }),
    ...(types === undefined ? {} : { types }),
  }));
}
