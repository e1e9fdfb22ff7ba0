/**
 * An operation as data: from this one declaration come the route, the checks, the OpenAPI document, the access tests and the
 * console's types (architecture, section 3a). Pure; knows no HTTP framework.
 */
import type { Static, TSchema } from 'typebox';
import type { FaultCode } from '../lib/fault-codes.ts';
import type { Scope } from './scopes.ts';

/**
 * - `read`: one statement on its own. `snapshot`: several statements that see one instant. `write`: one unit of work.
 * - `own`: the handler gets the unit runner (bulk, imports, file content and the like).
 */
export type UnitKind = 'read' | 'snapshot' | 'write' | 'own';

/**
 * Who may call: a scope of the specification (the operation is public, and mounted under `/api/admin/v1` for sessions too);
 * `console` (a session or an `admin:manage` key, under `/api/admin/v1` alone); `open` (nobody is asked).
 */
export type Access = Scope | 'console' | 'open';

export interface Operation<
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  A extends TSchema = TSchema,
> {
  /** `room.verb`, unique: the OpenAPI operationId and the name in logs and metrics. */
  id: string;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below the prefix, parameters in braces: `/objects/{objectId}`. */
  path: string;
  access: Access;
  /** Where an `open` operation lives; others follow from `access`. */
  surface?: 'public' | 'console';
  /** Further scopes that a call needs by what it asks for; of parameters that are none, nothing. */
  moreScopes?: (query: Readonly<Record<string, unknown>>) => readonly Scope[];
  /** The right of the key's owner that is asked beside the scope; for documents and the generated access tests. */
  right?: string;
  unit: UnitKind;
  /** The way in that the journal names for what it writes, whatever surface the call came by; else that surface. */
  via?: 'catalog' | 'inbound';
  /** May be answered by a replica that has got as far as what the caller wrote, and as the rights that hold. */
  mayLag?: true;
  /** Takes `Idempotency-Key`. */
  idempotent?: true;
  status: 200 | 201 | 204;
  tag: string;
  summary: string;
  /** What it does and what limits it, for readers of the documents, which add the scope and the right. */
  description: string;
  params?: P;
  query?: Q;
  body?: B;
  /** DELETE with `expectedRevision` in the body: `If-Match` may stand in its place. */
  ifMatch?: true;
  /** Shape of `data`. */
  answer: A;
  /** The answer is no envelope (api.md, convention 4). */
  raw?: { mediaTypes: string[] };
  /** What a raw answer may be beside its status: a part of the content, or that the client has it already. */
  alsoAnswers?: readonly (206 | 304)[];
  /** Time limit in milliseconds; 30 s unless said. */
  timeoutMs?: number;
  /** What can go wrong beyond what every operation shares. */
  faults: readonly FaultCode[];
}

type StaticOr<S, Fallback> = S extends TSchema ? Static<S> : Fallback;

export interface Input<O extends Operation> {
  params: StaticOr<O['params'], Record<string, never>>;
  query: StaticOr<O['query'], Record<string, never>>;
  body: StaticOr<O['body'], undefined>;
}

/** Declares an operation, keeping the types of its schemas. */
export function defineOperation<const O extends Operation>(operation: O): O {
  return operation;
}

/** An answer with headers of its own, or one that is no envelope. */
export class Reply<T = unknown> {
  readonly data: T;
  readonly headers: Record<string, string | string[]>;
  readonly status: number | undefined;
  /** Called when the answer was sent whole, or never can be: what it held in memory may go. */
  readonly closed: (() => void) | undefined;
  constructor(data: T, headers: Record<string, string | string[]> = {}, status?: number, closed?: () => void) {
    this.data = data;
    this.headers = headers;
    this.status = status;
    this.closed = closed;
  }
}
