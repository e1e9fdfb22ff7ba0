/** A service of the example's own, on a data directory of its own; or the one that DOCKET_URL names. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { REPOSITORY } from './data.ts';

export interface Service {
  url: string;
  /** Runs the command line on the service's data. @returns its output; @throws Error with its error output */
  docket(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

const PROGRAM = path.join(REPOSITORY, 'bin', 'docket.mjs');
const START_MS = 180_000;
const STOP_MS = 40_000;

function environment(dataDir: string): NodeJS.ProcessEnv {
  // A database named in the environment of the shell must not receive the example's records.
  const { DATABASE_URL: _database, DATABASE_READ_URL: _replica, DOCKET_BLOBS: _blobs, ...rest } = process.env;
  return {
    ...rest,
    DOCKET_DATA_DIR: dataDir,
    DOCKET_HOST: '127.0.0.1',
    DOCKET_STARTER: 'none',
    DOCKET_RATE_LIMIT: 'off',
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port was found');
  return address.port;
}

async function ready(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    return false;
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts the service in `folder`, or uses the one left by a killed run.
 *
 * @throws Error if it does not start; its log is `service.log` in the folder
 */
export async function startService(folder: string): Promise<Service> {
  const dataDir = path.join(folder, 'service');
  const note = path.join(folder, 'service.json');
  await mkdir(dataDir, { recursive: true });
  const docket = async (...args: string[]): Promise<string> => {
    const options = { env: environment(dataDir), maxBuffer: 256 * 1024 * 1024 };
    return (await promisify(execFile)(process.execPath, [PROGRAM, ...args], options)).stdout;
  };
  const left = existsSync(note)
    ? (JSON.parse(await readFile(note, 'utf8')) as { url: string; pid: number })
    : undefined;
  const running = left !== undefined && alive(left.pid) && (await ready(left.url)) ? left : undefined;
  const { url, pid } = running ?? (await launch(folder, dataDir));
  if (running === undefined) await writeFile(note, JSON.stringify({ url, pid }));
  const stop = async (): Promise<void> => {
    if (alive(pid)) process.kill(pid, 'SIGTERM');
    for (let waited = 0; alive(pid); waited += 100) {
      if (waited > STOP_MS) throw new Error(`the service (process ${pid}) does not stop`);
      await sleep(100);
    }
    await rm(note, { force: true });
  };
  return { url, docket, stop };
}

async function launch(folder: string, dataDir: string): Promise<{ url: string; pid: number }> {
  const port = await freePort();
  const logFile = path.join(folder, 'service.log');
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    env: { ...environment(dataDir), DOCKET_PORT: String(port) },
    stdio: ['ignore', log, log],
    // Ctrl-C at the terminal is the example's to handle: it stops the service when its own work has ended.
    detached: true,
  });
  child.unref();
  const url = `http://127.0.0.1:${port}`;
  for (let waited = 0; !(await ready(url)); waited += 200) {
    if (child.exitCode !== null || child.pid === undefined || waited > START_MS) {
      throw new Error(`the service did not start; ${logFile} says why`);
    }
    await sleep(200);
  }
  if (child.pid === undefined) throw new Error('the service has no process id');
  return { url, pid: child.pid };
}
