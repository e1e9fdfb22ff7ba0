/** Starts the measured processes and reads their memory and CPU time from /proc. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LAUNCHER = path.join(ROOT, 'bin', 'docket.mjs');
const READY_MS = 120_000;
/** After this time a child is killed. A service stops its database first. */
const STOP_MS = 30_000;
const TICKS = 100;

/** The environment of children: what finds programs, and nothing that would lead them to another database. */
function environment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), ...more };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port on 127.0.0.1 was found');
  return address.port;
}

export interface Started {
  child: ChildProcess;
  /** Milliseconds from the start of the process to its ready line. */
  readyMs: number;
  /** The address in the ready line. */
  port: number;
}

const running = new Set<ChildProcess>();

/** Registers a child process, so that `stopAll` ends it: whatever fails, a benchmark leaves no process behind. */
export function registered<Child extends ChildProcess>(child: Child): Child {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Ends the child processes that still run. */
export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stop));
}

/** Runs a program to its end. @throws Error with what it printed */
export async function runToEnd(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv },
): Promise<string> {
  const run = promisify(execFile)(program, [...args], { ...options, maxBuffer: 64 * 1024 * 1024 });
  registered(run.child);
  return (await run).stdout;
}

/** Starts a program and waits for the line that names its address. Its standard error goes to `logFile`. */
async function start(args: string[], env: NodeJS.ProcessEnv, logFile: string): Promise<Started> {
  const began = performance.now();
  const log = openSync(logFile, 'a');
  const child = registered(
    spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', log], cwd: path.dirname(logFile) }),
  );
  const port = await new Promise<number>((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`not ready after ${READY_MS / 1000} s: ${said}`)), READY_MS);
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const address = /https?:\/\/[^\s/]+:(\d+)/.exec(said);
      if (address === null) return;
      clearTimeout(timer);
      resolve(Number(address[1]));
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      const reason = readFileSync(logFile, 'utf8').slice(-2000);
      reject(new Error(`ended with ${code} before it was ready:\n${said}${reason}`));
    });
  });
  return { child, readyMs: performance.now() - began, port };
}

export interface ServiceOptions {
  folder: string;
  port: number;
  /** Folder for a CPU profile, written when the service stops. */
  profile?: string;
  /** Further settings of the service. */
  env?: Readonly<Record<string, string>>;
}

function serviceEnvironment(options: ServiceOptions): NodeJS.ProcessEnv {
  return environment({
    DOCKET_DATA_DIR: path.join(options.folder, 'data'),
    DOCKET_PORT: String(options.port),
    DOCKET_STARTER: 'none',
    DOCKET_RATE_LIMIT: 'off',
    ...options.env,
  });
}

export async function startService(options: ServiceOptions): Promise<Started> {
  const env = serviceEnvironment(options);
  if (options.profile !== undefined) env.NODE_OPTIONS = `--cpu-prof --cpu-prof-dir=${options.profile}`;
  return await start([LAUNCHER, 'serve'], env, path.join(options.folder, 'service.log'));
}

export async function startBaseline(folder: string, options: unknown): Promise<Started> {
  const args = [path.join(ROOT, 'bench', 'baseline-server.ts'), JSON.stringify(options)];
  return await start(args, environment({ NODE_ENV: 'production' }), path.join(folder, 'baseline.log'));
}

/** Runs a command of the command line on the environment's data. @returns its output */
export async function docket(options: ServiceOptions, args: string[]): Promise<string> {
  return await runToEnd(process.execPath, [LAUNCHER, ...args], { env: serviceEnvironment(options) });
}

/** The same, and the peak resident memory in MB, sampled ten times a second. */
export async function docketMemory(
  options: ServiceOptions,
  args: string[],
): Promise<{ printed: string; most: number }> {
  const run = promisify(execFile)(process.execPath, [LAUNCHER, ...args], { env: serviceEnvironment(options) });
  registered(run.child);
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, memoryOf(run.child.pid ?? 0, null).service);
  }, 100);
  try {
    return { printed: (await run).stdout, most };
  } finally {
    clearInterval(timer);
  }
}

export async function stop(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(patience);
}

// ------------------------------------------------------------------ /proc

interface Stat {
  parent: number;
  ticks: number;
}

function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    // user, system, and the same of children that ended.
    return { parent: fields[1] ?? 0, ticks: [11, 12, 13, 14].reduce((sum, at) => sum + (fields[at] ?? 0), 0) };
  } catch {
    return undefined;
  }
}

/** The processes under `roots`, these included. */
function family(roots: readonly number[]): Map<number, Stat> {
  const all = new Map<number, Stat>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    if (stat !== undefined) all.set(Number(name), stat);
  }
  const found = new Map<number, Stat>();
  const take = (pid: number): void => {
    const stat = all.get(pid);
    if (stat === undefined || found.has(pid)) return;
    found.set(pid, stat);
    for (const [child, { parent }] of all) if (parent === pid) take(child);
  };
  for (const root of roots) take(root);
  return found;
}

function isPostgres(pid: number): boolean {
  try {
    return path.basename(readlinkSync(`/proc/${pid}/exe`)).startsWith('postgres');
  } catch {
    return false;
  }
}

function kilobytes(file: string, name: string): number {
  try {
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

export interface Memory {
  /** Resident memory of the service's own processes, in MB of 1024 × 1024 bytes. */
  service: number;
  /** Memory of the database's processes, each shared page counted once (proportional set size). */
  database: number;
}

/** Memory of a service and of its database, found by the data folder. */
export function memoryOf(service: number, postmaster: number | null): Memory {
  const own = [...family([service]).keys()].filter((pid) => !isPostgres(pid));
  const database = postmaster === null ? [] : [...family([postmaster]).keys()];
  return {
    service: own.reduce((sum, pid) => sum + kilobytes(`/proc/${pid}/status`, 'VmRSS'), 0) / 1024,
    database: database.reduce((sum, pid) => sum + kilobytes(`/proc/${pid}/smaps_rollup`, 'Pss'), 0) / 1024,
  };
}

/** The first line of the cluster's own file: its first process. */
export function postmasterOf(folder: string): number | null {
  try {
    return Number(readFileSync(path.join(folder, 'data', 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return null;
  }
}

/** Processor time that a server's own processes and those of a database have used so far, in seconds. */
export function spentBy(server: number, postmaster: number | null): { server: number; database: number } {
  const sum = (stats: Iterable<Stat>): number => [...stats].reduce((all, stat) => all + stat.ticks, 0) / TICKS;
  const own = [...family([server])].flatMap(([pid, stat]) => (isPostgres(pid) ? [] : [stat]));
  return { server: sum(own), database: postmaster === null ? 0 : sum(family([postmaster]).values()) };
}

/** CPU seconds: of all processes, of ours, and in total. */
export interface Processors {
  busy: number;
  ours: number;
  at: number;
}

export function readProcessors(roots: readonly number[]): Processors {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, soft = 0] = line.split(/\s+/).slice(1).map(Number);
  const ours = [...family(roots).values()].reduce((sum, stat) => sum + stat.ticks, 0);
  return { busy: (user + nice + system + irq + soft) / TICKS, ours: ours / TICKS, at: performance.now() / 1000 };
}

/** How many processors others kept busy between two readings: 0 is an otherwise idle machine. */
export function otherLoad(before: Processors, after: Processors): number {
  const others = after.busy - before.busy - (after.ours - before.ours);
  return Math.max(0, others / (after.at - before.at));
}
