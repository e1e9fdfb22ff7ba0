/**
 * Worker threads for work whose duration depends on the input of a caller: parsing, word analysis, rich text. Small inputs are
 * processed in the event loop.
 *
 * There are three lanes with one worker each. A task starts in the quick lane. If it exceeds that lane's limit of processor
 * time, its worker is replaced and the task restarts in the short lane, then in the long lane, with higher limits. While a caller
 * has a task in a slower lane, all of its tasks go there. Each lane serves callers in turn. A spare worker with loaded modules
 * takes the place of one that is replaced. A single caller, or an input crafted to be slow, therefore does not delay the inputs of
 * others.
 */
import type { FaultCode } from '../lib/fault-codes.ts';
import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { Fault, type FaultCause, type FaultDetails } from '../lib/fault.ts';
import { JsonFault, type JsonPlace } from '../lib/json-error.ts';

/** A function without side effects that `src/worker-thread.ts` provides to worker threads. Input and output must survive a structured clone. */
export interface ThreadTask<I, O> {
  name: string;
  /** Inputs up to this size are processed in the event loop. The caller chooses the unit (characters, bytes). */
  inline: number;
  run(input: I): O | Promise<O>;
}

export interface ThreadRequest {
  /** Size of the input, compared with `inline` of the task. */
  size: number;
  /** The caller whose share is used. */
  caller: string | null;
  /** Sends a task that is known to be long directly to the long lane. */
  long?: boolean;
}

export type ThreadResult<O> =
  | { ok: true; value: O }
  /** The task exceeded its limit of processor time or memory. */
  | { ok: false };

/** A message to a worker: to load the modules of a task, or to run it. */
export type ThreadOrder = { load: string; niceness: number } | { task: string; input: unknown };

/** A message from a worker. */
export type ThreadAnswer =
  /** The modules of the task are loaded. */
  | { kind: 'ready' }
  | { kind: 'value'; value: unknown }
  | { kind: 'fault'; code: FaultCode; said: FaultCause; details: FaultDetails }
  | { kind: 'json-fault'; place: JsonPlace }
  | { kind: 'error'; message: string; stack: string | undefined };

export interface ThreadLimits {
  /** Limit of processor time per task in the quick lane, in milliseconds. */
  quickMs: number;
  /** Limit of processor time per task in the short lane, in milliseconds. */
  shortMs: number;
  /** Limit of processor time per task in the long lane, in milliseconds. */
  longMs: number;
  /** Maximum number of waiting tasks per lane, of one caller and of all callers. */
  waitingOfCaller: number;
  waiting: number;
  heapMb: number;
  /** A worker that is idle for this long is ended to free its memory, in milliseconds. */
  idleMs: number;
}

const LIMITS: ThreadLimits = {
  quickMs: 100,
  shortMs: 500,
  longMs: 5000,
  waitingOfCaller: 50,
  waiting: 200,
  heapMb: 512,
  idleMs: 60_000,
};
/** A task may have to wait for the processor on a busy machine. Its elapsed time is limited to this multiple of its limit. */
const MAX_STRETCH = 4;
/** Upper bound of the elapsed time: a request ends after 30 s, and its caller should get the reason. */
const LONGEST_MS = 22_000;
const LEAST_PAUSE_MS = 50;
const SCRIPT = new URL('../worker-thread.ts', import.meta.url);

interface Job {
  task: string;
  input: unknown;
  caller: string;
  resolve(result: ThreadResult<unknown>): void;
  reject(error: unknown): void;
}

/** A thread, and the tasks whose modules it has loaded. Loading does not count towards the limits of a task. */
class LoadedWorker {
  readonly thread: Worker;
  readonly #loaded = new Set<string>();
  #niceness = 0;

  constructor(heapMb: number) {
    const cache = getCompileCacheDir();
    this.thread = new Worker(SCRIPT, {
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      // The folder of this version of Node.js lies in the folder of the cache.
      workerData: cache === undefined ? undefined : path.dirname(cache),
    });
    // Errors of a discarded worker are ignored; those during a task have a listener of their own.
    this.thread.on('error', () => {});
    // An idle worker must not keep the process alive.
    this.thread.unref();
  }

  /** @param niceness of the thread, as of a process: slow tasks leave the processor to quick ones and to the event loop */
  async load(task: string, niceness = 0): Promise<this> {
    if (this.#loaded.has(task) && this.#niceness === niceness) return this;
    this.thread.ref();
    const answered = once(this.thread, 'message') as Promise<[ThreadAnswer]>;
    this.thread.postMessage({ load: task, niceness } satisfies ThreadOrder, []);
    const [answer] = await answered;
    this.thread.unref();
    if (answer.kind === 'ready') this.#loaded.add(task);
    this.#niceness = niceness;
    return this;
  }
}

/** The workers of a pool: one more than those that run tasks stands ready. */
class Workers {
  readonly #heapMb: number;
  #spare: Promise<LoadedWorker> | undefined;

  constructor(heapMb: number) {
    this.#heapMb = heapMb;
  }

  /** A worker that has loaded the task. The next one is started at once. */
  async take(task: string, niceness: number): Promise<LoadedWorker> {
    const spare = this.#spare;
    this.#spare = undefined;
    const worker = spare ?? new LoadedWorker(this.#heapMb).load(task);
    // It starts after this one: they would slow each other down.
    await worker.catch(() => {});
    this.#spare ??= new LoadedWorker(this.#heapMb).load(task);
    this.#spare.catch(() => {
      this.#spare = undefined;
    });
    return await (await worker).load(task, niceness);
  }

  /** Ends the worker that stands ready. */
  rest(): void {
    const spare = this.#spare;
    this.#spare = undefined;
    void spare?.then(({ thread }) => thread.terminate()).catch(() => {});
  }
}

type Overrun = (job: Job, others: () => Job[]) => void;

/** Runs the jobs of a lane one after another, serving callers in turn. */
class Lane {
  readonly #limits: ThreadLimits;
  readonly #limitMs: number;
  readonly #niceness: number;
  readonly #workers: Workers;
  /** Handles a job that exceeded a limit of this lane. `others` takes the waiting jobs of its caller out of the lane. */
  readonly #overrun: Overrun;
  /** Caller → waiting jobs. The caller that is served next comes first. */
  readonly #waiting = new Map<string, Job[]>();
  /** Caller → number of waiting and running jobs. */
  readonly #present = new Map<string, number>();
  #count = 0;
  #running = false;
  #worker: LoadedWorker | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: ThreadLimits, lane: { limitMs: number; niceness: number }, workers: Workers, overrun: Overrun) {
    this.#limits = limits;
    this.#limitMs = lane.limitMs;
    this.#niceness = lane.niceness;
    this.#workers = workers;
    this.#overrun = overrun;
  }

  has(caller: string): boolean {
    return this.#present.has(caller);
  }

  /** @throws Fault OVERLOADED */
  add(job: Job): void {
    const own = this.#waiting.get(job.caller);
    if (this.#count >= this.#limits.waiting || (own?.length ?? 0) >= this.#limits.waitingOfCaller) {
      throw new Fault(
        'OVERLOADED',
        'Too many long texts are waiting to be parsed. Retry after the time in Retry-After.',
        [],
        {
          headers: { 'Retry-After': '2' },
        },
      );
    }
    if (own === undefined) this.#waiting.set(job.caller, [job]);
    else own.push(job);
    this.#count++;
    this.#present.set(job.caller, (this.#present.get(job.caller) ?? 0) + 1);
    if (!this.#running) void this.#drain();
  }

  /** Ends the worker if it is idle. */
  #rest(): void {
    if (this.#running) return;
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.thread.terminate();
    this.#workers.rest();
  }

  /** Takes the waiting jobs of the caller out of the lane. */
  #withdraw(caller: string): Job[] {
    const jobs = this.#waiting.get(caller) ?? [];
    this.#waiting.delete(caller);
    this.#count -= jobs.length;
    for (const _job of jobs) this.#leave(caller);
    return jobs;
  }

  #leave(caller: string): void {
    const left = (this.#present.get(caller) ?? 1) - 1;
    if (left === 0) this.#present.delete(caller);
    else this.#present.set(caller, left);
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
        if (answer === undefined) this.#overrun(job, () => this.#withdraw(job.caller));
        else settle(job, answer);
      } catch (error) {
        job.reject(error);
      }
      this.#leave(job.caller);
    }
    this.#running = false;
    this.#idle = setTimeout(() => this.#rest(), this.#limits.idleMs).unref();
  }

  /** @returns undefined if the job exceeded a limit */
  async #ask(job: Job): Promise<ThreadAnswer | undefined> {
    this.#worker = await (this.#worker?.load(job.task, this.#niceness) ?? this.#workers.take(job.task, this.#niceness));
    const worker = this.#worker.thread;
    return await new Promise((resolve, reject) => {
      const before = worker.cpuUsage().catch(() => undefined);
      const latest = performance.now() + Math.min(this.#limitMs * MAX_STRETCH, LONGEST_MS);
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
        worker.postMessage({ task: job.task, input: job.input } satisfies ThreadOrder, []);
      } catch (error) {
        stop();
        reject(error);
      }
    });
  }
}

function settle(job: Job, answer: ThreadAnswer): void {
  if (answer.kind === 'value') job.resolve({ ok: true, value: answer.value });
  else if (answer.kind === 'fault') job.reject(new Fault(answer.code, answer.said, answer.details));
  else if (answer.kind === 'json-fault') job.reject(new JsonFault(answer.place));
  else if (answer.kind === 'error') {
    const error = new Error(answer.message);
    if (answer.stack !== undefined) error.stack = answer.stack;
    job.reject(error);
  } else job.reject(new Error('a worker thread loaded a task in place of running one'));
}

/** Moves the job, and the waiting jobs of its caller, to a slower lane. */
function passOn(lane: Lane): Overrun {
  return (overrun, others) => {
    for (const job of [overrun, ...others()]) {
      try {
        lane.add(job);
      } catch (error) {
        job.reject(error);
      }
    }
  };
}

export class Threads {
  /** The quickest one first. */
  readonly #lanes: readonly [Lane, Lane, Lane];

  constructor(limits: Partial<ThreadLimits> = {}) {
    const all = { ...LIMITS, ...limits };
    const workers = new Workers(all.heapMb);
    const long = new Lane(all, { limitMs: all.longMs, niceness: 10 }, workers, (job) => job.resolve({ ok: false }));
    const short = new Lane(all, { limitMs: all.shortMs, niceness: 5 }, workers, passOn(long));
    this.#lanes = [new Lane(all, { limitMs: all.quickMs, niceness: 0 }, workers, passOn(short)), short, long];
  }

  /**
   * Runs the task in the event loop if its input is small, otherwise in a worker thread.
   *
   * @throws Fault of the task; OVERLOADED if too many tasks are waiting
   */
  async run<I, O>(task: ThreadTask<I, O>, input: I, request: ThreadRequest): Promise<ThreadResult<O>> {
    if (request.size <= task.inline) return { ok: true, value: await task.run(input) };
    const caller = request.caller ?? '';
    return await new Promise((resolve, reject) => {
      const job: Job = { task: task.name, input, caller, resolve: resolve as Job['resolve'], reject };
      const [quick, short, long] = this.#lanes;
      if (request.long === true || long.has(caller)) long.add(job);
      else if (short.has(caller)) short.add(job);
      else quick.add(job);
    });
  }
}

/** One pool per process: its three workers limit the total processor time and memory of such work. */
export const threads = new Threads();
