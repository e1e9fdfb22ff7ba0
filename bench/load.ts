/** The load generator as a separate process: closed loop, a fixed number of connections, controlled by messages. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Connection } from './connection.ts';
import { type Scenario, type Subject, type Target, TargetState } from './scenario.ts';
import { scenarioOf } from './scenarios.ts';

export interface Run {
  environment: string;
  subject: Subject;
  scenario: string;
  seconds: number;
  connections: number;
}

export interface Measured {
  requests: number;
  /** Requests a second. */
  rate: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Processor time of the load generator a request, in microseconds. */
  loadMicros: number;
  /** Answers with a tolerated status, which do not count as requests: status → how many. */
  refused: Record<string, number>;
  /** Answers with another status than expected: status → how many. */
  unexpected: Record<string, number>;
  /** Body of the first unexpected answer. */
  example?: string;
}

type Message = { environment: string; target: Target } | Run;

/** The side of the bench: starts the process and asks it. */
export class Load {
  readonly #child: ChildProcess;
  #waiting: { resolve(value: Measured): void; reject(error: Error): void } | undefined;

  constructor() {
    this.#child = fork(fileURLToPath(import.meta.url), ['load'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child.on('message', (message: Measured | { error: string }) => {
      if ('error' in message) this.#waiting?.reject(new Error(message.error));
      else this.#waiting?.resolve(message);
    });
    this.#child.on('exit', () => this.#waiting?.reject(new Error('the load process has ended')));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  introduce(environment: string, target: Target): void {
    this.#child.send({ environment, target } satisfies Message);
  }

  run(run: Run): Promise<Measured> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#child.send(run satisfies Message);
    });
  }

  stop(): void {
    this.#child.disconnect();
  }
}

/** What one run gathers over all its connections. */
class Tally {
  readonly latencies: number[] = [];
  readonly refused = new Map<string, number>();
  readonly unexpected = new Map<string, number>();
  example: string | undefined;
}

function count(statuses: Map<string, number>, status: number): void {
  statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1);
}

async function one(
  state: TargetState,
  scenario: Scenario,
  run: Run,
  index: number,
  until: number,
  tally: Tally,
): Promise<void> {
  const connection = await Connection.open(state.target.ports[run.subject]);
  const next = scenario.prepare(state, run.subject, index, run.connections);
  while (performance.now() < until) {
    const { text, status, holds, done } = next();
    const sent = performance.now();
    const answer = await connection.request(text);
    if (scenario.tolerated?.includes(answer.status)) {
      count(tally.refused, answer.status);
      continue;
    }
    tally.latencies.push(performance.now() - sent);
    if (answer.status === status && (holds?.(answer.body.toString('utf8')) ?? true)) {
      done?.();
      continue;
    }
    tally.example ??= answer.body.toString('utf8').slice(0, 400);
    count(tally.unexpected, answer.status);
  }
  connection.close();
}

async function measure(state: TargetState, run: Run): Promise<Measured> {
  const tally = new Tally();
  const scenario = scenarioOf(run.scenario);
  const started = performance.now();
  const spentBefore = process.cpuUsage();
  const until = started + run.seconds * 1000;
  await Promise.all(
    Array.from({ length: run.connections }, (_, index) => one(state, scenario, run, index, until, tally)),
  );
  const seconds = (performance.now() - started) / 1000;
  const spent = process.cpuUsage(spentBefore);
  const sorted = Float64Array.from(tally.latencies).sort();
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    requests: sorted.length,
    rate: sorted.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
    loadMicros: (spent.user + spent.system) / sorted.length,
    refused: Object.fromEntries(tally.refused),
    unexpected: Object.fromEntries(tally.unexpected),
    ...(tally.example === undefined ? {} : { example: tally.example }),
  };
}

function listen(): void {
  const environments = new Map<string, TargetState>();
  process.on('message', async (message: Message) => {
    try {
      if ('target' in message) {
        environments.set(message.environment, new TargetState(message.target));
        return;
      }
      const state = environments.get(message.environment);
      if (state === undefined) throw new Error(`the load does not know the environment ${message.environment}`);
      process.send?.(await measure(state, message));
    } catch (error) {
      process.send?.({ error: (error as Error).message });
    }
  });
}

if (import.meta.main && process.argv[2] === 'load') listen();
