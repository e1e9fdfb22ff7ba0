/**
 * The audit chain over the journal: it neither waits for writers nor blocks them, any number of processes may seal, and every
 * later change of the tables is detected and located.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import sql, { raw } from 'sql-template-tag';
import { type RecordFixture, startRecordFixture } from '../../../test/support/record-fixture.ts';
import { sealAll } from '../../../test/support/seal-all.ts';
import type { Database } from '../database/pool.ts';
import { type Finding, verifyJournal } from '../audit/seals-verify.ts';
import { givePlaces } from './places.ts';
import { adoptJournal } from './positions.ts';
import { SEAL_ROWS, sealCursor, sealJournal } from './seals.ts';
import { duringTransaction } from '../../../test/support/database.ts';

let around: RecordFixture;
let db: Database;

async function findings(): Promise<string[]> {
  const { findings: found } = await verifyJournal(db);
  return found.map(({ kind, place }: Finding) => `${kind} ${place}`);
}

/** Changes the tables, verifies the journal, and restores the tables. */
async function tampered(...statements: string[]): Promise<string[]> {
  const kept = ['journal', 'journal_seals', 'journal_sealing'];
  for (const table of kept) await db.query(raw(`CREATE TABLE kept_${table} AS TABLE ${table}`));
  try {
    for (const statement of statements) await db.query(raw(statement));
    return await findings();
  } finally {
    for (const table of kept) {
      await db.query(raw(`DELETE FROM ${table}`));
      await db.query(raw(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE TABLE kept_${table}`));
      await db.query(raw(`DROP TABLE kept_${table}`));
    }
    assert.deepEqual(await findings(), []);
  }
}

async function newest(count: number): Promise<number[]> {
  const rows = await db.query<{ seq: number }>(
    sql`SELECT seq FROM journal ORDER BY txid DESC, seq DESC LIMIT ${count}::int`,
  );
  return rows.map((row) => row.seq).reverse();
}

describe('the seal chain of the journal', () => {
  before(async () => {
    around = await startRecordFixture();
    db = around.app.db;
    // Three seals of several rows each.
    for (let seal = 0; seal < 3; seal++) {
      const { id } = await around.make({ title: `record ${seal}`, kind: 'a', count: seal });
      await around.ok('chief', 'POST', `/objects/${id}/comments`, { body: 'a comment', visibility: 'public' });
      await around.ok('chief', 'PATCH', `/objects/${id}`, {
        expectedRevision: 1,
        changes: { note: 'Ein Satz, ё и 😀', day: '2027-02-28', count: null },
      });
      await sealAll(db);
    }
  });
  beforeEach(async () => {
    await sealAll(db);
  });
  after(() => around.close());

  it('covers every row and reports nothing for unaltered rows', async () => {
    const verified = await verifyJournal(db);
    assert.deepEqual(verified.findings, []);
    assert.equal(verified.unsealed, 0);
    assert.ok(verified.seals >= 3);
    const [row] = await db.query<{ rows: number }>(sql`SELECT count(*) AS rows FROM journal`);
    assert.equal(verified.rows, row?.rows);
    const { number, hash } = await sealCursor(db);
    assert.deepEqual(verified.head, { number, hash });
  });

  it('detects an alteration in every column and reports the row', async () => {
    const [seq] = await newest(4);
    for (const change of [
      `at = at + interval '1 ms'`,
      `type = 'ObjectArchived'`,
      'object_id = gen_random_uuid()',
      `subject = 'key:1'`,
      'revision = 7',
      'actor_id = NULL',
      `via = 'system'`,
      'key_id = gen_random_uuid()',
      `correlation_id = 'other'`,
      `changes = '{"title": [1, 2]}'`,
      `data = '{"a": 1}'`,
      `hash = decode(repeat('ab', 32), 'hex')`,
      'id = gen_random_uuid()',
      `txid = '999999999'`,
    ]) {
      assert.deepEqual(
        await tampered(`UPDATE journal SET ${change} WHERE seq = ${seq}`),
        [`altered row ${seq}`],
        change,
      );
    }
  });

  it('detects a row that was altered together with its hash', async () => {
    const [first, second] = await newest(2);
    // Copies all values of another row, including its hash, which therefore matches.
    const copy = `UPDATE journal j SET (id, at, type, object_id, subject, revision, actor_id, via, key_id, correlation_id,
      changes, data, hash) = (SELECT id, at, type, object_id, subject, revision, actor_id, via, key_id, correlation_id,
      changes, data, hash FROM journal WHERE seq = (SELECT min(seq) FROM journal)) WHERE seq = ${first}`;
    assert.deepEqual(await tampered(copy), [`altered row ${first}`]);
    assert.ok(second !== undefined);
  });

  it('detects deleted, inserted and swapped rows', async () => {
    // Rows of one seal: between different seals, a row is not moved but altered.
    const [seal] = await db.query<{ seqs: number[] }>(
      sql`SELECT seqs FROM journal_seals WHERE cardinality(seqs) > 1 ORDER BY number DESC LIMIT 1`,
    );
    const [first, second] = seal?.seqs.slice(-2) ?? [];
    assert.deepEqual(await tampered(`DELETE FROM journal WHERE seq = ${first}`), [`deleted row ${first}`]);
    const put = `INSERT INTO journal (seq, id, txid, at, type, via, hash) OVERRIDING SYSTEM VALUE
      SELECT 1000000, gen_random_uuid(), txid, at, type, via, hash FROM journal WHERE seq = ${first}`;
    assert.deepEqual(await tampered(put), ['inserted row 1000000']);
    assert.deepEqual(
      await tampered(
        'ALTER TABLE journal ALTER seq SET GENERATED BY DEFAULT',
        `UPDATE journal SET seq = -1 WHERE seq = ${first}`,
        `UPDATE journal SET seq = ${first} WHERE seq = ${second}`,
        `UPDATE journal SET seq = ${second} WHERE seq = -1`,
        'ALTER TABLE journal ALTER seq SET GENERATED ALWAYS',
      ),
      [`moved row ${first}`, `moved row ${second}`],
    );
  });

  it('detects seals that were altered, deleted, swapped or truncated', async () => {
    const { number } = await sealCursor(db);
    assert.deepEqual(
      await tampered('DELETE FROM journal_seals WHERE number = 2').then((found) => found[0]),
      'seal seal 2',
    );
    assert.deepEqual(
      await tampered("UPDATE journal_seals SET sealed_at = sealed_at - interval '1 d' WHERE number = 2"),
      ['seal seal 2'],
    );
    const swapped = await tampered(
      'UPDATE journal_seals SET number = 1000000 WHERE number = 1',
      'UPDATE journal_seals SET number = 1 WHERE number = 2',
      'UPDATE journal_seals SET number = 2 WHERE number = 1000000',
    );
    assert.ok(swapped.includes('seal seal 1') && swapped.includes('seal seal 2'), swapped.join());
    const cut = await tampered(`DELETE FROM journal_seals WHERE number = ${number}`);
    assert.equal(cut[0], `seal seal ${number}`);
    assert.ok(cut.some((one) => one.startsWith('inserted row')));
    const forged = `UPDATE journal_seals SET hash = decode(repeat('00', 32), 'hex') WHERE number = ${number}`;
    assert.ok((await tampered(forged)).includes(`seal seal ${number}`));
    // If the newest seal is deleted with its rows and the sealing progress, only a head stored elsewhere reveals it.
    const head = await sealCursor(db);
    const { findings: found } = await verifyJournal(db, [{ number: head.number, hash: '0'.repeat(64) }]);
    assert.deepEqual(
      found.map(({ place }) => place),
      [`seal ${head.number}`],
    );
    const { findings: absent } = await verifyJournal(db, [{ number: head.number + 5, hash: head.hash }]);
    assert.deepEqual(
      absent.map(({ place }) => place),
      [`seal ${head.number + 5}`],
    );
    assert.deepEqual((await verifyJournal(db, [head])).findings, []);
  });

  it('blocks no writer and waits for none; late commits are sealed later', async () => {
    await duringTransaction(db, async (held) => {
      const row = `INSERT INTO journal (id, at, type, via, hash) VALUES (gen_random_uuid(), now(), 'T', 'system', '\\x00')`;
      await held.query(row);
      const before = await sealCursor(db);
      await around.make({ title: 'meanwhile' });
      // A transaction older than the new rows is in progress, so nothing after it may be sealed yet.
      assert.equal(await sealJournal(db, Date.now()), undefined);
      assert.equal((await sealCursor(db)).number, before.number);
      assert.ok((await verifyJournal(db)).unsealed > 0);
    });
    assert.equal(await sealAll(db), 1);
    assert.deepEqual(await findings(), []);
  });

  it('remains one chain with several sealers and concurrent writers', async () => {
    let done = false;
    const write = async (): Promise<void> => {
      const all = Array.from({ length: 6 }, async (_, writer) => {
        for (let n = 0; n < 15; n++) await around.make({ title: `${writer} ${n}` });
      });
      await Promise.all(all);
      done = true;
    };
    const sealers = Array.from({ length: 4 }, async () => {
      while (!done) await sealJournal(db, Date.now());
    });
    await Promise.all([write(), ...sealers]);
    await sealAll(db);
    const verified = await verifyJournal(db);
    assert.deepEqual(verified.findings, []);
    assert.equal(verified.unsealed, 0);
  });

  it('goes on after the tables were copied to another cluster, whose transaction ids are lower', async () => {
    await around.make({ title: 'not sealed' });
    for (const table of ['journal', 'journal_sealing'])
      await db.query(raw(`UPDATE ${table} SET txid = (txid::text::bigint + 1000000)::text::xid8`));
    await db.query(sql`UPDATE journal_placing SET storage = 'another', done = NULL, target = NULL`);
    const foreign = await db.query<{ rows: number }>(sql`SELECT count(*) AS rows FROM journal`);
    assert.equal(await adoptJournal(db), foreign[0]?.rows);
    assert.equal(await adoptJournal(db), 0);
    await around.make({ title: 'in the other cluster' });
    await sealAll(db);
    const { findings: found, unsealed } = await verifyJournal(db);
    assert.deepEqual([found, unsealed], [[], 0]);
    while (await givePlaces(db));
    const again = await db.query(
      sql`SELECT FROM journal j, journal_placing p WHERE j.txid >= pg_snapshot_xmax(p.done)`,
    );
    assert.equal(again.length, 0, 'the next pass reads new rows only');
  });

  it('seals a backlog in batches', async () => {
    await sealAll(db);
    const { number } = await sealCursor(db);
    await db.query(sql`
      INSERT INTO journal (id, at, type, via, hash)
      SELECT gen_random_uuid(), now(), 'T', 'system', sha256(n::text::bytea) FROM generate_series(1, ${SEAL_ROWS + 5}::int) n`);
    assert.equal(await sealAll(db), 2);
    assert.equal((await sealCursor(db)).number, number + 2);
    await db.query(sql`DELETE FROM journal WHERE type = 'T'`);
    const { findings: found, more } = await verifyJournal(db);
    assert.equal(found.length + more, SEAL_ROWS + 5);
    assert.equal(found.length, 100);
  });
});
