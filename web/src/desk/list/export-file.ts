/** Writes a list to a file: all matching records by the service, or the loaded rows as shown. */
import { download } from '../../api/client.ts';
import type { FieldSchema } from '../../api/types.ts';
import { namesOf } from '../../fields/labels.ts';
import { saveCsv, saveFile } from '../../ui/download.tsx';
import type { DeskType } from '../queries.ts';
import type { ListColumn } from './columns.ts';
import type { Row } from './source.ts';

/** Maximum number of records in a file. */
const MOST = 10_000;

/** Saves all records of the type that match, up to the maximum. @param filter a condition */
export async function saveAll(type: DeskType, filter: unknown, words: string | undefined): Promise<void> {
  const q = words?.trim() ?? '';
  const query = { ...(q === '' ? {} : { q }), ...(filter === undefined ? {} : { filter }) };
  const body = {
    typeDefinitionId: type.id,
    format: 'CSV',
    limit: MOST,
    ...(Object.keys(query).length === 0 ? {} : { query }),
  };
  const answer = await download('/exports', { body }, 'POST');
  saveFile(`${type.code}-${new Date().toISOString().slice(0, 10)}.csv`, await answer.blob());
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
  const values = rows.flatMap((row) => fields.flatMap(({ code }) => [row.values[code]].flat()));
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

function textOf(
  row: Row,
  { code, field }: ListColumn,
  types: readonly DeskType[],
  names: ReadonlyMap<string, string>,
): unknown {
  if (field !== undefined) return said(row.values[code], field, names);
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
