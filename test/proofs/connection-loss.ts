/**
 * `npm run test:connection-loss [-- --cuts 200 --seconds 30 --seed N]`: connections to the database are cut between commit and
 * confirmation; then they stall, slow down, arrive in small chunks and are closed, each for the given seconds.
 */
import { cutResponses, stallConnections, startConnectionFaults } from './fault-connections.ts';
import { summaryOf } from './fault-injection.ts';
import { longRun } from './long-run.ts';

const run = longRun({ cuts: 200, seconds: 30 });
const on = await startConnectionFaults();
const problems: string[] = [];
try {
  if (run.number('cuts') > 0) {
    const outcome = await cutResponses(on, run.number('cuts'), run.seed);
    run.say(`${on.proxy.cut} answers cut off; ${summaryOf(outcome)}`);
    problems.push(...outcome.problems);
  }
  for (const weather of ['hole', 'slow', 'slices', 'closed'] as const) {
    const stood = await stallConnections(on, weather, run.number('seconds') * 1000, run.seed);
    run.say(
      `${weather}: slowest answer ${stood.slowest} ms, answering ${stood.recovered} ms after; ${summaryOf(stood)}`,
    );
    problems.push(...stood.problems.map((problem) => `${weather}: ${problem}`));
  }
} finally {
  await on.close();
}
run.end(problems);
