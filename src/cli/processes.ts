/**
 * `serve --processes N`: the supervisor opens and prepares the database, starts the child processes and shares its listening
 * port among them. It restarts processes that exit, and stops all of them. It serves no requests, so that no request can crash
 * it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { type FromChild, isMessage, type ToChild } from './worker-ipc.ts';
import type { ListenAddress } from './listeners.ts';
import { SharedPort, type Taker } from './shared-port.ts';
import type { ProcessMetrics } from '../http/metrics.ts';

export type Role = 'api' | 'worker' | 'all';

/** A child process: its name in metrics and logs, and its role. */
export interface ChildRole {
  name: string;
  role: 'api' | 'worker';
}

const MAIN = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../main.ts' : '../main.js', import.meta.url));
/** Connections reserved for commands, backups and administrators. */
const RESERVED = 20;
/** Minimum pool size. With fewer connections, units of work that need a second one could deadlock. */
const LEAST_POOL = 4;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A process that ran this long has started successfully. */
const SETTLED_MS = 30_000;
const FIGURES_MS = 1000;
/** When stopping, accepted connections are passed to children for this long before the children are stopped. */
const CLOSING_MS = 1000;

/** With role `all`: N serving processes and one background worker. With another role: N processes of it. */
export function childrenOf(role: Role, processes: number): ChildRole[] {
  const many = (kind: 'api' | 'worker', count: number): ChildRole[] =>
    Array.from({ length: count }, (_, index) => ({ name: `${kind}-${index + 1}`, role: kind }));
  if (role === 'all') return [...many('api', processes), ...many('worker', 1)];
  return many(role, processes);
}

/**
 * Computes the pool size of each of `children` processes, so that their total stays below the server's limit.
 *
 * @throws Error with a message that says what to do if the pool would be too small
 */
export function poolFor(children: number, capacity: number, most: number): number {
  const each = Math.min(most, Math.floor((capacity - RESERVED) / children));
  if (each >= LEAST_POOL) return each;
  throw new Error(
    `${children} processes are too many for a database with ${capacity} connections: ` +
      'start fewer, raise its max_connections, or use a connection pooler and set DOCKET_POOL.',
  );
}

interface Child extends ChildRole {
  /** Undefined between an exit and the restart. */
  process: ChildProcess | undefined;
  pause: number;
  startedAt: number;
  timer: NodeJS.Timeout | undefined;
}

interface Collection {
  asker: ChildProcess;
  asked: number;
  parts: Map<string, string | null>;
  timer: NodeJS.Timeout;
}

export class Supervisor {
  readonly #children: Child[];
  readonly #log: Logger;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #main: string;
  readonly #port: SharedPort;
  readonly #collections = new Map<number, Collection>();
  readonly #started = Promise.withResolvers<void>();
  readonly #ready = new Set<string>();
  #asks = 0;
  #running = false;
  #stopping = false;

  /** `env` is the complete environment of the child processes, `main` the script that they run. */
  constructor(
    roles: readonly ChildRole[],
    log: Logger,
    env: Readonly<Record<string, string | undefined>>,
    main: string = MAIN,
  ) {
    this.#children = roles.map((role) => ({
      ...role,
      process: undefined,
      pause: FIRST_PAUSE_MS,
      startedAt: 0,
      timer: undefined,
    }));
    this.#log = log;
    this.#env = env;
    this.#main = main;
    this.#port = new SharedPort((what, sentence) => log.warn({ process: 'supervisor', ...what }, sentence));
    this.#started.promise.catch(() => {});
  }

  /**
   * Opens the port if there are serving processes, and starts all processes.
   *
   * @returns the address, once all processes are ready
   * @throws Error with the message of the process that failed to start, or why the port could not be opened
   */
  async start(place: ListenAddress): Promise<string | undefined> {
    this.#log.info({ process: 'supervisor', pid: process.pid, started: this.#children.length }, 'starting processes');
    const serves = this.#children.some(({ role }) => role === 'api');
    const address = serves ? await this.#port.listen(place) : undefined;
    // Stopped while the port was opened. A process started now would not be stopped.
    if (this.#stopping) {
      await this.#port.close(0);
      return undefined;
    }
    for (const child of this.#children) this.#fork(child);
    await this.#started.promise;
    return address;
  }

  #fork(child: Child): void {
    const started = fork(this.#main, ['serve', '--role', child.role, '--child'], { env: { ...this.#env } });
    const taker: Taker = {
      give: (connection, socket) => {
        // `keepOpen` keeps a copy here. If the transfer fails, the process ends, and the connection is passed to another one.
        if (started.connected) {
          started.send({ docket: 'connection', connection } satisfies ToChild, socket, { keepOpen: true }, () => {});
        }
      },
    };
    child.process = started;
    child.startedAt = performance.now();
    let failed: string | undefined;
    started.on('message', (message: unknown) => {
      if (!isMessage<FromChild>(message)) return;
      if (message.docket === 'failed') failed = message.message;
      else this.#heard(child, started, taker, message);
    });
    started.on('error', (error) => {
      this.#log.warn({ err: error, process: child.name }, 'failed to send a message to a child process');
      // A process that could not be spawned emits no `exit` event.
      if (started.pid === undefined) this.#ended(child, error.message, null, null);
    });
    started.once('disconnect', () => this.#port.leave(taker));
    started.once('exit', (code, signal) => {
      this.#port.leave(taker);
      this.#ended(child, failed, code, signal);
    });
    // On `close`, not `exit`: messages sent before the exit may still arrive.
    started.once('close', () => this.#port.ended(taker));
  }

  #heard(child: Child, from: ChildProcess, taker: Taker, message: Exclude<FromChild, { docket: 'failed' }>): void {
    switch (message.docket) {
      case 'ready':
        this.#ready.add(child.name);
        if (child.role === 'api') this.#port.join(taker);
        if (this.#ready.size === this.#children.length && !this.#running) {
          this.#running = true;
          this.#started.resolve();
        }
        break;
      case 'took':
        this.#port.taken(taker, message.connection);
        break;
      case 'returned':
        this.#port.returned(taker, message.connection);
        break;
      case 'leaving':
        this.#port.leave(taker);
        break;
      case 'collect':
        this.#collect(from, message.ask);
        break;
      case 'figures':
        this.#gather(message.ask, child.name, message.text);
        break;
    }
  }

  #ended(child: Child, failed: string | undefined, code: number | null, signal: string | null): void {
    child.process = undefined;
    if (this.#stopping) return;
    if (!this.#running) {
      this.#started.reject(new Error(failed ?? `Process ${child.name} ended while it started (${signal ?? code}).`));
      return;
    }
    const settled = performance.now() - child.startedAt > SETTLED_MS;
    const pause = settled ? FIRST_PAUSE_MS : child.pause;
    child.pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
    this.#log.warn({ process: child.name, code, signal, pause }, 'process ended, restarting it');
    child.timer = setTimeout(() => this.#fork(child), pause);
  }

  #collect(asker: ChildProcess, asked: number): void {
    const ask = ++this.#asks;
    const timer = setTimeout(() => this.#collected(ask), FIGURES_MS);
    const parts = new Map(this.#children.map(({ name }) => [name, null]));
    this.#collections.set(ask, { asker, asked, parts, timer });
    for (const child of this.#children)
      if (child.process !== undefined) send(child.process, { docket: 'figures', ask });
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
    const parts: ProcessMetrics[] = [...collection.parts].map(([process, text]) => ({ process, text }));
    send(collection.asker, { docket: 'collected', ask: collection.asked, parts });
  }

  /** Accepts no more connections, stops all processes, and waits. Processes that take longer than `ms` are killed. */
  async stop(ms: number): Promise<void> {
    this.#stopping = true;
    for (const { timer } of this.#children) clearTimeout(timer);
    await this.#port.close(CLOSING_MS);
    const leaving = this.#children.flatMap(({ process: child }) => {
      if (child === undefined) return [];
      const gone = new Promise<void>((resolve) => {
        child.once('exit', () => resolve());
      });
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), ms);
      return [gone.finally(() => clearTimeout(late))];
    });
    await Promise.all(leaving);
    for (const { timer } of this.#collections.values()) clearTimeout(timer);
  }
}

function send(child: ChildProcess, message: ToChild): void {
  // A process that is about to exit is already disconnected.
  if (child.connected) child.send(message, () => {});
}
