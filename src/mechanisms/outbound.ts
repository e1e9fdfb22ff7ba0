/**
 * The only way out (architecture, section 3b): https alone, to judged addresses alone, no redirects, no proxies of the
 * environment, bounded in time and in what is read. Answers are kept alive between calls.
 */
import type { TLSSocket } from 'node:tls';
import type { Agent } from 'undici';
import { AddressRefused, Dialler, type Resolve, resolveBySystem } from './outbound-address.ts';
import type { Tracer } from './traces.ts';

export interface OutboundOptions {
  /** Lifts the rule on addresses, and nothing else (`DOCKET_WEBHOOK_ALLOW_PRIVATE`). */
  allowPrivate: boolean;
  /** Milliseconds for the whole of a call; 10,000 unless said. */
  limitMs?: number;
  /** Further roots of trust, PEM, beside those of the system and `NODE_EXTRA_CA_CERTS`. */
  ca?: string;
  /** Most bytes of an answer that are read; 64 KiB unless said. */
  mostBytes?: number;
  /** How names become addresses; the system's way unless said. */
  resolve?: Resolve;
  /** Makes a span of each call, and names it to whoever is called. */
  tracer?: Tracer | undefined;
}

/**
 * What came of a call. `answered`: there is a status, whatever became of the rest of the answer. `refused`: nothing was sent
 * and nothing will be. `failed`: no status came; it may have arrived or not.
 */
export type Outcome =
  | { kind: 'answered'; status: number; durationMs: number; body: Buffer; retryAfter: string | undefined }
  | { kind: 'refused'; reason: string }
  | { kind: 'failed'; reason: string; durationMs: number };

/** Codes of the system and of TLS are safe to tell and of use; other texts may repeat what was sent, or are our own affair. */
function reasonOf(error: Error): string {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^(?!UND_)[A-Z][A-Z0-9_]{2,60}$/.test(code)) return `no answer: ${code}`;
  return error.message === 'connect timeout' ? 'no answer: connect timeout' : 'no answer: the connection broke';
}

export class Outbound {
  /** Made for the first call: a process that delivers nothing does without the library. */
  #agent: Promise<Agent> | undefined;
  readonly #dialler: Dialler;
  readonly #limitMs: number;
  readonly #mostBytes: number;
  readonly #tracer: Tracer | undefined;

  constructor(options: OutboundOptions) {
    this.#tracer = options.tracer;
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
      // The limit of a call is one for the whole of it, and kept here.
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
   * Why calls to this https URL would be refused by its address; undefined when they would not, and when the name cannot be
   * resolved now: the judgement that counts is made on each socket.
   */
  async refusal(url: string): Promise<string | undefined> {
    try {
      await this.#dialler.judged(new URL(url).hostname);
      return undefined;
    } catch (error) {
      return error instanceof AddressRefused ? error.message : undefined;
    }
  }

  /** Sends bytes as they are. Never throws; a URL that is not https is refused. */
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
          // What goes before the answer (100, 103) is not the answer.
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

/** One call under way: settles once, with what is known by then. */
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
    const room = this.#mostBytes - this.#bytes;
    this.#chunks.push(Buffer.from(chunk.subarray(0, room)));
    this.#bytes += Math.min(chunk.length, room);
    if (chunk.length > room) this.stop('the answer is too long');
  }

  /** Ends the call here; the connection with it. */
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
