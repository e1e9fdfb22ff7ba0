/**
 * Each invariant check finds what breaks its rule, and names it: data of every kind is made through the
 * service, then tampered with in a transaction that is undone.
 */
import assert from 'node:assert/strict';
import { unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { raw } from 'sql-template-tag';
import { examineDeep } from '../src/cli/deep.ts';
import { FileBlobs } from '../src/platform/blobs/filesystem.ts';
import type { Violations } from '../src/platform/audit/checks.ts';
import { examineIdle, examineIntegrity } from '../src/platform/database/integrity.ts';
import { CHECKS } from '../src/modules.ts';
import { type Around, startAround } from './harness/around.ts';
import { CREATE, inboundOf } from './harness/inbound.ts';
import { CORRUPTIONS } from './harness/corruptions.ts';

describe('docket doctor --deep', () => {
  let around: Around;
  let blobs: FileBlobs;

  const violations = async (name: string, statements: readonly string[]): Promise<[Violations, string]> => {
    const check = CHECKS.find((one) => one.name === name);
    assert.ok(check !== undefined, name);
    let found: [Violations, string] | undefined;
    await around.app.db.transaction(
      'BEGIN',
      async (tx) => {
        let what = '';
        for (const statement of statements) what = String((await tx.query<{ what: unknown }>(raw(statement)))[0]?.what);
        found = [await check.find({ db: tx, blobs, config: around.app.app.versions.current() }), what];
      },
      () => false,
    );
    return found as [Violations, string];
  };
  const examine = () => examineDeep({ db: around.app.db, caller: around.app.app.system() }, blobs);

  before(async () => {
    around = await startAround();
    blobs = new FileBlobs(around.app.blobFolder);
    const inbound = await inboundOf(around);
    const ids: string[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const body = { typeDefinitionId: 'case', values: { title: `case ${turn}`, kind: 'a' } };
      const options = turn === 0 ? { idempotencyKey: 'made' } : {};
      const { id } = (await around.call('chief', 'POST', '/objects', body, options)).body.data;
      await around.ok('chief', 'PATCH', `/objects/${id}`, { expectedRevision: 1, changes: { note: 'changed' } });
      ids.push(id);
    }
    const keyed = { idempotencyKey: 'around' };
    const comment = { body: 'said', visibility: 'public' };
    const file = { filename: 'a.txt', contentBase64: Buffer.from('content').toString('base64') };
    const rows = await around.rows<{ id: string }>(`SELECT id FROM config_items WHERE code = 'about'`);
    const relation = { definitionId: rows[0]?.id, targetObjectId: ids[1] };
    for (const [kind, body] of [
      ['comments', comment],
      ['attachments', file],
      ['relations', relation],
    ] as const) {
      const answer = await around.call('chief', 'POST', `/objects/${ids[0]}/${kind}`, body, keyed);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
    }
    const made = await inbound.call('chief', await inbound.integration(CREATE), { title: 'from outside' }, 'outside');
    assert.equal(made.status, 201, JSON.stringify(made.body));
  });
  after(() => around.close());

  it('finds nothing wrong in an intact database', async () => {
    const lines = await examine();
    assert.deepEqual(
      lines.filter(({ ok }) => !ok),
      [],
    );
    assert.equal(lines.length, CHECKS.length + 2);
  });

  it('finds and reports the corruption of each check', async () => {
    assert.deepEqual(Object.keys(CORRUPTIONS).sort(), CHECKS.map(({ name }) => name).sort());
    for (const [name, tampers] of Object.entries(CORRUPTIONS)) {
      for (const [turn, statements] of tampers.entries()) {
        const [{ total, named }, what] = await violations(name, statements);
        const found = total > 0 && named.some((one) => one.includes(what));
        assert.ok(found, `${name}, tamper ${turn}: ${total} found, ${named.join(', ')}; ${what} wanted`);
      }
    }
    assert.deepEqual(
      (await examine()).filter(({ ok }) => !ok),
      [],
      'every tamper was undone',
    );
  });

  it('finds a file with other bytes and a missing one', async () => {
    const [row] = await around.rows<{ sha256: string; id: string }>('SELECT sha256, id FROM attachments');
    const file = path.join(around.app.blobFolder, (row?.sha256 ?? '').slice(0, 2), row?.sha256 ?? '');
    await writeFile(file, 'CONTENT');
    const wrong = async (): Promise<string> => (await examine()).find(({ ok }) => !ok)?.says ?? '';
    assert.match(await wrong(), new RegExp(`${row?.id} \\(blob ${row?.sha256} is damaged`));
    await unlink(file);
    assert.match(await wrong(), new RegExp(`${row?.id} \\(blob ${row?.sha256} is missing`));
    await writeFile(file, 'content');
    assert.equal(await wrong(), '');
  });

  it('finds an index that lacks a row of its table', async () => {
    const before = await examineIntegrity(around.app.db);
    assert.ok(before.ok, before.says);
    assert.match(before.says, /\d+ tables and indexes are sound/);
    const ready = (on: boolean): string =>
      `UPDATE pg_index SET indisready = ${on} WHERE indexrelid = 'comments_of_object'::regclass`;
    await around.rows(ready(false));
    await around.rows(
      `INSERT INTO comments SELECT gen_random_uuid(), object_id, 1, body, visibility, state, author_id, created_at, updated_at FROM comments LIMIT 1`,
    );
    await around.rows(ready(true));
    const found = await examineIntegrity(around.app.db);
    assert.ok(!found.ok && found.says.includes('comments_of_object'), found.says);
    await around.rows('REINDEX INDEX comments_of_object');
    assert.deepEqual(await examineIntegrity(around.app.db), before, 'and nothing of the extension stays');
  });

  it('finds an idle transaction', async () => {
    const client = await around.app.db.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT 1');
      assert.match((await examineIdle(around.app.db, 0)).says, /idle for more than 0 s: process \d+/);
      assert.ok((await examineIdle(around.app.db)).ok);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
    assert.ok((await examineIdle(around.app.db, 0)).ok);
  });
});
