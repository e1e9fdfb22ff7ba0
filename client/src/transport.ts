/**
 * Sends operations and parses their answers. Retries where that is safe. Facts about an operation come with the call; only the
 * long timeouts list operations by id.
 */
import { Download } from './content.ts';
import { ConnectionFailed, errorOf, reasonOf } from './errors.ts';
import type { DocketObject, Effects } from './generated/api-types.ts';
import { delayMs, PATIENCE, type Patience, retryAfterMs, wait } from './patience.ts';

/** Facts about an operation, as the generated methods pass them. */
export interface OperationFacts {
  id: string;
  method: string;
  /** Below the prefix, with parameters in braces. */
  path: string;
  surface: 'api' | 'admin';
  answer: 'json' | 'raw' | 'none';
  /** True if it accepts an idempotency key. */
  keyed?: boolean;
}

export interface Given {
  params: readonly string[];
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
}

/** One attempt of a call, for metrics and logs. */
export interface Attempt {
  operation: string;
  /** From 1. */
  attempt: number;
  ms: number;
  /** Undefined if no answer arrived. */
  status: number | undefined;
  /** Why another attempt follows; undefined for the last one. */
  again: string | undefined;
}

/** Facts about the answer of a call, besides its data. */
export interface AnswerInfo {
  status: number;
  headers: Headers;
  correlationId: string;
  /** True if the service replayed the stored answer of an earlier call with the same idempotency key. */
  replayed: boolean;
  attempts: number;
  /** Of a dry run: what the call would have done. */
  effects?: Effects;
}

export interface CallOptions {
  /** The service answers as it would, changes nothing, and passes the effects to `onAnswer`. Writes take it. */
  dryRun?: boolean;
  signal?: AbortSignal;
  /** Replaces the generated key. Needed if a later run of the program must repeat this call safely. */
  idempotencyKey?: string;
  /** 1 to 128 of `A-Za-z0-9._-`; the service stores it and writes it to its log. */
  correlationId?: string;
  /** Timeout of one attempt in milliseconds. */
  timeoutMs?: number;
  patience?: Partial<Patience>;
  onAnswer?: (answer: AnswerInfo) => void;
}

export interface TransportOptions {
  /** Base URL of the service, without `/api/v1`. */
  url: string;
  /** An API key. Omit it only if the caller is authenticated otherwise, by a proxy or a browser session. */
  key?: string | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  /** Timeout of one attempt in milliseconds. Default 60 s; 310 s for bulk, imports, exports and applying configuration. */
  timeoutMs?: number;
  patience?: Partial<Patience>;
  /**
   * `admin`: all operations are called in the administration API, where a key with the scope `admin:manage` needs no other
   * scope. By default only operations that exist nowhere else are.
   */
  surface?: 'admin';
  /** Called after every attempt. */
  onAttempt?: (attempt: Attempt) => void;
}

export interface Sender {
  send<Result>(operation: OperationFacts, given: Given, options?: CallOptions): Promise<Result>;
}

/** Base class of the generated operation groups. */
export class Group {
  protected readonly sender: Sender;

  constructor(sender: Sender) {
    this.sender = sender;
  }
}

const PREFIX = { api: '/api/v1', admin: '/api/admin/v1' };
const TIMEOUT_MS = 60_000;
const LONG_TIMEOUT_MS = 310_000;
const LONG = new Set(['bulk.run', 'imports.run', 'imports.preview', 'exports.create', 'config.plan', 'config.apply']);

/** Operations that change nothing although they are sent with POST. */
const READS = new Set(['config.plan', 'imports.preview']);

/** Codes of TLS errors that another attempt cannot repair. */
const NOT_TRUSTED = /^(?:CERT_|ERR_TLS_|ERR_SSL_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH)/;

/** Codes of requests rejected before any effect. They are safe to retry for every operation. */
const NOTHING_DONE = new Set(['RATE_LIMITED', 'OVERLOADED', 'IDEMPOTENCY_IN_PROGRESS']);

interface Failure {
  code: string;
  message: string;
  details: unknown;
}

type Outcome =
  | { kind: 'answered'; response: Response; data: unknown; effects: Effects | undefined }
  | { kind: 'refused'; response: Response; failure: Failure }
  | { kind: 'silent'; cause: unknown };

/**
 * True if the call may be retried when its outcome is unknown. This holds for reads, for calls with an idempotency key, and for
 * calls with an expected revision, because the same revision cannot be changed twice.
 */
function isRepeatable({ id, method, keyed }: OperationFacts, { body }: Given): boolean {
  if (method === 'GET' || keyed === true || READS.has(id)) return true;
  if (typeof body !== 'object' || body === null) return false;
  if ('expectedRevision' in body && body.expectedRevision !== undefined) return true;
  if (!('items' in body) || !Array.isArray(body.items)) return false;
  return body.items.every((item: unknown) => typeof item === 'object' && item !== null && 'expectedRevision' in item);
}

export class Transport implements Sender {
  readonly #options: TransportOptions;
  readonly #fetch: typeof globalThis.fetch;
  readonly #base: string;

  constructor(options: TransportOptions) {
    this.#options = options;
    // Browsers reject `fetch` when it is called as a method of another object.
    const own = options.fetch ?? globalThis.fetch;
    this.#fetch = (input, init) => own(input, init);
    this.#base = options.url.replace(/\/+$/, '');
  }

  /**
   * Returns the `data` of the answer, or a `Download` where the answer is not JSON.
   *
   * @throws DocketError if the service rejects the call; ConnectionFailed if no answer arrives; the signal's reason if it is
   * aborted
   */
  async send<Result>(operation: OperationFacts, given: Given, options: CallOptions = {}): Promise<Result> {
    const patience = { ...PATIENCE, ...this.#options.patience, ...options.patience };
    const request = this.#request(operation, given, options);
    const repeatable = options.dryRun === true || isRepeatable(operation, given);
    const deadline = performance.now() + patience.totalMs;
    let uncertain = false;
    for (let attempt = 1; ; attempt++) {
      options.signal?.throwIfAborted();
      const began = performance.now();
      const outcome = await this.#attempt(operation, request, options);
      const ms = performance.now() - began;
      const again = whyAgain(outcome, repeatable);
      const asked = outcome.kind === 'silent' ? null : outcome.response.headers.get('retry-after');
      const delay = delayMs(patience, attempt, retryAfterMs(asked, Date.now()), Math.random());
      const goesOn = again !== undefined && performance.now() + delay < deadline;
      this.#options.onAttempt?.({
        operation: operation.id,
        attempt,
        ms,
        status: outcome.kind === 'silent' ? undefined : outcome.response.status,
        again: goesOn ? again : undefined,
      });
      if (goesOn) {
        uncertain ||= outcome.kind === 'silent' || !NOTHING_DONE.has(outcomeCode(outcome));
        await wait(delay, options.signal);
        continue;
      }
      if (outcome.kind === 'silent') throw new ConnectionFailed(operation.id, attempt, outcome.cause);
      const { response } = outcome;
      const correlationId = response.headers.get('x-correlation-id') ?? '';
      if (outcome.kind === 'refused') {
        const { status } = response;
        const retryAfter = retryAfterMs(asked, Date.now());
        const refusal = { ...outcome.failure, status, correlationId, operation: operation.id, uncertain };
        throw errorOf({ ...refusal, retryAfterMs: retryAfter }, this.#reader(operation, given));
      }
      const replayed = response.headers.get('idempotency-replayed') === 'true';
      options.onAnswer?.({
        status: response.status,
        headers: response.headers,
        correlationId,
        replayed,
        attempts: attempt,
        ...(outcome.effects === undefined ? {} : { effects: outcome.effects }),
      });
      return outcome.data as Result;
    }
  }

  /** Returns a function that reads the record of a rejected call; undefined if the call was not about a record. */
  #reader({ path }: OperationFacts, { params }: Given): (() => Promise<DocketObject>) | undefined {
    const [objectId] = params;
    if (!path.startsWith('/objects/{objectId}') || objectId === undefined) return undefined;
    const read = {
      id: 'objects.get',
      method: 'GET',
      path: '/objects/{objectId}',
      surface: 'api',
      answer: 'json',
    } as const;
    return () => this.send<DocketObject>(read, { params: [objectId] });
  }

  #request(
    operation: OperationFacts,
    { params, query, body }: Given,
    options: CallOptions,
  ): { url: string; init: RequestInit } {
    let place = 0;
    const path = operation.path.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(params[place++] ?? ''));
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value === undefined) continue;
      search.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
    }
    if (options.dryRun === true) search.set('dryRun', 'true');
    const headers = new Headers(this.#options.headers);
    if (this.#options.key !== undefined) headers.set('authorization', `Bearer ${this.#options.key}`);
    if (body !== undefined) headers.set('content-type', 'application/json');
    if (options.correlationId !== undefined) headers.set('x-correlation-id', options.correlationId);
    if (operation.keyed === true && options.dryRun !== true)
      headers.set('idempotency-key', options.idempotencyKey ?? crypto.randomUUID());
    const text = search.size === 0 ? '' : `?${search}`;
    return {
      url: `${this.#base}${PREFIX[this.#options.surface ?? operation.surface]}${path}${text}`,
      init: { method: operation.method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
    };
  }

  async #attempt(
    operation: OperationFacts,
    { url, init }: { url: string; init: RequestInit },
    options: CallOptions,
  ): Promise<Outcome> {
    const limit =
      options.timeoutMs ?? this.#options.timeoutMs ?? (LONG.has(operation.id) ? LONG_TIMEOUT_MS : TIMEOUT_MS);
    const stop = new AbortController();
    const abort = (): void => stop.abort(options.signal?.reason);
    options.signal?.addEventListener('abort', abort, { once: true });
    const timer = setTimeout(() => stop.abort(new Error(`no answer within ${limit} ms`)), limit);
    let streams = false;
    try {
      const response = await this.#fetch(url, { ...init, signal: stop.signal });
      if (!response.ok) return { kind: 'refused', response, failure: failureOf(response, await response.text()) };
      // The caller reads a raw answer as a stream. From here on only the caller's signal can end it.
      streams = operation.answer === 'raw';
      return { kind: 'answered', response, ...(await contentOf(operation, response)) };
    } catch (cause) {
      options.signal?.throwIfAborted();
      return { kind: 'silent', cause };
    } finally {
      clearTimeout(timer);
      if (!streams) options.signal?.removeEventListener('abort', abort);
    }
  }
}

interface Content {
  data: unknown;
  effects: Effects | undefined;
}

async function contentOf({ answer }: OperationFacts, response: Response): Promise<Content> {
  if (answer === 'raw') return { data: new Download(response), effects: undefined };
  const text = await response.text();
  if (answer === 'none') return { data: undefined, effects: undefined };
  const { data, meta } = JSON.parse(text) as { data: unknown; meta?: { effects?: Effects } };
  return { data, effects: meta?.effects };
}

/** Parses an error answer. For answers that are not from the service, such as those of a proxy, the code is the status. */
function failureOf(response: Response, text: string): Failure {
  try {
    const { error } = JSON.parse(text) as { error?: Partial<Failure> };
    if (typeof error?.code === 'string') {
      return { code: error.code, message: error.message ?? error.code, details: error.details ?? [] };
    }
  } catch {
    // Not JSON.
  }
  return {
    code: `HTTP_${response.status}`,
    message: `The answer was ${response.status}: ${text.slice(0, 200)}`,
    details: [],
  };
}

function outcomeCode(outcome: Outcome): string {
  return outcome.kind === 'refused' ? outcome.failure.code : '';
}

/** The reason for a retry; undefined if the call is not retried. */
function whyAgain(outcome: Outcome, repeatable: boolean): string | undefined {
  if (outcome.kind === 'answered') return undefined;
  if (outcome.kind === 'silent') {
    const reason = reasonOf(outcome.cause);
    return repeatable && !NOT_TRUSTED.test(reason) ? reason : undefined;
  }
  const { status } = outcome.response;
  const { code } = outcome.failure;
  const said = `${status} ${code}`;
  if (status === 429 || NOTHING_DONE.has(code)) return said;
  return repeatable && [502, 503, 504].includes(status) ? said : undefined;
}
