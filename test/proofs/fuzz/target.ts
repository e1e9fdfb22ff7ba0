/** The service under test in a separate process, and how long its event loop was blocked. */
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TEST_KEY, type TestApp } from '../../support/app.ts';
import type { FuzzServerAsked, FuzzServerSays } from './server.ts';

const SERVER = fileURLToPath(new URL('server.ts', import.meta.url));

export class Target {
  readonly #child: ChildProcess;
  url = '';
  /** Longest standstill since it was last looked at. */
  #stall = 0;
  #stalled = false;
  readonly logged: string[] = [];
  #memory: Extract<FuzzServerSays, { kind: 'memory' }> | undefined;
  #slowdown: number | undefined;

  /** @param given longest turn that is not reported */
  constructor(app: TestApp, given: { stallThresholdMs?: number } = {}) {
    const options = { databaseUrl: app.databaseUrl, blobFolder: app.blobFolder, key: TEST_KEY, ...given };
    this.#child = fork(SERVER, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#child.on('message', (message) => {
      const said = message as FuzzServerSays;
      if (said.kind === 'ready') this.url = said.url;
      else if (said.kind === 'stall') this.#stall = Math.max(this.#stall, said.ms);
      else if (said.kind === 'log') this.logged.push(said.line);
      else if (said.kind === 'stalled') this.#stalled = true;
      else if (said.kind === 'slowdown') this.#slowdown = said.factor;
      else this.#memory = said;
    });
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async ready(): Promise<void> {
    while (this.url === '') {
      if (!this.alive) throw new Error('the service ended before it was ready');
      await sleep(20);
    }
  }

  takeStall(): number {
    const stall = this.#stall;
    this.#stall = 0;
    return stall;
  }

  async memory(): Promise<Extract<FuzzServerSays, { kind: 'memory' }>> {
    this.#memory = undefined;
    this.#ask({ kind: 'memory' });
    while (this.#memory === undefined) {
      if (!this.alive) throw new Error('the service ended');
      await sleep(5);
    }
    return this.#memory;
  }

  /**
   * How many times as much processor time as on a quiet machine the same work costs now: programs on the same cores share
   * their caches.
   */
  async slowdown(): Promise<number> {
    this.#slowdown = undefined;
    this.#ask({ kind: 'slowdown' });
    while (this.#slowdown === undefined) {
      if (!this.alive) throw new Error('the service ended');
      await sleep(5);
    }
    return this.#slowdown;
  }

  /** The longest standstill since this was last called, after all turns so far were reported. */
  async lastStall(): Promise<number> {
    await this.stall(0);
    return this.takeStall();
  }

  /** Blocks the service's event loop for the given time. */
  async stall(ms: number): Promise<void> {
    this.#stalled = false;
    this.#ask({ kind: 'stall', ms });
    while (!this.#stalled) {
      if (!this.alive) throw new Error('the service ended');
      await sleep(5);
    }
  }

  #ask(asked: FuzzServerAsked): void {
    this.#child.send(asked);
  }

  async end(): Promise<void> {
    if (!this.alive) return;
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.disconnect();
    await gone;
  }
}
