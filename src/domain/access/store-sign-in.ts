/** SQL on attempts to sign in and on the places (addresses and devices) that users signed in from, and their limits. */
import { tables } from '../../platform/database/tables.ts';
import { insertInto } from '../../platform/unit-of-work/table-writes.ts';
import sql, { raw, type Sql } from 'sql-template-tag';
import type { TableWrite } from '../../platform/unit-of-work/context.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import { createHash } from 'node:crypto';
import type { Sender } from '../../platform/unit-of-work/binding.ts';
import type { ItemState } from '../../contract/state.ts';

export interface SignInRow {
  id: string;
  displayName: string;
  state: ItemState;
  passwordHash: string | null;
  /** Those of the given places from which this user signed in before. */
  places: Buffer[];
}

export async function findSignIn(
  db: Queryable,
  loginKey: string | undefined,
  places: readonly Buffer[],
): Promise<SignInRow | undefined> {
  const rows = await db.query<SignInRow>(sql`
    SELECT id, display_name AS "displayName", state, password_hash AS "passwordHash",
      ARRAY(SELECT p.origin_hash FROM sign_in_origins p WHERE p.user_id = u.id AND p.origin_hash = ANY(${[...places]}::bytea[])) AS places
    FROM users u WHERE login_key = ${loginKey ?? null}::text`);
  return rows[0];
}

/** Seconds to wait after a number of attempts, of which `free` need no wait. */
function waitAfter(attempts: Sql, free: number): Sql {
  return sql`CASE WHEN ${attempts} <= ${free}::int THEN 0
    ELSE least(${LONGEST_WAIT_S}::int, power(2, least(${attempts} - ${free}::int, 10))) END`;
}

/** The next value of a counter. It starts again at 1 after `FORGOTTEN_AFTER_S` without an attempt. */
function counted(now: string): Sql {
  return sql`CASE WHEN a.updated_at < ${now}::timestamptz - ${FORGOTTEN_AFTER_S}::int * interval '1 second' THEN 1
    ELSE a.attempts + 1 END`;
}

/**
 * Counts an attempt if it is allowed now. One statement reads and increments the row of the pair, so that concurrent attempts
 * see each other. An attempt that has to wait is not counted and does not prolong the wait.
 *
 * @param known whether the user signed in from there before; then the counts of login and address do not apply
 * @returns seconds to wait; 0 if the attempt is allowed
 */
export async function countAttempt(db: Queryable, keys: AttemptKeys, known: boolean, now: string): Promise<number> {
  const rows = await db.query<{ wait: number }>(sql`
    WITH login AS (
      INSERT INTO sign_in_attempts AS a (key, attempts, blocked_until, updated_at)
      SELECT ${keys.login}::bytea, 1, ${now}::timestamptz, ${now}::timestamptz
      WHERE NOT ${known}::boolean AND NOT EXISTS (
        SELECT FROM sign_in_attempts p WHERE p.key = ${keys.pair}::bytea AND p.blocked_until > ${now}::timestamptz)
      ON CONFLICT (key) DO UPDATE SET attempts = ${counted(now)}, updated_at = excluded.updated_at
      RETURNING a.attempts
    ), address AS (
      INSERT INTO sign_in_attempts AS a (key, attempts, blocked_until, updated_at)
      SELECT ${keys.address}::bytea, 1, ${now}::timestamptz, ${now}::timestamptz FROM login
      ON CONFLICT (key) DO UPDATE SET attempts = ${counted(now)}, updated_at = excluded.updated_at
      RETURNING a.attempts
    ), guard AS (
      SELECT coalesce(max(greatest(${waitAfter(raw('l.attempts'), FREE_OF_LOGIN)},
        ${waitAfter(raw('d.attempts'), FREE_OF_ADDRESS)})), 0) AS seconds FROM login l CROSS JOIN address d
    ), pair AS (
      INSERT INTO sign_in_attempts AS a (key, attempts, blocked_until, updated_at)
      SELECT ${keys.pair}::bytea, CASE WHEN g.seconds = 0 THEN 1 ELSE 0 END,
        ${now}::timestamptz + g.seconds * interval '1 second', ${now}::timestamptz FROM guard g
      ON CONFLICT (key) DO UPDATE SET updated_at = excluded.updated_at,
        (attempts, blocked_until) = (
          SELECT CASE WHEN forgotten THEN excluded.attempts ELSE a.attempts + 1 END,
            greatest(excluded.blocked_until, ${now}::timestamptz + CASE WHEN forgotten THEN 0
              ELSE ${waitAfter(raw('(a.attempts + 1)'), FREE_OF_PAIR)} END * interval '1 second')
          FROM (SELECT a.updated_at < ${now}::timestamptz - ${FORGOTTEN_AFTER_S}::int * interval '1 second') f (forgotten))
      WHERE a.blocked_until <= ${now}::timestamptz
      RETURNING a.attempts, a.blocked_until
    )
    SELECT ceil(greatest(0, coalesce(
      (SELECT CASE WHEN attempts > 0 THEN 0 ELSE extract(epoch FROM blocked_until - ${now}::timestamptz) END FROM pair),
      (SELECT greatest(1, extract(epoch FROM p.blocked_until - ${now}::timestamptz))
         FROM sign_in_attempts p WHERE p.key = ${keys.pair}::bytea),
      1)))::int AS wait`);
  return Math.min(rows[0]?.wait ?? LONGEST_WAIT_S, LONGEST_WAIT_S);
}

interface KeyTexts {
  pair: string;
  login: string;
  address: string;
}

/** Takes a successful attempt off the counts and ends the wait. Locks rows in the order in which attempts are counted. */
export const forgiveAttempt: TableWrite<KeyTexts> = {
  name: 'forgive_sign_in_attempt',
  columns: { pair: 'text', login: 'text', address: 'text' },
  sql: (rows: Sql) => sql`
    UPDATE sign_in_attempts a SET attempts = CASE WHEN k.rank = 3 THEN 0 ELSE greatest(a.attempts - 1, 0) END,
      blocked_until = least(a.blocked_until, a.updated_at)
    FROM (SELECT s.key, v.rank FROM ${rows}
      CROSS JOIN LATERAL (VALUES (decode(r.login, 'hex'), 1), (decode(r.address, 'hex'), 2), (decode(r.pair, 'hex'), 3)) v (key, rank)
      JOIN sign_in_attempts s ON s.key = v.key ORDER BY v.rank FOR UPDATE OF s) k
    WHERE a.key = k.key`,
};

export const notePlace = insertInto(tables.sign_in_origins, {
  name: 'note_sign_in_place',
  guard: false,
  conflict: 'replace',
});

/**
 * Deletes attempts that no longer count, and places without a sign-in for `PLACE_KEPT_DAYS`. @returns the larger of both counts
 */
export async function purgeSignIns(db: Queryable, now: string, most: number): Promise<number> {
  const rows = await db.query<{ gone: number }>(sql`
    WITH attempts AS (
      DELETE FROM sign_in_attempts WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM sign_in_attempts
        WHERE updated_at < ${now}::timestamptz - ${FORGOTTEN_AFTER_S}::int * interval '1 second' LIMIT ${most}::int)) RETURNING 1
    ), places AS (
      DELETE FROM sign_in_origins WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM sign_in_origins
        WHERE last_at < ${now}::timestamptz - ${PLACE_KEPT_DAYS}::int * interval '1 day' LIMIT ${most}::int)) RETURNING 1
    ) SELECT greatest((SELECT count(*) FROM attempts), (SELECT count(*) FROM places))::int AS gone`);
  return rows[0]?.gone ?? 0;
}

/** Free attempts of one pair; the wait after the next ones is 2, 4, 8, 16 and then 30 s. */
export const FREE_OF_PAIR = 4;
/** Attempts on a login from places that are new to it, before such places must wait. */
export const FREE_OF_LOGIN = 10;
/** The same for an address, over all logins. */
export const FREE_OF_ADDRESS = 50;
export const LONGEST_WAIT_S = 30;
/** Counts start again after this time without an attempt. */
export const FORGOTTEN_AFTER_S = 900;
/** A place without a sign-in for this time is deleted. */
export const PLACE_KEPT_DAYS = 180;

function hashOf(...parts: string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

export const addressPlace = (sender: Sender): Buffer => hashOf('address', sender.address);
export const devicePlace = (device: string): Buffer => hashOf('device', device);

export interface AttemptKeys {
  pair: Buffer;
  login: Buffer;
  address: Buffer;
}

/** The keys of the counters for an attempt. `device` is given only if the user signed in from it before. */
export function attemptKeys(loginKey: string, sender: Sender, device: string | undefined): AttemptKeys {
  const place = device === undefined ? addressPlace(sender) : devicePlace(device);
  return {
    pair: hashOf('pair', loginKey, place.toString('base64')),
    login: hashOf('login', loginKey),
    address: addressPlace(sender),
  };
}
