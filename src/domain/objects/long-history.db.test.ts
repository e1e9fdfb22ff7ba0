/** Records with a long history: what reading it costs the service. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type DatabaseTraffic, watchDatabase } from '../../../test/support/database-traffic.ts';
import { changeOften } from '../../../test/support/long-records.ts';
import { type Made, type RecordFixture, startRecordFixture } from '../../../test/support/record-fixture.ts';
import { changedSince } from './load.ts';

const CHANGES = 40;
const LENGTH = 95_000;
const KIB = 1024;

describe('a record with a long history', () => {
  let fixture: RecordFixture;
  let traffic: DatabaseTraffic;
  let made: Made;
  let revision: number;

  before(async () => {
    traffic = watchDatabase();
    fixture = await startRecordFixture();
    made = await fixture.make();
    ({ revision } = made);
    for (let count = 0; count < CHANGES; count++) {
      const note = String.fromCodePoint(97 + (count % 26)).repeat(LENGTH);
      const changes = count === 0 ? { note, secret: 's' } : { note };
      ({ revision } = await fixture.ok('chief', 'PATCH', `/objects/${made.id}`, {
        expectedRevision: revision,
        changes,
      }));
    }
  });
  after(async () => {
    traffic.stop();
    await fixture?.close();
  });

  /** Calls, and the bytes that the service received from the database meanwhile. */
  async function received<T>(call: () => Promise<T>): Promise<{ answer: T; bytes: number }> {
    const start = traffic.received();
    const answer = await call();
    return { answer, bytes: traffic.received() - start };
  }

  it('tells a stale writer the names of fields without reading their values', async () => {
    const path = `/objects/${made.id}`;
    const stale = { expectedRevision: 1 };
    const stateId = made.stateId;
    for (const [method, suffix, body] of [
      ['PATCH', '', { ...stale, changes: { note: 'mine' } }],
      ['DELETE', '', stale],
      ['POST', '/transitions', { ...stale, transitionId: fixture.id('take'), expectedStateId: stateId, values: {} }],
    ] as const) {
      const { answer, bytes } = await received(() => fixture.call('chief', method, path + suffix, body));
      assert.equal(answer.status, 409, method);
      const { details } = answer.body.error;
      assert.deepEqual(
        [Object.keys(details), details.changedSince.map(({ field }: { field: string }) => field)],
        [['changedSince'], ['secret', 'note']],
      );
      assert.ok(bytes < 4 * LENGTH, `${method}: ${Math.round(bytes / KIB)} KiB were read`);
    }
    const items = Array.from({ length: 20 }, () => ({ objectId: made.id, ...stale, changes: { note: 'mine' } }));
    const { answer, bytes } = await received(() =>
      fixture.call('chief', 'POST', '/bulk', { operation: 'update', items }),
    );
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.ok(bytes < (items.length + 4) * LENGTH, `bulk: ${Math.round(bytes / KIB)} KiB were read`);
  });

  it('reads no more of the history than the client takes', async () => {
    const start = traffic.received();
    const answer = await fetch(`${fixture.app.url}/api/v1/objects/${made.id}/history`, {
      headers: { authorization: `Bearer ${fixture.keys.chief}` },
    });
    assert.equal(answer.status, 200);
    const ahead = traffic.received() - start;
    const { data } = (await answer.json()) as { data: { revision: number }[] };
    assert.deepEqual(
      data.map((event) => event.revision),
      Array.from({ length: CHANGES + 1 }, (_, index) => index + 1),
    );
    const all = traffic.received() - start;
    assert.ok(all > 60 * LENGTH && ahead < all / 2, `${Math.round(ahead / KIB)} of ${Math.round(all / KIB)} KiB`);
  });

  it('gives pages of the history', async () => {
    const found: number[] = [];
    for (let after = ''; ; ) {
      const { body } = await fixture.call('chief', 'GET', `/objects/${made.id}/history?limit=15${after}`);
      found.push(...body.data.map((event: { revision: number }) => event.revision));
      if (body.meta.next === undefined) break;
      assert.equal(body.data.length, 15);
      after = `&after=${body.meta.next}`;
    }
    assert.deepEqual(
      found,
      Array.from({ length: CHANGES + 1 }, (_, index) => index + 1),
    );
    const unknown = await fixture.call('chief', 'GET', `/objects/${made.id}/history?after=${made.id}`);
    assert.deepEqual([unknown.status, unknown.body.error.code], [400, 'INVALID_REQUEST']);
  });

  it('reads of a revision what the record had then', async () => {
    const { answer, bytes } = await received(() =>
      fixture.call('chief', 'GET', `/objects/${made.id}?revision=${CHANGES}`),
    );
    assert.equal(answer.body.data.values.note.length, LENGTH);
    assert.ok(bytes < 4 * LENGTH, `${Math.round(bytes / KIB)} KiB were read`);
    const diff = await received(() => fixture.call('chief', 'GET', `/objects/${made.id}/diff?from=2&to=${CHANGES}`));
    assert.deepEqual(
      diff.answer.body.data.changes.map(({ field }: { field: string }) => field),
      ['note'],
    );
    assert.ok(diff.bytes < 6 * LENGTH, `${Math.round(diff.bytes / KIB)} KiB were read`);
  });

  it('has two long answers of a caller at once; others wait, then are refused', async () => {
    // Longer than what the kernel keeps for those who do not read.
    const { id } = await fixture.make();
    await changeOften(fixture.app, id, { field: 'note', count: 150, length: LENGTH });
    const get = (path: string): Promise<Response> =>
      fetch(`${fixture.app.url}/api/v1/objects/${id}${path}`, {
        headers: { authorization: `Bearer ${fixture.keys.chief}` },
      });
    const unread = [await get('/history'), await get('/history')];
    assert.deepEqual(
      unread.map(({ status }) => status),
      [200, 200],
    );
    const asked = [`?revision=${CHANGES}`, '/diff?from=1&to=3', '/comments', '/attachments'];
    let answered = 0;
    const waiting = Array.from({ length: 32 }, async (_, index) => {
      const answer = await get(asked[index % asked.length] ?? '');
      answered++;
      return [answer.status, (await answer.arrayBuffer()).byteLength > 0];
    });
    let refused: Response;
    do refused = await get('/comments');
    while (refused.status !== 429 && answered === 0);
    assert.deepEqual([refused.status, refused.headers.get('retry-after'), answered], [429, '10', 0]);
    assert.equal(((await refused.json()) as { error: { code: string } }).error.code, 'RATE_LIMITED');
    assert.equal((await fixture.call('chief', 'GET', `/objects/${id}`)).status, 200, 'short reads go on');
    assert.equal((await fixture.call('agent', 'GET', `/objects/${id}/history`)).status, 200, 'of others too');
    for (const { body } of unread) await body?.cancel();
    assert.deepEqual(
      await Promise.all(waiting),
      waiting.map(() => [200, true]),
    );
  });

  it('reads the names of changes, and of values only those that are asked for', async () => {
    // Reading the names in such changes would fail.
    await fixture.rows(`UPDATE journal SET changes = '0' WHERE object_id = $1 AND revision BETWEEN 3 AND $2::int`, [
      made.id,
      CHANGES,
    ]);
    const path = `/objects/${made.id}`;
    const { values } = await fixture.ok('chief', 'GET', `${path}?revision=${CHANGES + 1}`);
    assert.deepEqual([values.secret, values.note.length], ['s', LENGTH]);
    const { changes } = await fixture.ok('chief', 'GET', `${path}/diff?from=2&to=${CHANGES + 1}`);
    assert.deepEqual(
      changes.map(({ field }: { field: string }) => field),
      ['note'],
    );
    const answer = await fixture.call('chief', 'PATCH', path, { expectedRevision: 2, changes: { note: 'mine' } });
    assert.deepEqual(
      answer.body.error.details.changedSince.map(({ field }: { field: string }) => field),
      ['note'],
    );
  });

  it('refuses revisions behind 200,000 changes, and no stale change', async () => {
    const busy = await fixture.make();
    const count = 200_000;
    await changeOften(fixture.app, busy.id, { field: 'note', count, length: 1 });
    const path = `/objects/${busy.id}`;
    const last = await fixture.call('chief', 'GET', `${path}?revision=${count + 1}`);
    assert.deepEqual([last.status, last.body.error.code], [400, 'RESULT_TOO_LARGE']);
    const diff = await fixture.call('chief', 'GET', `${path}/diff?from=1&to=${count + 1}`);
    assert.deepEqual([diff.status, diff.body.error.code], [400, 'RESULT_TOO_LARGE']);
    assert.equal((await fixture.ok('chief', 'GET', `${path}?revision=${count - 1}`)).revision, count - 1);
    const stale = await fixture.call('chief', 'PATCH', path, { expectedRevision: 1, changes: { note: 'mine' } });
    assert.equal(stale.status, 409, JSON.stringify(stale.body));
    assert.deepEqual(Object.keys(stale.body.error.details), ['changedSince']);
  });
});

describe('what a conflict tells', () => {
  const change = (index: number, actorName = 'Ann') => ({ field: `f${index}`, at: 'then', actorId: 'a', actorName });
  const indexes = Array.from({ length: 1200 }, (_, index) => index);

  it('ends at 1,000 fields', () => {
    const { changedSince: shown, complete } = changedSince(indexes.map((index) => change(index)));
    assert.deepEqual([shown.length, shown[0]?.field, shown.at(-1)?.field, complete], [1000, 'f200', 'f1199', false]);
    assert.equal('complete' in changedSince(indexes.slice(0, 1000).map((index) => change(index))), false);
  });

  it('ends at 1 MiB', () => {
    const { changedSince: shown, complete } = changedSince(indexes.map((index) => change(index, 'n'.repeat(10_000))));
    const bytes = Buffer.byteLength(JSON.stringify(shown));
    assert.ok(bytes <= 1024 * 1024 && bytes > 1000 * 1024, `${bytes} bytes`);
    assert.deepEqual([shown.at(-1)?.field, complete], ['f1199', false]);
  });
});
