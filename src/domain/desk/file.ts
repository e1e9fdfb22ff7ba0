/**
 * Lists as files: the columns that a list shows, with names instead of ids, as CSV or XLSX.
 *
 * The ids of the records are read first, in the order of the list. The records are then read in chunks, each with the current
 * rights of the caller, so that memory holds the ids and one chunk. An error after the first byte closes the connection: an
 * incomplete file cannot look complete.
 */
import { Readable } from 'node:stream';
import type { Static } from 'typebox';
import { Reply } from '../../contract/operation.ts';
import { guardCell, writeCsv } from '../../lib/csv.ts';
import { descriptorOf } from '../../lib/data-types/index.ts';
import { isTimeZone } from '../../lib/date-format.ts';
import { Fault, faultAt, isFault } from '../../lib/fault.ts';
import { type TableCell, type TableColumn, writeXlsx } from '../../lib/xlsx.ts';
import { Yielder } from '../../lib/yielding.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { Caller, ReadContext } from '../../platform/unit-of-work/context.ts';
import { type FieldDefinition, idsIn, idsOf, named, plainText, type RecordType, registry } from '../metadata/index.ts';
import {
  findVisible,
  type ObjectAnswer,
  preload,
  project,
  readableTitle,
  readScope,
  type VisibleObject,
  type WordMatch,
} from '../objects/index.ts';
import { withinBudget } from '../search/index.ts';
import { type SlaFigures, slaFigures } from '../sla/index.ts';
import { type exportDeskObjects as operation, MAX_ROWS } from './contract-file.ts';
import { namesOf, selectSorted } from './list.ts';
import { serviceNames } from './queries.ts';
import { type ListOfTypes, sharedField, type SharedField } from './shared-fields.ts';

/** Number of records that are read at once. */
const CHUNK = 200;

type Body = Static<(typeof operation)['body']>;

/** Returns the same caller with the current rights. */
export type FreshCaller = (caller: Caller) => Promise<Caller>;

interface Row {
  object: VisibleObject;
  row: ObjectAnswer;
  sla: SlaFigures | undefined;
}

/** What cells are made with. */
interface Names {
  /** Names of users, groups, units, services and records by id. */
  byId: ReadonlyMap<string, string>;
  body: Pick<Body, 'timeZone' | 'words'>;
}

interface Column extends TableColumn {
  cell(ctx: ReadContext, row: Row, names: Names): TableCell;
}

/**
 * @param fresh returns the caller with the current rights, for each chunk
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST, INVALID_FILTER, FILTER_TOO_EXPENSIVE
 */
export async function exportDeskObjects(
  runner: Runner,
  body: Body,
  fresh: FreshCaller,
  matches: WordMatch,
): Promise<Reply> {
  const { work, caller } = runner;
  caller.actor.require('export.execute');
  if (!isTimeZone(body.timeZone)) {
    throw faultAt('INVALID_REQUEST', '/timeZone', 'UNKNOWN_TIME_ZONE', { zone: body.timeZone });
  }
  const part = { offset: 0, limit: MAX_ROWS + 1 };
  const start = async (ctx: ReadContext) => {
    const { type } = readScope(ctx, body);
    const columns = body.columns.map((column, index) => columnOf(ctx, body, type, column, `/columns/${index}`));
    const path = body.filter === undefined ? 'query.sort' : 'query.filter';
    const sorted = await withinBudget(ctx, path, () => selectSorted(ctx, body, matches, part));
    return { columns, ids: sorted?.ids ?? [] };
  };
  const { columns, ids } = await inBody(() => work.read(caller, start, { snapshot: true }));
  if (ids.length > MAX_ROWS) throw faultAt('INVALID_REQUEST', '', 'EXPORT_TOO_MANY', { max: MAX_ROWS });
  const cells = rowsOf(runner, ids, columns, body, fresh);
  const file = body.format === 'CSV' ? csvOf(columns, cells) : writeXlsx(body.title, columns, cells);
  return new Reply(Readable.from(file, { objectMode: false }), headersOf(body));
}

/** Selections name places in the query; here they are in the body. */
async function inBody<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isFault(error) || !Array.isArray(error.details)) throw error;
    const details = error.details.map((detail) => ({ ...detail, path: detail.path.replace(/^query\./, '/') }));
    throw new Fault(error.code, error, details, { cause: error, headers: error.headers });
  }
}

const MEDIA_TYPES = {
  CSV: 'text/csv; charset=utf-8; header=present',
  XLSX: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;

function headersOf({ title, format }: Body): Record<string, string> {
  const extension = format.toLowerCase();
  const name = encodeURIComponent(title.toWellFormed()).replaceAll(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  );
  return {
    'Content-Type': MEDIA_TYPES[format],
    'Content-Disposition': `attachment; filename="list.${extension}"; filename*=UTF-8''${name}.${extension}`,
  };
}

// ---------------------------------------------------------------- rows

async function* rowsOf(
  { work, caller }: Runner,
  ids: readonly string[],
  columns: readonly Column[],
  body: Body,
  fresh: FreshCaller,
): AsyncGenerator<TableCell[]> {
  const yielder = new Yielder();
  for (let from = 0; from < ids.length; from += CHUNK) {
    const current = from === 0 ? caller : await fresh(caller);
    const read = (ctx: ReadContext) => readChunk(ctx, ids.slice(from, from + CHUNK), columns, body);
    for (const cells of await work.read(current, read, { snapshot: true })) {
      yield cells;
      await yielder.next();
    }
  }
}

/** The cells of the records. Records that the caller may not read any more are left out. */
async function readChunk(
  ctx: ReadContext,
  ids: readonly string[],
  columns: readonly Column[],
  body: Body,
): Promise<TableCell[][]> {
  ctx.actor.require('export.execute');
  await preload(ctx, ids);
  const found = await Promise.all(ids.map((id) => findVisible(ctx, id)));
  const objects = found.filter((object) => object !== undefined);
  const timed = body.columns.some(({ code }) => code.startsWith('sla.'));
  const sla = timed ? await slaFigures(ctx, objects) : new Map<string, SlaFigures>();
  const rows = objects.map((object) => ({ object, row: project(ctx, object), sla: sla.get(object.row.id) }));
  const services = [...ctx.config.get(serviceNames)].map(([id, name]) => [id, named(ctx, name)] as const);
  const byId = new Map([...services, ...(await namesOf(ctx, rows)), ...(await recordNames(ctx, rows))]);
  return rows.map((row) => columns.map((column) => column.cell(ctx, row, { byId, body })));
}

/** Number and title of the records that the values name, as far as the caller may read them. */
async function recordNames(ctx: ReadContext, rows: readonly Row[]): Promise<ReadonlyMap<string, string>> {
  const ids = rows.flatMap(({ object, row }) => idsOf(idsIn(object.version.fields.values(), row.values), 'records'));
  const unique = [...new Set(ids)];
  await preload(ctx, unique);
  const found = await Promise.all(unique.map((id) => findVisible(ctx, id)));
  return new Map(
    found.flatMap((object) => {
      if (object === undefined) return [];
      const parts = [object.row.number, readableTitle(object)].filter((text) => text !== null && text !== '');
      return [[object.row.id, parts.join(' · ')]];
    }),
  );
}

// ---------------------------------------------------------------- columns

/** @throws Fault INVALID_REQUEST; the same for a field that the caller can never read as for an unknown one */
function columnOf(
  ctx: ReadContext,
  list: ListOfTypes,
  type: RecordType | undefined,
  { code, name }: Body['columns'][number],
  path: string,
): Column {
  const head = name.toWellFormed();
  const field = type?.newest.fields.get(code);
  if (type !== undefined && field !== undefined && ctx.actor.fieldAccess(type.id).canRead(code)) {
    const width = WIDTHS[field.dataType] ?? 24;
    return { name: head, width, cell: (own, { row }, names) => valueCell(own, field, row.values[code], names) };
  }
  const system = Object.hasOwn(SYSTEM_COLUMNS, code) ? SYSTEM_COLUMNS[code] : undefined;
  const shared = type === undefined && system === undefined ? sharedField(ctx, list, code) : undefined;
  if (shared !== undefined) return { name: head, ...sharedColumn(shared) };
  if (field !== undefined || system === undefined) throw faultAt('INVALID_REQUEST', `${path}/code`, 'UNKNOWN_FIELD');
  return { name: head, ...system };
}

/** The field of each type, in a list of several types. */
function sharedColumn(shared: SharedField): Omit<Column, 'name'> {
  const [first] = shared.values();
  return {
    width: WIDTHS[first?.dataType ?? ''] ?? 24,
    cell: (ctx, { row }, names) => {
      const field = shared.get(row.typeDefinitionId);
      return field === undefined ? null : valueCell(ctx, field, row.values[field.code], names);
    },
  };
}

const WIDTHS: Readonly<Record<string, number>> = {
  integer: 12,
  decimal: 12,
  boolean: 10,
  date: 12,
  datetime: 18,
  text: 60,
};

const HOUR_MS = 3_600_000;
/** Hours with two decimals. */
const hoursOf = (ms: number): number => Math.round((ms / HOUR_MS) * 100) / 100;

const SYSTEM_COLUMNS: Readonly<Record<string, Omit<Column, 'name'>>> = {
  number: { width: 14, cell: (_ctx, { row }) => row.number },
  title: { width: 60, cell: (_ctx, { row }) => row.title },
  type: {
    width: 20,
    cell: (ctx, { row }) => {
      const type = registry(ctx).byId.get(row.typeDefinitionId);
      return type === undefined ? row.typeCode : named(ctx, type.newest.definition.name);
    },
  },
  workflowState: { width: 18, cell: (_ctx, { row }) => row.workflowState?.name ?? null },
  createdAt: { width: 18, cell: (_ctx, { row }, names) => momentOf(row.createdAt, names) },
  createdBy: { width: 24, cell: (_ctx, { row }) => row.createdBy?.displayName ?? null },
  updatedAt: { width: 18, cell: (_ctx, { row }, names) => momentOf(row.updatedAt, names) },
  updatedBy: { width: 24, cell: (_ctx, { row }) => row.updatedBy?.displayName ?? null },
  'sla.dueAt': {
    width: 18,
    cell: (_ctx, { sla }, names) => (typeof sla?.dueAt === 'string' ? momentOf(sla.dueAt, names) : null),
  },
  'sla.remaining': {
    width: 14,
    cell: (_ctx, { sla }) => (typeof sla?.remainingMs === 'number' ? hoursOf(sla.remainingMs) : null),
  },
  'sla.breached': {
    width: 12,
    cell: (_ctx, { sla }, { body }) => (sla === undefined ? null : sla.breached ? body.words.yes : body.words.no),
  },
};

/** The local time of an instant. */
function momentOf(instant: string, { body }: Names): { moment: string } {
  const local = Temporal.Instant.from(instant).toZonedDateTimeISO(body.timeZone).toPlainDateTime();
  return { moment: local.toString({ smallestUnit: 'second' }) };
}

function valueCell(ctx: ReadContext, field: FieldDefinition, value: unknown, names: Names): TableCell {
  if (value === null || value === undefined) return null;
  if (!Array.isArray(value) || !field.multiple) return elementCell(ctx, field, value, names);
  return value.map((one) => textOf(elementCell(ctx, field, one, names))).join('; ');
}

/** Spreadsheets calculate with this many digits; longer numbers are written as text. */
const DIGITS = 15;

function elementCell(ctx: ReadContext, field: FieldDefinition, value: unknown, names: Names): TableCell {
  const text = String(value);
  if (descriptorOf(field.dataType).refersTo !== undefined) return names.byId.get(text) ?? null;
  switch (field.dataType) {
    case 'integer':
    case 'decimal':
      return text.replaceAll(/[^0-9]/g, '').length > DIGITS ? text : Number(text);
    case 'boolean':
      return value === true ? names.body.words.yes : names.body.words.no;
    case 'date':
      return { day: text };
    case 'datetime':
      return momentOf(text, names);
    case 'enum': {
      const option = field.constraints.options?.find(({ code }) => code === text);
      return option === undefined ? text : named(ctx, option.name);
    }
    default:
      return plainText({ ...field, multiple: false }, value);
  }
}

function textOf(cell: TableCell): string {
  if (cell === null) return '';
  if (typeof cell !== 'object') return String(cell);
  return 'day' in cell ? cell.day : cell.moment.replace('T', ' ');
}

// ---------------------------------------------------------------- CSV

/** Number of characters that are sent at once. */
const SENT = 65_536;

async function* csvOf(columns: readonly Column[], rows: AsyncIterable<TableCell[]>): AsyncGenerator<Buffer> {
  // With the byte order mark, spreadsheets detect UTF-8.
  let text = `\uFEFF${writeCsv([columns.map(({ name }) => guardCell(name))])}`;
  for await (const row of rows) {
    // A number may start with a sign; every other cell is a text that a spreadsheet could take for a formula.
    text += writeCsv([row.map((cell) => (typeof cell === 'number' ? String(cell) : guardCell(textOf(cell))))]);
    if (text.length < SENT) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}
