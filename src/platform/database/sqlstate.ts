/**
 * Maps errors of PostgreSQL and its driver to faults (docs/spec/conventions.md).
 *
 * PostgreSQL includes values in its messages and details. Nothing created here contains them.
 */
import { Fault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';

/** What a violation of a named constraint means. Defined by the modules that own the tables. */
export interface ConstraintMeaning {
  code: 'ALREADY_EXISTS';
  /** The conflicting field as the API names it; becomes `details: {field}`. */
  field?: string;
}

export type Constraints = ReadonlyMap<string, ConstraintMeaning>;

/** An unexpected database error, without any values. It is answered with 500 `INTERNAL`. */
export class DatabaseFailure extends Error {
  readonly sqlstate: string;
  readonly constraint: string | undefined;
  readonly table: string | undefined;

  constructor(message: string, reported: ServerError) {
    super(message);
    this.name = 'DatabaseFailure';
    this.sqlstate = reported.code;
    this.constraint = reported.constraint;
    this.table = reported.table;
  }
}

interface ServerError {
  code: string;
  message: string;
  constraint?: string;
  table?: string;
  routine?: string;
}

const RETRY_AFTER = { 'Retry-After': '1' };

const RETRYABLE = new Set(['40001', '40P01', '55P03']);

// The input cannot be stored or computed, regardless of the state of the data.
type InputReason =
  | 'TEXT_CANNOT_BE_STORED'
  | 'FORMAT_OF_A_VALUE'
  | 'NUMBER_OUT_OF_RANGE'
  | 'TIME_OUT_OF_RANGE'
  | 'VALUE_TOO_LARGE_TO_STORE'
  | 'REQUEST_TOO_COMPLEX';

const BAD_INPUT: ReadonlyMap<string, InputReason> = new Map([
  ['22021', 'TEXT_CANNOT_BE_STORED'],
  ['22P05', 'TEXT_CANNOT_BE_STORED'],
  ['22P02', 'FORMAT_OF_A_VALUE'],
  ['22003', 'NUMBER_OUT_OF_RANGE'],
  ['22008', 'TIME_OUT_OF_RANGE'],
  ['54000', 'VALUE_TOO_LARGE_TO_STORE'],
  ['54001', 'REQUEST_TOO_COMPLEX'],
]);

const OVERLOAD = new Map([
  ['40001', 'Too many concurrent changes. Retry after the time in Retry-After.'],
  ['40P01', 'Too many concurrent changes. Retry after the time in Retry-After.'],
  ['55P03', 'Too many concurrent changes. Retry after the time in Retry-After.'],
  ['57014', 'The database did not respond in time. Retry after the time in Retry-After.'],
  ['25P04', 'The database did not respond in time. Retry after the time in Retry-After.'],
  ['53200', 'The database has no memory left for this request. Retry later or ask for less.'],
]);

// 25P03 and 57P05 end an idle connection; 25006 is reported by a server that has become a replica.
const UNAVAILABLE = new Set(['53300', '53400', '57P01', '57P02', '57P03', '57P05', '25P03', '25006']);

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  // Node's own codes, for a socket that closed between two writes of the driver.
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_SOCKET_CLOSED',
]);

// The driver gives these errors no code.
const CONNECTION_MESSAGE =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Cannot use a pool after|timeout expired)/;
const POOL_BUSY = 'timeout exceeded when trying to connect';
const ANSWER_LATE = 'Query read timeout';

function textOf(source: object, key: string): string | undefined {
  const value: unknown = Reflect.get(source, key);
  return typeof value === 'string' ? value : undefined;
}

// Server errors have a severity and a five-character code; socket errors have no severity.
function serverError(error: unknown): ServerError | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const code = textOf(error, 'code');
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code) || textOf(error, 'severity') === undefined) return undefined;
  const reported: ServerError = { code, message: textOf(error, 'message') ?? '' };
  for (const key of ['constraint', 'table', 'routine'] as const) {
    const value = textOf(error, key);
    if (value !== undefined) reported[key] = value;
  }
  return reported;
}

/** Whether the server refused the statement. Its transaction was rolled back, and the connection is intact. */
export function isRefused(error: unknown): boolean {
  return serverError(error) !== undefined && !isConnectionLost(error);
}

/** Whether the statement was cancelled, by its time limit for example. */
export function isCancelled(error: unknown): boolean {
  return serverError(error)?.code === '57014';
}

/** Whether a time limit ended the wait for a connection, for the statement or for its answer. */
export function isOverdue(error: unknown): boolean {
  return (
    isCancelled(error) || (error instanceof Error && (error.message === POOL_BUSY || error.message === ANSWER_LATE))
  );
}

/** Whether `lock_timeout` ended the statement. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === '55P03';
}

/** Errors after which the prepared statements of a connection may be unusable: wrong result type, unknown name, taken name. */
const STALE = new Set(['0A000', '26000', '42P05']);

/** Whether the connection can be used again after this error, once the server is ready. */
export function leavesConnectionUsable(error: unknown): boolean {
  const code = serverError(error)?.code;
  return code !== undefined && !STALE.has(code) && !code.startsWith('XX');
}

/** Whether retrying the whole unit of work may succeed. The failed attempt was rolled back. */
export function isRetryable(error: unknown): boolean {
  const reported = serverError(error);
  return reported !== undefined && RETRYABLE.has(reported.code);
}

/**
 * Whether the connection was lost or never established. If a commit was under way, its outcome is unknown: only idempotent
 * operations may be repeated.
 */
export function isConnectionLost(error: unknown): boolean {
  const reported = serverError(error);
  if (reported !== undefined) return UNAVAILABLE.has(reported.code) || reported.code.startsWith('08');
  if (!(error instanceof Error)) return false;
  const code = textOf(error, 'code');
  if (code !== undefined && CONNECTION_CODES.has(code)) return true;
  // Any failed `connect` counts, regardless of its code: for a server on a Unix socket, for example, the file is missing or not
  // accessible.
  if (textOf(error, 'syscall') === 'connect') return true;
  return CONNECTION_MESSAGE.test(error.message);
}

/**
 * Whether the same read may succeed on another server: this one is unreachable, busy, or cancelled the query because of a
 * conflict.
 */
export function isPassing(error: unknown): boolean {
  return isConnectionLost(error) || isRetryable(error) || (error instanceof Error && error.message === POOL_BUSY);
}

/**
 * The fault for an error of the database or its driver. Faults and errors from elsewhere are returned unchanged; an unexpected
 * database error becomes a `DatabaseFailure`.
 */
export function toFault(error: unknown, constraints: Constraints = new Map()): unknown {
  if (error instanceof Fault) return error;
  const reported = serverError(error);
  if (reported !== undefined) return ofServer(reported, constraints);
  if (isConnectionLost(error))
    return unavailable('The database does not respond. Retry after the time in Retry-After.', error);
  if (isOverdue(error)) {
    return overloaded('The database is busy. Retry after the time in Retry-After.', error);
  }
  return error;
}

function ofServer(reported: ServerError, constraints: Constraints): Error {
  const { code } = reported;
  const cause = described(reported);
  const badInput = BAD_INPUT.get(code);
  if (badInput !== undefined) return new Fault('INVALID_REQUEST', problem(badInput), [], { cause });
  const overload = OVERLOAD.get(code);
  if (overload !== undefined) return overloaded(overload, cause);
  if (code === '53100') return unavailable('The disk of the database is full. Ask the operator to free space.', cause);
  if (UNAVAILABLE.has(code) || code.startsWith('08'))
    return unavailable('The database does not respond. Retry after the time in Retry-After.', cause);
  const meaning = code.startsWith('23') ? constraints.get(reported.constraint ?? '') : undefined;
  if (meaning !== undefined) {
    const details = meaning.field === undefined ? [] : { field: meaning.field };
    return new Fault(meaning.code, problem('ANYTHING_TAKEN'), details, { cause });
  }
  if (code === '23505') return new Fault('ALREADY_EXISTS', problem('ANYTHING_TAKEN'), [], { cause });
  if (code === '23503') return new Fault('INVALID_REQUEST', problem('REFERS_TO_MISSING'), [], { cause });
  return cause;
}

// Messages of class 42 (errors in the statement) name tables and columns but no values, and are needed to understand the error.
function described(reported: ServerError): DatabaseFailure {
  const { code, constraint, table, routine } = reported;
  const parts = [
    `database error ${code}`,
    code.startsWith('42') ? reported.message : undefined,
    constraint === undefined ? undefined : `constraint ${constraint}`,
    table === undefined ? undefined : `table ${table}`,
    routine === undefined ? undefined : `in ${routine}`,
  ];
  return new DatabaseFailure(parts.filter((part) => part !== undefined).join(', '), reported);
}

function overloaded(message: string, cause: unknown): Fault {
  return new Fault('OVERLOADED', message, [], { cause, headers: RETRY_AFTER });
}

function unavailable(message: string, cause: unknown): Fault {
  return new Fault('DATABASE_UNAVAILABLE', message, [], { cause, headers: RETRY_AFTER });
}
