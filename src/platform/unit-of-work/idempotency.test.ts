import assert from 'node:assert/strict';
import { test } from 'node:test';
import sql from 'sql-template-tag';
import { Fault } from '../../lib/fault.ts';
import { byId } from '../database/lookups.ts';
import type { Queryable } from '../database/pool.ts';
import { answerOf, findStored, type IdempotencyClaim, KEPT_MS, SeenKeys } from './idempotency.ts';

const FINGERPRINT = Buffer.alloc(32, 1);
const claim: IdempotencyClaim = { callerId: 'c', route: 'create', key: 'k', fingerprint: FINGERPRINT, status: 201 };
const AT = '2026-11-23T08:00:00.000Z';
const kept = { fingerprint: FINGERPRINT, status: 201, answer: '{"id":"i","number":null}', returned: { number: 'T1' } };
const item = byId<{ id: string; title: string }>((id) => sql`SELECT id, title FROM things WHERE id = ${id}`);

/** A database that answers each statement with these rows, and the texts that it got. */
function answering(rows: readonly object[]): { db: Queryable; texts: string[] } {
  const texts: string[] = [];
  const query = async (statement: { text: string }): Promise<object[]> => {
    texts.push(statement.text);
    return [...rows];
  };
  return { db: { query } as unknown as Queryable, texts };
}

test('the response and its item are found by one statement', async () => {
  const { db, texts } = answering([{ ...kept, keptAt: AT, id: 'i', title: 'Now' }]);
  const stored = await findStored(db, { ...claim, item }, AT);
  assert.ok(stored !== undefined);
  assert.equal(texts.length, 1);
  assert.match(texts[0] ?? '', /FROM idempotency i\s+WHERE i\.caller_id = \$1::uuid .*\$2::text .*\$3::text/);
  assert.match(texts[0] ?? '', /FROM things WHERE id = \(f\.answer::json ->> 'id'\)::uuid LIMIT 1/);
  assert.deepEqual(answerOf(stored, claim), {
    status: 201,
    data: { id: 'i', number: 'T1' },
    item: { id: 'i', title: 'Now' },
  });
});

test('a response without an item, or without a look-up for it, has none', async () => {
  const missing = await findStored(
    answering([{ ...kept, keptAt: AT, id: null, title: null }]).db,
    { ...claim, item },
    AT,
  );
  assert.equal(missing?.item, undefined);
  const { db, texts } = answering([{ ...kept, keptAt: AT }]);
  assert.equal((await findStored(db, claim, AT))?.item, undefined);
  assert.doesNotMatch(texts[0] ?? '', /JOIN/);
});

test('an expired response is not found, and a key with another body is refused', async () => {
  const { db } = answering([{ ...kept, keptAt: AT, id: 'i', title: 'Now' }]);
  const later = new Date(Date.parse(AT) + KEPT_MS + 1).toISOString();
  assert.equal(await findStored(db, { ...claim, item }, later), undefined);
  const stored = await findStored(db, { ...claim, item }, AT);
  assert.ok(stored !== undefined);
  assert.throws(() => answerOf(stored, { ...claim, fingerprint: Buffer.alloc(32, 2) }), Fault);
});

test('a process remembers the newest keys, and forgets old ones', () => {
  const seen = new SeenKeys();
  const claims = Array.from({ length: 15_000 }, (_, n): IdempotencyClaim => ({ ...claim, key: String(n) }));
  for (const one of claims) seen.add(one);
  assert.ok(claims.slice(-5000).every((one) => seen.has(one)));
  assert.ok(claims.slice(0, 5000).every((one) => !seen.has(one)));
  assert.ok(!seen.has({ ...claim, key: '14999', route: 'other' }), 'keys belong to a route');
});
