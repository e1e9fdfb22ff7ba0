/** The transforms of an import column: steps chosen from a list, with inputs for what a step needs. */
import { ActionIcon, Autocomplete, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { deskTypesQuery, typeFieldsQuery } from '../../desk/queries.ts';
import { useText } from '../../i18n/text.ts';
import type { TargetField } from './guess.ts';
import classes from './imports.module.css';
import { texts, transformTexts } from './texts.ts';

/** Transforms by the text before their argument, in the order of the list; the value is a new step. */
const KINDS = {
  trim: 'trim',
  lower: 'lower',
  upper: 'upper',
  integer: 'integer',
  decimal: 'decimal',
  boolean: 'boolean',
  date: 'date:DD.MM.YYYY',
  datetime: 'datetime:DD.MM.YYYY HH:mm',
  split: 'split:,',
  map: 'map:{}',
  default: 'default:',
  lookup: 'lookup:',
  user: 'user:login',
  group: 'group:code',
  'org-unit': 'org-unit:code',
} as const;

type Kind = keyof typeof KINDS;

const FORMATS = ['DD.MM.YYYY', 'D/M/YYYY', 'M/D/YYYY', 'YYYY-MM-DD', 'DD MMM YYYY'];
const TIMES = ['', ' HH:mm', ' HH:mm:ss'];

function partsOf(step: string): { kind: string; argument: string } {
  const at = step.indexOf(':');
  return at < 0 ? { kind: step, argument: '' } : { kind: step.slice(0, at), argument: step.slice(at + 1) };
}

/** The names of the transforms, by their kind. */
function useKindNames(): Readonly<Record<Kind, string>> {
  return useText(transformTexts);
}

/** Describes a transform in words. */
export function useTransformText(): (step: string) => string {
  const names = useKindNames();
  return useCallback(
    (step) => {
      const { kind, argument } = partsOf(step);
      const name = (names as Readonly<Record<string, string>>)[kind];
      if (name === undefined) return step;
      return ['', 'login', 'code'].includes(argument) ? name : `${name}: ${argument}`;
    },
    [names],
  );
}

interface TransformsProps {
  /** Name of the column, for accessible names. */
  column: string;
  value: readonly string[];
  field: TargetField | undefined;
  onChange: (steps: string[]) => void;
}

export function Transforms({ column, value, field, onChange }: TransformsProps) {
  const t = useText(texts);
  const names = useKindNames();
  return (
    <Stack gap={4}>
      <Select
        label={t.transform}
        placeholder={value.length === 0 ? t.noTransform : t.addTransform}
        searchable
        data={(Object.keys(KINDS) as Kind[]).map((kind) => ({ value: kind, label: names[kind] }))}
        value={null}
        onChange={(kind) => kind !== null && onChange([...value, KINDS[kind as Kind]])}
      />
      {value.map((step, index) => (
        // Steps may repeat; only the index identifies them.
        // oxlint-disable-next-line react/no-array-index-key
        <Group key={index} gap={4} wrap="nowrap" align="flex-start" className={classes.step}>
          <StepInput step={step} field={field} column={column} onChange={(next) => onChange(value.with(index, next))} />
          <ActionIcon
            aria-label={`${t.removeTransform}: ${column}, ${index + 1}`}
            onClick={() => onChange(value.toSpliced(index, 1))}
          >
            <IconX size={14} />
          </ActionIcon>
        </Group>
      ))}
    </Stack>
  );
}

interface StepProps {
  step: string;
  field: TargetField | undefined;
  column: string;
  onChange: (step: string) => void;
}

function StepInput({ step, field, column, onChange }: StepProps) {
  const names = useKindNames();
  const { kind, argument } = partsOf(step);
  const name = (names as Readonly<Record<string, string>>)[kind] ?? kind;
  const set = (next: string): void => onChange(`${kind}:${next}`);
  const label = `${name}: ${column}`;
  if (kind === 'date' || kind === 'datetime') {
    const times = kind === 'date' ? [''] : TIMES;
    return (
      <Named name={name}>
        <Autocomplete
          aria-label={label}
          data={FORMATS.flatMap((format) => times.map((time) => format + time))}
          value={argument}
          onChange={set}
        />
      </Named>
    );
  }
  if (kind === 'split' || kind === 'default') {
    return (
      <Named name={name}>
        <TextInput aria-label={label} value={argument} onChange={(event) => set(event.currentTarget.value)} />
      </Named>
    );
  }
  if (kind === 'lookup') return <Lookup name={name} label={label} argument={argument} field={field} set={set} />;
  if (kind === 'map') return <ValueMap name={name} label={label} argument={argument} field={field} set={set} />;
  return <Text size="xs">{name}</Text>;
}

function Named({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={classes.stepInputs}>
      <Text size="xs">{name}</Text>
      {children}
    </div>
  );
}

interface ArgumentProps {
  name: string;
  label: string;
  argument: string;
  field: TargetField | undefined;
  set: (argument: string) => void;
}

/** The record type and the field by whose value a record is found. */
function Lookup({ name, label, argument, field, set }: ArgumentProps) {
  const t = useText(texts);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const [typeCode = '', fieldCode = ''] = argument.split('.');
  const type = types.find(({ code }) => code === typeCode);
  const schema = useQuery({ ...typeFieldsQuery(type?.id ?? ''), enabled: type !== undefined });
  const fields = (schema.data?.fields as FieldSchema[] | undefined) ?? [];
  const allowed = types.filter(({ code }) => field?.types === undefined || field.types.includes(code));
  const titleOf = (code: string): string => types.find((one) => one.code === code)?.titleField ?? 'title';
  return (
    <Named name={name}>
      <Select
        aria-label={`${label}: ${t.type}`}
        placeholder={t.type}
        searchable
        data={allowed.map((one) => ({ value: one.code, label: one.name }))}
        value={typeCode === '' ? null : typeCode}
        allowDeselect={false}
        onChange={(code) => code !== null && set(`${code}.${titleOf(code)}`)}
      />
      <Select
        aria-label={`${label}: ${t.field}`}
        placeholder={t.field}
        searchable
        data={fields.map((one) => ({ value: one.code, label: one.name }))}
        value={fieldCode === '' ? null : fieldCode}
        allowDeselect={false}
        onChange={(code) => code !== null && set(`${typeCode}.${code}`)}
      />
    </Named>
  );
}

function pairsOf(argument: string): [string, unknown][] {
  try {
    const map: unknown = JSON.parse(argument);
    return typeof map === 'object' && map !== null ? Object.entries(map) : [];
  } catch {
    return [];
  }
}

/** Values of the file and what is stored for each: an option where the field has options. */
function ValueMap({ name, label, argument, field, set }: ArgumentProps) {
  const t = useText(texts);
  const pairs = pairsOf(argument);
  const put = (next: [string, unknown][]): void => set(JSON.stringify(Object.fromEntries(next)));
  const options = field?.options?.map((one) => ({ value: one.code, label: one.name }));
  return (
    <Named name={name}>
      {[...pairs, ['', ''] as [string, unknown]].map(([from, to], index) => {
        const change = (pair: [string, unknown]): void =>
          put([...pairs.slice(0, index), pair, ...pairs.slice(index + 1)]);
        const place = `${label}, ${index + 1}`;
        const text = typeof to === 'string' ? to : JSON.stringify(to);
        return (
          // Values change while they are typed; only the index identifies a pair.
          // oxlint-disable-next-line react/no-array-index-key
          <Group key={index} gap={4} wrap="nowrap">
            <TextInput
              aria-label={`${t.fileValue}: ${place}`}
              placeholder={t.fileValue}
              value={from}
              onChange={(event) => change([event.currentTarget.value, to])}
            />
            {options === undefined ? (
              <TextInput
                aria-label={`${t.storedValue}: ${place}`}
                placeholder={t.storedValue}
                value={text}
                onChange={(event) => change([from, event.currentTarget.value])}
              />
            ) : (
              <Select
                aria-label={`${t.storedValue}: ${place}`}
                placeholder={t.storedValue}
                data={options}
                value={text === '' ? null : text}
                allowDeselect={false}
                onChange={(code) => code !== null && change([from, code])}
              />
            )}
            {index < pairs.length && (
              <ActionIcon aria-label={`${t.removePair}: ${place}`} onClick={() => put(pairs.toSpliced(index, 1))}>
                <IconX size={12} />
              </ActionIcon>
            )}
          </Group>
        );
      })}
    </Named>
  );
}
