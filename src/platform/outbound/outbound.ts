/**
 * All outgoing calls. Only https to allowed addresses, no redirects, no proxies from the environment, with limits on time and
 * response size. Connections are kept alive between calls.
 */
import type { TLSSocket } from 'node:tls';
import type { Agent } from 'undici';
import { AddressRefused, Dialler, needsLookup, type Resolve, resolveBySystem } from './address.ts';
import type { Tracer } from '../observability/traces.ts';

/** Time limit of the look-ups of one save. The save holds a transaction, which the database ends after 15 s without a statement. */
const JUDGE_MS = 5000;
/** Concurrent look-ups of one save. They hold threads that deliveries need too. */
const JUDGED_AT_ONCE = 2;

export interface OutboundOptions {
  /** Disables the restriction to public addresses, and nothing else (`DOCKET_WEBHOOK_ALLOW_PRIVATE`). */
  allowPrivate: boolean;
  /** Time limit of a whole call in milliseconds; default 10,000. */
  limitMs?: number;
  /** Additional root certificates, PEM, besides those of the system and `NODE_EXTRA_CA_CERTS`. */
  ca?: string;
  /** Maximum number of response bytes read; default 64 KiB. */
  mostBytes?: number;
  /** Resolves host names; default: the system's resolver. */
  resolve?: Resolve;
  /** Creates a span for each call and propagates it to the receiver. */
  tracer?: Tracer | undefined;
}

/**
 * The outcome of a call. `answered`: a status was received, even if the rest of the response was not. `refused`: nothing was
 * sent. `failed`: no status was received; the request may or may not have arrived.
 */
export type Outcome =
  | { kind: 'answered'; status: number; durationMs: number; body: Buffer; retryAfter: string | undefined }
  | { kind: 'refused'; reason: string }
  | { kind: 'failed'; reason: string; durationMs: number };

/**
 * Error codes of the system and of TLS are useful and safe to report. Other messages may repeat what was sent or are internal.
 */
function reasonOf(error: Error): string {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^(?!UND_)[A-Z][A-Z0-9_]{2,60}$/.test(code)) return `no answer: ${code}`;
  return error.message === 'connect timeout' ? 'no answer: connect timeout' : 'no answer: the connection broke';
}

/** Checks addresses when they are saved; sends nothing. */
export type AddressCheck = Pick<Outbound, 'refusals'>;

export class Outbound {
  /** Created on the first call: a process that makes no calls does not load the library. */
  #agent: Promise<Agent> | undefined;
  readonly #dialler: Dialler;
  readonly #limitMs: number;
  readonly #mostBytes: number;
  readonly #tracer: Tracer | undefined;
  readonly #ca: string | undefined;

  constructor(options: OutboundOptions) {
    this.#tracer = options.tracer;
    this.#ca = options.ca;
    this.#limitMs = options.limitMs ?? 10_000;
    this.#mostBytes = options.mostBytes ?? 65_536;
    this.#dialler = new Dialler({
      allowPrivate: options.allowPrivate,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
      connectMs: this.#limitMs,
      resolve: options.resolve ?? resolveBySystem,
    });
  }

  async #makeAgent(): Promise<Agent> {
    const { Agent } = await import('undici');
    return new Agent({
      allowH2: false,
      pipelining: 1,
      // The time limit applies to the whole call and is enforced here.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: async ({ hostname, port, protocol }, callback) => {
        let socket: TLSSocket;
        try {
          if (protocol !== 'https:') throw new AddressRefused();
          socket = await this.#dialler.dial(hostname, port === '' ? 443 : Number(port));
        } catch (error) {
          callback(error as Error, null);
          return;
        }
        callback(null, socket);
      },
    });
  }

  /**
   * The URLs to which calls would be refused because of their address, each with the reason. Expects https URLs. A URL is
   * omitted if its name cannot be resolved now, or not within 5 s for all of them. The binding check is made for each socket.
   */
  async refusals(urls: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const byHost = Map.groupBy(urls, (url) => URL.parse(url)?.hostname ?? '');
    byHost.delete('');
    const refused = new Map<string, string>();
    const check = async (host: string): Promise<void> => {
      try {
        await this.#dialler.allowedAddresses(host);
      } catch (error) {
        if (!(error instanceof AddressRefused)) return;
        for (const url of byHost.get(host) ?? []) refused.set(url, error.message);
      }
    };
    const hosts = [...byHost.keys()];
    for (const host of hosts) if (!needsLookup(host)) await check(host);
    await this.#inTime(hosts.filter(needsLookup), check);
    return new Map(refused);
  }

  /**
   * The address of a host for a connection that another library makes, with the root certificates to trust.
   *
   * @throws AddressRefused; the system's error if the name cannot be resolved
   */
  async addressOf(host: string): Promise<{ address: string; ca: string | undefined }> {
    const [address = ''] = await this.#dialler.allowedAddresses(host);
    return { address, ca: this.#ca };
  }

  /** Checks hosts until all are checked or the time is up. */
  async #inTime(hosts: readonly string[], check: (host: string) => Promise<void>): Promise<void> {
    const { promise: timeUp, resolve } = Promise.withResolvers<void>();
    let isUp = false;
    const timer = setTimeout(
      () => {
        isUp = true;
        resolve();
      },
      Math.min(this.#limitMs, JUDGE_MS),
    );
    const queue = hosts.values();
    const work = async (): Promise<void> => {
      for (const host of queue) {
        if (isUp) return;
        await check(host);
      }
    };
    await Promise.race([timeUp, Promise.all(Array.from({ length: JUDGED_AT_ONCE }, work))]);
    clearTimeout(timer);
  }

  /** Sends bytes unchanged. Never throws; a URL that is not https is refused. */
  post(url: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<Outcome> {
    const target = URL.canParse(url) ? new URL(url) : undefined;
    if (target?.protocol !== 'https:') {
      return Promise.resolve({ kind: 'refused', reason: 'Only https addresses are called.' });
    }
    const send = async (sent: Readonly<Record<string, string>>): Promise<Outcome> => {
      const agent = await (this.#agent ??= this.#makeAgent());
      return await new Promise((resolve) => this.#dispatch(agent, target, sent, body, resolve));
    };
    return this.#tracer === undefined ? send(headers) : this.#traced(this.#tracer, target, headers, send);
  }

  #traced(
    tracer: Tracer,
    target: URL,
    headers: Readonly<Record<string, string>>,
    send: (headers: Readonly<Record<string, string>>) => Promise<Outcome>,
  ): Promise<Outcome> {
    const attributes = { 'http.request.method': 'POST', 'server.address': target.hostname };
    return tracer.run({ name: 'webhook.deliver', kind: 'client', attributes }, async (span) => {
      const outcome = await send({ ...headers, traceparent: span.traceparent });
      if (outcome.kind === 'answered') span.set({ 'http.response.status_code': outcome.status });
      if (outcome.kind !== 'answered' || outcome.status >= 400) span.fail(outcome.kind);
      return outcome;
    });
  }

  #dispatch(
    agent: Agent,
    target: URL,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    resolve: (outcome: Outcome) => void,
  ): void {
    const began = performance.now();
    const call = new Call(this.#mostBytes, began, resolve);
    const timer = setTimeout(() => call.stop(`no answer within ${this.#limitMs} ms`), this.#limitMs);
    call.onDone = () => clearTimeout(timer);
    agent.dispatch(
      {
        origin: target.origin,
        path: target.pathname + target.search,
        method: 'POST',
        headers: { ...headers },
        body,
      },
      {
        onRequestStart: (controller) => call.started(controller),
        onResponseStart: (_controller, status, answered) => {
          // Informational responses (100, 103) are not the final response.
          if (status >= 200) call.status(status, answered['retry-after']);
        },
        onResponseData: (_controller, chunk) => call.data(chunk),
        onResponseEnd: () => call.settle(),
        onResponseError: (_controller, error) => call.broke(error),
      },
    );
  }

  async close(): Promise<void> {
    await (await this.#agent)?.destroy();
  }
}

/** One call in progress. It settles once, with what is known by then. */
class Call {
  readonly #mostBytes: number;
  readonly #began: number;
  readonly #resolve: (outcome: Outcome) => void;
  #controller: { abort(reason: Error): void } | undefined;
  #stopped: string | undefined;
  #status: number | undefined;
  #retryAfter: string | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #settled = false;
  onDone: () => void = () => {};

  constructor(mostBytes: number, began: number, resolve: (outcome: Outcome) => void) {
    this.#mostBytes = mostBytes;
    this.#began = began;
    this.#resolve = resolve;
  }

  started(controller: { abort(reason: Error): void }): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error('too late'));
  }

  status(status: number, retryAfter: string | string[] | undefined): void {
    this.#status = status;
    this.#retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  }

  data(chunk: Buffer): void {
    const space = this.#mostBytes - this.#bytes;
    this.#chunks.push(Buffer.from(chunk.subarray(0, space)));
    this.#bytes += Math.min(chunk.length, space);
    if (chunk.length > space) this.stop('the answer is too long');
  }

  /** Aborts the call and closes its connection. */
  stop(reason: string): void {
    this.#stopped = reason;
    this.settle();
    this.#controller?.abort(new Error(reason));
  }

  broke(error: Error): void {
    if (this.#settled) return;
    if (error instanceof AddressRefused) {
      this.#end({ kind: 'refused', reason: error.message });
      return;
    }
    this.#stopped ??= reasonOf(error);
    this.settle();
  }

  settle(): void {
    if (this.#settled) return;
    const durationMs = Math.round(performance.now() - this.#began);
    if (this.#status === undefined) {
      this.#end({ kind: 'failed', reason: this.#stopped ?? 'no answer: the connection broke', durationMs });
      return;
    }
    this.#end({
      kind: 'answered',
      status: this.#status,
      durationMs,
      body: Buffer.concat(this.#chunks),
      retryAfter: this.#retryAfter,
    });
  }

  #end(outcome: Outcome): void {
    this.#settled = true;
    this.onDone();
    this.#resolve(outcome);
  }
}
