/**
 * An operation as data. The route, validation, the OpenAPI document, the access tests and the console's types are derived from
 * its declaration. Pure; independent of the HTTP framework.
 */
import type { Static, TObject, TSchema } from 'typebox';
import type { FaultCode } from '../lib/fault-codes.ts';
import type { Scope } from './scopes.ts';

/**
 * - `read`: one statement with autocommit. `snapshot`: several statements on one snapshot. `write`: one unit of work.
 * - `own`: the handler gets a runner for units (bulk, imports, file content and the like).
 */
export type UnitKind = 'read' | 'snapshot' | 'write' | 'own';

/**
 * Who may call the operation: a scope of the specification (the operation is public, and also mounted under `/api/admin/v1` for
 * sessions); `console` (a session or an `admin:manage` key, only under `/api/admin/v1`); `open` (no authentication).
 */
export type Access = Scope | 'console' | 'open';

/**
 * How the answer of a read grows with use.
 * - `windows`: the whole list, however long, in windows. `page`: a page of limited length, or some of the newest.
 * - `record`: about one record as it is or was, whatever its history. `few`: what it reads does not grow with use.
 * - `held`: the whole list, which is read in windows and held until it is sent. `stream`: nothing before something happens.
 * - `whole`: everything, in one statement. It is not bounded yet.
 */
export type Growth = 'windows' | 'page' | 'record' | 'few' | 'held' | 'stream' | 'whole';

export interface Operation<
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  A extends TSchema = TSchema,
> {
  /** `module.verb`, unique: the OpenAPI operationId and the name in logs and metrics. */
  id: string;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Path below the prefix, with parameters in braces: `/objects/{objectId}`. */
  path: string;
  /** How the answer of a read grows. It follows from `pagingQuery` (`page`), else from `long: true` (`windows`); other reads say it. */
  growth?: Growth;
  access: Access;
  /** Surface of an `open` operation; for others it follows from `access`. */
  surface?: 'public' | 'console';
  /** Additional scopes that a call needs, depending on its parameters. Returns none for invalid parameters. */
  moreScopes?: (query: Readonly<Record<string, unknown>>) => readonly Scope[];
  /** The right that the key's owner needs in addition to the scope; for documents and the generated access tests. */
  right?: string;
  unit: UnitKind;
  /** The `via` that the journal records for writes of this operation. Default: the surface of the call. */
  via?: 'catalog' | 'inbound';
  /** Reads may be served by a replica that has replayed the caller's own writes and the current rights version. */
  replicaSafe?: true;
  /** `false`: it has effects that a rollback does not undo, so it cannot be explained. */
  explained?: false;
  /** Takes `Idempotency-Key`. */
  idempotent?: true;
  status: 200 | 201 | 204;
  tag: string;
  summary: string;
  /** What the operation does and its limits. The documents append the scope and the right. */
  description: string;
  params?: P;
  query?: Q;
  /** A list that also answers in pages under `/api/admin/v1`; `/api/v1` always answers it whole. */
  paged?: true;
  body?: B;
  /** DELETE with `expectedRevision` in the body: the header `If-Match` may replace it. */
  ifMatch?: true;
  /** Shape of `data`. */
  answer: A;
  /** Shape of `meta` with further members, which the handler returns in a `Reply`; `MetaSchema` by default. */
  meta?: TObject;
  /** The response has no envelope (docs/spec/conventions.md#requests). */
  raw?: { mediaTypes: string[] };
  /**
   * `false`: a write that takes no `dryRun`, because it hands out or ends credentials, or sends content. All other writes take it.
   */
  dryRun?: false;
  /** The response is a stream of server-sent events if the client asks for them by `Accept`. */
  streams?: true;
  /** Further statuses of a raw response: 206 for partial content, 304 if the client already has it. */
  alsoAnswers?: readonly (206 | 304)[];
  /**
   * A read that may take long or is answered in windows, always or with these parameters. Each caller has two long reads at a time
   * (docs/spec/conventions.md#limits).
   */
  long?: true | ((query: Readonly<Record<string, unknown>>) => boolean);
  /** Time limit in milliseconds; default 30 s. */
  timeoutMs?: number;
  /** Errors besides those that every operation can return. */
  faults: readonly FaultCode[];
}

/** Whether a call with `?dryRun=true` shows what the operation would do, and undoes it. */
export function takesDryRun({ method, unit, dryRun }: Operation): boolean {
  return method !== 'GET' && (unit === 'write' || unit === 'own') && dryRun !== false;
}

/** Query parameters of an operation with `paged: true` under `/api/admin/v1`. */
export interface ChosenPage {
  page?: number;
  pageSize?: number;
  order?: 'oldest' | 'newest';
}

type StaticOr<S, Fallback> = S extends TSchema ? Static<S> : Fallback;

export interface Input<O extends Operation> {
  params: StaticOr<O['params'], Record<string, never>>;
  query: O['paged'] extends true
    ? StaticOr<O['query'], unknown> & ChosenPage
    : StaticOr<O['query'], Record<string, never>>;
  body: StaticOr<O['body'], undefined>;
}

/** How the answer of the operation grows. @returns undefined for writes */
export function growthOf({ method, growth, query, long }: Operation): Growth | undefined {
  if (method !== 'GET' || growth !== undefined) return growth;
  if (Object.hasOwn((query as TObject | undefined)?.properties ?? {}, 'pageSize')) return 'page';
  return long === true ? 'windows' : undefined;
}

/** Reads say how their answers grow, unless it follows from another member. */
type SaysGrowth<O> = O extends { method: 'GET' }
  ? O extends { growth: Growth } | { long: true } | { query: TObject<{ pageSize: TSchema }> }
    ? unknown
    : { growth: Growth }
  : unknown;

/** Declares an operation and preserves the types of its schemas. */
export function defineOperation<const O extends Operation & { [Key in Exclude<keyof O, keyof Operation>]: never }>(
  operation: O & SaysGrowth<O>,
): O {
  return operation;
}

/** A response with additional headers, or one without an envelope. */
export class Reply<T = unknown> {
  readonly data: T;
  readonly headers: Record<string, string | string[]>;
  readonly status: number | undefined;
  /** Called when the response was sent completely or can no longer be sent, to free its memory. */
  readonly closed: (() => void) | undefined;
  /** Further members of `meta`. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  constructor(
    data: T,
    headers: Record<string, string | string[]> = {},
    status?: number,
    closed?: () => void,
    meta?: Readonly<Record<string, unknown>>,
  ) {
    this.data = data;
    this.headers = headers;
    this.status = status;
    this.closed = closed;
    this.meta = meta;
  }

  /** An ordinary response with further members of `meta`. */
  static withMeta<T>(data: T, meta: Readonly<Record<string, unknown>>): Reply<T> {
    return new Reply(data, {}, undefined, undefined, meta);
  }
}

/**
 * The answer of a list that is too long to hold: its first items, and the others, which are read as fast as the client takes
 * them. The reader of `rest` must end it.
 */
export class ListInWindows<T = unknown> {
  readonly first: readonly T[];
  readonly rest: AsyncGenerator<readonly T[]>;
  /** Further members of `meta`, known when `rest` has ended. */
  readonly meta: () => Readonly<Record<string, unknown>> | undefined;
  constructor(first: readonly T[], rest: AsyncGenerator<readonly T[]>, meta: ListInWindows['meta']) {
    this.first = first;
    this.rest = rest;
    this.meta = meta;
  }
}
