/**
 * Each invariant check finds what breaks its rule, and names it: data of every kind is made through the service, then tampered
 * with in a transaction that is undone.
 */
import assert from 'node:assert/strict';
import { unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { raw } from 'sql-template-tag';
import { examineDeep } from '../src/cli/doctor-checks.ts';
import { FileBlobs } from '../src/platform/blobs/filesystem.ts';
import type { Violations } from '../src/platform/audit/checks.ts';
import { givePlaces } from '../src/platform/journal/places.ts';
import { examineIdle, examineIntegrity } from '../src/platform/database/integrity.ts';
import { MODULES } from '../src/modules.ts';
import { collect } from '../src/platform/module.ts';
import { type RecordFixture, startRecordFixture } from './support/record-fixture.ts';
import { CREATE, inboundOf } from './support/inbound-fixture.ts';
import { CORRUPTIONS } from './proofs/corruptions.ts';
import { duringTransaction } from './support/database.ts';

describe('docket doctor --deep', () => {
  let fixture: RecordFixture;
  let blobs: FileBlobs;

  const violations = async (name: string, statements: readonly string[]): Promise<[Violations, string]> => {
    const check = collect(MODULES, 'checks').find((one) => one.name === name);
    assert.ok(check !== undefined, name);
    let found: [Violations, string] | undefined;
    await fixture.app.db.transaction(
      'BEGIN',
      async (tx) => {
        let what = '';
        for (const statement of statements) what = String((await tx.query<{ what: unknown }>(raw(statement)))[0]?.what);
        found = [await check.find({ db: tx, blobs, config: fixture.app.app.versions.current() }), what];
      },
      () => false,
    );
    return found as [Violations, string];
  };
  const examine = () => examineDeep({ db: fixture.app.db, caller: fixture.app.app.system() }, blobs);

  before(async () => {
    fixture = await startRecordFixture();
    blobs = new FileBlobs(fixture.app.blobFolder);
    const inbound = await inboundOf(fixture);
    const ids: string[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const body = { typeDefinitionId: 'case', values: { title: `case ${turn}`, kind: 'a' } };
      const options = turn === 0 ? { idempotencyKey: 'made' } : {};
      const { id } = (await fixture.call('chief', 'POST', '/objects', body, options)).body.data;
      await fixture.ok('chief', 'PATCH', `/objects/${id}`, { expectedRevision: 1, changes: { note: 'changed' } });
      ids.push(id);
    }
    const keyed = { idempotencyKey: 'around' };
    const comment = { body: 'said', visibility: 'public' };
    const file = { filename: 'a.txt', contentBase64: Buffer.from('content').toString('base64') };
    const rows = await fixture.rows<{ id: string }>(`SELECT id FROM config_items WHERE code = 'about'`);
    const relation = { definitionId: rows[0]?.id, targetObjectId: ids[1] };
    for (const [kind, body] of [
      ['comments', comment],
      ['attachments', file],
      ['relations', relation],
    ] as const) {
      const answer = await fixture.call('chief', 'POST', `/objects/${ids[0]}/${kind}`, body, keyed);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
    }
    const made = await inbound.call('chief', await inbound.integration(CREATE), { title: 'from outside' }, 'outside');
    assert.equal(made.status, 201, JSON.stringify(made.body));
  });
  after(() => fixture.close());

  it('finds nothing wrong in an intact database', async () => {
    const lines = await examine();
    assert.deepEqual(
      lines.filter(({ ok }) => !ok),
      [],
    );
    assert.equal(lines.length, collect(MODULES, 'checks').length + 2);
  });

  it('finds and reports the corruption of each check', async () => {
    while (await givePlaces(fixture.app.db));
    assert.deepEqual(
      Object.keys(CORRUPTIONS).sort(),
      collect(MODULES, 'checks')
        .map(({ name }) => name)
        .sort(),
    );
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
    const [row] = await fixture.rows<{ sha256: string; id: string }>('SELECT sha256, id FROM attachments');
    const file = path.join(fixture.app.blobFolder, (row?.sha256 ?? '').slice(0, 2), row?.sha256 ?? '');
    await writeFile(file, 'CONTENT');
    const wrong = async (): Promise<string> => (await examine()).find(({ ok }) => !ok)?.says ?? '';
    assert.match(await wrong(), new RegExp(`${row?.id} \\(blob ${row?.sha256} is damaged`));
    await unlink(file);
    assert.match(await wrong(), new RegExp(`${row?.id} \\(blob ${row?.sha256} is missing`));
    await writeFile(file, 'content');
    assert.equal(await wrong(), '');
  });

  it('finds an index that lacks a row of its table', async () => {
    const before = await examineIntegrity(fixture.app.db);
    assert.ok(before.ok, before.says);
    assert.match(before.says, /\d+ tables and indexes are sound/);
    const ready = (on: boolean): string =>
      `UPDATE pg_index SET indisready = ${on} WHERE indexrelid = 'comments_of_object'::regclass`;
    await fixture.rows(ready(false));
    await fixture.rows(
      `INSERT INTO comments SELECT gen_random_uuid(), object_id, 1, body, visibility, state, author_id, created_at, updated_at FROM comments LIMIT 1`,
    );
    await fixture.rows(ready(true));
    const found = await examineIntegrity(fixture.app.db);
    assert.ok(!found.ok && found.says.includes('comments_of_object'), found.says);
    await fixture.rows('REINDEX INDEX comments_of_object');
    assert.deepEqual(await examineIntegrity(fixture.app.db), before, 'and nothing of the extension stays');
  });

  it('names each check once, and no two begin alike with their class', async () => {
    const names = (await examine()).map(({ name }) => name);
    assert.equal(names.length, collect(MODULES, 'checks').length + 2);
    assert.equal(new Set(names.map((name) => name.replace(/ \(I\d+\)$/, ''))).size, names.length);
    for (const name of names) assert.match(name, /^[a-zSL]+ .+ \(I\d+\)$/);
  });

  it('finds an idle transaction', async () => {
    await duringTransaction(fixture.app.db, async (client) => {
      await client.query('SELECT 1');
      assert.match((await examineIdle(fixture.app.db, 0)).says, /idle for more than 0 s: process \d+/);
      assert.ok((await examineIdle(fixture.app.db)).ok);
    });
    assert.ok((await examineIdle(fixture.app.db, 0)).ok);
  });
});
