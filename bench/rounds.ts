/**
 * Measures in rounds. Each round runs every environment and both subjects, in reverse order every second time, so that drift of
 * the machine affects all equally. Results are medians over the rounds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Load, Measured as Run } from './load.ts';
import { otherLoad, memoryOf, readProcessors, spentBy } from './processes.ts';
import { SUBJECTS, type Subject } from './scenario.ts';
import { scenarioOf } from './scenarios.ts';
import type { Environment } from './environment.ts';

export interface Plan {
  scenarios: readonly string[];
  rounds: number;
  seconds: number;
  connections: number;
  /** Whether to wait for a quiet machine, and to repeat runs that others disturbed. */
  patient: boolean;
}

export interface Measurements {
  rate: number;
  p50: number;
  p99: number;
  /** Processor time a request, in microseconds: of the server's processes, of the database's, and of the load generator. */
  serverMicros: number;
  databaseMicros: number;
  loadMicros: number;
  /** Tolerated refusals for each request that counts, by status. */
  refused: Record<string, number>;
}

interface Measured extends Run {
  serverMicros: number;
  databaseMicros: number;
}

export interface Result {
  scenario: string;
  records: number;
  docket: Measurements;
  baseline: Measurements;
  /** Median of the rates' ratios of each round. */
  ratio: number;
  /** Smallest and largest ratio of a round. */
  spread: [number, number];
}

export interface Outcome {
  results: Result[];
  /** Largest resident memory of the service during its own runs, in MB, by number of records. */
  peak: Map<number, number>;
  /** Largest share of a processor that others took during a run that counts. */
  disturbed: number;
  /** Runs that were repeated because others took too much. */
  repeated: number;
}

/** Maximum CPU share of other processes during a run. Above it, the run is repeated, up to a limit. */
const TOLERATED = 0.2;
const MAX_REPEATS = 3;
const QUIET_MS = 2000;
const MAX_WAITS = 60;
const SAMPLE_MS = 100;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

class Measurement {
  readonly #load: Load;
  readonly #plan: Plan;
  readonly #roots: number[];
  readonly outcome: Outcome = { results: [], peak: new Map(), disturbed: 0, repeated: 0 };

  constructor(load: Load, environments: readonly Environment[], plan: Plan) {
    this.#load = load;
    this.#plan = plan;
    this.#roots = [process.pid, ...environments.flatMap((environment) => environment.postmaster ?? [])];
  }

  /** Waits up to a limit until other processes are idle. */
  async quiet(say: (line: string) => void): Promise<void> {
    for (let wait = 0; this.#plan.patient && wait < MAX_WAITS; wait++) {
      const before = readProcessors(this.#roots);
      await sleep(QUIET_MS);
      const others = otherLoad(before, readProcessors(this.#roots));
      if (others < TOLERATED) return;
      if (wait === 0) say(`waiting: others keep ${others.toFixed(1)} processors busy`);
    }
    if (this.#plan.patient) say('the machine does not become quiet; measuring nevertheless');
  }

  async run(environment: Environment, subject: Subject, scenario: string, seconds: number): Promise<Measured> {
    for (let attempt = 0; ; attempt++) {
      const before = readProcessors(this.#roots);
      const sampler = subject === 'docket' ? setInterval(() => this.#sample(environment), SAMPLE_MS) : undefined;
      const connections = scenarioOf(scenario).connections ?? this.#plan.connections;
      const server = (subject === 'docket' ? environment.service : environment.baseline).child.pid ?? 0;
      const spentBefore = spentBy(server, environment.postmaster);
      const measured = await this.#load
        .run({ environment: environment.name, subject, scenario, seconds, connections })
        .finally(() => clearInterval(sampler));
      const spent = spentBy(server, environment.postmaster);
      if (Object.keys(measured.unexpected).length > 0) {
        throw new Error(
          `${scenario} of ${subject} had unexpected answers ${JSON.stringify(measured.unexpected)}: ${measured.example}`,
        );
      }
      const others = otherLoad(before, readProcessors(this.#roots));
      if (others <= TOLERATED || attempt >= MAX_REPEATS || !this.#plan.patient) {
        this.outcome.disturbed = Math.max(this.outcome.disturbed, others);
        return {
          ...measured,
          serverMicros: ((spent.server - spentBefore.server) * 1e6) / measured.requests,
          databaseMicros: ((spent.database - spentBefore.database) * 1e6) / measured.requests,
        };
      }
      this.outcome.repeated++;
      await this.quiet(() => {});
    }
  }

  #sample(environment: Environment): void {
    const { service } = memoryOf(environment.service.child.pid ?? 0, null);
    this.outcome.peak.set(environment.records, Math.max(this.outcome.peak.get(environment.records) ?? 0, service));
  }
}

function figures(runs: readonly Measured[]): Measurements {
  const statuses = [...new Set(runs.flatMap((run) => Object.keys(run.refused)))];
  return {
    rate: median(runs.map((run) => run.rate)),
    p50: median(runs.map((run) => run.p50)),
    p99: median(runs.map((run) => run.p99)),
    serverMicros: median(runs.map((run) => run.serverMicros)),
    databaseMicros: median(runs.map((run) => run.databaseMicros)),
    loadMicros: median(runs.map((run) => run.loadMicros)),
    refused: Object.fromEntries(
      statuses.map((status) => [status, median(runs.map((run) => (run.refused[status] ?? 0) / run.requests))]),
    ),
  };
}

export async function measureAll(
  load: Load,
  environments: readonly Environment[],
  plan: Plan,
  say: (line: string) => void,
): Promise<Outcome> {
  const measurement = new Measurement(load, environments, plan);
  const turns = environments.flatMap((environment) => SUBJECTS.map((subject) => ({ environment, subject })));
  for (const scenario of plan.scenarios) {
    await measurement.quiet(say);
    for (const { environment, subject } of turns) {
      await measurement.run(environment, subject, scenario, Math.min(2, plan.seconds));
    }
    const runs = new Map(turns.map(({ environment, subject }) => [`${environment.name} ${subject}`, [] as Measured[]]));
    for (let round = 0; round < plan.rounds; round++) {
      for (const { environment, subject } of round % 2 === 0 ? turns : turns.toReversed()) {
        runs
          .get(`${environment.name} ${subject}`)
          ?.push(await measurement.run(environment, subject, scenario, plan.seconds));
      }
    }
    for (const environment of environments) {
      const ours = runs.get(`${environment.name} docket`) ?? [];
      const baseline = runs.get(`${environment.name} baseline`) ?? [];
      const ratios = ours.map((run, round) => run.rate / (baseline[round]?.rate ?? Number.NaN));
      measurement.outcome.results.push({
        scenario,
        records: environment.records,
        docket: figures(ours),
        baseline: figures(baseline),
        ratio: median(ratios),
        spread: [Math.min(...ratios), Math.max(...ratios)],
      });
    }
    say(`${scenario} measured`);
  }
  return measurement.outcome;
}
