/** What the model expects of an answer. */
import { isDeepStrictEqual } from 'node:util';
import type { TestAnswer } from '../support/app.ts';
import type { Call } from './calls.ts';
import { having, type RecordState, type State } from './state.ts';
import { canRead, readable } from './values.ts';
import type { Caller } from './world.ts';

export interface Refusal {
  status: number;
  code: string;
  /** The places that the details must name; absent: not compared. */
  at?: readonly string[];
  /** Another refusal that is as right: the specification does not say which of the two comes first. */
  or?: Refusal | undefined;
}

export interface Success {
  status: number;
  /** @returns what is wrong with the answer's data */
  check(data: any): string | undefined;
  /** The state after the call, which may hold ids that the answer gives. */
  next(data: any): State;
}

export type Outcome = Refusal | Success;

export type Judged = { state: State } | { mismatch: string };

export function refuse(status: number, code: string, at?: readonly string[]): Refusal {
  return at === undefined ? { status, code } : { status, code, at };
}

/** The places that the details of a refusal name, sorted. */
export function pointersOf(answer: TestAnswer): string[] {
  const { details } = answer.body.error;
  if (!Array.isArray(details)) return [];
  return [...new Set(details.map(({ path }: { path: string }) => path.split('/').slice(0, 3).join('/')))].sort();
}

const slot = ({ who, op, idempotencyKey }: Call): string | undefined => {
  if (idempotencyKey === undefined) return undefined;
  return [who, op.kind, 'objectId' in op && op.kind !== 'create' ? op.objectId : '', idempotencyKey].join(' ');
};

/** Bodies are compared as JSON values: the order of properties does not count. */
const bodyOf = ({ op }: Call): unknown => JSON.parse(JSON.stringify(op));

/** The outcome of a call whose idempotency key was used before. */
export function replayed(state: State, call: Call, answer: TestAnswer): Outcome | undefined {
  const key = slot(call);
  const stored = key === undefined ? undefined : state.stored.get(key);
  if (stored === undefined) return undefined;
  if (!isDeepStrictEqual(stored.body, bodyOf(call))) return refuse(409, 'IDEMPOTENCY_KEY_REUSED');
  return succeed(stored.status, state, (data) => {
    if (answer.headers.get('idempotency-replayed') !== 'true') return 'expected a replay';
    return isDeepStrictEqual(data, stored.data) ? undefined : `expected the answer ${JSON.stringify(stored.data)}`;
  });
}

export function succeed(status: number, state: State, check: Success['check']): Success {
  return { status, check, next: () => state };
}

/** A success whose answer is kept under the call's idempotency key. */
export function done(status: number, state: State, call: Call, check: Success['check']): Success {
  const key = slot(call);
  const body = bodyOf(call);
  return {
    status,
    check,
    next: (data) => (key === undefined ? state : having(state, 'stored', key, { body, status, data })),
  };
}

/** Compares a record in an answer with the one that the model has. A result of a bulk item has the revision alone. */
export function sameRecord(record: RecordState, who: Caller, data: any): string | undefined {
  if (data?.isItem === true) return data.revision === record.revision ? undefined : `expected ${record.revision}`;
  const wanted = {
    id: record.id,
    revision: record.revision,
    state: record.archived ? 'ARCHIVED' : 'ACTIVE',
    workflow: record.workflow,
    title: canRead(who, record.type, 'title') ? (record.values['title'] ?? null) : null,
    number: record.number,
    values: readable(who, record),
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
  };
  const found = {
    id: data?.id,
    revision: data?.revision,
    state: data?.state,
    workflow: data?.workflowState?.code ?? null,
    title: data?.title,
    number: data?.number,
    values: data?.values,
    createdAt: data?.createdAt,
    updatedAt: data?.updatedAt,
  };
  for (const [name, value] of Object.entries(wanted))
    if (!isDeepStrictEqual(found[name as keyof typeof found], value))
      return `expected ${name} ${JSON.stringify(value)}, not ${JSON.stringify(found[name as keyof typeof found])}`;
  return undefined;
}
