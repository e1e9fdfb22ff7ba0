/** Import definitions through HTTP (docs/spec/import-export-bulk.md#import-definitions). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { assertRejected } from '../../../test/support/record-fixture.ts';
import { type ImportExportFixture, startImportExportFixture } from '../../../test/support/import-export-fixture.ts';

let x: ImportExportFixture;

describe('import definitions', () => {
  before(async () => {
    x = await startImportExportFixture();
  });
  after(() => x.close());

  const sound = {
    code: 'sound',
    name: 'Sound',
    targetKind: 'object',
    targetTypeId: 'ticket',
    format: 'CSV',
    mode: 'UPSERT',
    sourceCode: 'snow',
    resolver: { externalIdField: 'number' },
    mapping: [{ source: 'short', target: 'title', transform: 'trim' }],
  };

  it('are created by a call with all defaults and exported like other configuration', async () => {
    const made = await x.ok('boss', 'POST', '/import-definitions', sound);
    const [type] = await x.rows<{ id: string }>(
      `SELECT id FROM config_items WHERE section = 'types' AND code = 'ticket'`,
    );
    assert.deepEqual(made, {
      ...sound,
      id: made.id,
      targetTypeId: type?.id,
      mapping: [{ source: 'short', target: 'title', transform: ['trim'], precedence: 100 }],
      state: 'ACTIVE',
    });
    const listed = await x.admin('boss', 'GET', '/import-definitions');
    assert.deepEqual(listed.body.data, [made]);
    const config = await x.admin('boss', 'GET', '/config/importDefinitions');
    assert.deepEqual(config.body.data, [{ id: made.id, code: 'sound', name: 'Sound', state: 'ACTIVE' }]);
    const events = await x.rows<{ data: { action: string } }>(
      `SELECT data FROM journal WHERE type = 'ConfigChanged' AND subject = 'importDefinitions:sound'`,
    );
    assert.deepEqual(
      events.map(({ data }) => data.action),
      ['create'],
    );
    assertRejected(await x.call('boss', 'POST', '/import-definitions', sound), 409, 'ALREADY_EXISTS');
  });

  it('are validated as a whole, with a path for each problem', async () => {
    const cases: [object, string][] = [
      [{ resolver: undefined }, '/resolver'],
      [{ resolver: {} }, '/resolver/externalIdField'],
      [{ resolver: { externalIdField: '' } }, '/resolver/externalIdField'],
      [{ targetKind: 'person' }, '/targetKind'],
      [{ mode: 'upsert' }, '/mode'],
      [{ format: 'XML' }, '/format'],
      [{ code: 'Not A Code' }, '/code'],
      [{ targetTypeId: undefined }, '/targetTypeId'],
      [{ targetTypeId: 'nothing' }, '/targetTypeId'],
      [{ targetTypeId: randomUUID() }, '/targetTypeId'],
      [{ targetKind: 'user' }, '/targetTypeId'],
      [{ mapping: [] }, '/mapping'],
      [{ mapping: [{ source: 'a', target: 'nothing' }] }, '/mapping/0/target'],
      [{ mapping: [{ source: 'a', target: 'workflowState' }] }, '/mapping/0/target'],
      [{ mapping: [{ source: 'a', target: 'title', transform: 'reverse' }] }, '/mapping/0/transform/0'],
      [
        { mapping: [{ source: 'a', target: 'title', transform: ['trim', 'lookup:asset.nothing'] }] },
        '/mapping/0/transform/1',
      ],
      [
        { mapping: [{ source: 'a', target: 'title', transform: 'datetime:HH@Mars/Olympus' }] },
        '/mapping/0/transform/0',
      ],
      [{ more: 1 }, '/more'],
    ];
    for (const [index, [change, path]] of cases.entries()) {
      const body = { ...sound, code: `bad${index}`, ...change };
      const answer = await x.call('boss', 'POST', '/import-definitions', body);
      assertRejected(answer, 400, 'INVALID_REQUEST', JSON.stringify(change));
      const paths = answer.body.error.details.map((detail: { path: string }) => detail.path);
      assert.ok(paths.includes(path), `${JSON.stringify(change)}: ${JSON.stringify(answer.body.error)}`);
    }
    assert.equal((await x.rows(`SELECT 1 FROM config_items WHERE code LIKE 'bad%'`)).length, 0);
  });

  it('require import.manage and reveal nothing about hidden types and fields', async () => {
    assertRejected(await x.call('porter', 'POST', '/import-definitions', sound), 403, 'RIGHT_MISSING');
    const of = (change: object) =>
      x.call('clerk', 'POST', '/import-definitions', { ...sound, code: 'by-clerk', ...change });
    const mapping = (target: string, transform?: string) => ({
      mapping: [{ source: 'a', target, ...(transform === undefined ? {} : { transform }) }],
    });
    const hidden = await of(mapping('secret'));
    const unknown = await of(mapping('neverwas'));
    assertRejected(hidden, 400, 'INVALID_REQUEST');
    const renamed = JSON.parse(JSON.stringify(hidden.body.error).replaceAll('secret', 'neverwas'));
    assert.deepEqual(renamed, unknown.body.error);
    assertRejected(await of(mapping('title', 'lookup:ticket.secret')), 400, 'INVALID_REQUEST');
    assert.equal((await of({})).status, 201);
  });
});
