/**
 * Gives committed journal rows their places in the changes feed. Tables `journal_places`, `journal_placing`, `journal_epochs`.
 *
 * `journal.seq` is drawn before commit, so a reader that keeps its last `seq` would miss rows that are committed late. Places are
 * given after commit, to the rows that became visible since the snapshot of the last pass, in the order of `seq`. One process
 * at a time gives them, and they have no gaps. Once a place is visible, all lower ones are. Writers never wait for it, and an
 * open transaction delays only its own rows.
 *
 * An epoch is a period in which no place is lost. Whatever may lose committed rows changes the identity of the storage or the
 * start of the server: a restored backup, a promoted standby, a crash of a server without durability, an older volume. Each
 * change begins an epoch after the last place that is there; places up to it are the same as before.
 */
import sql, { raw, type Sql } from 'sql-template-tag';
import type { Database, Queryable, Transaction } from '../database/pool.ts';
import { rowCheck } from '../audit/checks.ts';
import { committedSince, NOW, RUN, seenAs, type SinceOptions, STORAGE, wasVisible } from './positions.ts';

/** The channel on which new places are notified; the payload is the last place. */
export const PLACES_CHANNEL = 'docket_places';

/** Maximum number of rows that get places in one transaction. */
const AT_ONCE = 20_000;

interface Progress {
  place: number;
  /** The snapshot whose rows all have places; null if unknown. */
  done: string | null;
  /** The snapshot of a pass that is not finished. */
  target: string | null;
  targetSeq: number;
  isMoved: boolean;
  isRestarted: boolean;
}

/**
 * Gives places to the next rows. Any number of processes may call this concurrently; one of them works, the others do nothing.
 *
 * @param onGiven called when there are new places
 * @returns whether more rows are pending
 */
export async function givePlaces(db: Database, onGiven: () => void = () => {}): Promise<boolean> {
  if (!(await isPending(db))) return false;
  const { given, more } = await db.transaction('BEGIN', async (tx) => {
    // The lock comes in a statement of its own: the next one must see everything that the previous holder of the lock did. A place
    // that was read must not be given to another row after a crash, so the commit is durable, and with it all earlier ones.
    const [progress] = await tx.query<Progress>(sql`
      SELECT place, done::text AS done, target::text AS target, target_seq AS "targetSeq",
        storage IS DISTINCT FROM ${STORAGE} AS "isMoved", run IS DISTINCT FROM ${RUN} AS "isRestarted",
        CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END
      FROM journal_placing FOR UPDATE SKIP LOCKED`);
    if (progress === undefined) return { given: 0, more: false };
    if (progress.isMoved || progress.isRestarted) await beginEpoch(tx, progress);
    const { isMoved } = progress;
    return await pass(tx, isMoved ? { ...progress, done: null, target: null, targetSeq: 0 } : progress);
  });
  if (given > 0) onGiven();
  return more;
}

/** Cheap when there is nothing to do: a few index look-ups. */
async function isPending(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ pending: boolean }>(sql`
    SELECT p.done IS NULL OR p.target IS NOT NULL OR p.storage IS DISTINCT FROM ${STORAGE} OR p.run IS DISTINCT FROM ${RUN}
      OR EXISTS (${committedSince(sql`p.done`, { columns: sql`1`, limit: sql`1` })}) AS pending
    FROM journal_placing p`);
  return row?.pending === true;
}

/**
 * Replaces the newest epoch if no place was given in it. Transaction ids of other storage mean nothing here, so all
 * rows are compared with their places again.
 */
async function beginEpoch(tx: Transaction, { place, isMoved }: Progress): Promise<void> {
  await tx.query(sql`
    WITH begun AS (
      INSERT INTO journal_epochs (number, id, after, began_at)
      SELECT coalesce(max(number) + CASE WHEN max(after) = ${place}::bigint THEN 0 ELSE 1 END, 1),
        ('x' || substr(md5(gen_random_uuid()::text), 1, 12))::bit(48)::bigint, ${place}::bigint, clock_timestamp()
      FROM journal_epochs
      ON CONFLICT (number) DO UPDATE SET id = EXCLUDED.id, began_at = EXCLUDED.began_at
    )
    UPDATE journal_placing SET storage = ${STORAGE}, run = ${RUN},
      done = CASE WHEN ${isMoved}::boolean THEN NULL ELSE done END, target = CASE WHEN ${isMoved}::boolean THEN NULL ELSE target END`);
}

/** One batch of a pass. A pass covers the rows of one snapshot; rows that become visible meanwhile belong to the next pass. */
async function pass(tx: Transaction, progress: Progress): Promise<{ given: number; more: boolean }> {
  const { place, done, target } = progress;
  const after = target === null ? 0 : progress.targetSeq;
  const columns = sql`j.*`;
  const fresh =
    done === null
      ? withoutPlace(after)
      : committedSince(seenAs(done), { columns, where: sql`j.seq > ${after}::bigint` });
  const snapshot = sql`coalesce(${seenAs(target)}, ${NOW})`;
  const [row] = await tx.query<{ given: number; more: boolean }>(
    sql`
      WITH fresh AS MATERIALIZED (
        SELECT b.seq, row_number() OVER (ORDER BY b.seq) AS n FROM (
          SELECT f.seq FROM (${fresh}) AS f
          WHERE ${seenAs(target)} IS NULL OR ${wasVisible('f', seenAs(target))}
          ORDER BY f.seq LIMIT ${AT_ONCE}::int
        ) AS b
      ), placed AS (
        INSERT INTO journal_places (place, seq) SELECT ${place}::bigint + n, seq FROM fresh
      ), batch AS (
        SELECT count(*) AS given, ${endOf(done === null, after)} AS up_to FROM fresh
      )
      UPDATE journal_placing p SET place = ${place}::bigint + b.given,
        done = CASE WHEN b.up_to IS NULL THEN ${snapshot} ELSE p.done END,
        target = CASE WHEN b.up_to IS NULL THEN NULL ELSE ${snapshot} END, target_seq = coalesce(b.up_to, 0)
      FROM batch b RETURNING b.given::int AS given, p.target IS NOT NULL AS more,
        CASE WHEN b.given > 0 THEN pg_notify(${PLACES_CHANNEL}, p.place::text) END AS notified`,
    { freshPlan: true },
  );
  if (row === undefined) throw new Error('the table journal_placing is empty');
  return row;
}

/** Rows of a section of the journal that have no place. */
function withoutPlace(after: number): Sql {
  return sql`
    SELECT j.* FROM journal j WHERE j.seq > ${after}::bigint AND j.seq <= ${after + AT_ONCE}::bigint
      AND NOT EXISTS (SELECT FROM journal_places p WHERE p.seq = j.seq)`;
}

/** The `seq` up to which the batch has taken rows; null if the pass is complete. */
function endOf(isSection: boolean, after: number): Sql {
  const end = after + AT_ONCE;
  return isSection
    ? sql`CASE WHEN (SELECT max(j.seq) FROM journal j) > ${end}::bigint THEN ${end}::bigint END`
    : sql`CASE WHEN count(*) = ${AT_ONCE}::int THEN max(seq) END`;
}

/** Predicate on `journal_placing`: rows of an unfinished pass, or of another storage, wait for their places. */
export function placingIsBehind(alias: string): Sql {
  const p = raw(alias);
  return sql`(${p}.done IS NULL OR ${p}.target IS NOT NULL OR ${p}.storage IS DISTINCT FROM ${STORAGE})`;
}

/** Query for committed rows `j` that have no place, unless `placingIsBehind`. */
export function unplaced(options: Pick<SinceOptions, 'columns' | 'where' | 'limit'>): Sql {
  return committedSince(sql`(SELECT done FROM journal_placing)`, options);
}

/**
 * Query for the times `at` of committed rows that have no place, oldest first, each part up to the limit. Rows of an unfinished pass
 * count until it ends.
 */
export function unplacedRows(limit: number): Sql {
  const most = raw(String(limit));
  return sql`
    ${unplaced({ columns: sql`j.at`, limit: most })}
    UNION ALL
    (SELECT at FROM journal WHERE seq > (SELECT target_seq FROM journal_placing WHERE done IS NULL) ORDER BY seq LIMIT ${most})`;
}

export interface Epoch {
  id: number;
  /** The last place before this epoch. */
  after: number;
}

/** The state of the feed. */
export interface FeedState {
  /** The last place that was given. */
  place: number;
  /** Whether rows of an unfinished pass wait for their places: after an upgrade or a restore. */
  isBehind: boolean;
  /** Encrypts cursors; base64. */
  cursorKey: string;
  /** Newest first. Empty before the first place is given. */
  epochs: Epoch[];
}

export async function feedState(db: Queryable): Promise<FeedState> {
  const [row] = await db.query<FeedState>(sql`
    SELECT p.place, ${placingIsBehind('p')} AS "isBehind", encode(p.cursor_key, 'base64') AS "cursorKey", coalesce((SELECT json_agg(
      json_build_object('id', e.id, 'after', e.after) ORDER BY e.number DESC) FROM journal_epochs e), '[]') AS epochs
    FROM journal_placing p`);
  if (row === undefined) throw new Error('the table journal_placing is empty');
  return row;
}

/** The last place that was given. */
export async function lastPlace(db: Queryable): Promise<number> {
  const [row] = await db.query<{ place: number }>(sql`SELECT place FROM journal_placing`);
  return row?.place ?? 0;
}

/** Places without a row, gaps, and rows that have no place although their pass is complete. */
export const placesCheck = rowCheck(
  'I14 every committed row of the journal has one place, without gaps',
  sql`
    SELECT 'place ' || p.place AS what FROM journal_places p LEFT JOIN journal j ON j.seq = p.seq CROSS JOIN journal_placing g
    WHERE j.seq IS NULL OR p.place > g.place
    UNION ALL
    SELECT 'gap before place ' || q.place FROM (SELECT place, lag(place, 1, 0) OVER (ORDER BY place) AS previous
      FROM journal_places) q WHERE q.place > q.previous + 1
    UNION ALL
    SELECT 'row ' || j.seq FROM journal j CROSS JOIN journal_placing g
    WHERE g.done IS NOT NULL AND g.storage = ${STORAGE} AND ${wasVisible('j', sql`g.done`)}
      AND NOT EXISTS (SELECT FROM journal_places p WHERE p.seq = j.seq)`,
);
