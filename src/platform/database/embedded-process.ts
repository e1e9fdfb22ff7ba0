/**
 * Identifies processes of the embedded PostgreSQL. A process id is not sufficient: after a restart of the machine or container, the same id belongs to
 * another process. All functions are synchronous and fast, so that they also work while a process exits.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Identifies one process for ever. `started`, `boot` and `space` (the process namespace) are null if there is no `/proc`. */
export interface ProcessIdentity {
  pid: number;
  started: string | null;
  boot: string | null;
  space: string | null;
}

/** `unknown`: the process runs or ran in another container, whose process ids have no meaning here. */
export type Liveness = 'alive' | 'dead' | 'unknown';

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function link(file: string): string | null {
  try {
    return readlinkSync(file);
  } catch {
    return null;
  }
}

// The second field of stat is the program's name in parentheses and may contain anything, so fields are counted after it.
function statFields(pid: number): { state: string; started: string } | null {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', started: fields[19] ?? '' };
}

/** Whether a process with this id is running. Zombies do not count. */
export function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const stat = statFields(pid);
  return stat === null || (stat.state !== 'Z' && stat.state !== 'X');
}

function bootId(): string | null {
  return read('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
}

export function identityOf(pid: number): ProcessIdentity {
  return { pid, started: statFields(pid)?.started ?? null, boot: bootId(), space: link('/proc/self/ns/pid') };
}

export function livenessOf(identity: ProcessIdentity): Liveness {
  if (identity.boot !== null && identity.boot !== bootId()) return 'dead';
  if (identity.space !== null && identity.space !== link('/proc/self/ns/pid')) return 'unknown';
  if (!isRunning(identity.pid)) return 'dead';
  if (identity.started === null) return 'alive';
  return statFields(identity.pid)?.started === identity.started ? 'alive' : 'dead';
}

/** Whether `pid` is running and is the PostgreSQL server of the cluster in this folder (a real path, without links). */
export function isServerOf(pid: number, cluster: string): boolean {
  if (!isRunning(pid)) return false;
  if (statFields(pid) === null) return looksLikeServer(pid) && recordedFolder(cluster) === cluster;
  // The working directory of a server is its data folder. If it cannot be read, the process belongs to another user.
  const folder = link(`/proc/${pid}/cwd`);
  return folder === null || folder === cluster;
}

function looksLikeServer(pid: number): boolean {
  try {
    const name = execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
    return path.basename(name.trim()).startsWith('postgres');
  } catch {
    return false;
  }
}

function recorded(cluster: string, line: 0 | 1): string | undefined {
  return read(path.join(cluster, 'postmaster.pid'))?.split('\n')[line];
}

// In a copy of a running cluster, this differs from the cluster's own folder.
function recordedFolder(cluster: string): string | undefined {
  return recorded(cluster, 1);
}

/** The process id in the cluster's `postmaster.pid`, whether or not it is running. */
export function recordedServer(cluster: string): number | null {
  const first = recorded(cluster, 0);
  const pid = Math.abs(Number(first));
  return first !== undefined && Number.isSafeInteger(pid) && pid > 0 ? pid : null;
}

/** Waits until the process has ended. Returns false if it is still running after `limitMs`. */
export async function waitForExit(pid: number, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (isRunning(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(15);
  }
  return true;
}

export class EmbeddedError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EmbeddedError';
  }
}
