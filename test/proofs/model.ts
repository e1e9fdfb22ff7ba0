/**
 * `npm run test:model [-- --steps 100000 --seed 1]`: the reference model of `test/model.db.test.ts` at length. A run that
 * disagrees is made shorter and printed with its calls.
 */
import { longRun } from './long-run.ts';
import { checkModel, startModelWorld } from '../model/run.ts';

const EVERY_MS = 30_000;

const run = longRun({ steps: 100_000 });
const world = await startModelWorld();
const problems: string[] = [];
let told = performance.now();
const progress = (): void => {
  if (performance.now() - told < EVERY_MS) return;
  told = performance.now();
  run.say(`${world.steps} steps, ${world.pairs} of them two calls at one moment, in ${world.runs} runs`);
};
try {
  await checkModel(world, { steps: run.number('steps'), seed: run.seed, progress });
  run.say(`${world.steps} steps, ${world.pairs} of them two calls at one moment, in ${world.runs} runs`);
} catch (error) {
  problems.push(error instanceof Error ? `${error.message}\n${String(error.cause)}` : String(error));
} finally {
  await world.app.close();
}
run.end(problems);
