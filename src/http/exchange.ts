/** One request and its answer: what is known of it on the way, how the answer is written, and the one line in the log. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { failure } from '../contract/envelope.ts';
import type { SharedBudget } from '../lib/shared-budget.ts';
import { answerOf, ClientGone, loggable } from './errors.ts';
import { overloaded } from './gate.ts';
import { announcesBody, correlationIdOf, declaredLength } from './headers.ts';
import { lingeringEnd } from './linger.ts';
import type { Metrics } from './metrics.ts';
import { PIECE, sendPieces } from './slow-readers.ts';

export type Headers = Record<string, string | number | string[]>;

/** What all requests of one server share. */
export interface Shared {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Requests that wait for `100 Continue` before they send their body. */
  readonly expecting: WeakSet<IncomingMessage>;
  /** The answer that a connection is at: a broken request must not write into it. */
  readonly current: WeakMap<object, ServerResponse>;
  draining: boolean;
  /** Milliseconds within which a client must take a piece of a large answer. */
  readonly stalledMs: number;
  /** Whether people reach the service by https. */
  readonly https: boolean;
  /** Bytes of large answers of callers that are being sent. */
  readonly answers: SharedBudget;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** On every answer; `Reply` headers may replace those of them that a file needs otherwise. */
export const BASE_HEADERS: readonly [string, string][] = [
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Referrer-Policy', 'no-referrer'],
];

const BASE_FLAT = BASE_HEADERS.flat();
const STRICT_TRANSPORT = ['Strict-Transport-Security', 'max-age=31536000'];
/** A refused request may have this many bytes of its body under way and keep its connection. */
const SMALL_BODY = 65_536;

/** What a streamed answer is taken to hold in memory. */
const STREAMED = 4 * 1024 * 1024;

export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly correlationId: string;
  readonly operation: string;
  readonly started = performance.now();
  readonly #shared: Shared;
  /** Set when known, for the log. */
  ip: string | undefined;
  callerId: string | undefined;
  keyId: string | null = null;
  /** The trace that the request is part of, where traces are made. */
  traceId: string | undefined;
  /** Scopes of the key; null where the operation is not reached by one. */
  scopes: ReadonlySet<string> | null = null;
  /** Further headers of whatever answer comes: rate limits. Pairs, flat. */
  readonly extra: string[] = [];
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

  /** Lets a client that asked first send its body. */
  continueBody(): void {
    if (this.#shared.expecting.delete(this.request)) this.response.writeContinue();
  }

  /** Calls back once, when the answer went out whole or its client is gone. */
  whenClosed(then: () => void): void {
    if (this.response.closed || this.response.destroyed) then();
    else this.response.once('close', then);
  }

  /** Answers with JSON text. */
  sendJson(status: number, body: string, headers?: Headers): void {
    this.sendText(status, JSON_TYPE, body, headers);
  }

  /** Answers with text or bytes; statuses without content get none. Later answers are dropped. */
  sendText(status: number, type: string | undefined, body: string | Uint8Array, headers?: Headers): void {
    if (this.#answered) return;
    const bodiless = status === 204 || status === 304;
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
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      const { stalledMs } = this.#shared;
      sendPieces([bytes], this.response, { stalledMs }, (error) => this.#record(status, error));
      if (!this.request.complete) this.request.resume();
      return;
    } else {
      this.response.end(bodiless ? undefined : body);
      // What is left of a small body is read, so that the connection can go on.
      if (!this.request.complete) this.request.resume();
    }
    this.#record(status);
  }

  /** Answers with a stream. A fault before the first byte is thrown; a later one breaks the connection. */
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

  /** Answers with the error in our shape; a defect goes to the log with its stack. */
  sendError(error: unknown): void {
    if (this.#answered) return;
    if (error instanceof ClientGone) {
      this.#answered = true;
      this.#record(499);
      return;
    }
    const answer = answerOf(error);
    const { correlationId, operation } = this;
    // A refusal under overload has its line as every request; more would make the overload worse.
    const refusal = answer.code === 'OVERLOADED' && error instanceof Error && error.cause === undefined;
    if (answer.status >= 500 && !refusal) {
      const level = answer.status === 500 ? 'error' : 'warn';
      this.#shared.log[level]({ correlationId, operation, err: loggable(error) }, answer.code);
    }
    const body = failure(answer.code, answer.message, answer.details, correlationId);
    // Where a person reads what the code means, and what to do.
    const Link = `</docs/errors/${answer.code}>; rel="help"`;
    this.sendJson(answer.status, body, { ...answer.headers, Link });
  }

  /** Counts a large answer against its caller until it was sent. @returns false where it must not be sent */
  #holdAnswer(length: number): boolean {
    const owner = this.callerId;
    // What strangers get is the same for all, and in memory once.
    if (owner === undefined) return true;
    const { answers } = this.#shared;
    if (!answers.take(owner, length)) {
      // A change was made: its answer is due. A single answer passes whatever its size.
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

  /** Whether a body is under way that nobody read and that is too large, or of unknown length, to be waited for. */
  #refusedBody(): boolean {
    const { request } = this;
    if (request.complete || !announcesBody(request)) return false;
    return this.expectsContinue || (declaredLength(request) ?? Number.POSITIVE_INFINITY) > SMALL_BODY;
  }

  #record(status: number, error?: Error): void {
    const ms = performance.now() - this.started;
    const { response, keyId } = this;
    this.#shared.metrics.observe(this.operation, status, ms);
    this.#shared.log.info({
      correlationId: this.correlationId,
      operation: this.operation,
      method: this.request.method,
      status,
      ms: Math.round(ms * 1000) / 1000,
      // A key is its own caller.
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
  return overloaded('You have too many answers that are not read; retry after Retry-After.');
}

function lengthIn(headers: Headers): number | undefined {
  const entry = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-length');
  return entry === undefined ? undefined : Number(entry[1]);
}

function firstByte(source: Readable): Promise<void> {
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
