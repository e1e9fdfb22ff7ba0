/**
 * Reads texts so that nothing else waits: short ones at once, long ones in a thread beside the event loop. 200,000 characters of
 * dense Markdown take up to a second of processor time, and some texts made for the purpose many times that: those are refused
 * when their time is over.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Fault } from '../../lib/fault.ts';
import { type GivenText, type ReadText, readText, textPath } from './text.ts';
import type { Answer } from './text-thread.ts';

export interface TextLimits {
  /** Characters (of JSON, where it is a document) that are read at once; the worst of them take some 30 ms. */
  shortest: number;
  /** Milliseconds that one text may take, of a machine that may be busy with other things. */
  limitMs: number;
  /** Texts that may wait. */
  mostWaiting: number;
}

const LIMITS: TextLimits = { shortest: 8000, limitMs: 5000, mostWaiting: 20 };
const THREAD = new URL(`./text-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

export class TextReader {
  readonly #limits: TextLimits;
  #thread: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(limits: Partial<TextLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** @throws Fault OVERLOADED where too many wait */
  async read(given: GivenText): Promise<ReadText> {
    const { body, bodyDocument } = given;
    const json = body === undefined ? JSON.stringify({ bodyDocument }) : JSON.stringify({ body });
    // A text that is far too long is refused without being read.
    if (json.length <= this.#limits.shortest || typeof (body ?? bodyDocument) === 'undefined') return readText(given);
    if (this.#waiting >= this.#limits.mostWaiting) {
      throw new Fault('OVERLOADED', 'Too many long texts are being read at once; retry after Retry-After.', [], {
        headers: { 'Retry-After': '2' },
      });
    }
    this.#waiting++;
    const turn = this.#last.then(() => this.#ask(json, textPath(given)));
    this.#last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#waiting--;
    }
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
    this.#thread = undefined;
  }

  /** The thread, ready to read. One that only waits keeps no process from ending. */
  async #started(): Promise<Worker> {
    if (this.#thread !== undefined) return this.#thread;
    const thread = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: 512 } });
    await once(thread, 'message');
    thread.unref();
    this.#thread = thread;
    return thread;
  }

  async #ask(json: string, path: string): Promise<ReadText> {
    const thread = await this.#started();
    return await new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      };
      const giveUp = (): void => {
        settle();
        this.#thread = undefined;
        void thread.terminate();
        const message = 'The text takes too long to read; give it a simpler form, or less of it.';
        resolve({ ok: false, problems: [{ path, code: 'TOO_COMPLEX', message }] });
      };
      const onMessage = ({ answer, images }: Answer): void => {
        settle();
        const read = JSON.parse(answer) as ReadText;
        resolve(read.ok ? { ...read, images } : read);
      };
      const onError = (error: Error & { code?: string }): void => {
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return giveUp();
        settle();
        this.#thread = undefined;
        reject(error);
      };
      const onExit = (): void => onError(new Error('the thread that reads texts ended'));
      const timer = setTimeout(giveUp, this.#limits.limitMs);
      thread.on('message', onMessage).on('error', onError).on('exit', onExit);
      thread.postMessage(json, []);
    });
  }
}
