/** A long, even load, and what grows meanwhile. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyAcknowledged } from './fault-verification.ts';
import { newJournal } from './fault-journal.ts';
import { runWorkloadClient } from './fault-workload.ts';
import { FaultEnvironment } from './fault-environment.ts';
import { attempt, random } from './fault-client.ts';

const CLIENTS = 6;
const READERS = 2;
const WINDOWS = 6;
const SAMPLE_MS = 5000;

export interface SoakWindow {
  writes: number;
  writeP99: number;
  reads: number;
  readP99: number;
  /** Minimum memory of each process in the window in MiB, because garbage makes single readings meaningless. */
  rss: number[];
  descriptors: number[];
  connections: number;
  /** Longest `idle in transaction`, in seconds. */
  idle: number;
  /** Dead rows for each live one, over all tables. */
  dead: number;
  databaseMiB: number;
  records: number;
}

interface Samples {
  writes: number[];
  reads: number[];
  rss: number[][];
  descriptors: number[][];
  connections: number[];
  idle: number[];
}

const empty = (): Samples => ({ writes: [], reads: [], rss: [], descriptors: [], connections: [], idle: [] });

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0);
}

function rssOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

async function read(
  environment: FaultEnvironment,
  next: () => number,
  reads: number[],
  problems: string[],
): Promise<void> {
  const paths = [
    '/objects?pageSize=50',
    `/search?q=import%20${Math.floor(next() * 1000)}`,
    '/objects?pageSize=100&page=3',
    '/catalog',
    '/services',
  ];
  const urls = environment.urls();
  const began = performance.now();
  const path = paths[Math.floor(next() * paths.length)] as string;
  const answer = await attempt(
    urls[Math.floor(next() * urls.length)] as string,
    environment.key,
    'GET',
    `/api/v1${path}`,
  );
  if (answer?.status !== 200) problems.push(`${path}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
  reads.push(performance.now() - began);
}

async function sample(environment: FaultEnvironment, into: Samples): Promise<void> {
  const pids = Array.from({ length: environment.processes }, (_, turn) => environment.service(turn).pid);
  into.rss.push(pids.map(rssOf));
  into.descriptors.push(pids.map((pid) => readdirSync(`/proc/${pid}/fd`).length));
  const [row] = await environment.rows<{ connections: number; idle: number }>(
    `SELECT count(*)::int AS connections, coalesce(max(extract(epoch FROM now() - state_change))
        FILTER (WHERE state LIKE 'idle in transaction%'), 0)::float8 AS idle
    FROM pg_stat_activity WHERE datname = 'docket' AND pid <> pg_backend_pid()`,
  );
  into.connections.push(row?.connections ?? 0);
  into.idle.push(row?.idle ?? 0);
}

async function summed(environment: FaultEnvironment, samples: Samples): Promise<SoakWindow> {
  const [row] = await environment.rows<{ dead: number; size: number; records: number }>(
    `SELECT (sum(n_dead_tup)::float8 / greatest(sum(n_live_tup), 1)) AS dead, pg_database_size('docket')::float8 / 1048576 AS size,
      (SELECT count(*) FROM objects)::int AS records FROM pg_stat_user_tables`,
  );
  const least = (rows: number[][]): number[] =>
    (rows[0] ?? []).map((_, at) => Math.round(Math.min(...rows.map((one) => one[at] ?? 0))));
  return {
    writes: samples.writes.length,
    writeP99: p99(samples.writes),
    reads: samples.reads.length,
    readP99: p99(samples.reads),
    rss: least(samples.rss),
    descriptors: least(samples.descriptors),
    connections: Math.max(...samples.connections),
    idle: Math.round(Math.max(...samples.idle) * 100) / 100,
    dead: Math.round((row?.dead ?? 0) * 1000) / 1000,
    databaseMiB: Math.round(row?.size ?? 0),
    records: row?.records ?? 0,
  };
}

/** What must not grow, from the second window on: in the first one everything is still being learnt. */
function drift(windows: readonly SoakWindow[]): string[] {
  const problems: string[] = [];
  const [, second] = windows;
  const last = windows.at(-1);
  if (second === undefined || last === undefined) return ['there were too few windows'];
  for (const [turn, rss] of last.rss.entries()) {
    const before = second.rss[turn] ?? 0;
    if (rss > before * 1.25 + 16) problems.push(`process ${turn} grew from ${before} to ${rss} MiB`);
  }
  for (const [turn, open] of last.descriptors.entries()) {
    const before = second.descriptors[turn] ?? 0;
    if (open > before * 1.2 + 10) problems.push(`process ${turn} has ${open} descriptors, had ${before}`);
  }
  if (last.connections > second.connections + 10) problems.push(`${last.connections} connections of the database`);
  for (const window of windows) {
    if (window.idle > 15) problems.push(`a transaction was idle for ${window.idle} s`);
    if (window.dead > 2) problems.push(`${window.dead} dead rows for each live one`);
  }
  return problems;
}

export interface SoakOptions {
  minutes: number;
  /** Milliseconds between two writes of a client. */
  pauseMs: number;
  seed: number;
  say(line: string): void;
}

export async function soak(options: SoakOptions): Promise<string[]> {
  const environment = await FaultEnvironment.start({ role: 'all' });
  const problems: string[] = [];
  try {
    const journal = newJournal();
    let samples = empty();
    let running = true;
    const going = (): boolean => running;
    const clients = Array.from({ length: CLIENTS }, (_, turn) =>
      runWorkloadClient({
        urls: environment.urls(),
        key: environment.key,
        ids: environment.ids,
        name: `k${turn}`,
        random: random(options.seed + turn),
        journal,
        running: going,
        patient: () => true,
        pauseMs: options.pauseMs,
        onAnswer: (ms) => samples.writes.push(ms),
      }),
    );
    const readers = Array.from({ length: READERS }, async (_, turn) => {
      const next = random(options.seed + 100 + turn);
      while (going()) {
        await read(environment, next, samples.reads, problems);
        await sleep(options.pauseMs);
      }
    });
    const windows: SoakWindow[] = [];
    const windowMs = (options.minutes * 60_000) / WINDOWS;
    for (let turn = 0; turn < WINDOWS; turn++) {
      const until = performance.now() + windowMs;
      while (performance.now() < until) {
        await sleep(Math.min(SAMPLE_MS, windowMs / 3));
        await sample(environment, samples);
      }
      const done = await summed(environment, samples);
      samples = empty();
      windows.push(done);
      options.say(JSON.stringify(done));
    }
    running = false;
    await Promise.all([...clients, ...readers]);
    problems.push(
      ...drift(windows),
      ...(await verifyAcknowledged((text, values) => environment.rows(text, values), journal, 'k')),
    );
    if (journal.refused + journal.unanswered > 0)
      problems.push(
        `${journal.refused} refused, ${journal.unanswered} unanswered: ${JSON.stringify([...journal.codes])}`,
      );
    return problems;
  } finally {
    await environment.close();
  }
}
