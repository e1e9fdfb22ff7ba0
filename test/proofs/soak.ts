/** `npm run test:soak [-- --minutes 60 --pause 1000 --seed N]`: a long even load, in six windows. */
import { longRun } from './long-run.ts';
import { soak } from './fault-soak.ts';

const run = longRun({ minutes: 60, pause: 1000 });
run.end(await soak({ minutes: run.number('minutes'), pauseMs: run.number('pause'), seed: run.seed, say: run.say }));
