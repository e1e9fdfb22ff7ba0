/**
 * The only error class for expected errors (docs/spec/conventions.md).
 *
 * A fault has a code of the closed catalogue in `lib/fault-codes.ts`, which also defines the HTTP status. Any error that is not
 * a `Fault` is a defect and is answered with 500 `INTERNAL`.
 */
import type { FaultCode } from './fault-codes.ts';
import type { ProblemParams } from './problem-fill.ts';
import { type ParamsOf, type PlacedProblem, type Problem, type ProblemReason, problemAt } from './problem.ts';
import { nfc } from './text.ts';

/** One error in a request. */
export type FaultDetail = PlacedProblem;

export type ContractDetail = Omit<FaultDetail, 'reason' | 'params'>;

export type FaultDetails = FaultDetail[] | Record<string, unknown>;

/** Details as the contract defines them: entries without `reason` and `params`. */
export function contractDetails(details: FaultDetail[]): ContractDetail[];
export function contractDetails(details: FaultDetails): ContractDetail[] | Record<string, unknown>;
export function contractDetails(details: FaultDetails): ContractDetail[] | Record<string, unknown> {
  if (!Array.isArray(details)) return details;
  return details.map(({ reason: _reason, params: _params, ...entry }) => entry);
}

/** Codes with several causes: their faults name the cause, so that the console can show it in its language. */
export type BroadCode = 'INVALID_REQUEST' | 'RIGHT_MISSING' | 'ROLE_ESCALATION' | 'STATE_CONFLICT' | 'ALREADY_EXISTS';

/** What a fault says: a problem, or another fault. */
export type FaultCause = Pick<Problem, 'message' | 'reason'> & { params?: ProblemParams | undefined };

interface FaultOptions {
  cause?: unknown;
  headers?: Record<string, string>;
}

export class Fault extends Error {
  readonly code: FaultCode;
  /** Names the cause, for texts in other languages: the code itself, or something more specific. */
  readonly reason: Problem['reason'];
  /** The values in the message. */
  readonly params?: ProblemParams;
  readonly details: FaultDetails;
  /** Additional response headers, for example `Retry-After`. */
  readonly headers: Record<string, string>;

  /** @param said the cause; a message alone for codes with a single cause */
  constructor(code: FaultCode, said: FaultCause, details?: FaultDetails, options?: FaultOptions);
  constructor(code: Exclude<FaultCode, BroadCode>, said: string, details?: FaultDetails, options?: FaultOptions);
  constructor(code: FaultCode, said: FaultCause | string, details: FaultDetails = [], options: FaultOptions = {}) {
    const cause = typeof said === 'string' ? { message: said, reason: code } : said;
    super(cause.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Fault';
    this.code = code;
    this.reason = cause.reason;
    if (cause.params !== undefined) this.params = cause.params;
    this.details = details;
    this.headers = options.headers ?? {};
  }
}

export function isFault(error: unknown, code?: FaultCode): error is Fault {
  return error instanceof Fault && (code === undefined || error.code === code);
}

export function invalidValues(problems: FaultDetail[]): Fault {
  return new Fault('INVALID_VALUES', 'Some values are invalid. Correct each problem in details.', problems);
}

/** A fault with one problem at one place, and the message of the problem. */
export function faultAt<Reason extends ProblemReason>(
  code: FaultCode,
  path: string,
  reason: Reason,
  ...params: ParamsOf<Reason>
): Fault {
  const found = problemAt(path, reason, ...params);
  return new Fault(code, found, [found]);
}

/**
 * The name that a user gave to something of their own, normalised and trimmed.
 *
 * @throws Fault INVALID_REQUEST at `/name` if it is blank, contains control characters or is not valid Unicode
 */
export function checkedName(name: string): string {
  const trimmed = nfc(name).trim();
  if (trimmed !== '' && trimmed.isWellFormed() && !/\p{Cc}/u.test(trimmed)) return trimmed;
  throw faultAt('INVALID_REQUEST', '/name', 'NAME_TEXT');
}
