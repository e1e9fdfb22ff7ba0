/** Context of one request and its response: facts for the log, sending the response, and the request's one log line. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { failure } from '../contract/envelope.ts';
import type { SharedBudget } from '../lib/shared-budget.ts';
import { loggable } from '../lib/loggable.ts';
import { answerOf, ClientGone } from './errors.ts';
import { overloaded } from './admission.ts';
import { announcesBody, correlationIdOf, declaredLength } from './headers.ts';
import { lingeringEnd, PIECE, sendPieces } from './slow-clients.ts';
import type { Metrics } from './metrics.ts';
export type Headers = Record<string, string | number | string[]>;

/** State shared by all requests of one server. */
export interface Shared {
  readonly log: Logger;
  /** For the line of each request. It contains no secrets, so they are not looked for: that would take a tenth of a read. */
  readonly requestLog: Logger;
  readonly metrics: Metrics;
  /** Requests whose client waits for `100 Continue` before it sends the body. */
  readonly expecting: WeakSet<IncomingMessage>;
  /** The current response of each connection. An error in a later, malformed request must not write into it. */
  readonly current: WeakMap<object, ServerResponse>;
  draining: boolean;
  /** Milliseconds within which a client must read each chunk of a large answer. */
  readonly stalledMs: number;
  /** True if the public URL of the service uses https. */
  readonly https: boolean;
  /** Bytes of large answers being sent, per caller. */
  readonly answers: SharedBudget;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Headers of every answer. `Reply` headers of the same name replace them. */
export const BASE_HEADERS: readonly [string, string][] = [
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Referrer-Policy', 'no-referrer'],
];

const BASE_FLAT = BASE_HEADERS.flat();
const STRICT_TRANSPORT = ['Strict-Transport-Security', 'max-age=31536000'];
/** A rejected request with at most this many unread body bytes keeps its connection. */
const SMALL_BODY = 65_536;

/** Longer text is encoded here, once. Node would measure it, copy it behind the headers and measure it again. In characters. */
const LONG_TEXT = 8192;

/** Bytes that a streamed answer counts as in the answer budget. */
const STREAMED = 4 * 1024 * 1024;

export class RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly correlationId: string;
  readonly operation: string;
  readonly started = performance.now();
  readonly #shared: Shared;
  /** Set once known, for the log. */
  ip: string | undefined;
  callerId: string | undefined;
  keyId: string | null = null;
  /** Trace id of the request, if tracing is enabled. */
  traceId: string | undefined;
  /** Scopes of the key; null if the route requires no scope. */
  scopes: ReadonlySet<string> | null = null;
  /** Headers added to every answer, such as rate limits. Flat list of name and value pairs. */
  readonly extra: string[] = [];
  /** Whether the request asked for a dry run; the answer says so. */
  isDryRun = false;
  #answered = false;

  constructor(shared: Shared, request: IncomingMessage, response: ServerResponse, operation: string) {
    this.#shared = shared;
    this.request = request;
    this.response = response;
    this.operation = operation;
    this.correlationId = correlationIdOf(request);
    shared.current.set(request.socket, response);
  }

  get answered(): boolean {
    return this.#answered;
  }

  get expectsContinue(): boolean {
    return this.#shared.expecting.has(this.request);
  }

  /** Sends `100 Continue` if the client waits for it. */
  continueBody(): void {
    if (this.#shared.expecting.delete(this.request)) this.response.writeContinue();
  }

  /** Calls back once, after the answer was sent or the connection closed. */
  whenClosed(then: () => void): void {
    if (this.response.closed || this.response.destroyed) then();
    else this.response.once('close', then);
  }

  /** Answers with JSON text. */
  sendJson(status: number, body: string, headers?: Headers): void {
    this.sendText(status, JSON_TYPE, body, headers);
  }

  /** Answers with text or bytes; no body for 204 and 304. Calls after the first answer are ignored. */
  sendText(status: number, type: string | undefined, content: string | Uint8Array, headers?: Headers): void {
    if (this.#answered) return;
    const bodiless = status === 204 || status === 304;
    const body = typeof content === 'string' && content.length > LONG_TEXT ? Buffer.from(content) : content;
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    const large = !bodiless && length > PIECE && this.request.method !== 'HEAD';
    if (large && !this.#holdAnswer(length)) {
      this.sendError(unread());
      return;
    }
    const head = this.#head(type === undefined || bodiless ? [] : ['Content-Type', type], headers);
    if (!bodiless) head.push('Content-Length', String(length));
    if (this.response.destroyed) {
      this.#answered = true;
      this.#record(status);
      return;
    }
    const lingers = this.#refusedBody();
    if (lingers || this.#shared.draining) head.push('Connection', 'close');
    this.response.writeHead(status, head);
    this.#answered = true;
    if (lingers) {
      if (!bodiless) this.response.write(body);
      lingeringEnd(this.request, this.response, this.expectsContinue);
    } else if (large) {
      const { stalledMs } = this.#shared;
      sendPieces([body as Uint8Array], this.response, { stalledMs }, (error) => this.#record(status, error));
      if (!this.request.complete) this.request.resume();
      return;
    } else {
      this.response.end(bodiless ? undefined : body);
      // Reads the rest of a small body so that the connection can be reused.
      if (!this.request.complete) this.request.resume();
    }
    this.#record(status);
  }

  /**
   * Begins an answer that has no end yet. From then on, what is written to `response` is up to the caller of this method. The
   * request is logged and measured now: its duration would say nothing later.
   */
  begin(status: number, headers: Headers): void {
    this.response.writeHead(status, this.#head([], headers));
    this.response.flushHeaders();
    this.#answered = true;
    this.#record(status);
  }

  /** Answers with a stream. An error before the first byte is thrown; a later one aborts the connection. */
  async sendStream(status: number, source: Readable, headers: Headers): Promise<void> {
    const { request, response } = this;
    await firstByte(source);
    if (this.#answered) {
      source.destroy();
      return;
    }
    if (!this.#holdAnswer(STREAMED)) {
      source.destroy();
      throw unread();
    }
    const head = this.#head([], headers);
    if (this.#shared.draining) head.push('Connection', 'close');
    response.writeHead(status, head);
    this.#answered = true;
    if (request.method === 'HEAD') {
      source.destroy();
      response.end();
      this.#record(status);
      return;
    }
    const announced = lengthIn(headers);
    await new Promise<void>((resolve) => {
      const done = (error: Error | undefined): void => {
        this.#record(status, error);
        resolve();
      };
      sendPieces(source, response, { stalledMs: this.#shared.stalledMs, announced }, done);
    });
  }

  /** Answers with the error envelope. Status 5xx is logged with its stack. */
  sendError(error: unknown): void {
    if (this.#answered) return;
    if (error instanceof ClientGone) {
      this.#answered = true;
      this.#record(499);
      return;
    }
    const answer = answerOf(error);
    const { correlationId, operation } = this;
    // Rejections under overload get only the request's log line. More logging would make the overload worse.
    const refusal = answer.code === 'OVERLOADED' && error instanceof Error && error.cause === undefined;
    if (answer.status >= 500 && !refusal) {
      const level = answer.status === 500 ? 'error' : 'warn';
      this.#shared.log[level]({ correlationId, operation, err: loggable(error) }, answer.code);
    }
    const body = failure(answer.code, answer.said, answer.details, correlationId, this.isDryRun);
    // Links to the page that explains the error code.
    const Link = `</docs/errors/${answer.code}>; rel="help"`;
    this.sendJson(answer.status, body, { ...answer.headers, Link });
  }

  /** Counts a large answer against its caller until it is sent. @returns false if it must not be sent */
  #holdAnswer(length: number): boolean {
    const owner = this.callerId;
    // Answers to unauthenticated clients are the same for all and held in memory once.
    if (owner === undefined) return true;
    const { answers } = this.#shared;
    if (!answers.take(owner, length)) {
      // Only reads are rejected: after a write, the caller must get its answer. With nothing else held, any size passes.
      if (this.request.method === 'GET' && answers.held > 0) return false;
      answers.add(owner, length);
    }
    this.whenClosed(() => answers.release(owner, length));
    return true;
  }

  #head(head: string[], headers: Headers | undefined): string[] {
    head.push('X-Correlation-Id', this.correlationId);
    if (this.#shared.https) head.push(...STRICT_TRANSPORT);
    if (headers === undefined) {
      for (const part of BASE_FLAT) head.push(part);
    } else {
      const given = Object.entries(headers);
      const names = new Set(given.map(([name]) => name.toLowerCase()));
      for (const [name, value] of BASE_HEADERS) if (!names.has(name.toLowerCase())) head.push(name, value);
      for (const [name, value] of given) {
        for (const one of Array.isArray(value) ? value : [value]) head.push(name, String(one));
      }
    }
    if (this.extra.length > 0) head.push(...this.extra);
    return head;
  }

  /** True if an unread body is still arriving that is too large, or of unknown length, to wait for. */
  #refusedBody(): boolean {
    const { request } = this;
    if (request.complete || !announcesBody(request)) return false;
    return this.expectsContinue || (declaredLength(request) ?? Number.POSITIVE_INFINITY) > SMALL_BODY;
  }

  #record(status: number, error?: Error): void {
    const ms = performance.now() - this.started;
    const { response, keyId } = this;
    this.#shared.metrics.observe(this.operation, status, ms);
    this.#shared.requestLog.info({
      correlationId: this.correlationId,
      operation: this.operation,
      method: this.request.method,
      status,
      ms: Math.round(ms * 1000) / 1000,
      // The caller id equals the key id for keys; it is logged once.
      callerId: this.callerId === keyId ? undefined : this.callerId,
      keyId: keyId ?? undefined,
      traceId: this.traceId,
      ip: this.ip,
      gone: response.destroyed && !response.writableFinished ? true : undefined,
      broken: error === undefined ? undefined : loggable(error),
    });
  }
}

function unread(): Error {
  return overloaded('You have too many unread responses. Read them and retry after the time in Retry-After.');
}

function lengthIn(headers: Headers): number | undefined {
  const entry = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-length');
  return entry === undefined ? undefined : Number(entry[1]);
}

/** Waits until the content begins. @throws the error of a source that fails before */
export function firstByte(source: Readable): Promise<void> {
  if (source.destroyed) return Promise.reject(source.errored ?? new Error('the content was closed before it began'));
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      source.off('readable', onReadable).off('end', onReadable).off('error', settle).off('close', onClose);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onReadable = (): void => settle();
    const onClose = (): void => settle(new Error('the content was closed before it began'));
    source.on('readable', onReadable).on('end', onReadable).on('error', settle).on('close', onClose);
  });
}
