/** A mix of all writes while something breaks, then everything that was told held against what is stored. */
import { setTimeout as sleep } from 'node:timers/promises';
import { judge } from './fault-judge.ts';
import { type MixJournal, newJournal } from './fault-journal.ts';
import { runMixClient } from './fault-mix.ts';
import type { Stage } from './fault-stage.ts';
import { docket } from './fault-service.ts';
import { random } from './load-clients.ts';

/** What was under way is answered within this after the last fault. */
const BACK_MS = 20_000;

export interface Fault {
  stage: Stage;
  /** Begins every tag of this load, and of no other on this stage. */
  name: string;
  seed: number;
  clients?: number;
  /** Which processes are asked; all unless given. */
  urls?: readonly string[];
  pauseMs?: number;
  excused?: readonly string[];
  /** Where this load is noted beside others, all of whose names begin with `prefix`. */
  beside?: { journal: MixJournal; prefix: string };
  /** Milliseconds that one try may take, and that everything may take after the last fault. */
  tryMs?: number;
  backMs?: number;
  /** What happens meanwhile; the load ends when it does. */
  faults(next: () => number): Promise<void>;
}

/** What is wrong after a fault, and what was told during it. */
export interface Outcome {
  problems: string[];
  journal: MixJournal;
}

export async function underMix(fault: Fault): Promise<Outcome> {
  const { stage, name, seed } = fault;
  const journal = fault.beside?.journal ?? newJournal();
  let running = true;
  let givenUp = Number.POSITIVE_INFINITY;
  const clients = Array.from({ length: fault.clients ?? 16 }, (_, turn) =>
    runMixClient({
      urls: fault.urls ?? stage.urls(),
      key: stage.key,
      ids: stage.ids,
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
  if (!stage.alive()) problems.push(`a process ended by itself:\n${stage.said()}`);
  problems.push(
    ...(await judge((text, values) => stage.rows(text, values), journal, fault.beside?.prefix ?? `${name}-`)),
  );
  problems.push(...(await examine(stage)));
  problems.push(...stage.defects().map((line) => `the log tells of a defect: ${line}`));
  return { problems, journal };
}

/** The service's own invariant checks, and those that hold only while nobody takes the outbox. */
export async function examine(stage: Stage): Promise<string[]> {
  const ended = await docket(['doctor', '--deep', '--json'], stage.env);
  const checks = JSON.parse(ended.stdout) as { name: string; ok: boolean; says: string }[];
  const problems = checks.filter(({ ok }) => !ok).map(({ name, says }) => `${name}: ${says}`);
  if (stage.keepsOutbox) {
    const rows = await stage.rows<{ id: string }>(
      `SELECT j.id FROM journal j LEFT JOIN outbox x ON x.event_id = j.id GROUP BY j.id HAVING count(x.event_id) <> 1 LIMIT 5`,
    );
    problems.push(...rows.map(({ id }) => `I3: the event ${id} is not in the outbox once`));
  }
  return problems;
}

/** One line about what was told. */
export function told({ journal }: Outcome): string {
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

/** Milliseconds that it took to answer again after each kill of the database. */
export interface Kills extends Outcome {
  back: number[];
}

/** Kills processes of the service, then connections of the database, then the whole database; all is held up after each kind. */
export async function kill(
  stage: Stage,
  counts: KillCounts,
  seed: number,
  say: (line: string) => void,
  name = 'kill',
): Promise<Kills> {
  const back: number[] = [];
  const ways: Readonly<Record<keyof KillCounts, (turn: number, next: () => number) => Promise<void>>> = {
    service: async (turn, next) => {
      await sleep(next() * 500);
      await stage.killService(turn % stage.processes);
      await stage.untilAnswered(turn % stage.processes);
    },
    backend: async (_turn, next) => {
      await sleep(next() * 400);
      back.push(await stage.killBackend(next));
    },
    database: async (_turn, next) => {
      await sleep(200 + next() * 500);
      back.push(await stage.killDatabase());
    },
  };
  const problems: string[] = [];
  const journal = newJournal();
  for (const [kind, way] of Object.entries(ways) as [keyof KillCounts, (typeof ways)['service']][]) {
    if (counts[kind] === 0) continue;
    const outcome = await underMix({
      stage,
      name: `${name}-${kind}`,
      seed,
      beside: { journal, prefix: `${name}-` },
      faults: async (next) => {
        for (let turn = 0; turn < counts[kind]; turn++) {
          await way(turn, next);
          if (!stage.alive()) throw new Error(`a process ended by itself:\n${stage.said()}`);
          if (turn % 10 === 9) say(`${turn + 1} kills: ${kind}`);
        }
      },
    });
    say(`${counts[kind]} kills: ${kind}; ${outcome.problems.length} things are wrong; ${told(outcome)}`);
    problems.push(...outcome.problems.map((problem) => `${kind}: ${problem}`));
  }
  return { problems, journal, back };
}
