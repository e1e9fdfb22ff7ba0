/**
 * `npm run test:pauses [-- --seconds 20 --stops 50 --seed N]`: a process of the service, then the whole
 * database, stands still (SIGSTOP) under a mix of all writes; then one process after the other is told to stop under load.
 */
import { told, underMix } from '../harness/fault-load.ts';
import { pauseDatabase, pauseService, stopUnderLoad } from '../harness/fault-pauses.ts';
import { longRun } from '../harness/fault-run.ts';
import { Stage } from '../harness/fault-stage.ts';

const run = longRun({ seconds: 20, stops: 50 });
const ms = run.number('seconds') * 1000;
const stage = await Stage.start();
const problems: string[] = [];
try {
  const ways: Readonly<Record<string, () => Promise<string[]>>> = {
    service: () => pauseService(stage, 1, ms),
    database: () => pauseDatabase(stage, ms),
    stops: async () => {
      const wrong: string[] = [];
      for (let turn = 0; turn < run.number('stops'); turn++) {
        wrong.push(...(await stopUnderLoad(stage, 1)));
        if (turn % 10 === 9) run.say(`${turn + 1} stops`);
      }
      return wrong;
    },
  };
  for (const [name, way] of Object.entries(ways)) {
    const outcome = await underMix({
      stage,
      name,
      seed: run.seed,
      tryMs: 33_000 + ms,
      backMs: 60_000,
      faults: async () => {
        problems.push(...(await way()).map((problem) => `${name}: ${problem}`));
      },
    });
    run.say(`${name}: ${told(outcome)}`);
    problems.push(...outcome.problems.map((problem) => `${name}: ${problem}`));
  }
} finally {
  await stage.close();
}
run.end(problems);
