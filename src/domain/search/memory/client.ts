/** Asks the thread that holds the index. A question that is not answered in time is answered by the statement. */
import type { Answer, Ask, FromThread, IndexState, ToThread } from './messages.ts';

/** A worker, or one end of a channel. */
export interface Port {
  postMessage(message: ToThread, transferred: []): void;
  on(event: 'message', listener: (message: FromThread) => void): unknown;
  on(event: 'error' | 'exit' | 'close', listener: () => void): unknown;
}

/** Waiting longer would cost more than the statement. Merges, and changes of many records at once, delay questions. */
const LONGEST_MS = 500;
/** With more waiting questions, a further one would wait too long. */
const MAX_WAITING = 200;

const STATEMENT: Answer = { kind: 'statement' };

export class MemoryClient {
  readonly #port: Port;
  readonly #longestMs: number;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #asked = 0;
  #ended = false;
  #state: IndexState = { state: 'loading', documents: 0, bytes: 0 };

  constructor(port: Port, longestMs = LONGEST_MS) {
    this.#port = port;
    this.#longestMs = longestMs;
    port.on('message', (message) => {
      if (message.kind === 'reply') this.#settle(message.number, message.answer);
      else if (message.kind === 'state') this.#state = message;
    });
    for (const event of ['error', 'exit', 'close'] as const) port.on(event, () => this.#end());
  }

  /** What the thread said last. */
  get state(): IndexState {
    return this.#state;
  }

  /** Never rejects: after any error, the statement can answer. */
  ask(ask: Ask): Promise<Answer> {
    // A thread that loads records would be slow to say that it cannot answer.
    const isReady = !this.#ended && this.#state.state === 'ready';
    if (!isReady || this.#waiting.size >= MAX_WAITING) return Promise.resolve(STATEMENT);
    const number = ++this.#asked;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(number, STATEMENT), this.#longestMs);
      this.#waiting.set(number, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      const until = performance.timeOrigin + performance.now() + this.#longestMs;
      this.#port.postMessage({ kind: 'question', number, ask, until }, []);
    });
  }

  #settle(number: number, answer: Answer): void {
    // The question of a late answer is already removed.
    this.#waiting.get(number)?.(answer);
    this.#waiting.delete(number);
  }

  #end(): void {
    this.#ended = true;
    for (const number of this.#waiting.keys()) this.#settle(number, STATEMENT);
  }
}
