/** Runs a mixed write load during a fault, then compares all responses with the stored data. */
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyAcknowledged } from './fault-verification.ts';
import { type WorkloadJournal, newJournal } from './fault-journal.ts';
import { runWorkloadClient } from './fault-workload.ts';
import type { FaultEnvironment } from './fault-environment.ts';
import { docket } from './fault-service.ts';
import { random } from './fault-client.ts';

/** Time limit for pending requests after the last fault. */
const BACK_MS = 20_000;

export interface Fault {
  stage: FaultEnvironment;
  /** Begins every tag of this load, and of no other on this stage. */
  name: string;
  seed: number;
  clients?: number;
  /** Which processes are asked; all unless given. */
  urls?: readonly string[];
  pauseMs?: number;
  excused?: readonly string[];
  /** Prefix of the records of this load, to separate it from others. */
  beside?: { journal: WorkloadJournal; prefix: string };
  /** Milliseconds: time limit of one attempt, and of everything after the last fault. */
  tryMs?: number;
  backMs?: number;
  /** What happens meanwhile; the load ends when it does. */
  faults(next: () => number): Promise<void>;
}

/** Problems found after a fault, and the responses during it. */
export interface Outcome {
  problems: string[];
  journal: WorkloadJournal;
}

export async function runUnderLoad(fault: Fault): Promise<Outcome> {
  const { stage: environment, name, seed } = fault;
  const journal = fault.beside?.journal ?? newJournal();
  let running = true;
  let givenUp = Number.POSITIVE_INFINITY;
  const clients = Array.from({ length: fault.clients ?? 16 }, (_, turn) =>
    runWorkloadClient({
      urls: fault.urls ?? environment.urls(),
      key: environment.key,
      ids: environment.ids,
      name: `${name}-${turn}`,
      random: random(seed + turn + 1),
      journal,
      running: () => running,
      patient: () => performance.now() < givenUp,
      ...(fault.excused === undefined ? {} : { excused: fault.excused }),
      ...(fault.tryMs === undefined ? {} : { tryMs: fault.tryMs }),
      ...(fault.pauseMs === undefined ? {} : { pauseMs: fault.pauseMs }),
    }),
  );
  const problems: string[] = [];
  try {
    await fault.faults(random(seed));
  } finally {
    running = false;
    givenUp = performance.now() + (fault.backMs ?? BACK_MS);
    await Promise.all(clients);
  }
  if (!environment.alive()) problems.push(`a process ended by itself:\n${environment.said()}`);
  problems.push(
    ...(await verifyAcknowledged(
      (text, values) => environment.rows(text, values),
      journal,
      fault.beside?.prefix ?? `${name}-`,
    )),
  );
  problems.push(...(await verifyOutcome(environment)));
  problems.push(...environment.defects().map((line) => `the log tells of a defect: ${line}`));
  return { problems, journal };
}

/** The service's own invariant checks. */
export async function verifyOutcome(environment: FaultEnvironment): Promise<string[]> {
  const ended = await docket(['doctor', '--deep', '--json'], environment.env);
  const checks = JSON.parse(ended.stdout) as { name: string; ok: boolean; says: string }[];
  const problems = checks.filter(({ ok }) => !ok).map(({ name, says }) => `${name}: ${says}`);
  return problems;
}

/** One line that summarises the responses. */
export function summaryOf({ journal }: Outcome): string {
  const acknowledged = [...journal.acknowledged].map(([kind, count]) => `${count} ${kind}`).join(', ');
  const refusals = [...journal.codes].map(([code, count]) => `${count} ${code}`).join(', ');
  const sum = [...journal.acknowledged.values()].reduce((total, count) => total + count, 0);
  return (
    `${sum} writes acknowledged (${acknowledged}); ${journal.unanswered} without an answer; ` +
    `${journal.refused} refused (${refusals}), the slowest after ${Math.round(journal.slowest)} ms`
  );
}

export interface KillCounts {
  service: number;
  backend: number;
  database: number;
}

/** Milliseconds until the first response after each kill of the database. */
export interface Kills extends Outcome {
  back: number[];
}

/** Kills processes of the service, then connections of the database, then the whole database; all is held up after each kind. */
export async function kill(
  environment: FaultEnvironment,
  counts: KillCounts,
  seed: number,
  say: (line: string) => void,
  name = 'kill',
): Promise<Kills> {
  const back: number[] = [];
  const ways: Readonly<Record<keyof KillCounts, (turn: number, next: () => number) => Promise<void>>> = {
    service: async (turn, next) => {
      await sleep(next() * 500);
      await environment.killService(turn % environment.processes);
      await environment.untilAnswered(turn % environment.processes);
    },
    backend: async (_turn, next) => {
      await sleep(next() * 400);
      back.push(await environment.killBackend(next));
    },
    database: async (_turn, next) => {
      await sleep(200 + next() * 500);
      back.push(await environment.killDatabase());
    },
  };
  const problems: string[] = [];
  const journal = newJournal();
  for (const [kind, way] of Object.entries(ways) as [keyof KillCounts, (typeof ways)['service']][]) {
    if (counts[kind] === 0) continue;
    const outcome = await runUnderLoad({
      stage: environment,
      name: `${name}-${kind}`,
      seed,
      beside: { journal, prefix: `${name}-` },
      faults: async (next) => {
        for (let turn = 0; turn < counts[kind]; turn++) {
          await way(turn, next);
          if (!environment.alive()) throw new Error(`a process ended by itself:\n${environment.said()}`);
          if (turn % 10 === 9) say(`${turn + 1} kills: ${kind}`);
        }
      },
    });
    say(`${counts[kind]} kills: ${kind}; ${outcome.problems.length} things are wrong; ${summaryOf(outcome)}`);
    problems.push(...outcome.problems.map((problem) => `${kind}: ${problem}`));
  }
  return { problems, journal, back };
}

/** Makes every statement that writes events last, so that others gather to the largest groups, and a kill hits one in the middle. */
const SLOW = `
  CREATE FUNCTION slow_group() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.1); RETURN NULL; END';
  CREATE TRIGGER slow_group AFTER INSERT ON journal FOR EACH STATEMENT EXECUTE FUNCTION slow_group()`;
const FAST = 'DROP TRIGGER slow_group ON journal; DROP FUNCTION slow_group()';
/** Enough for two groups of 16 under way in each of two processes, and others that wait. */
const GROUPED_CLIENTS = 96;

/** @returns also the largest number of units that one transaction wrote */
export async function killInGroups(
  environment: FaultEnvironment,
  { service, backend }: Pick<KillCounts, 'service' | 'backend'>,
  seed: number,
  name = 'grouped',
): Promise<Outcome & { largest: number }> {
  const inGroup = async (): Promise<void> => {
    const sleeping = `SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'WITH %'`;
    while ((await environment.rows(sleeping)).length === 0) await sleep(10);
  };
  const outcome = await runUnderLoad({
    stage: environment,
    name,
    seed,
    clients: GROUPED_CLIENTS,
    faults: async (next) => {
      await environment.rows(SLOW);
      try {
        for (let turn = 0; turn < service + backend; turn++) {
          await sleep(500 + next() * 500);
          await inGroup();
          if (turn < service) await environment.killService(turn % environment.processes);
          else await environment.killBackend(next);
          for (let process = 0; process < environment.processes; process++) await environment.untilAnswered(process);
        }
      } finally {
        await environment.rows(FAST);
      }
    },
  });
  const [row] = await environment.rows<{ n: number }>(
    `SELECT max(n)::int AS n FROM (SELECT count(DISTINCT correlation_id) AS n FROM journal GROUP BY txid) AS groups`,
  );
  return { ...outcome, largest: row?.n ?? 0 };
}
