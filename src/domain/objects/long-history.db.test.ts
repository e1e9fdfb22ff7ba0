/** Records with a long history: what reading it costs the service. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type DatabaseTraffic, watchDatabase } from '../../../test/harness/database-traffic.ts';
import { type Made, type RecordFixture, startRecordFixture } from '../../../test/harness/record-fixture.ts';

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
  after(() => fixture?.close());

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
});
