/** SQL on the table `report_facts`. */
import { type ReportFactsRow, tables } from '../../platform/database/tables.ts';
import { insertInto } from '../../platform/unit-of-work/table-writes.ts';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { OPEN_VISIBILITIES } from '../../contract/comment-visibility.ts';
import type { RecordAction } from '../../contract/rights.ts';
import { namesOf } from '../../platform/audit/checks.ts';
import { isRebuilding } from '../../platform/jobs/rebuilds.ts';
import type { Moment } from '../../lib/report-query.ts';
import type { ReadContext, TableWrite, WriteContext } from '../../platform/unit-of-work/context.ts';

/** `doneAt` is the time of the change if the record is done after it, else null. */
export type FactsRow = Omit<ReportFactsRow, 'reopened'>;

const FACTS = {
  guard: false,
  records: ({ id }: FactsRow) => [id],
  frequent: true,
  defaults: ['reopened'],
  order: sql`r.id`,
} as const;

/** The facts after a change of the record itself. `docket reindex` and the rebuild write rows that are missing. */
export const putFacts = insertInto(tables.report_facts, {
  name: 'put_report_facts',
  ...FACTS,
  conflict: sql`(id) DO UPDATE SET state = EXCLUDED.state, workflow_state_id = EXCLUDED.workflow_state_id,
    first_reply_at = least(t.first_reply_at, EXCLUDED.first_reply_at),
    done_at = CASE WHEN EXCLUDED.done_at IS NOT NULL THEN coalesce(t.done_at, EXCLUDED.done_at) END,
    reopened = t.reopened + (t.done_at IS NOT NULL AND EXCLUDED.done_at IS NULL)::int`,
});

/**
 * The facts after a public reply. A comment does not lock its record, so its unit may know an older state of it: of a row that
 * exists, only the moment of the reply is written. A later reply writes and locks nothing, so comments do not wait for each other.
 */
export const putReply = insertInto(tables.report_facts, {
  name: 'put_report_reply',
  ...FACTS,
  // Not an anti-join: for rows sent as JSON the planner would read the whole table, up to some 25,000 rows.
  where: sql`coalesce((SELECT k.first_reply_at > r."firstReplyAt" FROM report_facts k WHERE k.id = r.id), true)`,
  conflict: sql`(id) DO UPDATE SET first_reply_at = least(t.first_reply_at, EXCLUDED.first_reply_at)`,
});

/** The next records by id, locked so that none of them changes until the unit of work ends. */
export async function lockRecords(ctx: WriteContext, after: string | null, limit: number): Promise<string[]> {
  const rows = await ctx.lock<{ id: string }>(sql`SELECT o.id FROM objects o
    WHERE ${after}::uuid IS NULL OR o.id > ${after}::uuid ORDER BY o.id LIMIT ${limit}::int FOR SHARE OF o`);
  return rows.map(({ id }) => id);
}

/** The rebuild of all facts. */
export const FACTS_REBUILD = 'report-facts';

/** What a rebuild must know of a type: ids and codes of its states of the category `done`, and where the requester is stored. */
export interface TypeFacts {
  type_id: string;
  done_ids: readonly string[];
  done_codes: readonly string[];
  requester: string | null;
}

/**
 * The facts of records, computed from the journal. `from` gives the records as `o` and, as `types`, the JSON of `TypeFacts` of
 * all types. The column `requester_known` is false if the requester of the record has changed: replies were judged by the
 * requester of their moment.
 */
function factsOfHistory(from: Sql): Sql {
  return sql`
    SELECT o.id, o.type_id, o.state, o.workflow_state_id, o.created_at, reply.at AS first_reply_at,
      CASE WHEN o.workflow_state_id = ANY(t.done_ids) THEN coalesce(moves.entered_at, o.created_at) END AS done_at, moves.reopened,
      moves.requester_known
    FROM ${from}
    LEFT JOIN jsonb_to_recordset(types) AS t (type_id uuid, done_ids uuid[], done_codes text[], requester text) ON t.type_id = o.type_id
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE was AND NOT is_now)::int AS reopened,
        (array_agg(m.at ORDER BY m.seq DESC) FILTER (WHERE is_now AND NOT was))[1] AS entered_at,
        coalesce(bool_and(m.type = 'ObjectCreated' OR t.requester IS NULL OR NOT m.changes ? t.requester), true) AS requester_known
      FROM (
        SELECT j.at, j.seq, j.type, j.changes, coalesce(j.changes->'workflowState'->>0 = ANY(t.done_codes), false) AS was,
          coalesce(j.changes->'workflowState'->>1 = ANY(t.done_codes), false) AS is_now
        FROM journal j WHERE j.object_id = o.id AND (j.changes ? 'workflowState' OR j.changes ? t.requester)
      ) AS m
    ) AS moves
    CROSS JOIN LATERAL (
      SELECT min(j.at) AS at FROM journal j JOIN comments c ON c.id = (j.data->>'commentId')::uuid
      WHERE j.object_id = o.id AND j.data->>'visibility' = ANY(${OPEN_VISIBILITIES}::text[])
        AND (j.type = 'CommentAdded' OR j.type = 'CommentUpdated' AND j.data->'changed' ? 'visibility')
        AND c.author_id::text IS DISTINCT FROM coalesce(o."values"->>t.requester, o.created_by::text)
    ) AS reply`;
}

/**
 * Computes the facts of the records again. The records must be locked. A reply that is being added at the same time is kept,
 * because the earlier moment wins.
 */
export const remakeFacts: TableWrite<{ ids: readonly string[]; types: readonly TypeFacts[] }> = {
  name: 'report_remake_facts',
  columns: { ids: 'uuid[]', types: 'jsonb' },
  sql: (rows: Sql) => sql`
    INSERT INTO report_facts AS f (id, type_id, state, workflow_state_id, created_at, first_reply_at, done_at, reopened)
    SELECT id, type_id, state, workflow_state_id, created_at, first_reply_at, done_at, reopened
    FROM (${factsOfHistory(sql`${rows} JOIN objects o ON o.id = ANY(r.ids)`)}) AS h
    ORDER BY id
    ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state, workflow_state_id = EXCLUDED.workflow_state_id,
      first_reply_at = least(f.first_reply_at, EXCLUDED.first_reply_at), done_at = EXCLUDED.done_at, reopened = EXCLUDED.reopened`,
};

/** The next records after the id, each with the names of the facts that differ from those computed from its history. */
export function differingFacts(after: string, limit: number, types: readonly TypeFacts[]): Sql {
  const differs = namesOf({
    facts: sql`f.id IS NULL`,
    type_id: sql`f.type_id <> h.type_id`,
    state: sql`f.state <> h.state`,
    workflow_state_id: sql`f.id IS NOT NULL AND f.workflow_state_id IS DISTINCT FROM h.workflow_state_id`,
    created_at: sql`f.created_at <> h.created_at`,
    first_reply_at: sql`f.id IS NOT NULL AND h.requester_known AND f.first_reply_at IS DISTINCT FROM h.first_reply_at`,
    done_at: sql`f.id IS NOT NULL AND f.done_at IS DISTINCT FROM h.done_at`,
    reopened: sql`f.reopened <> h.reopened`,
  });
  return sql`SELECT h.id, ${differs} AS differs
    FROM (${factsOfHistory(sql`(SELECT o.*, ${JSON.stringify(types)}::jsonb AS types FROM objects o
      WHERE o.id > ${after}::uuid ORDER BY o.id LIMIT ${limit}::int) AS o`)}) AS h
    LEFT JOIN report_facts f ON f.id = h.id ORDER BY h.id`;
}

interface Head {
  /** The caller's time zone, if they have one. */
  zone: string | null;
  complete: boolean;
}

export async function readHead(ctx: ReadContext): Promise<Head> {
  const [head] = await ctx.query<Head>(sql`
    SELECT (SELECT timezone FROM users WHERE id = ${ctx.actor.userId}::uuid) AS zone,
      NOT ${isRebuilding(FACTS_REBUILD)} AS complete`);
  return head ?? { zone: null, complete: true };
}

/** The first and the last moment of records of the types, whether the caller may read them or not; undefined without any. */
export async function momentRange(
  ctx: ReadContext,
  typeIds: readonly string[],
  of: Moment,
): Promise<{ first: string; last: string } | undefined> {
  const column = raw(of === 'createdAt' ? 'f.created_at' : 'f.done_at');
  const [range] = await ctx.query<{ first: string | null; last: string | null }>(sql`
    SELECT min(r.first) AS first, max(r.last) AS last FROM unnest(${[...typeIds]}::uuid[]) AS t (id)
    CROSS JOIN LATERAL (SELECT min(${column}) AS first, max(${column}) AS last FROM report_facts f WHERE f.type_id = t.id) AS r`);
  const { first = null, last = null } = range ?? {};
  return first === null || last === null ? undefined : { first, last };
}

/** Whether the caller may do the action on all records of the types, on none, or on those that the predicate on `o` matches. */
export function allowed(ctx: ReadContext, action: RecordAction, typeIds: readonly string[]): 'all' | 'none' | Sql {
  if (typeIds.every((typeId) => ctx.actor.alwaysMay(typeId, action))) return 'all';
  return ctx.actor.visible('o', action, ctx.now, typeIds) ?? 'none';
}

/**
 * Predicate on records `o`: done from an instant until before another, as groups by `doneAt` count them; null: not done. Only a
 * record whose history the caller may read is done.
 */
export function whereDone(
  ctx: ReadContext,
  typeIds: readonly string[],
  within: { from: string | null; until: string | null } | null,
): Sql {
  const history = allowed(ctx, 'history', typeIds);
  if (history === 'none') return within === null ? sql`true` : sql`false`;
  const readable = history === 'all' ? sql`true` : sql`(${history}) IS TRUE`;
  if (within === null) {
    return sql`NOT (${readable} AND EXISTS (SELECT FROM report_facts f WHERE f.id = o.id AND f.done_at IS NOT NULL))`;
  }
  const from = within.from === null ? empty : sql`AND f.done_at >= ${within.from}::timestamptz`;
  const until = within.until === null ? empty : sql`AND f.done_at < ${within.until}::timestamptz`;
  return sql`(${readable} AND o.id IN (
    SELECT f.id FROM report_facts f WHERE f.type_id = ANY(${[...typeIds]}::uuid[]) AND f.done_at IS NOT NULL ${from} ${until}))`;
}
