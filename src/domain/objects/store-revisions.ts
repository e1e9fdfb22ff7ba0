/**
 * SQL for a record as of a revision. Of a long history, only the names of changed fields are read, and the value of each field's
 * last change: what leaves the database is as large as the record.
 */
import sql from 'sql-template-tag';
import { ACTOR, changedNames, saysStored, storedMember, userName } from '../../platform/journal/journal.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { registry, storedCodes } from '../metadata/index.ts';
import type { HistoryRow } from './store-history.ts';
import type { ObjectRow } from './store.ts';

type Stored = Pick<ObjectRow, 'id' | 'typeId'>;

/** The event that made a revision, and what the events up to it say of the whole record. */
export type RevisionRow = Pick<HistoryRow, 'at' | 'actorId' | 'actorName' | 'via'> & {
  revision: number;
  /** The latest time of an event. */
  updatedAt: string;
  events: number;
  typeVersion: number | null;
  /** The last event that tells the id of the workflow state, which may be null. */
  stateSeq: number | null;
  stateId: string | null;
};

/** The revision of the record; undefined if it has none. */
export async function findRevision(
  ctx: ReadContext,
  { id }: Stored,
  revision: number,
): Promise<RevisionRow | undefined> {
  const [row] = await ctx.query<RevisionRow>(sql`
    SELECT l.revision, l.at, l.actor_id AS "actorId", ${userName('l.actor_id')} AS "actorName", l.via, a."updatedAt", a.events,
      ${storedMember('v', 'version')}::int AS "typeVersion", s.seq AS "stateSeq", ${storedMember('s', 'workflowState')} AS "stateId"
    FROM (SELECT max(j.at) AS "updatedAt", count(*)::int AS events, max(j.seq) AS last,
        max(j.seq) FILTER (WHERE ${storedMember('j', 'version')} IS NOT NULL) AS version,
        max(j.seq) FILTER (WHERE ${saysStored('j', 'workflowState')}) AS state
      FROM journal j WHERE j.object_id = ${id}::uuid AND j.revision <= ${revision}::bigint) AS a
    JOIN journal l ON l.seq = a.last LEFT JOIN journal v ON v.seq = a.version LEFT JOIN journal s ON s.seq = a.state`);
  return row;
}

/** The highest revision that was made not later than `at`, else undefined. Clocks may have been set back between revisions. */
export async function findRevisionAt(ctx: ReadContext, { id }: Stored, at: string): Promise<number | undefined> {
  const [row] = await ctx.query<{ revision: number }>(sql`
    SELECT j.revision FROM journal j
    WHERE j.object_id = ${id}::uuid AND j.revision IS NOT NULL AND j.at <= ${at}::timestamptz ORDER BY j.seq DESC LIMIT 1`);
  return row?.revision;
}

/** The last change of a field up to a revision. */
export type FieldRow = Pick<HistoryRow, 'at' | 'actorId' | 'actorName' | 'via'> & {
  field: string;
  seq: number;
  revision: number;
  value: unknown;
};

/** The last change of each field up to the revision, in their order, under the current codes. */
export async function listFieldsAt(ctx: ReadContext, { id, typeId }: Stored, revision: number): Promise<FieldRow[]> {
  const rows = await ctx.query<FieldRow>(sql`
    SELECT v.key AS field, j.seq, j.revision, v.value -> 1 AS value, j.at, j.actor_id AS "actorId", ${ACTOR.name} AS "actorName",
      j.via
    FROM (SELECT l.seq, array_agg(l.field) AS fields FROM (
        SELECT k.field, max(j.seq) AS seq FROM journal j CROSS JOIN LATERAL unnest(${changedNames('j')}) AS k (field)
        WHERE j.object_id = ${id}::uuid AND j.revision <= ${revision}::bigint GROUP BY k.field) AS l
      GROUP BY l.seq) AS c
    JOIN journal j ON j.seq = c.seq ${ACTOR.join}
    CROSS JOIN LATERAL jsonb_each(j.changes) AS v
    WHERE v.key = ANY(c.fields)
    ORDER BY j.seq`);
  const codes = storedCodes(registry(ctx), typeId);
  const decoded = rows.map((row) => {
    const [[field, [, value]] = [row.field, [null, row.value]]] = Object.entries(
      codes.decodeChanges({ [row.field]: [null, row.value] }),
    );
    return { ...row, field, value, isRenamed: field !== row.field };
  });
  // An event with both the stored and the current code of a field means the current one: it comes last.
  return decoded.sort((a, b) => a.seq - b.seq || Number(b.isRenamed) - Number(a.isRenamed));
}
