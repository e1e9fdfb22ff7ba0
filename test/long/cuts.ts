/**
 * `npm run test:cuts [-- --cuts 200 --seconds 30 --seed N]`: connections to the database are cut between
 * commit and answer; then they stand still, crawl, come in slices, are closed, each for so many seconds.
 */
import { cutAnswers, standStill, startCutStage } from '../harness/fault-cuts.ts';
import { told } from '../harness/fault-load.ts';
import { longRun } from '../harness/fault-run.ts';

const run = longRun({ cuts: 200, seconds: 30 });
const on = await startCutStage();
const problems: string[] = [];
try {
  if (run.number('cuts') > 0) {
    const outcome = await cutAnswers(on, run.number('cuts'), run.seed);
    run.say(`${on.proxy.cut} answers cut off; ${told(outcome)}`);
    problems.push(...outcome.problems);
  }
  for (const weather of ['hole', 'slow', 'slices', 'closed'] as const) {
    const stood = await standStill(on, weather, run.number('seconds') * 1000, run.seed);
    run.say(`${weather}: slowest answer ${stood.slowest} ms, answering ${stood.recovered} ms after; ${told(stood)}`);
    problems.push(...stood.problems.map((problem) => `${weather}: ${problem}`));
  }
} finally {
  await on.close();
}
run.end(problems);
