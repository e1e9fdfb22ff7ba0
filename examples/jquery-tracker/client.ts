/** HTTP calls of the service: keep-alive connections, retries while the service is busy or restarting, metrics. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Answer<Data = unknown> {
  status: number;
  /** `data` of the envelope; undefined when the call was refused. */
  data: Data | undefined;
  /** `error.code`; null when the call succeeded. */
  code: string | null;
  error: unknown;
  /** The answer was kept from an earlier call with the same idempotency key. */
  replayed: boolean;
  /** More than one try was needed, so that an earlier one may have had its effect. */
  repeated: boolean;
}

export interface Call {
  /** The name under which its metrics are counted. */
  name: string;
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  key: string;
  body?: unknown;
  idempotencyKey?: string;
}

/** What went over the wire under one name. */
export interface Figures {
  /** Milliseconds of each call, counting the last attempt only. */
  latencies: number[];
  /** Tries that were repeated, by status or network error. */
  repeats: Map<string, number>;
}

const PATIENCE_MS = 120_000;
const REPEATED = new Set([429, 503]);

interface Envelope {
  data?: unknown;
  error?: { code?: string };
}

export class Client {
  readonly #base: string;
  readonly #signal: AbortSignal;
  readonly figures = new Map<string, Figures>();

  /** @param signal ends the calls that wait for a service which is away */
  constructor(base: string, signal: AbortSignal) {
    this.#base = base;
    this.#signal = signal;
  }

  /**
   * One call. A refusal (4xx) is an answer; a service that is busy, or away, is tried again.
   *
   * @throws Error when the service stays away for two minutes, answers 5xx, or the run is stopped
   */
  async call<Data>(call: Call): Promise<Answer<Data>> {
    const figures = this.#figuresOf(call.name);
    const giveUp = performance.now() + PATIENCE_MS;
    for (let attempt = 0; ; attempt++) {
      this.#signal.throwIfAborted();
      const started = performance.now();
      const result = await this.#attempt(call);
      if (!('again' in result)) {
        figures.latencies.push(performance.now() - started);
        return { ...(result as Answer<Data>), repeated: attempt > 0 };
      }
      figures.repeats.set(result.again, (figures.repeats.get(result.again) ?? 0) + 1);
      if (performance.now() > giveUp) throw new Error(`${call.method} ${call.path}: ${result.again}, for two minutes`);
      await sleep(result.waitMs ?? Math.min(2_000, 50 * 2 ** attempt), undefined, { signal: this.#signal });
    }
  }

  async #attempt(call: Call): Promise<Omit<Answer, 'repeated'> | { again: string; waitMs?: number }> {
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#base + call.path, {
        method: call.method,
        headers: {
          authorization: `Bearer ${call.key}`,
          ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
        },
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        signal: this.#signal,
      });
      text = await response.text();
    } catch (error) {
      this.#signal.throwIfAborted();
      const cause = (error as { cause?: { code?: string } }).cause;
      return { again: cause?.code ?? String(error) };
    }
    const { data, error } = readEnvelope(text);
    const { status } = response;
    const code = error?.code ?? null;
    if (REPEATED.has(status) || code === 'IDEMPOTENCY_IN_PROGRESS') {
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      return { again: `${status} ${code}`, ...(seconds > 0 ? { waitMs: seconds * 1_000 } : {}) };
    }
    if (status >= 500) throw new Error(`${call.method} ${call.path}: ${status} ${text.slice(0, 1_000)}`);
    return { status, data, code, error, replayed: response.headers.get('idempotency-replayed') === 'true' };
  }

  #figuresOf(name: string): Figures {
    let figures = this.figures.get(name);
    if (figures === undefined) {
      figures = { latencies: [], repeats: new Map() };
      this.figures.set(name, figures);
    }
    return figures;
  }
}

function readEnvelope(text: string): Envelope {
  try {
    return JSON.parse(text) as Envelope;
  } catch {
    return { error: { code: `no JSON: ${text.slice(0, 200)}` } };
  }
}

/** `data` of a call that must succeed. @throws Error with the error of the service */
export function granted<Data>(call: Pick<Call, 'method' | 'path'>, answer: Answer<Data>): Data {
  if (answer.data === undefined) {
    throw new Error(`${call.method} ${call.path}: ${answer.status} ${JSON.stringify(answer.error)}`);
  }
  return answer.data;
}
