/**
 * The service in a separate process that reports how long its event loop was blocked. Its argument is JSON: `{databaseUrl,
 * blobFolder, key}`; it communicates over IPC. Only CPU time counts as blocked, because the machine may be busy.
 */
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { buildApp } from '../../../src/app.ts';
import { FileBlobs } from '../../../src/platform/blobs/filesystem.ts';
import { Database } from '../../../src/platform/database/pool.ts';
import { SecretBox } from '../../../src/platform/secrets.ts';

export interface FuzzServerOptions {
  databaseUrl: string;
  blobFolder: string;
  key: string;
  /** Longest event loop turn that is not reported, in milliseconds. */
  stallThresholdMs?: number | undefined;
}

export type FuzzServerSays =
  | { kind: 'ready'; url: string }
  /** Milliseconds of processor time between two turns of the loop that should have been a few apart. */
  | { kind: 'stall'; ms: number }
  /** A log line that reports an internal error or contains one of the searched words. */
  | { kind: 'log'; line: string }
  | { kind: 'memory'; rss: number; heap: number; polluted: string[] }
  | { kind: 'stalled' }
  | { kind: 'slowdown'; factor: number };

/** Requests of the parent: report memory, block the event loop for a given time, or measure a known piece of work. */
export type FuzzServerAsked = { kind: 'memory' } | { kind: 'stall'; ms: number } | { kind: 'slowdown' };

/** Shorter turns are not reported. */
const STALL_THRESHOLD_MS = 60;
const TICK_MS = 5;

/** Processor time of the known piece of work while nothing else runs on the machine. */
const KNOWN_WORK_MS = 12;

function say(message: FuzzServerSays): void {
  process.send?.(message);
}

/** Parses and sorts a list of half a megabyte. @returns its processor time in milliseconds */
function knownWork(): number {
  const parts = Array.from({ length: 20_000 }, (_, index) => ({ code: `f${(index * 7919) % 20_000}`, value: index }));
  const text = JSON.stringify(parts);
  const start = process.threadCpuUsage();
  const list = JSON.parse(text) as typeof parts;
  list.sort((a, b) => (a.code < b.code ? -1 : 1));
  JSON.stringify(list);
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

const {
  databaseUrl,
  blobFolder,
  key,
  stallThresholdMs = STALL_THRESHOLD_MS,
} = JSON.parse(process.argv[2] ?? '{}') as FuzzServerOptions;
const log = new Writable({
  write(chunk: Buffer, _encoding, done) {
    const line = chunk.toString();
    if (/"level":[56]0|"status":50[012]/.test(line)) say({ kind: 'log', line });
    done();
  },
});
const pristine = Object.getOwnPropertyNames(Object.prototype).join();
const app = await buildApp({
  settings: { rateLimit: 'off', trustedProxies: [], metricsAllow: ['127.0.0.0/8'], webhookAllowPrivate: false },
  db: new Database({ url: databaseUrl, max: 10 }),
  blobs: new FileBlobs(blobFolder),
  secrets: new SecretBox(key),
  log: pino({ level: 'info' }, log),
});
const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
let cpu = process.threadCpuUsage();
let at = performance.now();
setInterval(() => {
  const used = process.threadCpuUsage(cpu);
  const now = performance.now();
  const ms = Math.min((used.user + used.system) / 1000, now - at);
  cpu = process.threadCpuUsage();
  at = now;
  if (ms > stallThresholdMs) say({ kind: 'stall', ms });
}, TICK_MS);
process.on('message', (asked: FuzzServerAsked) => {
  if (asked.kind === 'stall') {
    for (const start = process.threadCpuUsage(); process.threadCpuUsage(start).user < asked.ms * 1000; );
    setTimeout(() => say({ kind: 'stalled' }), 2 * TICK_MS);
    return;
  }
  if (asked.kind === 'slowdown') {
    const [median = 0] = Array.from({ length: 5 }, knownWork)
      .sort((a, b) => a - b)
      .slice(2);
    say({ kind: 'slowdown', factor: Math.max(1, median / KNOWN_WORK_MS) });
    return;
  }
  const names = Object.getOwnPropertyNames(Object.prototype);
  const { rss, heapUsed } = process.memoryUsage();
  const polluted = names.join() === pristine ? [] : names;
  say({ kind: 'memory', rss: Math.round(rss / 2 ** 20), heap: Math.round(heapUsed / 2 ** 20), polluted });
});
process.on('disconnect', () => process.exit(0));
say({ kind: 'ready', url });
