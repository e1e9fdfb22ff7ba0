/** Starts the thread that holds the index, starts it again when it ends, and asks it. One per process. */
import { Worker } from 'node:worker_threads';
import { MemoryClient, type Port } from './client.ts';
import type { Answer, Ask, FromThread, IndexState, ToThread } from './messages.ts';
import type { ThreadOptions } from './thread.ts';

const SCRIPT = new URL('../../../search-thread.ts', import.meta.url);
/** A thread that ended, for example because it had no more memory, may end again. */
const RESTART_MS = 10_000;
/** A thread that does not stop by then is ended. */
const STOP_MS = 2000;

export interface SearcherOptions extends Omit<ThreadOptions, 'codes'> {
  /** The thread loaded the index, gave it up, failed or ended. */
  onChange(what: string, details: Partial<IndexState>): void;
}

export class MemorySearcher {
  readonly #options: SearcherOptions;
  #codes: readonly string[] = [];
  #worker: Worker | undefined;
  #client: MemoryClient | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #state = '';
  /** Number of questions that the index answered, and that it left to the statement. */
  readonly answers = { index: 0, statement: 0 };

  constructor(options: SearcherOptions) {
    this.#options = options;
  }

  /** @param codes stored codes of the fields whose values the index keeps */
  start(codes: readonly string[]): void {
    this.#codes = codes;
    const { onChange, ...options } = this.#options;
    const workerData: ThreadOptions = { ...options, codes };
    const worker = new Worker(SCRIPT, { workerData });
    // The thread must not keep the process alive.
    worker.unref();
    this.#worker = worker;
    this.#client = new MemoryClient(worker as unknown as Port);
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'problem') onChange(`search index in memory: ${message.message}`, {});
      if (message.kind === 'state' && message.state !== this.#state) {
        this.#state = message.state;
        onChange(`search index in memory: ${message.state}`, message);
      }
    });
    worker.on('error', (error: Error) => onChange(`search index in memory failed: ${error.message}`, {}));
    worker.on('exit', () => {
      this.#worker = undefined;
      if (this.#isStopped) return;
      this.#timer = setTimeout(() => this.start(this.#codes), RESTART_MS).unref();
    });
  }

  get state(): IndexState {
    return this.#client?.state ?? { state: 'loading', documents: 0, bytes: 0 };
  }

  /** Never rejects. */
  async ask(ask: Ask): Promise<Answer> {
    const answer: Answer = (await this.#client?.ask(ask)) ?? { kind: 'statement' };
    this.answers[answer.kind === 'statement' ? 'statement' : 'index']++;
    return answer;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    worker.ref();
    worker.postMessage({ kind: 'stop' } satisfies ToThread, []);
    const timer = setTimeout(() => void worker.terminate(), STOP_MS);
    await ended;
    clearTimeout(timer);
  }
}
