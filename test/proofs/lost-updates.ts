/**
 * `npm run test:lost-updates [-- --seconds 60 --clients 24 --kills 10 --backends 5 --seed N]`: unique appends by PATCH, bulk
 * and inbound, with imports that change the same records, through two processes that are killed.
 */
import { appendTokens } from './fault-appends.ts';
import { longRun } from './long-run.ts';
import { FaultEnvironment } from './fault-environment.ts';

const run = longRun({ seconds: 60, clients: 24, kills: 10, backends: 5 });
const environment = await FaultEnvironment.start();
let problems: string[] = [];
try {
  const seen = await appendTokens(environment, {
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
  await environment.close();
}
run.end(problems);
