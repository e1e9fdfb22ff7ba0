/**
 * Fuzzing at length: generated requests, valid and broken, at a service of its own on a database of its own.
 *
 *     npm run test:fuzz -- --requests 50000 --seed 1
 *
 * A problem is printed with the request that made it; the same seed makes the same requests. Ends with 1 when there was any.
 */
import { parseArgs } from 'node:util';
import { fuzz } from '../test/proofs/fuzz/run.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '50000' }, seed: { type: 'string', default: '1' } },
});
const requests = Number(values.requests);
const seed = Number(values.seed);
const began = performance.now();
const report = await fuzz({ requests, seed, say: (line) => console.log(line) });
const { problems, ...figures } = report;
console.log({ seed, seconds: Math.round((performance.now() - began) / 1000), ...figures, problems: problems.length });
process.exitCode = problems.length > 0 ? 1 : 0;
