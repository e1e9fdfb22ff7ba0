/**
 * What the index in memory reads: all records when it starts, then the records of changes that were committed since.
 *
 * A transaction's changes are visible all at once, and every change of a record writes to the journal in the same transaction; rows
 * that are written again without a change are in `search_rewritten`. So the changes that a reader has not seen are those of the
 * rows that its last snapshot did not show (`committedSince`). A statement sees every change that was acknowledged before it began, in any process. So a question that first applies the changes up to a
 * snapshot taken after it began misses no acknowledged change. Nothing waits for open transactions, and applying a record twice
 * has no effect, because its present row is read.
 *
 * Snapshots of a replica do not list running transactions, so these statements run on the primary only.
 */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import {
  committedSince,
  EPOCH,
  HISTORY,
  NOW,
  rowVersion,
  seenAs,
  withVersion,
} from '../../../platform/journal/positions.ts';
import type { Queryable } from '../../../platform/database/pool.ts';
import type { ColumnValue } from './columns.ts';
import type { LoadMark, RecordSource, Seen } from './record-source.ts';
import type { IndexedDocument, StoredVersion } from './segment.ts';
import { readVector } from './tsvector.ts';

/** Files of segments belong to a history, the index to an epoch. */
const SEEN = sql`${NOW}::text AS snapshot, ${EPOCH} AS epoch, ${HISTORY} AS storage`;

/** System fields that conditions may compare: column name → expression. `id`, `updatedAt` and `title` are not among them. */
const SYSTEM_COLUMNS: ReadonlyMap<string, Sql> = new Map([
  ['$typeId', sql`o.type_id`],
  ['$typeVersion', sql`o.type_version`],
  ['$state', sql`o.state`],
  ['$workflowStateId', sql`o.workflow_state_id`],
  ['$revision', sql`o.revision`],
  ['$createdBy', sql`o.created_by`],
  ['$updatedBy', sql`o.updated_by`],
]);

export const SYSTEM_COLUMN_NAMES: readonly string[] = [...SYSTEM_COLUMNS.keys()];

/** Below every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

interface VersionRow {
  id: string;
  updatedAt: number;
  profileId: number;
  size: number;
  recordVersion: number;
  wordsVersion: number;
}

interface Row extends VersionRow {
  words: string;
  system: Record<string, unknown>;
  values: Record<string, unknown> | null;
  folded: Record<string, unknown> | null;
}

/** The columns of `VersionRow`. */
const VERSION = sql`o.id, (extract(epoch FROM o.updated_at) * 1000)::float8 AS "updatedAt", s.profile_id AS "profileId", s.size,
  ${rowVersion('o')} AS "recordVersion", ${rowVersion('s')} AS "wordsVersion"`;

function versionOf({ id, updatedAt, profileId, size, recordVersion, wordsVersion }: VersionRow): StoredVersion {
  return { id, updatedAt, profileId, size, versions: [recordVersion, wordsVersion] };
}

/** Records `o` with their words `s`. @param columns system columns, and the stored codes of fields */
function columnsOf(columns: ReadonlySet<string>): Sql {
  const codes = [...columns].filter((name) => !SYSTEM_COLUMNS.has(name));
  const system = [...SYSTEM_COLUMNS].map(([name, value]) => sql`${name}::text, ${value}`);
  const among = (column: string): Sql =>
    sql`(SELECT jsonb_object_agg(c, o.${raw(column)} -> c) FROM unnest(${codes}::text[]) AS c WHERE o.${raw(column)} ? c)`;
  return sql`${VERSION}, s.words::text AS words, jsonb_build_object(${join(system)}) AS system, ${among('"values"')} AS values,
    ${among('folded')} AS folded`;
}

function documentOf({ words, system, values, folded, ...row }: Row): IndexedDocument {
  const kept = new Map<string, ColumnValue>();
  for (const [name, value] of Object.entries(system)) if (value !== null) kept.set(name, { value });
  for (const [code, value] of Object.entries(values ?? {})) {
    const copy = folded !== null && Object.hasOwn(folded, code) ? { folded: folded[code] } : {};
    kept.set(code, { value, ...copy });
  }
  return { ...versionOf(row), lexemes: readVector(words), values: kept };
}

/** @param db the primary */
export function databaseSource(db: Queryable): RecordSource {
  return {
    seenNow: () => seenNow(db),
    load: (columns, after, limit) => loadRecords(db, columns, after, limit),
    versions: (after, limit) => readVersions(db, after, limit),
    changesSince: (seen, limit) => changesSince(db, seen, limit),
    read: (columns, ids) => readRecords(db, columns, ids),
  };
}

async function seenNow(db: Queryable): Promise<Seen> {
  const [seen] = await db.query<Seen>(sql`SELECT ${SEEN}`);
  if (seen === undefined) throw new Error('a statement without a table has one row');
  return seen;
}

async function loadRecords(
  db: Queryable,
  columns: ReadonlySet<string>,
  after: LoadMark | null,
  limit: number,
): Promise<{ documents: IndexedDocument[]; next: LoadMark | null }> {
  const below = after === null ? sql`true` : sql`(o.updated_at, o.id) < (${after.at}::timestamptz, ${after.id}::uuid)`;
  const rows = await db.query<Omit<Row, 'words'> & { at: string; words: string | null }>(
    sql`SELECT o.updated_at::text AS at, ${columnsOf(columns)}
      FROM (SELECT ${withVersion('o')} FROM objects o WHERE o.state = 'ACTIVE' AND ${below}
        ORDER BY o.updated_at DESC, o.id DESC LIMIT ${limit}::int) AS o
      LEFT JOIN search_records s ON s.id = o.id ORDER BY o.updated_at DESC, o.id DESC`,
    { freshPlan: true },
  );
  const last = rows.at(-1);
  const indexed = rows.flatMap(({ words, ...row }) => (words === null ? [] : [documentOf({ ...row, words })]));
  return { documents: indexed, next: last === undefined ? null : { at: last.at, id: last.id } };
}

async function readVersions(db: Queryable, after: string | null, limit: number): Promise<StoredVersion[]> {
  const rows = await db.query<VersionRow>(
    sql`SELECT ${VERSION} FROM objects o JOIN search_records s ON s.id = o.id
      WHERE o.state = 'ACTIVE' AND o.id > ${after ?? NO_ID}::uuid ORDER BY o.id LIMIT ${limit}::int`,
    { freshPlan: true },
  );
  return rows.map(versionOf);
}

async function changesSince(db: Queryable, { snapshot }: Seen, limit: number): Promise<Seen & { ids: string[] }> {
  const seen = seenAs(snapshot);
  const columns = sql`j.object_id`;
  const [found] = await db.query<Seen & { ids: string[] }>(sql`
    SELECT ${SEEN}, ARRAY(
      SELECT DISTINCT j.object_id::text FROM (
        ${committedSince(seen, { columns })}
        UNION ALL
        ${committedSince(seen, { columns, table: sql`search_rewritten`, order: empty })}
      ) AS j WHERE j.object_id IS NOT NULL LIMIT ${limit}::int) AS ids`);
  if (found === undefined) throw new Error('a statement without a table has one row');
  return found;
}

async function readRecords(
  db: Queryable,
  columns: ReadonlySet<string>,
  ids: readonly string[],
): Promise<IndexedDocument[]> {
  const rows = await db.query<Row>(sql`
    SELECT ${columnsOf(columns)} FROM unnest(${[...ids]}::uuid[]) AS c (id)
      JOIN LATERAL (SELECT ${withVersion('o')} FROM objects o WHERE o.id = c.id AND o.state = 'ACTIVE' OFFSET 0) AS o ON true
      JOIN LATERAL (SELECT ${withVersion('s')} FROM search_records s WHERE s.id = c.id OFFSET 0) AS s ON true`);
  return rows.map(documentOf);
}
