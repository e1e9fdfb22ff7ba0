/**
 * `node tools/test.ts LANE...`: runs the tests of these lanes, three processes at a time. Starting the service and compiling its
 * code takes two seconds of a processor, so files share processes; only those of the lane `slow` have one each.
 *
 * `test/durations.json` has the seconds of each file. Files that took much longer are printed; with `RECORD_DURATIONS=1` the new
 * durations are written.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts';
import type { Results } from '../test/reporters/results.ts';

interface Lane {
  files: readonly string[];
  /** Number of processes that share the files; without it, each file has its own. */
  shared?: number;
}

const LANES: Readonly<Record<string, Lane>> = {
  fast: { files: ['{src,test,client/test,examples}/**/!(*.db|*.slow).test.ts'], shared: 2 },
  db: { files: ['{src,test}/**/*.db.test.ts'], shared: 6 },
  slow: { files: ['{src,test,examples}/**/*.slow.test.ts', 'acceptance/**/*.test.ts'] },
  browser: { files: ['test/browser/*.browser.ts'], shared: 6 },
};
const PROCESSES = 3;
const SHOWN = 15;
/** A file is slower if it takes more than this multiple of its recorded duration, and more seconds than these. */
const SLOWER = { times: 2, seconds: 10 };
/** The assumed seconds of a file without a record. */
const UNKNOWN = 5;

const ROOT = path.join(import.meta.dirname, '..');
const RECORD = path.join(ROOT, 'test/durations.json');
const recorded = JSON.parse(readFileSync(RECORD, 'utf8')) as Readonly<Record<string, number>>;
const secondsOf = (file: string): number => recorded[file] ?? UNKNOWN;

interface Job {
  files: string[];
  seconds: number;
  shared: boolean;
}

/** @throws Error if a pattern of the lane matches no file */
function jobsOf({ files, shared }: Lane): Job[] {
  const found = files.flatMap((pattern) => {
    const matches = globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules/**'] });
    if (matches.length === 0) throw new Error(`no test file matches ${pattern}`);
    return matches;
  });
  const jobs = Array.from(
    { length: shared ?? found.length },
    (): Job => ({
      files: [],
      seconds: 0,
      shared: shared !== undefined,
    }),
  );
  // The longest first, each into the job that is the shortest so far.
  for (const file of found.sort((one, other) => secondsOf(other) - secondsOf(one))) {
    const shortest = jobs.reduce((best, job) => (job.seconds < best.seconds ? job : best));
    shortest.files.push(file);
    shortest.seconds += secondsOf(file);
  }
  return jobs.filter((job) => job.files.length > 0);
}

/** Runs the files of a job in one process, and prints its output when it has ended. */
async function run({ files, shared }: Job, folder: string, index: number): Promise<Results> {
  const resultFile = path.join(folder, `${index}.json`);
  const flags = ['--test', '--test-timeout=600000', '--test-reporter=spec'];
  if (shared) flags.push('--test-isolation=none', `--import=${path.join(ROOT, 'test/support/shared-process.ts')}`);
  flags.push('--test-reporter-destination=stdout', `--test-reporter=${path.join(ROOT, 'test/reporters/results.ts')}`);
  flags.push(`--test-reporter-destination=${resultFile}`);
  const child = spawn(process.execPath, [...flags, ...files], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  process.stdout.write(Buffer.concat(chunks));
  let results: Results;
  try {
    results = JSON.parse(readFileSync(resultFile, 'utf8')) as Results;
  } catch {
    results = {
      files: {},
      counts: { tests: 0, passed: 0, cancelled: 0, skipped: 0, todo: 0 },
      failures: [],
    };
  }
  if (code !== 0 && results.failures.length === 0)
    results.failures.push(`the process of ${files.join(', ')} ended with ${code ?? signal}`);
  for (const file of files) if (!(file in results.files)) results.failures.push(`${file}: none of its tests ended`);
  return results;
}

function print(results: readonly Results[], seconds: number): void {
  const sum = (count: keyof Results['counts']): number => results.reduce((all, { counts }) => all + counts[count], 0);
  const took = Object.assign({}, ...results.map(({ files }) => files)) as Record<string, number>;
  const slowest = Object.entries(took).sort(([, one], [, other]) => other - one);
  const line = (file: string, duration: number): string => `${duration.toFixed(1).padStart(8)} s  ${file}`;
  console.log(`\n${slowest.length} test files. The slowest:`);
  for (const [file, duration] of slowest.slice(0, SHOWN)) console.log(line(file, duration));
  const slower = slowest.filter(([file, duration]) => {
    const known = recorded[file] ?? Number.POSITIVE_INFINITY;
    return duration > known * SLOWER.times && duration > known + SLOWER.seconds;
  });
  if (slower.length > 0) console.log('Slower than recorded in test/durations.json:');
  for (const [file, duration] of slower) console.log(`${line(file, duration)}, recorded ${recorded[file]} s`);
  const failures = results.flatMap((result) => result.failures);
  if (failures.length > 0) console.log(`\nFailed:\n${failures.map((failure) => `  ${failure}`).join('\n')}`);
  console.log(
    `\n${sum('tests')} tests: ${sum('passed')} passed, ${failures.length} failed, ${sum('cancelled')} cancelled, ` +
      `${sum('skipped') + sum('todo')} skipped, in ${Math.round(seconds)} s`,
  );
  if (failures.length > 0) process.exitCode = 1;
  if (process.env['RECORD_DURATIONS'] !== '1') return;
  const known: Record<string, number> = { ...recorded };
  for (const [file, duration] of slowest) known[file] = Math.round(duration * 10) / 10;
  const present = Object.entries(known).filter(([file]) => globSync(file, { cwd: ROOT }).length > 0);
  writeFileSync(
    RECORD,
    `${JSON.stringify(Object.fromEntries(present.sort(([one], [other]) => (one < other ? -1 : 1))), undefined, 2)}\n`,
  );
}

async function main(names: readonly string[]): Promise<void> {
  const lanes = names.map((name) => {
    const lane = LANES[name];
    if (lane === undefined) throw new Error(`no lane ${name}: ${Object.keys(LANES).join(', ')}`);
    return lane;
  });
  const start = performance.now();
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-results-'));
  const needsDatabase = lanes.some((lane) => lane !== LANES['fast']);
  if (needsDatabase) await globalSetup();
  try {
    const waiting = lanes.flatMap(jobsOf).sort((one, other) => other.seconds - one.seconds);
    const results: Results[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let job = waiting[next]; job !== undefined; job = waiting[next])
        results.push(await run(job, folder, next++));
    };
    await Promise.all(Array.from({ length: PROCESSES }, work));
    print(results, (performance.now() - start) / 1000);
  } finally {
    if (needsDatabase) await globalTeardown();
    await rm(folder, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
