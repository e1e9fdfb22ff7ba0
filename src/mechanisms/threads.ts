/**
 * Worker threads for work whose time grows with what a caller sent: parsing, word analysis, rich text. Small inputs run at once
 * in the event loop.
 *
 * There are two lanes of one worker each. A task starts in the short lane. If it uses more processor time than that lane allows,
 * its worker is replaced and the task starts again in the long lane, where it may use its whole limit. While a caller has a task
 * in the long lane, all of that caller's tasks go there. In each lane callers take turns. So one caller, or one input that was
 * made to be slow, does not keep the inputs of others waiting.
 */
import type { FaultCode } from '../lib/fault-codes.ts';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Fault, type FaultDetails } from '../lib/fault.ts';

/** A pure function that `src/thread.ts` offers to worker threads. Input and output must survive a structured clone. */
export interface ThreadTask<I, O> {
  name: string;
  /** Inputs up to this size run in the event loop; the unit is the caller's (characters, bytes). */
  inline: number;
  run(input: I): O;
}

export interface ThreadRequest {
  /** Size of the input, compared with `inline` of the task. */
  size: number;
  /** Whose turn this takes. */
  caller: string | null;
  /** Known to need long: goes to the long lane at once. */
  long?: boolean;
}

export type ThreadResult<O> =
  | { ok: true; value: O }
  /** The task used up its processor time or its memory. */
  | { ok: false };

/** What a worker answers. */
export type ThreadAnswer =
  /** The modules are loaded. */
  | { kind: 'ready' }
  | { kind: 'value'; value: unknown }
  | { kind: 'fault'; code: FaultCode; message: string; details: FaultDetails }
  | { kind: 'error'; message: string; stack: string | undefined };

export interface ThreadLimits {
  /** Processor time of one task in the short lane, in milliseconds. */
  shortMs: number;
  /** Processor time of one task in the long lane, in milliseconds. */
  longMs: number;
  /** Tasks of one caller that may wait, and of all callers, in each lane. */
  waitingOfCaller: number;
  waiting: number;
  heapMb: number;
  /** A worker without work for so long ends, so that its memory is free. */
  idleMs: number;
}

const LIMITS: ThreadLimits = {
  shortMs: 500,
  longMs: 5000,
  waitingOfCaller: 50,
  waiting: 200,
  heapMb: 512,
  idleMs: 60_000,
};
/** A task may wait for the processor on a busy machine, but no longer than this many times its limit. */
const MOST_STRETCH = 6;
const LEAST_PAUSE_MS = 50;
const SCRIPT = new URL('../thread.ts', import.meta.url);

interface Job {
  task: string;
  input: unknown;
  caller: string;
  resolve(result: ThreadResult<unknown>): void;
  reject(error: unknown): void;
}

/** Runs the jobs of a lane one after the other, callers in turn. */
class Lane {
  readonly #limits: ThreadLimits;
  readonly #limitMs: number;
  /** What a job gets that reached a limit of this lane. */
  readonly #overrun: (job: Job) => void;
  /** Caller → waiting jobs; the caller whose turn is next comes first. */
  readonly #waiting = new Map<string, Job[]>();
  /** Caller → jobs that wait or run. */
  readonly #present = new Map<string, number>();
  #count = 0;
  #running = false;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: ThreadLimits, limitMs: number, overrun: (job: Job) => void) {
    this.#limits = limits;
    this.#limitMs = limitMs;
    this.#overrun = overrun;
  }

  has(caller: string): boolean {
    return this.#present.has(caller);
  }

  /** @throws Fault OVERLOADED */
  add(job: Job): void {
    const own = this.#waiting.get(job.caller);
    if (this.#count >= this.#limits.waiting || (own?.length ?? 0) >= this.#limits.waitingOfCaller) {
      throw new Fault('OVERLOADED', 'Too many long texts wait to be read; retry after Retry-After.', [], {
        headers: { 'Retry-After': '2' },
      });
    }
    if (own === undefined) this.#waiting.set(job.caller, [job]);
    else own.push(job);
    this.#count++;
    this.#present.set(job.caller, (this.#present.get(job.caller) ?? 0) + 1);
    if (!this.#running) void this.#drain();
  }

  /** Ends the worker where it has no work. */
  #rest(): void {
    if (this.#running) return;
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }

  #next(): Job | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [caller, jobs] = first;
    const job = jobs.shift();
    this.#waiting.delete(caller);
    if (jobs.length > 0) this.#waiting.set(caller, jobs);
    this.#count--;
    return job;
  }

  async #drain(): Promise<void> {
    this.#running = true;
    clearTimeout(this.#idle);
    for (let job = this.#next(); job !== undefined; job = this.#next()) {
      try {
        const answer = await this.#ask(job);
        if (answer === undefined) this.#overrun(job);
        else settle(job, answer);
      } catch (error) {
        job.reject(error);
      }
      const left = (this.#present.get(job.caller) ?? 1) - 1;
      if (left === 0) this.#present.delete(job.caller);
      else this.#present.set(job.caller, left);
    }
    this.#running = false;
    this.#idle = setTimeout(() => this.#rest(), this.#limits.idleMs).unref();
  }

  /** The worker, with its modules loaded. Loading takes longer than most tasks and counts for none of them. */
  async #started(): Promise<Worker> {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(SCRIPT, { resourceLimits: { maxOldGenerationSizeMb: this.#limits.heapMb } });
    await once(worker, 'message');
    // A worker without work must not keep the process from ending.
    worker.unref();
    this.#worker = worker;
    return worker;
  }

  /** @returns undefined where the job reached a limit */
  async #ask(job: Job): Promise<ThreadAnswer | undefined> {
    const worker = await this.#started();
    return await new Promise((resolve, reject) => {
      const before = worker.cpuUsage().catch(() => undefined);
      const latest = performance.now() + this.#limitMs * MOST_STRETCH;
      let timer: NodeJS.Timeout;
      let done = false;
      worker.ref();
      const stop = (): void => {
        done = true;
        clearTimeout(timer);
        worker.unref();
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      };
      const replace = (): void => {
        stop();
        this.#worker = undefined;
        // Errors of a worker that is given up concern nobody.
        worker.on('error', () => {});
        void worker.terminate();
      };
      const look = async (): Promise<void> => {
        const start = await before;
        const used = start === undefined ? undefined : await worker.cpuUsage(start).catch(() => undefined);
        if (done) return;
        const ms = used === undefined ? this.#limitMs : (used.user + used.system) / 1000;
        if (ms >= this.#limitMs || performance.now() >= latest) {
          replace();
          resolve(undefined);
        } else wait(this.#limitMs - ms);
      };
      const wait = (ms: number): void => {
        timer = setTimeout(() => void look(), Math.max(LEAST_PAUSE_MS, ms));
      };
      const onMessage = (answer: ThreadAnswer): void => {
        stop();
        resolve(answer);
      };
      const onError = (error: Error & { code?: string }): void => {
        replace();
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve(undefined);
        else reject(error);
      };
      const onExit = (): void => onError(new Error('a worker thread ended'));
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      wait(this.#limitMs);
      try {
        worker.postMessage({ task: job.task, input: job.input }, []);
      } catch (error) {
        stop();
        reject(error);
      }
    });
  }
}

function settle(job: Job, answer: ThreadAnswer): void {
  if (answer.kind === 'value') job.resolve({ ok: true, value: answer.value });
  else if (answer.kind === 'fault') job.reject(new Fault(answer.code, answer.message, answer.details));
  else if (answer.kind === 'error') {
    const error = new Error(answer.message);
    if (answer.stack !== undefined) error.stack = answer.stack;
    job.reject(error);
  } else job.reject(new Error('a worker thread said that it is ready twice'));
}

export class Threads {
  readonly #short: Lane;
  readonly #long: Lane;

  constructor(limits: Partial<ThreadLimits> = {}) {
    const all = { ...LIMITS, ...limits };
    this.#long = new Lane(all, all.longMs, (job) => job.resolve({ ok: false }));
    this.#short = new Lane(all, all.shortMs, (job) => {
      try {
        this.#long.add(job);
      } catch (error) {
        job.reject(error);
      }
    });
  }

  /**
   * Runs the task in the event loop where its input is small, else in a worker thread.
   *
   * @throws Fault of the task; OVERLOADED where too many tasks wait
   */
  async run<I, O>(task: ThreadTask<I, O>, input: I, request: ThreadRequest): Promise<ThreadResult<O>> {
    if (request.size <= task.inline) return { ok: true, value: task.run(input) };
    const caller = request.caller ?? '';
    return await new Promise((resolve, reject) => {
      const job: Job = { task: task.name, input, caller, resolve: resolve as Job['resolve'], reject };
      const lane = request.long === true || this.#long.has(caller) ? this.#long : this.#short;
      lane.add(job);
    });
  }
}

/** One pool for the process: its two workers bound the processor time and memory that such work takes in all. */
export const threads = new Threads();
