/**
 * A reporter of `node --test`: prints the slowest test files, and those that took much longer than `test/durations.json` says.
 * With `RECORD_DURATIONS=1` it writes that file. Durations are in seconds, of files that ran three at a time.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestEvent } from 'node:test/reporters';

const FILE = path.join(import.meta.dirname, '../durations.json');
const ROOT = path.join(import.meta.dirname, '../..');
const SHOWN = 15;
/** A file is slower if it takes more than this multiple of its recorded duration, and more seconds than these. */
const SLOWER = { times: 2, seconds: 10 };

function recorded(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}

export default async function* durations(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const seconds = new Map<string, number>();
  for await (const event of source) {
    if (event.type !== 'test:summary' || event.data.file === undefined) continue;
    seconds.set(path.relative(ROOT, event.data.file), Math.round(event.data.duration_ms / 100) / 10);
  }
  if (process.env['RECORD_DURATIONS'] === '1') {
    const sorted = [...seconds].sort(([one], [other]) => (one < other ? -1 : 1));
    writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
  }
  const before = recorded();
  const slowest = [...seconds].sort(([, one], [, other]) => other - one);
  const total = slowest.reduce((sum, [, took]) => sum + took, 0);
  yield `\n${seconds.size} test files, ${Math.round(total)} s together. The slowest:\n`;
  for (const [file, took] of slowest.slice(0, SHOWN)) yield `${took.toFixed(1).padStart(8)} s  ${file}\n`;
  const slower = slowest.filter(([file, took]) => {
    const known = before[file];
    return known !== undefined && took > known * SLOWER.times && took > known + SLOWER.seconds;
  });
  if (slower.length > 0) yield 'Slower than recorded in test/durations.json:\n';
  for (const [file, took] of slower) yield `${took.toFixed(1).padStart(8)} s  ${file}, recorded ${before[file]} s\n`;
}
