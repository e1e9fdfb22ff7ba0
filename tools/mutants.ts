/**
 * Mutation test: removes guards one at a time in a copy of the source and runs the tests that must fail.
 *
 * npm run test:mutants -- [--only TEXT] [--from N] [--to N]
 *
 * Prints surviving mutants and exits with 1 if there are any. All runs share one PostgreSQL.
 */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startTestCluster } from '../test/support/cluster.ts';
import { MUTANTS, type Mutant } from '../test/proofs/mutants/list.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const COPIED = [
  'src',
  'test',
  'db',
  'config',
  'tools',
  'openapi',
  'client',
  'package.json',
  'tsconfig.json',
  'bin',
  'acceptance',
  'deploy',
  'docs',
];
const PATIENCE_MS = 400_000;

interface Outcome {
  killed: boolean;
  seconds: number;
  by: string;
}

/** Runs test files until the first failure. A timeout counts as a failure. */
function run(folder: string, files: readonly string[], databaseUrl: string): Promise<Outcome> {
  const began = performance.now();
  const flags = [
    '--test',
    '--test-reporter=tap',
    '--test-global-setup=test/support/global-setup.ts',
    '--test-timeout=120000',
  ];
  const child = spawn(process.execPath, [...flags, ...files], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  return new Promise((resolve) => {
    let by = '';
    const stop = (why: string): void => {
      by ||= why;
      try {
        process.kill(-(child.pid as number), 'SIGTERM');
      } catch {
        // It ended by itself meanwhile.
      }
    };
    const timer = setTimeout(() => stop('it took too long'), PATIENCE_MS);
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const failed = /^\s*not ok \d+ - (.*)$/m.exec(text);
      if (failed !== null) stop(failed[1] ?? 'a test');
    });
    child.stderr.resume();
    child.once('close', (code) => {
      clearTimeout(timer);
      if (by === '' && code !== 0) by = `exit code ${code}`;
      resolve({ killed: by !== '', by, seconds: Math.round((performance.now() - began) / 1000) });
    });
  });
}

async function mutate(folder: string, mutant: Mutant, databaseUrl: string): Promise<Outcome> {
  const file = path.join(folder, mutant.file);
  const source = await readFile(file, 'utf8');
  if (source.split(mutant.find).length !== 2) throw new Error(`${mutant.file} does not hold once: ${mutant.find}`);
  await writeFile(
    file,
    source.replace(mutant.find, () => mutant.replace),
  );
  try {
    return await run(folder, mutant.killedBy, databaseUrl);
  } finally {
    await writeFile(file, source);
  }
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    from: { type: 'string', default: '0' },
    to: { type: 'string', default: String(MUTANTS.length) },
  },
});
const folder = await mkdtemp(path.join(tmpdir(), 'docket-mutants-'));
const cluster = await startTestCluster();
let survivors = 0;
/** Test files that pass while nothing is taken out, or why not: a test that fails in any case notices nothing. */
const sound = new Map<string, string>();
try {
  for (const part of COPIED) await cp(path.join(ROOT, part), path.join(folder, part), { recursive: true });
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  for (const [number, mutant] of MUTANTS.entries()) {
    const name = `${mutant.file}: ${mutant.find.trim().split('\n')[0]}`;
    if (number < Number(values.from) || number >= Number(values.to) || !name.includes(values.only)) continue;
    for (const file of mutant.killedBy) {
      if (!sound.has(file)) sound.set(file, (await run(folder, [file], cluster.url)).by);
      const why = sound.get(file) ?? '';
      if (why !== '') throw new Error(`${file} fails with nothing taken out: ${why}`);
    }
    const { killed, by, seconds } = await mutate(folder, mutant, cluster.url);
    if (!killed) survivors++;
    console.log(`${killed ? 'killed  ' : 'SURVIVED'} ${number} ${seconds} s ${name}${killed ? `  by: ${by}` : ''}`);
  }
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
console.log(`${survivors} survivors`);
process.exitCode = survivors === 0 ? 0 : 1;
