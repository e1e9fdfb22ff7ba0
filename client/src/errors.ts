/** Error classes of calls: by the service's `error.code`, and for missing answers. */
import type { ErrorCode } from './generated/codes.ts';
import type { DocketObject } from './generated/api-types.ts';

/** An error at one place of a request: a JSON Pointer into the body, or `query.NAME`, `header.NAME`. */
export interface ErrorDetail {
  path: string;
  code: string;
  message: string;
}

/** A change by another user since the revision that the call named. */
export interface ChangedField {
  field: string;
  at: string;
  actor: { id: string; displayName: string } | null;
}

/** Facts about an error answer. */
export interface Refusal {
  status: number;
  code: string;
  message: string;
  details: unknown;
  correlationId: string;
  /** The operation's id, such as `objects.update`. */
  operation: string;
  /** Milliseconds in the `Retry-After` header; undefined without it. */
  retryAfterMs: number | undefined;
  /** True if an earlier attempt of the same call got no answer and may have taken effect. */
  uncertain: boolean;
}

/** The service rejected the call. Programs should act on `code`; `message` is for users. */
export class DocketError extends Error {
  override readonly name: string = 'DocketError';
  readonly status: number;
  readonly code: ErrorCode | (string & {});
  readonly details: unknown;
  /** Identifies the request in the service's log. */
  readonly correlationId: string;
  readonly operation: string;
  readonly retryAfterMs: number | undefined;
  /**
   * True if an earlier attempt of this call got no answer. A conflict reported now (stale revision, already exists) may be the
   * effect of that attempt.
   */
  readonly uncertain: boolean;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.status = refusal.status;
    this.code = refusal.code;
    this.details = refusal.details;
    this.correlationId = refusal.correlationId;
    this.operation = refusal.operation;
    this.retryAfterMs = refusal.retryAfterMs;
    this.uncertain = refusal.uncertain;
  }
}

/** 400, 413, 415: the request does not match the documentation, or its values are invalid. Lists all errors at once. */
export class InvalidRequest extends DocketError {
  override readonly name: string = 'InvalidRequest';

  get places(): readonly ErrorDetail[] {
    return Array.isArray(this.details) ? (this.details as ErrorDetail[]) : [];
  }
}

/** 401: the key is not valid, for any reason. */
export class Unauthenticated extends DocketError {
  override readonly name: string = 'Unauthenticated';
}

/** 403: the key lacks a scope, or its owner a permission. */
export class Forbidden extends DocketError {
  override readonly name: string = 'Forbidden';
}

/** 404: not found, or not visible to the key's owner. */
export class NotFound extends DocketError {
  override readonly name: string = 'NotFound';
}

/** 409: the current state does not allow the call. */
export class Conflict extends DocketError {
  override readonly name: string = 'Conflict';
}

/** 409 `ALREADY_EXISTS`: an item with this id, code or name already exists. */
export class AlreadyExists extends Conflict {
  override readonly name: string = 'AlreadyExists';

  /** The field of the request whose value is taken. */
  get field(): string | undefined {
    const field = (this.details as { field?: unknown } | null)?.field;
    return typeof field === 'string' ? field : undefined;
  }
}

/**
 * 409 `CURSOR_REWOUND`: events up to the cursor were lost by a restore or a failover. Drop what was read after `lastEventId`, and
 * continue from `resume`; if it is null or was never stored, drop everything and read from the beginning.
 */
export class CursorRewound extends Conflict {
  override readonly name: string = 'CursorRewound';
  readonly resume: string;
  readonly lastEventId: string | null;
  /** Time of that event. */
  readonly lostAfter: string | null;

  constructor(refusal: Refusal) {
    super(refusal);
    const details = refusal.details as { resume: string; lastEventId: string | null; lostAfter: string | null };
    ({ resume: this.resume, lastEventId: this.lastEventId, lostAfter: this.lostAfter } = details);
  }
}

/**
 * 409 `REVISION_CONFLICT`: the record changed since the expected revision. The answer does not contain the current revision, so
 * that no client overwrites unseen changes. `current()` reads the record for a new decision.
 */
export class RevisionConflict extends Conflict {
  override readonly name: string = 'RevisionConflict';
  readonly #read: (() => Promise<DocketObject>) | undefined;

  constructor(refusal: Refusal, read?: () => Promise<DocketObject>) {
    super(refusal);
    this.#read = read;
  }

  /** Changes by others since the revision that the call named, as far as the caller may read them. */
  get changedSince(): readonly ChangedField[] {
    const since = (this.details as { changedSince?: unknown } | null)?.changedSince;
    return Array.isArray(since) ? (since as ChangedField[]) : [];
  }

  /** Reads the current record with its revision. @throws Error if the call was not about a record (a comment, an attachment) */
  async current(): Promise<DocketObject> {
    if (this.#read === undefined) throw new Error(`${this.operation} does not change a record: read its list again`);
    return await this.#read();
  }
}

/** 429: the rate limit of the key is exceeded, and the client's retries ended. */
export class RateLimited extends DocketError {
  override readonly name: string = 'RateLimited';
}

/** 5xx: the service failed. */
export class ServiceFailed extends DocketError {
  override readonly name: string = 'ServiceFailed';
}

/** No answer: the connection failed or timed out. The call may have taken effect. */
export class ConnectionFailed extends Error {
  override readonly name: string = 'ConnectionFailed';
  readonly operation: string;
  /** Number of attempts. */
  readonly attempts: number;

  constructor(operation: string, attempts: number, cause: unknown) {
    super(`${operation}: no answer (${reasonOf(cause)}) after ${attempts} ${attempts === 1 ? 'try' : 'tries'}`, {
      cause,
    });
    this.operation = operation;
    this.attempts = attempts;
  }
}

/** A short reason: the code of the error's cause if it has one, else the message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : error.message;
}

/** Creates the matching error class. @param read reads the record that the call was about, if any */
export function errorOf(refusal: Refusal, read?: () => Promise<DocketObject>): DocketError {
  if (refusal.code === 'REVISION_CONFLICT') return new RevisionConflict(refusal, read);
  if (refusal.code === 'CURSOR_REWOUND') return new CursorRewound(refusal);
  if (refusal.code === 'ALREADY_EXISTS') return new AlreadyExists(refusal);
  const { status } = refusal;
  if (status === 400 || status === 413 || status === 415) return new InvalidRequest(refusal);
  if (status === 401) return new Unauthenticated(refusal);
  if (status === 403) return new Forbidden(refusal);
  if (status === 404) return new NotFound(refusal);
  if (status === 409) return new Conflict(refusal);
  if (status === 429) return new RateLimited(refusal);
  return status >= 500 ? new ServiceFailed(refusal) : new DocketError(refusal);
}
