/** Stops Docket at a given moment of its start and looks for leftovers. Used by a short test and by a long command. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BIN = path.join(ROOT, 'bin/docket.mjs');
const END_MS = 120_000;

/** Ways of starting the embedded database. */
export const FORMS = {
  'docket serve': [process.execPath, BIN, 'serve'],
  'docket serve --processes 2': [process.execPath, BIN, 'serve', '--processes', '2'],
  'docket keys list': [process.execPath, BIN, 'keys', 'list'],
  'docket migrate': [process.execPath, BIN, 'migrate'],
  'npm start': ['npm', 'start'],
} as const satisfies Record<string, readonly [string, ...string[]]>;

export type Form = keyof typeof FORMS;

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
  /** When the service was ready or the command had ended, in milliseconds from its start; undefined where it came to neither. */
  completeMs: number | undefined;
  /** Leftovers, one line each; empty if there are none. */
  left: string[];
}

/** Runs the form on a data folder and sends the signal after `delayMs`, or when it is complete, whichever is first. */
export async function stopAt(
  form: Form,
  dataDir: string,
  delayMs: number,
  signal: 'SIGTERM' | 'SIGINT',
): Promise<Outcome> {
  const [file, ...args] = FORMS[form] as readonly [string, ...string[]];
  const env = { ...process.env, DOCKET_DATA_DIR: dataDir, DOCKET_HOST: '127.0.0.1', DOCKET_PORT: '0' };
  // A separate service in any environment: neither the database of the tests nor npm as a parent.
  for (const name of Object.keys(env)) {
    if (/^(?:DATABASE_|npm_|NODE_TEST_CONTEXT$|NODE_OPTIONS$)/.test(name)) Reflect.deleteProperty(env, name);
  }
  const began = performance.now();
  const child = spawn(file, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  const complete = Promise.withResolvers<number>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('Docket answers at')) complete.resolve(performance.now() - began);
    });
  }
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, name) => {
      if (code === 0) complete.resolve(performance.now() - began);
      resolve({ code, signal: name });
    });
  });
  const timer = new AbortController();
  const late = sleep(delayMs, undefined, { signal: timer.signal }).catch(() => undefined);
  const completeMs = await Promise.race([complete.promise, late, ended.then(() => undefined)]);
  timer.abort();
  // Only to the first process, like a service manager.
  child.kill(signal);
  const end = await Promise.race([ended, sleep(END_MS, { code: null, signal: null }, { ref: false })]);
  const left = await leftOver(dataDir);
  return { ...end, output, completeMs, left };
}

/** Waits a while for processes to end, then names those that still use the folder, and locks in it. */
async function leftOver(dataDir: string): Promise<string[]> {
  const until = performance.now() + END_MS / 4;
  let running = processesOf(dataDir);
  while (running.size > 0 && performance.now() < until) {
    await sleep(100);
    running = processesOf(dataDir);
  }
  const left = [...running].map(([pid, command]) => `process ${pid}: ${command}`);
  // A failed try must not disturb those that follow.
  for (const pid of running.keys()) process.kill(pid, 'SIGKILL');
  const locks = path.join(dataDir, 'postgres.lock');
  if (existsSync(locks)) left.push(...readdirSync(locks).map((name) => `lock ${name}`));
  if (existsSync(dataDir)) {
    left.push(...readdirSync(dataDir).flatMap((name) => (/\.new/.test(name) ? [`unfinished ${name}`] : [])));
  }
  return left;
}

/** Processes whose command line, environment or working folder refers to the data folder. */
function processesOf(dataDir: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      // A process that has ended and was not waited for yet has no command line.
      if (command === '') continue;
      const names = `${command}\0${environment}\0${readlinkSync(`/proc/${pid}/cwd`)}`;
      if (names.includes(dataDir)) found.set(pid, command);
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

export async function newDataDir(): Promise<{ dataDir: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-stop-'));
  return { dataDir: path.join(folder, 'data'), remove: () => rm(folder, { recursive: true, force: true }) };
}

export interface SweepOptions {
  /** Number of moments, spread evenly over a first start, each in a folder of its own. */
  moments: number;
  /** How long a start takes, in milliseconds; a complete start measures it unless given. */
  lastsMs?: number | undefined;
  /** Every second folder is used again afterwards; true by default. */
  useAgain?: boolean;
  tell?: (line: string) => void;
}

/**
 * Stops the form at several moments of its start. @returns how long a start takes, and a line for each thing that was left over
 * and for each folder that could not be used again
 */
export async function sweep(
  form: Form,
  { moments, lastsMs: given, useAgain = true, tell = () => {} }: SweepOptions,
): Promise<{ lastsMs: number; failures: string[] }> {
  const failures: string[] = [];
  let lastsMs = given ?? 0;
  if (given === undefined) {
    const whole = await tryAt(form, END_MS, 'SIGTERM', failures, false);
    lastsMs = whole.completeMs ?? 0;
    if (lastsMs === 0) failures.push(`${form} did not start: ${whole.output}`);
  }
  for (let at = 0; at < moments; at++) {
    const even = at % 2 === 0;
    const delayMs = (lastsMs * (at + 0.5)) / moments;
    const { code, signal } = await tryAt(form, delayMs, even ? 'SIGTERM' : 'SIGINT', failures, even && useAgain);
    tell(`${form}: stopped ${Math.round(delayMs)} of ${Math.round(lastsMs)} ms after its start: ${signal ?? code}`);
  }
  return { lastsMs, failures };
}

async function tryAt(
  form: Form,
  delayMs: number,
  signal: 'SIGTERM' | 'SIGINT',
  failures: string[],
  useAgain: boolean,
): Promise<Outcome> {
  const { dataDir, remove } = await newDataDir();
  try {
    const outcome = await stopAt(form, dataDir, delayMs, signal);
    const where = `${form}, ${signal} after ${Math.round(delayMs)} ms`;
    failures.push(...outcome.left.map((line) => `${where}: ${line}\n${outcome.output}`));
    if (!useAgain) return outcome;
    // Not every command: between two migrations, all but this one and `serve` ask for it.
    const again = await stopAt('docket migrate', dataDir, END_MS, 'SIGTERM');
    if (again.code !== 0) failures.push(`${where}: cannot be used again: ${again.output}`);
    failures.push(...again.left.map((line) => `${where}, then used again: ${line}`));
    return outcome;
  } finally {
    await remove();
  }
}
