/**
 * `npm run test:pauses [-- --seconds 20 --stops 50 --seed N]`: suspends a process of the service, then the whole database
 * (SIGSTOP), under a mixed write load; then stops the processes one after the other under load.
 */
import { summaryOf, runUnderLoad } from './fault-injection.ts';
import { pauseDatabase, pauseService, stopUnderLoad } from './fault-pauses.ts';
import { longRun } from './long-run.ts';
import { FaultEnvironment } from './fault-environment.ts';

const run = longRun({ seconds: 20, stops: 50 });
const ms = run.number('seconds') * 1000;
const environment = await FaultEnvironment.start();
const problems: string[] = [];
try {
  const ways: Readonly<Record<string, () => Promise<string[]>>> = {
    service: () => pauseService(environment, 1, ms),
    database: () => pauseDatabase(environment, ms),
    stops: async () => {
      const wrong: string[] = [];
      for (let turn = 0; turn < run.number('stops'); turn++) {
        wrong.push(...(await stopUnderLoad(environment, 1)));
        if (turn % 10 === 9) run.say(`${turn + 1} stops`);
      }
      return wrong;
    },
  };
  for (const [name, way] of Object.entries(ways)) {
    const outcome = await runUnderLoad({
      stage: environment,
      name,
      seed: run.seed,
      tryMs: 33_000 + ms,
      backMs: 60_000,
      faults: async () => {
        problems.push(...(await way()).map((problem) => `${name}: ${problem}`));
      },
    });
    run.say(`${name}: ${summaryOf(outcome)}`);
    problems.push(...outcome.problems.map((problem) => `${name}: ${problem}`));
  }
} finally {
  await environment.close();
}
run.end(problems);
