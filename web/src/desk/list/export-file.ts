/** Writes a list to a file: all its records by the service, or the loaded rows as shown. */
import { download } from '../../api/client.ts';
import type { FieldSchema } from '../../api/types.ts';
import { namesOf } from '../../fields/labels.ts';
import { currentZone } from '../../i18n/zone.ts';
import { saveCsv, saveFile } from '../../ui/download.tsx';
import type { DeskType } from '../queries.ts';
import { type ListColumn, valueIn } from './columns.ts';
import type { Row, Selection } from './source.ts';
import type { texts } from './texts.ts';

interface ListFile {
  format: 'CSV' | 'XLSX';
  title: string;
  /** The shown columns, in order. */
  columns: readonly ListColumn[];
  selection: Selection;
  t: (typeof texts)['ru-RU'];
}

/** Saves all records of a list, with its columns. Written by the service. @throws ApiFault */
export async function saveList({ format, title, columns, selection, t }: ListFile): Promise<void> {
  const body = {
    format,
    title,
    columns: withTimes(columns, t),
    timeZone: currentZone() ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    words: { yes: t.yes, no: t.no },
    ...selection,
  };
  const answer = await download('/desk/objects/file', { body }, 'POST');
  saveFile(`${title} ${new Date().toISOString().slice(0, 10)}.${format.toLowerCase()}`, await answer.blob());
}

/**
 * The columns of a file. If the list shows one of the time limit's columns, the others follow it: the time left alone says
 * little once the file is older.
 */
function withTimes(columns: readonly ListColumn[], t: ListFile['t']): { code: string; name: string }[] {
  const times = [
    { code: 'sla.dueAt', name: t.slaDue },
    { code: 'sla.remaining', name: t.slaRemainingHours },
    { code: 'sla.breached', name: t.slaBreached },
  ];
  const shown = new Set(columns.map(({ code }) => code));
  const first = columns.find(({ code }) => code.startsWith('sla.'));
  return columns.flatMap(({ code, name }) => [
    times.find((one) => one.code === code) ?? { code, name },
    ...(code === first?.code ? times.filter((one) => !shown.has(one.code)) : []),
  ]);
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Writes the rows as shown: names of users and options instead of ids and codes. */
export async function saveShown(
  title: string,
  columns: readonly ListColumn[],
  rows: readonly Row[],
  types: readonly DeskType[],
): Promise<void> {
  const fields = columns.filter(({ field }) => field !== undefined);
  const values = rows.flatMap((row) => fields.flatMap((column) => [valueIn(row, column)].flat()));
  const ids = values.filter((value): value is string => typeof value === 'string' && ID.test(value));
  const names = await namesOf([...new Set(ids)]);
  saveCsv(
    title,
    columns.map((column) => column.name),
    rows.map((row) => columns.map((column) => textOf(row, column, types, names))),
  );
}

function said(value: unknown, field: FieldSchema, names: ReadonlyMap<string, string>): string | number | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map((one) => said(one, field, names)).join(', ');
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value === 'number') return value;
  const text = String(value);
  return field.constraints.options?.find(({ code }) => code === text)?.name ?? names.get(text) ?? text;
}

function textOf(row: Row, column: ListColumn, types: readonly DeskType[], names: ReadonlyMap<string, string>): unknown {
  const { code, field } = column;
  if (field !== undefined) return said(valueIn(row, column), field, names);
  switch (code) {
    case 'type':
      return types.find((type) => type.id === row.typeDefinitionId)?.name ?? row.typeCode;
    case 'workflowState':
      return row.workflowState?.name;
    case 'createdBy':
    case 'updatedBy':
      return row[code]?.displayName;
    case 'sla.dueAt':
      return row.sla?.dueAt;
    case 'sla.breached':
      return row.sla?.breached;
    case 'sla.remaining':
      return isoDuration(row.sla?.remainingMs);
    case 'number':
    case 'title':
    case 'createdAt':
    case 'updatedAt':
      return row[code];
    default:
      return undefined;
  }
}

/** Whole minutes as an ISO 8601 duration, `-PT1H30M` for an exceeded limit. */
function isoDuration(ms: number | null | undefined): string | undefined {
  if (ms === null || ms === undefined) return undefined;
  const minutes = Math.floor(Math.abs(ms) / 60_000);
  return `${ms < 0 ? '-' : ''}PT${Math.floor(minutes / 60)}H${minutes % 60}M`;
}
