/** Checks that every response must pass, for any request. */
import { statusOf } from '../../../src/lib/fault-codes.ts';
import type { AnswerCheck } from '../../support/response-check.ts';
import type { RawResponse, RawRequest } from './raw-http.ts';

/** Words that only the inside of the service knows. */
const INSIDE =
  /\bat (?:\S+ \()?(?:file|node):|node_modules|\/src\/|\.ts:\d|pg_catalog|relation "|violates|SQLSTATE|SELECT .+ FROM |TypeError|RangeError|Cannot read propert|undefined is not|\[object Object\]/;

const OVERLOAD = new Set(['OVERLOADED', 'DATABASE_UNAVAILABLE']);

export interface ResponseOracle {
  checks: readonly AnswerCheck[];
  /** Operations whose error details do not point into the request body. */
  pointless: ReadonlySet<string>;
  /** Texts that a response to this caller may not contain unless the request did. */
  forbidden(who: string): readonly string[];
  /** Whether this caller may have made this succeed. */
  mayWrite(who: string): boolean;
}

/** Problems of a response; empty if there are none. */
export function responseOracle(
  { checks, pointless, forbidden, mayWrite }: ResponseOracle,
  shot: RawRequest,
  seen: RawResponse,
): string[] {
  const problems: string[] = [];
  const { status, headers, body } = seen;
  const overloaded = status === 503 && OVERLOAD.has(body?.error?.code);
  if (status >= 500 && !overloaded) problems.push(`status ${status}: ${seen.text.slice(0, 300)}`);
  if (overloaded && !headers.has('retry-after')) problems.push('503 without Retry-After');
  const answer = { status, headers, body };
  // A body that is not there is not described by its content type either.
  if (shot.method !== 'HEAD') for (const check of checks) problems.push(...check(shot.method, shot.path, answer));
  if (!headers.has('x-correlation-id')) problems.push('no X-Correlation-Id');
  if (headers.get('x-content-type-options') !== 'nosniff') problems.push('no nosniff');
  for (const [name, value] of headers) if (/[\r\n]/.test(value)) problems.push(`the header ${name} holds a line end`);
  if (status === 405 && !/^[A-Z]+(?:, [A-Z]+)*$/.test(headers.get('allow') ?? '')) problems.push('405 without Allow');
  if (status === 401 && headers.get('www-authenticate') !== 'Bearer') problems.push('401 without WWW-Authenticate');
  if (status >= 400 && shot.method !== 'HEAD') problems.push(...errorShape(shot, seen, pointless));
  if (
    status < 400 &&
    shot.who === 'nobody' &&
    !mayWrite(shot.operation) &&
    shot.method !== 'GET' &&
    shot.method !== 'HEAD'
  ) {
    if (shot.method !== 'OPTIONS') problems.push(`one without rights was let: ${status}`);
  }
  const asked = `${shot.path} ${shot.body?.toString() ?? ''} ${shot.headers.join(' ')}`;
  // Users who may manage configuration read all of it.
  for (const text of shot.operation.startsWith('config.') ? [] : forbidden(shot.who)) {
    if (seen.text.includes(text) && !asked.includes(text)) problems.push(`the answer to ${shot.who} holds ${text}`);
  }
  return problems;
}

function errorShape(
  shot: RawRequest,
  { status, headers, body, text }: RawResponse,
  pointless: ReadonlySet<string>,
): string[] {
  const error = body?.error;
  if (typeof error?.code !== 'string' || typeof error.message !== 'string')
    return [`no error shape: ${text.slice(0, 200)}`];
  const problems: string[] = [];
  if (statusOf(error.code) !== status) problems.push(`${error.code} came as ${status}`);
  if (body.meta?.correlationId !== headers.get('x-correlation-id')) problems.push('two correlation ids');
  if (error.message === '' || error.message.length > 2000)
    problems.push(`a message of ${error.message.length} characters`);
  const said = `${error.message} ${JSON.stringify(error.details)}`;
  const match = INSIDE.exec(said);
  if (match !== null && !`${decode(shot.path)} ${shot.body?.toString() ?? ''}`.includes(match[0])) {
    problems.push(`the error speaks of the inside: ${said.slice(0, 300)}`);
  }
  if (!Array.isArray(error.details)) return problems;
  if (error.details.length > 1000) problems.push(`${error.details.length} details`);
  let sent: unknown;
  try {
    sent = shot.body === undefined ? undefined : JSON.parse(shot.body.toString());
  } catch {
    sent = undefined;
  }
  for (const detail of error.details) {
    if (
      typeof detail !== 'object' ||
      detail === null ||
      typeof detail.path !== 'string' ||
      typeof detail.code !== 'string' ||
      typeof detail.message !== 'string'
    ) {
      problems.push(`a detail without path, code and message: ${JSON.stringify(detail)?.slice(0, 200)}`);
      break;
    }
    const { path } = detail as { path: string };
    if (path === '' || /^(?:(?:query|header)\.|path$)/.test(path) || pointless.has(shot.operation)) continue;
    if (!path.startsWith('/') || !points(sent, path)) {
      problems.push(`${error.code} points nowhere: ${path.slice(0, 200)}`);
      break;
    }
  }
  return problems;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Whether a JSON Pointer names something of the value, or something that its holder lacks. */
function points(value: unknown, path: string): boolean {
  const segments = path
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  let at = value;
  for (const segment of segments.slice(0, -1)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, segment)) return false;
    at = (at as Record<string, unknown>)[segment];
  }
  return true;
}
