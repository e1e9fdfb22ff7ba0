/**
 * Non-interference over many requests: two databases that differ only in hidden data get the same requests.
 *
 * npm run test:leaks -- --questions 20000 --seed 1
 *
 * Prints the requests with differing responses and exits with 1 if there are any.
 */
import { parseArgs } from 'node:util';
import { compare } from '../test/proofs/leaks/compare.ts';

const { values } = parseArgs({
  options: { questions: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
});
for (const differ of ['values', 'existence'] as const) {
  const began = performance.now();
  const questions = Math.ceil(Number(values.questions) / 2);
  const { differences, ...figures } = await compare({
    differ,
    records: 60,
    questions,
    feedSteps: Math.ceil(questions / 10),
    seed: Number(values.seed),
  });
  console.log({ differ, seconds: Math.round((performance.now() - began) / 1000), ...figures });
  for (const one of differences) console.log(one);
  if (differences.length > 0) process.exitCode = 1;
}
