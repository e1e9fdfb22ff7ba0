/** Asks the thread that holds the index. A question that is not answered in time is answered by the statement. */
import type { Answer, Ask, Question, Reply } from './messages.ts';

/** A worker, or one end of a channel. */
export interface Port {
  postMessage(message: Question): void;
  on(event: 'message', listener: (reply: Reply) => void): unknown;
  on(event: 'error' | 'exit' | 'close', listener: () => void): unknown;
}

/** Waiting longer costs more than the statement. */
const LONGEST_MS = 50;
/** With more waiting questions, a further one would wait too long. */
const MOST_WAITING = 200;

const STATEMENT: Answer = { kind: 'statement' };

export class MemoryClient {
  readonly #port: Port;
  readonly #longestMs: number;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #asked = 0;
  #ended = false;

  constructor(port: Port, longestMs = LONGEST_MS) {
    this.#port = port;
    this.#longestMs = longestMs;
    port.on('message', ({ number, answer }) => this.#settle(number, answer));
    for (const event of ['error', 'exit', 'close'] as const) port.on(event, () => this.#end());
  }

  /** Never rejects: whatever goes wrong, the statement can answer. */
  ask(ask: Ask): Promise<Answer> {
    if (this.#ended || this.#waiting.size >= MOST_WAITING) return Promise.resolve(STATEMENT);
    const number = ++this.#asked;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(number, STATEMENT), this.#longestMs);
      this.#waiting.set(number, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#port.postMessage({ number, ask });
    });
  }

  #settle(number: number, answer: Answer): void {
    // An answer that comes too late has no question any more.
    this.#waiting.get(number)?.(answer);
    this.#waiting.delete(number);
  }

  #end(): void {
    this.#ended = true;
    for (const number of [...this.#waiting.keys()]) this.#settle(number, STATEMENT);
  }
}
