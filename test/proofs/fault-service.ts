/** The service as its users run it: a process of its own, started, killed and asked from outside. Imports nothing of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import path from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const DOCKET = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../bin/docket.mjs');
const READY_MS = 60_000;

export type Environment = Readonly<Record<string, string>>;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Service {
  url: string;
  /** Its output so far. */
  output(): string;
  alive(): boolean;
  /** The process that was started, which is the one that serves where Node is new enough. */
  pid: number;
  /** Kills the process and its process group without cleanup. */
  kill(): Promise<void>;
  /** Asks it to stop, and waits. @returns its exit code */
  stop(): Promise<number | null>;
}

// Nothing of the environment of the tests reaches the service but where programs are.
function environment(given: Environment): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', DOCKET_HOST: '127.0.0.1', ...given };
}

/** Processes that have not ended yet. */
const running = new Set<ChildProcess>();
// If the setup of a test file fails, nothing else ends them. They would keep its process alive, and the run would not end.
if (process.env['NODE_TEST_CONTEXT'] !== undefined)
  after(() => {
    for (const { pid } of running) process.kill(-(pid as number), 'SIGKILL');
  });

function start(args: readonly string[], env: Environment): ChildProcess {
  const child = spawn(process.execPath, [DOCKET, ...args], {
    env: environment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
    // A separate process group, so that a kill also reaches child processes.
    detached: true,
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const said = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text;
  });
  return said;
}

/** A command that runs, with its output so far and how it ends: exit code and signal. */
export interface RunningCommand {
  child: ChildProcess;
  said: { stdout: string; stderr: string };
  ended: Promise<[code: number | null, signal: NodeJS.Signals | null]>;
}

/** Starts one command of the command line. */
export function startDocket(args: readonly string[], env: Environment): RunningCommand {
  const child = start(args, env);
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve([code, signal]));
  });
  return { child, said: collect(child), ended };
}

/** Runs one command of the command line to its end. */
export async function docket(args: readonly string[], env: Environment, input = ''): Promise<Ended> {
  const { child, said, ended } = startDocket(args, env);
  child.stdin?.end(input);
  const [code] = await ended;
  return { code, ...said };
}

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Starts `docket serve` and waits for its address. @throws Error with its output if it ends instead */
export async function startService(env: Environment, args: readonly string[] = []): Promise<Service> {
  const child = start(['serve', ...args], env);
  const said = collect(child);
  let ended: number | null | undefined;
  const closed = new Promise<void>((resolve) => {
    child.once('exit', (code) => {
      ended = code;
      resolve();
    });
  });
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid as number), name);
    } catch {
      // It is gone already.
    }
  };
  const kill = async (): Promise<void> => {
    signal('SIGKILL');
    await closed;
  };
  const began = performance.now();
  for (;;) {
    // A process that only works in the background has no address.
    const silent = said.stdout.includes('Docket worker is running') ? '' : undefined;
    const url = /Docket answers at (http:\/\/\S+)/.exec(said.stdout)?.[1] ?? silent;
    if (url !== undefined) {
      const stop = async (): Promise<number | null> => {
        // Only to the first process: it must pass the signal on to the serving one.
        child.kill('SIGTERM');
        await closed;
        return ended ?? null;
      };
      return {
        url,
        output: () => said.stdout + said.stderr,
        alive: () => ended === undefined,
        pid: child.pid as number,
        kill,
        stop,
      };
    }
    if (ended !== undefined || performance.now() - began > READY_MS) {
      await kill();
      throw new Error(`the service did not start (exit code ${ended}):\n${said.stdout}${said.stderr}`);
    }
    await sleep(10);
  }
}
