/** What can go wrong with a call, as classes: by `error.code` of the service, and where no answer came at all. */
import type { ErrorCode } from './generated/codes.ts';
import type { DocketObject } from './generated/api-types.ts';

/** A place in a request that is wrong: a JSON Pointer into the body, or `query.NAME`, `header.NAME`. */
export interface ErrorDetail {
  path: string;
  code: string;
  message: string;
}

/** A change that somebody else made since the revision that the call named. */
export interface ChangedField {
  field: string;
  at: string;
  actor: { id: string; displayName: string } | null;
}

/** What is known of a refusal. */
export interface Refusal {
  status: number;
  code: string;
  message: string;
  details: unknown;
  correlationId: string;
  /** The operation's id, `objects.update`. */
  operation: string;
  /** Milliseconds that the service asks to wait; undefined where it says nothing. */
  retryAfterMs: number | undefined;
  /** An earlier try of the same call got no answer, and so may have had its effect. */
  uncertain: boolean;
}

/** The service refused the call. `code` is what programs act on; `message` is a sentence for people. */
export class DocketError extends Error {
  override readonly name: string = 'DocketError';
  readonly status: number;
  readonly code: ErrorCode | (string & {});
  readonly details: unknown;
  /** Finds the request in the service's log. */
  readonly correlationId: string;
  readonly operation: string;
  readonly retryAfterMs: number | undefined;
  /**
   * An earlier try of this call got no answer: the change that is refused now (as stale, as existing already) may be the one
   * that this very call made.
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

/** 400: the request is not as documented, or its values are not acceptable. All places at once. */
export class InvalidRequest extends DocketError {
  override readonly name: string = 'InvalidRequest';

  get places(): readonly ErrorDetail[] {
    return Array.isArray(this.details) ? (this.details as ErrorDetail[]) : [];
  }
}

/** 401: the key is not accepted, whatever the cause. */
export class Unauthenticated extends DocketError {
  override readonly name: string = 'Unauthenticated';
}

/** 403: the key lacks a scope, or its owner a right. */
export class Forbidden extends DocketError {
  override readonly name: string = 'Forbidden';
}

/** 404: there is nothing that the key's owner can see. */
export class NotFound extends DocketError {
  override readonly name: string = 'NotFound';
}

/** 409: the present state of things does not admit the call. */
export class Conflict extends DocketError {
  override readonly name: string = 'Conflict';
}

/** 409 `ALREADY_EXISTS`: something with this id, code or name is there. */
export class AlreadyExists extends Conflict {
  override readonly name: string = 'AlreadyExists';

  /** Which field of the request is taken. */
  get field(): string | undefined {
    const field = (this.details as { field?: unknown } | null)?.field;
    return typeof field === 'string' ? field : undefined;
  }
}

/**
 * 409 `REVISION_CONFLICT`: others changed it since. The service does not say the current revision, so that nobody sends it
 * unseen; `current()` reads the record as it is now, for a program or a person to decide on.
 */
export class RevisionConflict extends Conflict {
  override readonly name: string = 'RevisionConflict';
  readonly #read: (() => Promise<DocketObject>) | undefined;

  constructor(refusal: Refusal, read?: () => Promise<DocketObject>) {
    super(refusal);
    this.#read = read;
  }

  /** What others changed since the revision that the call named, as far as the caller may read it. */
  get changedSince(): readonly ChangedField[] {
    const since = (this.details as { changedSince?: unknown } | null)?.changedSince;
    return Array.isArray(since) ? (since as ChangedField[]) : [];
  }

  /** The record as it is now, with its current revision. @throws Error for what is no record (a comment, a file) */
  async current(): Promise<DocketObject> {
    if (this.#read === undefined) throw new Error(`${this.operation} does not change a record: read its list again`);
    return await this.#read();
  }
}

/** 429: the key used up its requests, and the client's patience ended. */
export class RateLimited extends DocketError {
  override readonly name: string = 'RateLimited';
}

/** 5xx: the service could not do it. */
export class ServiceFailed extends DocketError {
  override readonly name: string = 'ServiceFailed';
}

/** No answer came: the connection failed or took too long. The call may have had its effect. */
export class ConnectionFailed extends Error {
  override readonly name: string = 'ConnectionFailed';
  readonly operation: string;
  /** How often it was tried. */
  readonly attempts: number;

  constructor(operation: string, attempts: number, cause: unknown) {
    super(`${operation}: no answer (${reasonOf(cause)}) after ${attempts} ${attempts === 1 ? 'try' : 'tries'}`, {
      cause,
    });
    this.operation = operation;
    this.attempts = attempts;
  }
}

/** What broke, in a word: the code of the innermost cause where there is one. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : error.message;
}

/** The class that fits. @param read the record that the call was about, if it was about one */
export function errorOf(refusal: Refusal, read?: () => Promise<DocketObject>): DocketError {
  if (refusal.code === 'REVISION_CONFLICT') return new RevisionConflict(refusal, read);
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
