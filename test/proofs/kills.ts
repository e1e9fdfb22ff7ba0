/**
 * `npm run test:kills [-- --service 200 --backend 100 --database 30 --groups 50 --seed N]`: kill -9 of two processes of the service,
 * of database connections and of the whole database, under a mixed write load of 16 clients; then in the middle of groups of 16
 * units, under a load of 96 clients.
 */
import { kill, killInGroups, summaryOf } from './fault-injection.ts';
import { longRun } from './long-run.ts';
import { FaultEnvironment } from './fault-environment.ts';

/** Errors must come soon instead of a timeout. */
const REFUSED_MS = 5000;

const run = longRun({ service: 200, backend: 100, database: 30, groups: 50 });
const environment = await FaultEnvironment.start();
let problems: string[] = [];
try {
  const counts = { service: run.number('service'), backend: run.number('backend'), database: run.number('database') };
  const outcome = await kill(environment, counts, run.seed, run.say);
  const sorted = outcome.back.toSorted((a, b) => a - b);
  run.say(summaryOf(outcome));
  run.say(`answering again after ${sorted[Math.floor(sorted.length / 2)]} ms (median), ${sorted.at(-1)} ms (slowest)`);
  problems = outcome.problems;
  const groups = run.number('groups');
  if (groups > 0) {
    const half = Math.ceil(groups / 2);
    const grouped = await killInGroups(environment, { service: half, backend: groups - half }, run.seed);
    run.say(`${groups} kills in groups of up to ${grouped.largest} units; ${summaryOf(grouped)}`);
    problems.push(...grouped.problems.map((problem) => `groups: ${problem}`));
  }
  if (outcome.journal.slowest > REFUSED_MS) problems.push(`a refusal took ${Math.round(outcome.journal.slowest)} ms`);
} finally {
  await environment.close();
}
run.end(problems);
