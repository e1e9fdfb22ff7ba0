/**
 * `npm run test:lost-updates [-- --seconds 60 --clients 24 --kills 10 --backends 5 --seed N]`: unique appends
 * by PATCH, bulk and inbound, with imports that change the same records, through two processes that are killed.
 */
import { appendTokens } from '../harness/fault-appends.ts';
import { longRun } from '../harness/fault-run.ts';
import { Stage } from '../harness/fault-stage.ts';

const run = longRun({ seconds: 60, clients: 24, kills: 10, backends: 5 });
const stage = await Stage.start();
let problems: string[] = [];
try {
  const seen = await appendTokens(stage, {
    clients: run.number('clients'),
    ms: run.number('seconds') * 1000,
    serviceKills: run.number('kills'),
    backendKills: run.number('backends'),
    seed: run.seed,
  });
  run.say(
    `${seen.acknowledged} appends acknowledged, ${seen.conflicts} refused as stale, ${seen.unknown} without an answer`,
  );
  problems = seen.problems;
} finally {
  await stage.close();
}
run.end(problems);
