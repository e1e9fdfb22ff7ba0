/**
 * `npm run test:fast`: the tests that need no database and wait for nothing. Their files share two processes, because starting one
 * for each would take longer than the tests. Other tests are named `*.db.test.ts` (PostgreSQL) and `*.slow.test.ts` (processes,
 * sockets, timers) and have a process for each file.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const FILES = '{src,test,client/test,examples}/**/!(*.db|*.slow).test.ts';
const SHARDS = 2;

/** @returns the exit code and the output of one process */
async function run(shard) {
  const flags = ['--test', '--test-isolation=none', `--test-shard=${shard}/${SHARDS}`, '--test-timeout=600000'];
  const child = spawn(process.execPath, [...flags, FILES], { stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  const [code] = await once(child, 'close');
  return { code: code ?? 1, output: Buffer.concat(chunks) };
}

const results = await Promise.all(Array.from({ length: SHARDS }, (_, index) => run(index + 1)));
for (const { output } of results) process.stdout.write(output);
process.exitCode = Math.max(...results.map(({ code }) => code));
