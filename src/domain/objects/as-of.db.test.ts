/** Records as of a revision or a moment, and differences between revisions, on random histories. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { MODULES } from '../../modules.ts';
import { collect } from '../../platform/module.ts';
import {
  assertRejected,
  assertSameError,
  type FixtureUser,
  type RecordFixture,
  startRecordFixture,
} from '../../../test/support/record-fixture.ts';

type Values = Record<string, unknown>;
/** The answer of `GET /objects/{id}`. */
type Answer = Values & { revision: number; values: Values; updatedAt: string };

let fixture: RecordFixture;
let chiefsAdmin: string;

const text = fc.string({ minLength: 1, maxLength: 5 }).map((given) => `t${given.normalize()}`);
const change = fc
  .record(
    {
      title: text,
      note: fc.option(text),
      secret: fc.option(text),
      grade: fc.option(text),
      kind: fc.constantFrom('a', 'b', null),
      count: fc.option(fc.integer({ min: 0, max: 1000 })),
      day: fc.constantFrom('2026-02-03', '2026-02-04', null),
    },
    { requiredKeys: [] },
  )
  .filter((changes) => Object.keys(changes).length > 0);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ patch: change }) },
  { weight: 2, arbitrary: fc.record({ transition: fc.constantFrom('take', 'hold', 'reopen') }) },
  { weight: 1, arbitrary: fc.constant({ archive: true as const }) },
);
type Step = { patch: Values } | { transition: string } | { archive: true };

/** Tries the step as a chief. The service may refuse it. */
async function attempt(id: string, one: Step, now: Answer): Promise<void> {
  const expectedRevision = now.revision;
  if ('patch' in one) await fixture.call('chief', 'PATCH', `/objects/${id}`, { expectedRevision, changes: one.patch });
  else if ('transition' in one) {
    const { id: expectedStateId } = now['workflowState'] as { id: string };
    const transitionId = fixture.id(one.transition);
    const values = one.transition === 'hold' ? { $reason: 'waits' } : {};
    const body = { transitionId, expectedRevision, expectedStateId, values };
    await fixture.call('chief', 'POST', `/objects/${id}/transitions`, body);
  } else {
    await fixture.call('chief', 'DELETE', `/objects/${id}`, { expectedRevision });
    const restored = await fixture.app.request('POST', `/api/admin/v1/objects/${id}/restore`, { key: chiefsAdmin });
    assert.equal(restored.status, 200);
  }
}

/** A record with a random past, and what the chief read after each revision. */
async function lived(steps: readonly Step[]): Promise<{ id: string; read: Answer[] }> {
  const { id } = await fixture.make({ title: 'first', kind: 'a' });
  const read: Answer[] = [await fixture.ok('chief', 'GET', `/objects/${id}`)];
  for (const one of steps) {
    await attempt(id, one, read.at(-1) as Answer);
    const now: Answer = await fixture.ok('chief', 'GET', `/objects/${id}`);
    // Archiving and restoring make two revisions; the one in between is not compared.
    if (now.revision > (read.at(-1)?.revision ?? 0)) read.push(now);
  }
  return { id, read };
}

/** What the user would have read: the same without the fields that are hidden from the user now. */
function asSeenBy(answer: Answer, readable: ReadonlySet<string>): Values {
  const values = Object.fromEntries(Object.entries(answer.values).filter(([code]) => readable.has(code)));
  return { ...answer, values };
}

function netChanges(from: Answer, to: Answer, readable: ReadonlySet<string>): Values {
  const flat = ({ values, workflowState }: Answer): Values => ({
    ...values,
    workflowState: (workflowState as unknown as { code: string }).code,
  });
  const [old, now] = [flat(from), flat(to)];
  const found: Values = {};
  for (const code of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const pair = [old[code] ?? null, now[code] ?? null];
    if (JSON.stringify(pair[0]) === JSON.stringify(pair[1])) continue;
    if (code === 'workflowState' || readable.has(code)) found[code] = pair;
  }
  return found;
}

describe('records as of a moment', () => {
  before(async () => {
    fixture = await startRecordFixture();
    chiefsAdmin = (await fixture.app.createKey({ login: 'chief', scopes: ['admin:manage'] })).key;
  });
  after(() => fixture.close());

  it('have times of change that never go back, although clocks of processes differ', async () => {
    const { id } = await fixture.make({ title: 'first', kind: 'a' });
    const [ahead] = await fixture.rows<{ at: string }>(
      `UPDATE objects SET created_at = created_at + interval '1 minute', updated_at = updated_at + interval '1 minute' WHERE id = $1 RETURNING updated_at AS at`,
      [id],
    );
    await fixture.rows(`UPDATE journal SET at = $2 WHERE object_id = $1`, [id, ahead?.at]);
    const changed = await fixture.ok('chief', 'PATCH', `/objects/${id}`, {
      expectedRevision: 1,
      changes: { note: 'x' },
    });
    assert.equal(changed.updatedAt, ahead?.at);
    for (const query of ['', '?revision=2']) {
      assert.equal((await fixture.ok('chief', 'GET', `/objects/${id}${query}`)).updatedAt, ahead?.at);
    }
    const check = collect(MODULES, 'checks').find(({ name }) => name === 'I13 records are what their history says');
    const found = await check?.find({
      db: fixture.app.db,
      config: fixture.app.app.system().config,
      blobs: undefined as never,
    });
    assert.equal(found?.total, 0);
  });

  it('equal what was read when the revision was made, with the field rights of now', async () => {
    let revisions = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const { id, read } = await lived(steps);
        revisions += read.length;
        for (const who of ['chief', 'agent'] as const) {
          const { fields } = await fixture.ok(who, 'GET', `/objects/${id}/schema`);
          const readable = new Set<string>(fields.map(({ code }: { code: string }) => code));
          for (const one of read) {
            const { body } = await fixture.call(who, 'GET', `/objects/${id}?revision=${one.revision}`);
            assert.deepEqual(body.data, asSeenBy(one, readable), `${who}, revision ${one.revision}`);
            assert.deepEqual(body.meta.asOf, { revision: one.revision, at: one.updatedAt });
            const then = await fixture.ok(who, 'GET', `/objects/${id}?at=${one.updatedAt}`);
            const last = read.findLast(({ updatedAt }) => updatedAt === one.updatedAt);
            assert.equal(then.revision, last?.revision);
          }
          const [first, last] = [read[0] as Answer, read.at(-1) as Answer];
          const diff = await fixture.ok(who, 'GET', `/objects/${id}/diff?from=1&to=${last.revision}`);
          const changes = diff.changes.map(({ field, from, to }: any) => [field, [from, to]]);
          assert.deepEqual(Object.fromEntries(changes), netChanges(first, last, readable));
        }
      }),
      { numRuns: 12 },
    );
    assert.ok(revisions > 40, `${revisions} revisions`);
  });

  it('show archived records, times between revisions, and who changed a field last', async () => {
    const { id } = await fixture.make({ title: 'one', note: 'first' });
    const patch = (who: FixtureUser, expectedRevision: number, changes: Values): Promise<Answer> =>
      fixture.ok(who, 'PATCH', `/objects/${id}`, { expectedRevision, changes });
    await patch('agent', 2 - 1, { note: 'second', title: 'two' });
    const third = await patch('chief', 2, { note: 'third', secret: 's' });
    await fixture.archive({ id, revision: 3, stateId: '' });
    const past = await fixture.ok('agent', 'GET', `/objects/${id}?revision=2`);
    assert.deepEqual(
      [past.title, past.state, past.archivedAt, past.updatedBy.displayName],
      ['two', 'ACTIVE', undefined, 'Person agent'],
    );
    assert.equal((await fixture.ok('agent', 'GET', `/objects/${id}?revision=4`)).state, 'ARCHIVED');
    const { changes } = await fixture.ok('agent', 'GET', `/objects/${id}/diff?from=1&to=4`);
    assert.deepEqual(
      changes.map(({ field, from, to, actor }: any) => [field, from, to, actor.displayName]),
      [
        ['title', 'one', 'two', 'Person agent'],
        ['note', 'first', 'third', 'Person chief'],
        ['state', 'ACTIVE', 'ARCHIVED', 'Person chief'],
      ],
      'without the hidden field',
    );
    assert.equal(changes[1].at, third.updatedAt);
    assert.deepEqual((await fixture.ok('agent', 'GET', `/objects/${id}/diff?from=2&to=2`)).changes, []);
  });

  it('refuse what is not there, in the future, ambiguous or not allowed', async () => {
    const { id } = await fixture.make({ kind: 'a' });
    const { createdAt } = await fixture.ok('chief', 'GET', `/objects/${id}`);
    const ask = (query: string, who: FixtureUser = 'chief') => fixture.call(who, 'GET', `/objects/${id}${query}`);
    const before = new Date(Date.parse(createdAt) - 1).toISOString();
    const future = new Date(Date.now() + 3_600_000).toISOString();
    assertRejected(await ask('?revision=2'), 404, 'NOT_FOUND');
    assertRejected(await ask(`?revision=${Number.MAX_SAFE_INTEGER}`), 404, 'NOT_FOUND');
    assertRejected(await ask(`?at=${before}`), 404, 'NOT_FOUND');
    assertRejected(await ask(`?at=${future}`), 400, 'INVALID_REQUEST');
    assertRejected(await ask('?at=yesterday'), 400, 'INVALID_REQUEST');
    assertRejected(await ask(`?revision=1&at=${createdAt}`), 400, 'INVALID_REQUEST');
    assertRejected(await ask('?revision=0'), 400, 'INVALID_REQUEST');
    assertRejected(await ask('/diff?from=1&to=2'), 404, 'NOT_FOUND');
    assertRejected(await ask('/diff?from=2&to=1'), 400, 'INVALID_REQUEST');
    assertRejected(await ask('/diff?from=1'), 400, 'INVALID_REQUEST');
    // The viewer reads the record, but not its history.
    assertRejected(await ask('?revision=1', 'viewer'), 403, 'RIGHT_MISSING');
    assertRejected(await ask(`?at=${createdAt}`, 'viewer'), 403, 'RIGHT_MISSING');
    assertRejected(await ask('/diff?from=1&to=1', 'viewer'), 403, 'RIGHT_MISSING');
    assertSameError(await ask('?revision=1', 'stranger'), await ask('', 'stranger'));
    assertSameError(await ask('/diff?from=1&to=1', 'stranger'), await ask('', 'stranger'));
  });
});
