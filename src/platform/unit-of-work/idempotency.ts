/**
 * Idempotency of keyed operations (docs/spec/conventions.md#idempotency). The claim and the stored response are one row,
 * written by the same statement as the change. After a crash either both exist or neither. Table `idempotency`.
 */
import { hash } from 'node:crypto';
import sql, { raw, type Sql } from 'sql-template-tag';
import { Fault } from '../../lib/fault.ts';
import { parseStoredJson } from '../../lib/json.ts';
import type { ReturnedValue, TableWrite } from './context.ts';
import { find, joined, type Lookup } from '../database/lookups.ts';
import type { Queryable } from '../database/pool.ts';
import { required, type StatementPart, Slot, type Statements, writePart } from './statement.ts';
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
  /** Finds the item that a stored response is about, by the `id` of the response. */
  item?: ItemLookup | undefined;
}

/** Its columns must not have the names of `StoredResponse`. */
export type ItemLookup = Lookup<{ id: string }, { id: string }>;

export interface KeptAnswer {
  status: number;
  data: unknown;
  /** The row of the item that the response is about, if the claim has a look-up for it and the item exists. */
  item?: object | undefined;
}

/** Claim → its number, which is needed several times. */
const lockNumbers = new WeakMap<IdempotencyClaim, string>();

/** Identifies the caller, route and key of a claim: the number of its advisory lock. */
export function lockNumber(claim: IdempotencyClaim): string {
  let number = lockNumbers.get(claim);
  if (number === undefined) {
    const digest = hash('sha256', `${claim.callerId}\n${claim.route}\n${claim.key}`, 'buffer');
    number = digest.readBigInt64BE(0).toString();
    lockNumbers.set(claim, number);
  }
  return number;
}

/** The newest keys that a process remembers at least; at most twice as many. */
const MAX_SEEN = 5000;

/**
 * Keys that have stored responses, as far as this process saw them. It only chooses which statement comes first, the look-up or
 * the change: the database decides whether a response is stored.
 */
export class SeenKeys {
  #newest = new Set<string>();
  #older = new Set<string>();

  add(claim: IdempotencyClaim): void {
    // Forgotten together: to find the oldest key, a set goes through the places of all that were deleted before.
    if (this.#newest.size >= MAX_SEEN) [this.#older, this.#newest] = [this.#newest, new Set()];
    this.#newest.add(lockNumber(claim));
  }

  has(claim: IdempotencyClaim): boolean {
    const number = lockNumber(claim);
    return this.#newest.has(number) || this.#older.has(number);
  }
}

/** A claim with the response to store. */
export interface Claimed {
  claim: IdempotencyClaim;
  /** The response as JSON text. */
  answer: string;
  now: string;
}

const CLAIM_COLUMNS = {
  caller_id: 'uuid',
  route: 'text',
  key: 'text',
  lock: 'bigint',
  fingerprint: 'bytea',
  status: 'smallint',
  answer: 'text',
  /** The member of the response that only the statement knows, and the id of the written row that has it. */
  late_name: 'text',
  late_id: 'uuid',
  at: 'timestamptz',
} as const;

type ClaimRow = Record<keyof typeof CLAIM_COLUMNS, unknown>;

/** The row of a claim in the flush. */
export function claimRow(
  { claim, answer, now }: Claimed,
  returned: { key: string; value: ReturnedValue } | undefined,
): ClaimRow {
  return {
    caller_id: claim.callerId,
    route: claim.route,
    key: claim.key,
    lock: lockNumber(claim),
    fingerprint: `\\x${claim.fingerprint.toString('hex')}`,
    status: claim.status,
    answer,
    late_name: returned?.key ?? null,
    late_id: returned?.value.id ?? null,
    at: now,
  };
}

const claimLock: TableWrite<ClaimRow> = {
  name: 'idempotency_lock',
  guard: false,
  frequent: true,
  columns: CLAIM_COLUMNS,
  sql: (rows: Sql) => sql`SELECT r.*, pg_try_advisory_xact_lock(r.lock) AS got FROM ${rows}`,
};

/** @param late name of the write whose rows have values that the responses need */
function insertClaim(late: string | undefined): Sql {
  const returned =
    late === undefined
      ? sql`NULL::jsonb`
      : sql`(SELECT jsonb_build_object(l.late_name, to_jsonb(w.returned_value)) FROM ${raw(late)} w WHERE w.id = l.late_id)`;
  return sql`idempotency_row AS (
      INSERT INTO idempotency AS i (caller_id, route, key, fingerprint, status, answer, returned, created_at)
      SELECT l.caller_id, l.route, l.key, l.fingerprint, l.status, l.answer, ${returned}, l.at
      FROM idempotency_lock l WHERE l.got
      ON CONFLICT (caller_id, route, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
        answer = excluded.answer, returned = excluded.returned, created_at = excluded.created_at
        WHERE i.created_at < excluded.created_at - ${raw(`interval '${KEPT_MS} ms'`)}
      RETURNING 1)`;
}

/** The parts of the flush that claim keys without waiting and store the responses. Their values come from the rows. */
export function claimParts(
  statements: Statements,
  late: string | undefined,
  rows: readonly ClaimRow[],
  asJson: boolean,
): { ctes: StatementPart[]; guards: StatementPart[] } {
  const guard = (name: string, build: () => Sql): StatementPart => statements.part(claimParts, name, build);
  return {
    ctes: [
      writePart(statements, claimLock as TableWrite<unknown>, rows, [], asJson),
      statements.part(claimParts, `row ${late ?? ''}`, () => insertClaim(late)),
    ],
    guards: [
      guard('busy', () => required('idempotency-busy', sql`(SELECT bool_and(got) FROM idempotency_lock)`)),
      guard('kept', () =>
        required(
          'idempotency-kept',
          sql`(SELECT count(*) FROM idempotency_row) = ${new Slot((claims: readonly unknown[]) => claims.length)}::bigint`,
        ),
      ),
    ],
  };
}

interface StoredResponse {
  fingerprint: Buffer;
  status: number;
  answer: string;
  returned: Record<string, unknown> | null;
  keptAt: string;
}

interface FoundResponse extends StoredResponse {
  item: object | undefined;
}

type ResponseKey = Pick<IdempotencyClaim, 'callerId' | 'route' | 'key'>;

const responseByKey: Lookup<StoredResponse, ResponseKey> = {
  key: { callerId: 'uuid', route: 'text', key: 'text' },
  sql: ({ callerId, route, key }) => sql`
    SELECT fingerprint, status, answer, returned, created_at AS "keptAt" FROM idempotency i
    WHERE i.caller_id = ${callerId} AND i.route = ${route} AND i.key = ${key}`,
};

type WithItem = StoredResponse & { id: string | null };

/** Look-up of an item → that of the response together with the item. */
const withItems = new WeakMap<ItemLookup, Lookup<WithItem, ResponseKey>>();

function responseWith(item: ItemLookup): Lookup<WithItem, ResponseKey> {
  let lookup = withItems.get(item);
  if (lookup === undefined) {
    lookup = joined(responseByKey, item, sql`(f.answer::json ->> 'id')::uuid`);
    withItems.set(item, lookup);
  }
  return lookup;
}

/** The stored row of an earlier call with the same key, with its item if the claim asks for it, or undefined. */
export async function findStored(
  db: Queryable,
  { callerId, route, key, item }: IdempotencyClaim,
  now: string,
): Promise<FoundResponse | undefined> {
  const asked = { callerId, route, key };
  const row = item === undefined ? await find(db, responseByKey, asked) : await find(db, responseWith(item), asked);
  if (row === undefined || Date.parse(row.keptAt) < Date.parse(now) - KEPT_MS) return undefined;
  const { fingerprint, status, answer, returned, keptAt, ...found } = row;
  return {
    fingerprint,
    status,
    answer,
    returned,
    keptAt,
    item: 'id' in found && found.id !== null ? found : undefined,
  };
}

/**
 * The stored response as an answer to the claim.
 *
 * @throws Fault IDEMPOTENCY_KEY_REUSED if the earlier call had a different body
 */
export function answerOf(row: FoundResponse, claim: IdempotencyClaim): KeptAnswer {
  if (!row.fingerprint.equals(claim.fingerprint)) {
    throw new Fault('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used with another body. Use a new key.');
  }
  const { status, item } = row;
  const data = parseStoredJson(row.answer);
  return { status, data: row.returned === null ? data : { ...(data as object), ...row.returned }, item };
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
