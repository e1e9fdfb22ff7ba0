/** Imports of users, groups and organisation units. The rules and rights of their API operations apply. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type Definition,
  type ImportExportFixture,
  startImportExportFixture,
  verdicts,
} from '../../../test/support/import-export-fixture.ts';

let x: ImportExportFixture;

const PEOPLE: Definition = {
  targetKind: 'user',
  resolver: { externalIdField: 'id' },
  mapping: [
    { source: 'login', target: 'login', transform: ['trim', 'lower'] },
    { source: 'name', target: 'displayName' },
    { source: 'mail', target: 'email' },
    { source: 'zone', target: 'timezone' },
    { source: 'no', target: 'employeeId' },
  ],
};
const UNITS: Definition = {
  targetKind: 'organization',
  resolver: { externalIdField: 'id' },
  mapping: [
    { source: 'code', target: 'code' },
    { source: 'name', target: 'name' },
    { source: 'parent', target: 'parentId', transform: 'org-unit:code' },
    { source: 'boss', target: 'managerUserId', transform: 'user:login' },
  ],
};

const both = async (definition: string, content: string): Promise<string[]> => {
  const dry = await x.run('boss', definition, content, true);
  const real = await x.run('boss', definition, content);
  const comparable = (run: typeof dry) =>
    run.rows.map(({ row, externalId, status, errors }) => ({ row, externalId, status, errors }));
  assert.deepEqual(comparable(dry), comparable(real), 'the dry run returns the results of the real run');
  return verdicts(real);
};

describe('imports of users, groups and units', () => {
  before(async () => {
    x = await startImportExportFixture();
  });
  after(() => x.close());

  it('create and change users', async () => {
    const definition = await x.define(PEOPLE);
    const content =
      'id,login,name,mail,zone,no\n1, Anna ,Anna P,anna@example.org,Europe/Moscow,17\n2,boris,Boris,boris@example.org,,\n' +
      '3,ANNA,Other,other@example.org,,\n4,cyril,Cyril,Anna@example.org,,\n5,dora,Dora,no-address,,\n6,,Nobody,n@example.org,,\n' +
      '1,anna,Anna Petrova,anna@example.org,Europe/Moscow,17\n1,hanna,Hanna,anna@example.org,,\n7,eve,Eve,eve@example.org,Mars/Olympus,\n';
    assert.deepEqual(await both(definition, content), [
      'CREATED',
      'CREATED',
      'FAILED ALREADY_EXISTS',
      'FAILED ALREADY_EXISTS',
      'FAILED WRONG_FORMAT',
      'FAILED REQUIRED',
      'UPDATED',
      'FAILED NOT_CHANGEABLE',
      'FAILED UNKNOWN_TIME_ZONE',
    ]);
    const people = await x.ok('boss', 'GET', '/identity/users');
    const anna = people.find(({ login }: { login: string }) => login === 'anna');
    assert.deepEqual([anna.displayName, anna.employeeId, anna.revision], ['Anna Petrova', '17', 2]);
    const again = content.split('\n').slice(0, 3).join('\n').replace('Anna P,', 'Anna Petrova,');
    assert.deepEqual(await both(definition, again), ['SKIPPED', 'SKIPPED']);
    const events = await x.rows<{ type: string; via: string }>(
      `SELECT type, via FROM journal WHERE subject = $1 ORDER BY seq`,
      [`user:${anna.id}`],
    );
    assert.deepEqual(
      events.map(({ type, via }) => `${type} ${via}`),
      ['UserCreated import', 'UserChanged import'],
    );
  });

  it('create units below units of earlier rows', async () => {
    const definition = await x.define(UNITS);
    const content =
      'id,code,name,parent,boss\n1,north,North,hq,boss\n2,north-a,A,north,\n3,north-b,B,north-a,\n4,south,South,nowhere,\n' +
      '5,north,Twin,,\n1,north,North,north-b,\n3,north-b,Bee,north-a,\n';
    assert.deepEqual(await both(definition, content), [
      'CREATED',
      'CREATED',
      'CREATED',
      'FAILED LOOKUP_NOT_FOUND',
      'FAILED ALREADY_EXISTS',
      'FAILED CYCLE',
      'UPDATED',
    ]);
    const units = await x.ok('boss', 'GET', '/identity/org-units');
    const byCode = new Map(units.map((unit: { code: string }) => [unit.code, unit]));
    const of = (code: string): { id: string; parentId: string; name: string } => byCode.get(code) as never;
    assert.deepEqual([of('north-b').parentId, of('north-b').name], [of('north-a').id, 'Bee']);
  });

  it('create groups by code', async () => {
    const definition = await x.define({
      targetKind: 'group',
      format: 'JSON',
      resolver: { externalIdField: 'id' },
      mapping: [
        { source: 'code', target: 'code' },
        { source: 'name', target: 'name' },
      ],
    });
    const content = JSON.stringify([
      { id: 1, code: 'second-line', name: 'Second line' },
      { id: 2, code: 'First-Line', name: 'First' },
      { id: 3, code: 'third', name: 7 },
      { id: 4, code: 'Not a code', name: 'x' },
      { id: 1, code: 'Second-Line', name: 'Second line' },
    ]);
    const [made, taken, typed, bad, same] = await both(definition, content);
    assert.deepEqual([made, taken, typed, same], ['CREATED', 'FAILED ALREADY_EXISTS', 'FAILED WRONG_TYPE', 'SKIPPED']);
    assert.match(bad ?? '', /^FAILED /);
  });

  it('require user.administer in each row', async () => {
    const definition = await x.define(PEOPLE);
    const content = 'id,login,name,mail,zone,no\n9,zoe,Zoe,zoe@example.org,,\n1,boss,Boss,boss@example.org,,\n';
    const run = await x.run('clerk', definition, content);
    assert.deepEqual(verdicts(run), ['FAILED RIGHT_MISSING', 'FAILED RIGHT_MISSING']);
    assert.deepEqual(await x.rows(`SELECT 1 FROM users WHERE login = 'zoe'`), []);
  });

  it('are undone: created users are archived, changed users get their former values', async () => {
    const definition = await x.define({ ...PEOPLE, sourceCode: 'back' });
    const first = 'id,login,name,mail,zone,no\n1,uma,Uma,uma@example.org,,1\n';
    await x.run('boss', definition, first);
    const run = await x.run('boss', definition, `${first.replace('Uma,', 'Uma Two,')}2,vic,Vic,vic@example.org,,\n`);
    assert.deepEqual(verdicts(run), ['UPDATED', 'CREATED']);
    const { body } = await x.admin('boss', 'POST', `/import-runs/${run.id}/undo`);
    assert.deepEqual([body.data.undone, body.data.skipped, body.data.failed], [2, 0, 0]);
    const rows = await x.rows<{ login: string; name: string; state: string }>(
      `SELECT login, display_name AS name, state FROM users WHERE login IN ('uma', 'vic') ORDER BY login`,
    );
    assert.deepEqual(rows, [
      { login: 'uma', name: 'Uma', state: 'ACTIVE' },
      { login: 'vic', name: 'Vic', state: 'ARCHIVED' },
    ]);
  });

  it('reject targets that users, groups and units do not have', async () => {
    for (const targetKind of ['user', 'group', 'organization']) {
      const body = {
        code: `x-${targetKind}`,
        targetKind,
        format: 'CSV',
        mode: 'UPSERT',
        sourceCode: 's',
        resolver: { externalIdField: 'id' },
        mapping: [{ source: 'a', target: 'state' }],
      };
      const answer = await x.call('boss', 'POST', '/import-definitions', body);
      assert.deepEqual([answer.status, answer.body.error.details[0].path], [400, '/mapping/0/target']);
    }
  });
});
