/**
 * Idempotency of keyed operations (docs/spec/conventions.md#idempotency). The claim and the stored response are one row,
 * written by the same statement as the change. After a crash either both exist or neither. Table `idempotency`.
 */
import { createHash } from 'node:crypto';
import sql, { raw, type Sql } from 'sql-template-tag';
import { Fault } from '../../lib/fault.ts';
import { parseStoredJson } from '../../lib/json.ts';
import type { ReturnedValue } from './context.ts';
import { find, type Lookup } from '../database/lookups.ts';
import type { Queryable } from '../database/pool.ts';
import { required, type Part, Slot, type Statements } from './statement.ts';
/** How long a response is stored, in milliseconds. */
export const KEPT_MS = 24 * 60 * 60 * 1000;
/** How long a call waits for the first call with its key, in milliseconds. */
export const WAIT_MS = 5000;

export interface IdempotencyClaim {
  /** Id of the API key, or of the user of a session. */
  callerId: string;
  /** Operation and its path parameters. */
  route: string;
  key: string;
  /** SHA-256 of the body as JSON values. */
  fingerprint: Buffer;
  /** Status code of a successful response. */
  status: number;
  /** Called when the call starts to wait for the first call with its key. Waiting takes time but no work. */
  onWait?: () => void;
}

export interface KeptAnswer {
  status: number;
  data: unknown;
}

/** Identifies the caller, route and key of a claim. */
function lockNumber(claim: IdempotencyClaim): string {
  const digest = createHash('sha256').update(`${claim.callerId}\n${claim.route}\n${claim.key}`).digest();
  return digest.readBigInt64BE(0).toString();
}

/** Maximum number of keys that a process remembers. */
const MOST_SEEN = 10_000;

/**
 * Keys that have stored responses, as far as this process saw them. It only chooses which statement comes first, the look-up or
 * the change: the database decides whether a response is stored.
 */
export class SeenKeys {
  readonly #seen = new Set<string>();

  add(claim: IdempotencyClaim): void {
    this.#seen.add(lockNumber(claim));
    if (this.#seen.size <= MOST_SEEN) return;
    for (const oldest of this.#seen) {
      this.#seen.delete(oldest);
      return;
    }
  }

  has(claim: IdempotencyClaim): boolean {
    return this.#seen.has(lockNumber(claim));
  }
}

/** The source of the values in the parts of a claim. */
export interface Claimed {
  claim: IdempotencyClaim;
  /** The response as JSON text. */
  answer: string;
  now: string;
}

type ClaimedSlot = Slot<Claimed>;
const slot = (take: (claimed: Claimed) => unknown): ClaimedSlot => new Slot(take);

/** The parts of the flush that claim the key without waiting and store the response. Their values come from a `Claimed`. */
export function claimParts(
  statements: Statements,
  returned: { key: string; value: ReturnedValue } | undefined,
): { ctes: Part; busy: Part; kept: Part } {
  const variant = returned === undefined ? '' : `${returned.key} ${returned.value.write}`;
  return {
    ctes: statements.part(claimParts, `ctes ${variant}`, () => claimCtes(returned)),
    busy: statements.part(claimParts, 'busy', () =>
      required('idempotency-busy', sql`(SELECT got FROM idempotency_lock)`),
    ),
    kept: statements.part(claimParts, 'kept', () =>
      required('idempotency-kept', sql`(SELECT count(*) FROM idempotency_row) = 1`),
    ),
  };
}

function claimCtes(returned: { key: string; value: ReturnedValue } | undefined): Sql {
  const returnedValue =
    returned === undefined
      ? sql`NULL::jsonb`
      : sql`(SELECT jsonb_build_object(${returned.key}::text, to_jsonb(w.returned_value)) FROM ${raw(returned.value.write)} w LIMIT 1)`;
  const now = slot((claimed) => claimed.now);
  const expired = slot((claimed) => new Date(Date.parse(claimed.now) - KEPT_MS).toISOString());
  const of = (name: keyof IdempotencyClaim): ClaimedSlot => slot(({ claim }) => claim[name]);
  return sql`idempotency_lock AS MATERIALIZED (
      SELECT pg_try_advisory_xact_lock(${slot(({ claim }) => lockNumber(claim))}::bigint) AS got),
    idempotency_row AS (
      INSERT INTO idempotency AS i (caller_id, route, key, fingerprint, status, answer, returned, created_at)
      SELECT ${of('callerId')}::uuid, ${of('route')}::text, ${of('key')}::text, ${of('fingerprint')}::bytea,
        ${of('status')}::smallint, ${slot(({ answer }) => answer)}::text, ${returnedValue}, ${now}::timestamptz
      FROM idempotency_lock WHERE got
      ON CONFLICT (caller_id, route, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
        answer = excluded.answer, returned = excluded.returned, created_at = excluded.created_at
        WHERE i.created_at < ${expired}::timestamptz
      RETURNING 1)`;
}

interface StoredResponse {
  fingerprint: Buffer;
  status: number;
  answer: string;
  returned: Record<string, unknown> | null;
  createdAt: string;
}

const responseByKey: Lookup<StoredResponse, Pick<IdempotencyClaim, 'callerId' | 'route' | 'key'>> = {
  key: { callerId: 'uuid', route: 'text', key: 'text' },
  sql: ({ callerId, route, key }) => sql`
    SELECT fingerprint, status, answer, returned, created_at AS "createdAt" FROM idempotency i
    WHERE i.caller_id = ${callerId} AND i.route = ${route} AND i.key = ${key}`,
};

/**
 * The stored response of an earlier call with the same key, or undefined.
 *
 * @throws Fault IDEMPOTENCY_KEY_REUSED if the earlier call had a different body
 */
export async function keptAnswer(db: Queryable, claim: IdempotencyClaim, now: string): Promise<KeptAnswer | undefined> {
  const { callerId, route, key } = claim;
  const row = await find(db, responseByKey, { callerId, route, key });
  if (row === undefined || Date.parse(row.createdAt) < Date.parse(now) - KEPT_MS) return undefined;
  if (!row.fingerprint.equals(claim.fingerprint)) {
    throw new Fault('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used with another body. Use a new key.');
  }
  const data = parseStoredJson(row.answer);
  return { status: row.status, data: row.returned === null ? data : { ...(data as object), ...row.returned } };
}

export function inProgress(): Fault {
  return new Fault(
    'IDEMPOTENCY_IN_PROGRESS',
    'The first call with this Idempotency-Key is still running. Retry later.',
    [],
    {
      headers: { 'Retry-After': '1' },
    },
  );
}

/** Removes expired responses, at most 5000 per call. @returns how many were removed */
export async function purgeIdempotency(db: Queryable, now: string): Promise<number> {
  const expired = new Date(Date.parse(now) - KEPT_MS).toISOString();
  const rows = await db.query<{ one: number }>(sql`
    DELETE FROM idempotency WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM idempotency WHERE created_at < ${expired}::timestamptz LIMIT 5000)) RETURNING 1 AS one`);
  return rows.length;
}
