/**
 * `serve --processes N`: the first process opens and prepares the database, starts the others, shares its listening port
 * among them, starts anew those that end, and stops them all. It serves no request itself, so that nothing that a request
 * does can end it.
 */
import cluster, { type Worker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { type Figures, type FromChild, isMessage, type ToChild } from './child-messages.ts';

export type Role = 'api' | 'worker' | 'all';

/** A process to start: its name in figures and logs, and what it does. */
export interface ChildRole {
  name: string;
  role: 'api' | 'worker';
}

const MAIN = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../main.ts' : '../main.js', import.meta.url));
/** Connections left to commands, backups and people. */
const RESERVED = 20;
/** With fewer, a unit that needs a second connection could wait for others that wait for the same. */
const LEAST_POOL = 4;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** Who lived this long did not fail to start. */
const SETTLED_MS = 30_000;
const FIGURES_MS = 1000;

/** N processes that serve, and one that works in the background beside them; of one role alone, N of it. */
export function childrenOf(role: Role, processes: number): ChildRole[] {
  const many = (kind: 'api' | 'worker', count: number): ChildRole[] =>
    Array.from({ length: count }, (_, index) => ({ name: `${kind}-${index + 1}`, role: kind }));
  if (role === 'all') return [...many('api', processes), ...many('worker', 1)];
  return many(role, processes);
}

/**
 * How many connections each of `children` processes may hold, so that all together stay below what the server takes.
 *
 * @throws Error with a sentence that says what to do, where there would be too few
 */
export function poolFor(children: number, capacity: number, most: number): number {
  const each = Math.min(most, Math.floor((capacity - RESERVED) / children));
  if (each >= LEAST_POOL) return each;
  throw new Error(
    `${children} processes are too many for a database that takes ${capacity} connections: ` +
      'start fewer, raise its max_connections, or put a pooler before it and set DOCKET_POOL.',
  );
}

interface Child extends ChildRole {
  worker: Worker | undefined;
  pause: number;
  startedAt: number;
  timer: NodeJS.Timeout | undefined;
}

interface Collection {
  asker: Worker;
  asked: number;
  parts: Map<string, string | null>;
  timer: NodeJS.Timeout;
}

export class Supervisor {
  readonly #children: Child[];
  readonly #log: Logger;
  readonly #env: Readonly<Record<string, string>>;
  readonly #collections = new Map<number, Collection>();
  readonly #started = Promise.withResolvers<string | undefined>();
  readonly #ready = new Set<string>();
  #address: string | undefined;
  #asks = 0;
  #running = false;
  #stopping = false;

  constructor(roles: readonly ChildRole[], log: Logger, env: Readonly<Record<string, string>>) {
    this.#children = roles.map((role) => ({
      ...role,
      worker: undefined,
      pause: FIRST_PAUSE_MS,
      startedAt: 0,
      timer: undefined,
    }));
    this.#log = log;
    this.#env = env;
    this.#started.promise.catch(() => {});
  }

  /** Starts them all. @returns where they answer, once all do @throws Error with what the one said that could not start */
  async start(): Promise<string | undefined> {
    this.#log.info({ process: 'supervisor', pid: process.pid, started: this.#children.length }, 'starting processes');
    for (const child of this.#children) this.#fork(child);
    return await this.#started.promise;
  }

  #fork(child: Child): void {
    // Its own arguments and environment: what it inherits from this process is the rest.
    cluster.setupPrimary({ exec: MAIN, args: ['serve', '--role', child.role] });
    const worker = cluster.fork(this.#env);
    child.worker = worker;
    child.startedAt = performance.now();
    let failed: string | undefined;
    worker.on('message', (message: unknown) => {
      if (!isMessage<FromChild>(message)) return;
      if (message.docket === 'failed') failed = message.message;
      else this.#heard(child, worker, message);
    });
    worker.on('error', (error) => this.#log.warn({ err: error, process: child.name }, 'a process could not be told'));
    worker.once('exit', (code, signal) => this.#ended(child, failed, code, signal));
  }

  #heard(child: Child, worker: Worker, message: Exclude<FromChild, { docket: 'failed' }>): void {
    switch (message.docket) {
      case 'ready':
        this.#ready.add(child.name);
        this.#address ??= message.address ?? undefined;
        if (this.#ready.size === this.#children.length && !this.#running) {
          this.#running = true;
          this.#started.resolve(this.#address);
        }
        break;
      case 'collect':
        this.#collect(worker, message.ask);
        break;
      case 'figures':
        this.#gather(message.ask, child.name, message.text);
        break;
    }
  }

  #ended(child: Child, failed: string | undefined, code: number | null, signal: string | null): void {
    child.worker = undefined;
    if (this.#stopping) return;
    if (!this.#running) {
      this.#started.reject(new Error(failed ?? `Process ${child.name} ended while it started (${signal ?? code}).`));
      return;
    }
    const settled = performance.now() - child.startedAt > SETTLED_MS;
    const pause = settled ? FIRST_PAUSE_MS : child.pause;
    child.pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
    this.#log.warn({ process: child.name, code, signal, pause }, 'a process ended; it is started again');
    child.timer = setTimeout(() => this.#fork(child), pause);
  }

  #collect(asker: Worker, asked: number): void {
    const ask = ++this.#asks;
    const timer = setTimeout(() => this.#collected(ask), FIGURES_MS);
    const parts = new Map(this.#children.map(({ name }) => [name, null]));
    this.#collections.set(ask, { asker, asked, parts, timer });
    for (const { worker } of this.#children) if (worker !== undefined) tell(worker, { docket: 'figures', ask });
  }

  #gather(ask: number, name: string, text: string): void {
    const collection = this.#collections.get(ask);
    if (collection === undefined) return;
    collection.parts.set(name, text);
    if ([...collection.parts.values()].every((part) => part !== null)) this.#collected(ask);
  }

  #collected(ask: number): void {
    const collection = this.#collections.get(ask);
    if (collection === undefined) return;
    clearTimeout(collection.timer);
    this.#collections.delete(ask);
    const parts: Figures[] = [...collection.parts].map(([process, text]) => ({ process, text }));
    tell(collection.asker, { docket: 'collected', ask: collection.asked, parts });
  }

  /** Asks all to finish what they do, and waits; those that take longer than `ms` are killed. */
  async stop(ms: number): Promise<void> {
    this.#stopping = true;
    const leaving = this.#children.flatMap(({ worker, timer }) => {
      clearTimeout(timer);
      if (worker === undefined || worker.isDead()) return [];
      const gone = new Promise<void>((resolve) => {
        worker.once('exit', () => resolve());
      });
      worker.process.kill('SIGTERM');
      const late = setTimeout(() => worker.process.kill('SIGKILL'), ms);
      return [gone.finally(() => clearTimeout(late))];
    });
    await Promise.all(leaving);
    for (const { timer } of this.#collections.values()) clearTimeout(timer);
  }
}

function tell(worker: Worker, message: ToChild): void {
  // One that is about to end hears nothing more.
  if (worker.isConnected()) worker.send(message, () => {});
}
