/**
 * Calls of the administration API, which also serves the public operations (docs/spec/configuration.md#administration-api). The
 * session is a cookie that scripts cannot read. Writes send the CSRF token from sign-in or `GET /session`.
 */
import type { Static, TSchema } from 'typebox';
import type { ChosenPage } from '../../../src/contract/operation.ts';
import type { Effects } from '../../../src/contract/effects.ts';
import type { Page } from './pages.ts';
import { currentLanguage } from '../i18n/language.ts';
import type { ReportedProblem } from '../problems/russian.ts';
import { loadProblemTexts, problemMessage } from '../problems/message.ts';

const PREFIX = '/api/admin/v1';

export interface FaultPlace extends ReportedProblem {
  path: string;
  code: string;
}

/** A request that was refused, as `POST /access/explain-request` takes it. */
export interface RefusedRequest {
  method: string;
  /** With prefix and query. */
  path: string;
  body?: unknown;
}

/** An error answer: `code` is for decisions in code, `message` for users. */
export class ApiFault extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: FaultPlace[] | Record<string, unknown>;
  readonly correlationId: string | null;
  /** The cause of the fault, if it is more specific than the code. */
  readonly said: ReportedProblem | undefined;
  /** The request that the service refused; undefined if there was no answer. */
  request: RefusedRequest | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    details: ApiFault['details'],
    correlationId: string | null,
    said?: ReportedProblem,
  ) {
    super(message);
    this.name = 'ApiFault';
    this.status = status;
    this.code = code;
    this.details = details;
    this.correlationId = correlationId;
    this.said = said;
  }

  /** What is wrong and what to do, in the language of the console; undefined if the code says it all. */
  get explanation(): string | undefined {
    return this.said === undefined ? undefined : problemMessage(this.said);
  }

  /** The invalid places, if the fault lists them, with messages in the language of the console. */
  get places(): FaultPlace[] {
    if (!Array.isArray(this.details)) return [];
    return this.details.map((place) => ({ ...place, message: problemMessage(place) }));
  }
}

/** State kept between calls. */
const connection: {
  csrfToken: string | undefined;
  onSessionEnded: () => Promise<boolean>;
  onTokenRefused: () => Promise<boolean>;
} = {
  csrfToken: undefined,
  onSessionEnded: async () => false,
  onTokenRefused: async () => false,
};

export function setCsrfToken(token: string | undefined): void {
  connection.csrfToken = token;
}

/**
 * Called when a call is refused because the session has ended. Resolves to true once the same user has signed in again: the
 * call is then repeated. It was refused before it did anything, so repeating it is safe.
 */
export function onSessionEnded(fn: () => Promise<boolean>): void {
  connection.onSessionEnded = fn;
}

/**
 * Called when the service rejects the CSRF token of a write, for example after a sign-in in another tab. Resolves to true if
 * the write may be repeated with a new token: only if the same user is signed in.
 */
export function onTokenRefused(fn: () => Promise<boolean>): void {
  connection.onTokenRefused = fn;
}

/** The types of a declared operation, for `typeof contract.NAME`. */
interface Declared {
  method: string;
  answer: TSchema;
  body?: TSchema;
}

export type AnswerOf<O extends Declared> = Static<O['answer']>;
export type BodyOf<O extends Declared> = O['body'] extends TSchema ? Static<O['body']> : undefined;

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CallOptions<B = unknown> {
  query?: Query | undefined;
  body?: B;
  /** Makes a repeated call safe, for operations that accept it. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** True for calls that find out or change who is signed in: a refusal does not ask the user to sign in. */
  probe?: boolean;
}

/** The URL of an operation below the console's prefix. */
export function address(path: string, query?: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return `${PREFIX}${path}${text === '' ? '' : `?${text}`}`;
}

/**
 * Calls an operation, typed by its declaration: `call<typeof contract.getObject>('GET', '/objects/…')`.
 *
 * @throws ApiFault for every error answer, and if there is no answer (`code` OFFLINE)
 */
export async function call<O extends Declared>(
  method: O['method'],
  path: string,
  options: CallOptions<BodyOf<O>> = {},
): Promise<AnswerOf<O>> {
  return (await send(method, path, options)) as AnswerOf<O>;
}

/** Like `call`, with the `meta` of the answer. */
export async function callWithMeta<O extends Declared & { meta: TSchema }>(
  method: O['method'],
  path: string,
  options: CallOptions<BodyOf<O>> = {},
): Promise<{ data: AnswerOf<O>; meta: Static<O['meta']> }> {
  return (await answerOf(method, path, options)) as { data: AnswerOf<O>; meta: Static<O['meta']> };
}

/** A page of a list with `paged: true`. @throws ApiFault */
export async function callPage<O extends Declared & { paged: true }>(
  path: string,
  { query, signal }: { query: ChosenPage & Query; signal: AbortSignal },
): Promise<Page<AnswerOf<O> extends (infer Row)[] ? Row : never>> {
  return (await answerOf('GET', path, { query, signal })) as Page<AnswerOf<O> extends (infer Row)[] ? Row : never>;
}

/** Asks what a write would do: its answer and its effects. Nothing is changed. @throws ApiFault as the write itself */
export async function dryRun<O extends Declared>(
  method: O['method'],
  path: string,
  options: Pick<CallOptions<BodyOf<O>>, 'body' | 'signal'>,
): Promise<{ data: AnswerOf<O>; effects: Effects }> {
  const answered = await answerOf(method, path, { ...options, query: { dryRun: true } });
  const { data, meta } = answered as { data: AnswerOf<O>; meta: { effects: Effects } };
  return { data, effects: meta.effects };
}

/** Like `call`, for operations whose declaration is not available; the result is not typed. */
export async function send(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
  return ((await answerOf(method, path, options)) as { data: unknown }).data;
}

async function answerOf(method: string, path: string, options: CallOptions): Promise<unknown> {
  const response = await request(method, path, options);
  const body = await readJson(response);
  if (response.ok) return body;
  throw await faultOf(response, body, { method, path: address(path, options.query), body: options.body });
}

/** Calls an operation that answers with a file. @throws ApiFault */
export async function download(path: string, options: CallOptions = {}, method = 'GET'): Promise<Response> {
  const response = await request(method, path, options);
  if (!response.ok) throw await faultOf(response, await readJson(response));
  return response;
}

async function request(method: string, path: string, options: CallOptions): Promise<Response> {
  const response = await requestOnce(method, path, options);
  if (response.status === 401 && options.probe !== true) {
    return (await connection.onSessionEnded()) ? await requestOnce(method, path, options) : response;
  }
  if (response.status !== 403) return response;
  const refusal = await readJson(response.clone());
  const refused = (refusal as { error?: { code?: string } } | undefined)?.error?.code === 'CSRF_TOKEN_INVALID';
  return refused && (await connection.onTokenRefused()) ? await requestOnce(method, path, options) : response;
}

async function requestOnce(method: string, path: string, options: CallOptions): Promise<Response> {
  const headers = new Headers({ 'Accept-Language': currentLanguage() });
  if (method !== 'GET' && connection.csrfToken !== undefined) headers.set('X-Docket-CSRF', connection.csrfToken);
  // What requesters write in the portal counts as their own words, even of people who also work on the record.
  if (location.pathname.startsWith('/portal')) headers.set('X-Docket-Interface', 'portal');
  if (options.body !== undefined) headers.set('Content-Type', 'application/json');
  if (options.idempotencyKey !== undefined) headers.set('Idempotency-Key', options.idempotencyKey);
  try {
    return await fetch(address(path, options.query), {
      method,
      headers,
      credentials: 'same-origin',
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiFault(0, 'OFFLINE', 'The service cannot be reached.', [], null);
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return (await response.json()) as unknown;
  } catch {
    return undefined;
  }
}

interface ErrorBody {
  error?: { code?: string; message?: string; details?: ApiFault['details'] };
  /** `cause` explains the message; `reasons` has one entry for each entry of `details`. */
  meta?: {
    cause?: Pick<ReportedProblem, 'reason' | 'params'>;
    reasons?: Pick<ReportedProblem, 'reason' | 'params'>[];
  };
}

async function faultOf(response: Response, body: unknown, request?: RefusedRequest): Promise<ApiFault> {
  await loadProblemTexts();
  const { error, meta } = (body ?? {}) as ErrorBody;
  const details = error?.details ?? [];
  const message = error?.message ?? response.statusText;
  const fault = new ApiFault(
    response.status,
    error?.code ?? 'UNKNOWN',
    message,
    Array.isArray(details) ? details.map((place, index) => ({ ...place, ...meta?.reasons?.[index] })) : details,
    response.headers.get('X-Correlation-Id'),
    meta?.cause === undefined ? undefined : { message, ...meta.cause },
  );
  fault.request = request;
  return fault;
}
