/** Preview of an import: changes per row (mapped fields before and after) and its errors. */
import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { deskTypesQuery, typeFieldsQuery } from '../../desk/queries.ts';
import { labelText, useLabels } from '../../fields/labels.ts';
import { useText } from '../../i18n/text.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { usePlaceText } from '../../ui/fault.tsx';
import { type Tone, ToneMark } from '../connections/tone.tsx';
import classes from './imports.module.css';
import type { Preview, RowStatus, Run } from './queries.ts';
import { texts } from './texts.ts';

type Row = Preview['rows'][number];

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function changesOf({ before, after }: Row): { field: string; was: unknown; is: unknown }[] {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return fields
    .map((field) => ({ field, was: before?.[field] ?? null, is: after?.[field] ?? null }))
    .filter(({ was, is }) => JSON.stringify(was) !== JSON.stringify(is));
}

export function PreviewTable({ preview }: { preview: Preview }) {
  const t = useText(texts);
  const ids = preview.rows.flatMap((row) =>
    changesOf(row).flatMap(({ was, is }) =>
      [was, is].flat().filter((one) => typeof one === 'string' && UUID.test(one)),
    ),
  ) as string[];
  const labels = useLabels(ids);
  const columns = useMemo((): Column<Row>[] => {
    const say = (value: unknown): string => {
      if (value === null) return '—';
      if (Array.isArray(value)) return value.map(say).join(', ');
      if (typeof value === 'string') return labelText(labels.get(value)) ?? value;
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
    };
    return [
      { key: 'row', title: t.row, value: (row) => row.row, align: 'end', width: '4.5rem' },
      { key: 'externalId', title: t.externalNumber, value: (row) => row.externalId, minor: true },
      {
        key: 'status',
        title: t.outcome,
        value: (row) => t[row.status],
        render: (row) => <ToneMark tone={TONES[row.status]}>{t[row.status]}</ToneMark>,
        width: '8rem',
      },
      {
        key: 'change',
        title: `${t.before} → ${t.after}`,
        value: (row) =>
          row.errors.length > 0
            ? row.errors.map((one) => one.message).join('; ')
            : changesOf(row)
                .map(({ field, was, is }) => `${field}: ${say(was)} → ${say(is)}`)
                .join('; '),
        render: (row) => <Change row={row} say={say} />,
      },
    ];
  }, [t, labels]);
  return (
    <DataTable
      label={t.previewTitle(preview.rows.length, preview.total)}
      columns={columns}
      rows={preview.rows}
      rowKey={(row) => String(row.row)}
      tools={t.previewTitle(preview.rows.length, preview.total)}
    />
  );
}

function Change({ row, say }: { row: Row; say: (value: unknown) => string }) {
  const t = useText(texts);
  const names = useFieldNames();
  if (row.errors.length > 0) return <RowErrors errors={row.errors} />;
  const changes = changesOf(row);
  if (changes.length === 0) return <>{t.noChange}</>;
  return (
    <dl className={classes.change}>
      {changes.map(({ field, was, is }) => (
        <div key={field} style={{ display: 'contents' }}>
          <dt>{names.get(field) ?? field}</dt>
          <dd>
            {row.before !== null && (
              <>
                <del>{say(was)}</del> →{' '}
              </>
            )}
            <ins>{say(is)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

export const TONES: Readonly<Record<RowStatus, Tone>> = {
  CREATED: 'good',
  UPDATED: 'good',
  SKIPPED: 'idle',
  FAILED: 'bad',
};

const NO_NAMES: ReadonlyMap<string, string> = new Map();
const FieldNames = createContext(NO_NAMES);

/** Provides field names of the target type to the error messages inside it. */
export function NamedFields({ type, children }: { type: string | null | undefined; children: ReactNode }) {
  const { data: types } = useQuery(deskTypesQuery);
  const id = types?.find((one) => one.id === type || one.code === type)?.id;
  const { data } = useQuery({ ...typeFieldsQuery(id ?? ''), enabled: id !== undefined });
  const names = useMemo(
    () => new Map((data?.fields as FieldSchema[] | undefined)?.map((field) => [field.code, field.name])),
    [data],
  );
  return <FieldNames value={names}>{children}</FieldNames>;
}

/** Field names by code, from {@link NamedFields}. */
export const useFieldNames = (): ReadonlyMap<string, string> => useContext(FieldNames);

/** Errors of a row. */
export function RowErrors({ errors }: { errors: Run['rows'][number]['errors'] }) {
  const placeText = usePlaceText(useFieldNames());
  return (
    <ul className={classes.errors}>
      {errors.map((error) => (
        <li key={`${error.path} ${error.code} ${error.message}`}>{placeText(error)}</li>
      ))}
    </ul>
  );
}
