/** Sends the same requests to two services and reports differing responses. */
import assert from 'node:assert/strict';
import { RandomSource } from '../fuzz/random-source.ts';
import { randomRequest, type LeakRequest } from './requests.ts';
import { FeedComparison } from './feed.ts';
import { HIDDEN_MARKER, type Hidden, LeakFixture } from './fixture.ts';

export interface LeakTestOptions {
  /** `values`: hidden values differ; `existence`: hidden things exist only on one side. */
  differ: 'values' | 'existence';
  records: number;
  questions: number;
  /** Steps of the comparison of the changes feed. */
  feedSteps: number;
  seed: number;
}

export interface LeakTestReport {
  asked: number;
  feedSteps: number;
  byStatus: Record<string, number>;
  /** The requests with differing responses, and the responses. */
  differences: string[];
}

const DEFINITION = {
  code: 'one',
  targetKind: 'object',
  targetTypeId: 'ticket',
  format: 'CSV',
  mode: 'UPSERT',
  sourceCode: 'there',
  resolver: { externalIdField: 'ext' },
  mapping: [
    { source: 'title', target: 'title' },
    { source: 'near', target: 'near', transform: 'lookup:ticket.title' },
  ],
};

async function prepare(records: number, seed: number, hidden: Hidden): Promise<LeakFixture> {
  const fixture = await LeakFixture.make(records, seed, hidden);
  fixture.ids.set('definition', (await fixture.ok('POST', '/import-definitions', DEFINITION)).id);
  return fixture;
}

async function ask(fixture: LeakFixture, { method, path, body, admin }: LeakRequest, who?: 'chief'): Promise<string> {
  const prefix = admin === true ? '/api/admin/v1' : '/api/v1';
  const key = who === 'chief' ? fixture.keys.chief : admin === true ? fixture.lowAdmin : fixture.keys.low;
  const given =
    body === undefined
      ? {}
      : { body: fixture.filled(JSON.stringify(body)), headers: { 'content-type': 'application/json' } };
  for (;;) {
    const answer = await fixture.app.request(method, prefix + fixture.filled(path), { key, ...given });
    // Overload errors reveal nothing.
    if (answer.status === 503) continue;
    const text = fixture.comparable(answer);
    // Every hidden value contains a marker that no response may contain, even if both sides agree.
    if (who === undefined && text.includes(HIDDEN_MARKER)) return `${text} IN ${fixture.app.url}`;
    return text;
  }
}

export async function compare({
  differ,
  records,
  questions,
  feedSteps,
  seed,
}: LeakTestOptions): Promise<LeakTestReport> {
  const hidden: Hidden[] = [
    { seed: 1, extras: true },
    { seed: 2, extras: differ === 'values' },
  ];
  const made = await Promise.allSettled(hidden.map((one) => prepare(records, seed, one)));
  const worlds = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  try {
    const failed = made.find((one) => one.status === 'rejected');
    const [left, right] = worlds;
    if (failed !== undefined || left === undefined || right === undefined) throw failed?.reason;
    // That the comparison can fail: who reads everything sees the difference.
    const all: LeakRequest = { method: 'GET', path: '/search?q=salary&pageSize=100' };
    assert.notEqual(await ask(left, all, 'chief'), await ask(right, all, 'chief'));
    const report: LeakTestReport = { asked: 0, feedSteps: 0, byStatus: {}, differences: [] };
    const random = new RandomSource(seed);
    while (report.asked < questions && report.differences.length < 5) {
      const one = randomRequest(random, records);
      const [mine, theirs] = await Promise.all([ask(left, one), ask(right, one)]);
      report.asked++;
      const status = mine.slice(0, 3);
      report.byStatus[status] = (report.byStatus[status] ?? 0) + 1;
      if (mine !== theirs)
        report.differences.push(
          `${one.method} ${decodeURIComponent(one.path)} ${JSON.stringify(one.body ?? '')}\n  ${mine}\n  ${theirs}`,
        );
    }
    // It writes, so it comes after everything else.
    const feed = new FeedComparison([left, right], records, random);
    await feed.run(feedSteps);
    report.feedSteps = feed.steps;
    report.differences.push(...feed.differences);
    return report;
  } finally {
    await Promise.all(worlds.map(({ app }) => app.close()));
  }
}
