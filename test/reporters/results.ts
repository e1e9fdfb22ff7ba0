/** A reporter of `node --test` for `tools/test.ts`: one line of JSON with what ran, of type `Results`. */
import path from 'node:path';
import type { TestEvent } from 'node:test/reporters';

export interface Results {
  /** Seconds of each test file. */
  files: Record<string, number>;
  counts: { tests: number; passed: number; cancelled: number; skipped: number; todo: number };
  /** The tests that failed, with their places. */
  failures: string[];
}

const ROOT = path.join(import.meta.dirname, '../..');

export default async function* results(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: Results['files'] = {};
  const failures: string[] = [];
  let counts: Results['counts'] = { tests: 0, passed: 0, cancelled: 0, skipped: 0, todo: 0 };
  for await (const { type, data } of source) {
    if (type === 'test:summary' && data.file === undefined) counts = data.counts;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const file = path.relative(ROOT, data.file ?? '');
    if (data.nesting === 0) files[file] = (files[file] ?? 0) + data.details.duration_ms / 1000;
    if (type !== 'test:fail') continue;
    // A suite fails with its tests, which are named by themselves.
    const { cause, failureType } = data.details.error as Error & { failureType?: string };
    if (failureType === 'subtestsFailed') continue;
    const [reason = ''] = String(cause instanceof Error ? cause.message : (cause ?? '')).split('\n');
    failures.push(`${file}:${data.line ?? 0} ${data.name}: ${reason}`);
  }
  yield `${JSON.stringify({ files, counts, failures } satisfies Results)}\n`;
}
