/**
 * A plan lists transitions whose condition uses a field that a role cannot read: whether such a transition is offered reveals
 * something about the hidden value. Tested over HTTP and on the command line.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { russianText } from '../web/src/problems/russian.ts';
import type { PlanNote } from '../src/lib/problem.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { runCommand } from './support/commands.ts';
import { user } from './support/small-configuration.ts';

const type = (title = 'title', workflow = 'flow'): string =>
  `types: [ { code: case, title: ${title}, workflow: ${workflow}, fields: [ { code: title, dataType: string }, { code: cost, dataType: integer }, { code: kind, dataType: string } ] } ]`;
const TYPE = type();

/** A workflow with one transition, by its condition. */
const workflow = (condition: string, code = 'flow'): string =>
  `workflows: [ { code: ${code}, initial: new, states: [ { code: new, category: open }, { code: done, category: done } ], transitions: [ { code: close, from: [new], to: done${condition} } ] } ]`;
const on = (field: string, rest = 'operator: is-empty'): string => `, condition: { field: ${field}, ${rest} }`;

const role = (grants: string): string => `roles: [ { code: desk, records: [ ${grants} ] } ]`;
const grant = (read: string, where = '', actions = 'read, transition', transitions = "'*'"): string =>
  `{ type: case, ${where} actions: [${actions}], fields: { read: ${read} }, transitions: ${transitions} }`;
const whereKind = (value: string): string => `where: { field: kind, operator: equals, value: ${value} },`;
const WHERE_BOTH =
  'where: { logic: AND, conditions: [ { operator: equals, field: kind, value: a }, { field: title, operator: is-empty } ] },';

const says = (field: string, why: string, type = 'case'): string =>
  `role desk: whether close of ${type} is listed can depend on the field ${field}, ${why}`;
const NEVER = 'which the role cannot read';
const PARTLY = 'which row conditions of the role may hide';

/** Only the role changed, on the workflow whose transition uses `cost`: its grants, and the note. */
const ROLES: readonly [name: string, grants: string, note: string | undefined][] = [
  ['a hidden field', grant('[title]'), says('cost', NEVER)],
  ['a field that is readable', grant('[cost]'), undefined],
  ["'*' as fields", grant("'*'"), undefined],
  ['a field that another grant reads', `${grant('[title]')}, ${grant('[cost]', '', 'read', '[]')}`, undefined],
  ['a grant on all types', grant('[title]').replace('type: case', "type: '*'"), says('cost', NEVER)],
  ['no transition action', grant('[title]', '', 'read'), undefined],
  ['another list of transitions', grant('[title]', '', 'read, transition', '[]'), undefined],
  [
    'action and transition from two grants',
    `${grant('[title]', '', 'read, transition', '[]')}, ${grant('[]', '', 'read')}`,
    says('cost', NEVER),
  ],
  ['a row condition', grant('[title]', whereKind('a')), says('cost', NEVER)],
  [
    'a field that is readable on other records',
    `${grant('[title]', whereKind('a'))}, ${grant('[cost]', whereKind('b'), 'read', '[]')}`,
    says('cost', PARTLY),
  ],
  [
    'a field that is readable on the same records',
    `${grant('[title]', whereKind('a'))}, ${grant('[cost]', whereKind('a'), 'read', '[]')}`,
    undefined,
  ],
  [
    'a field that is readable on these and more records',
    `${grant('[title]', WHERE_BOTH)}, ${grant('[cost]', whereKind('a'), 'read', '[]')}`,
    undefined,
  ],
  [
    'a field that is readable on some of these records',
    `${grant('[title]', whereKind('a'))}, ${grant('[cost]', WHERE_BOTH, 'read', '[]')}`,
    says('cost', PARTLY),
  ],
];

/** Only the workflow changed, under a role that reads `kind`: the condition, and the note. */
const WORKFLOWS: readonly [name: string, condition: string, note: string | undefined][] = [
  ['a hidden field', on('cost', 'operator: is-empty, value: false'), says('cost', NEVER)],
  [
    'a hidden field inside of groups',
    ', condition: { logic: OR, conditions: [ { field: kind, operator: is-empty }, { logic: AND, conditions: [ { field: cost, operator: equals, value: 1 } ] } ] }',
    says('cost', NEVER),
  ],
  ['a readable field', on('kind'), undefined],
  ['system fields', on('createdAt', 'operator: is-empty, value: false'), undefined],
  ['a state', on('workflowState', 'operator: equals, value: new'), undefined],
  ['no condition', '', undefined],
];

const files = (...texts: string[]) => texts.map((text, index) => ({ name: `${index}.yaml`, text }));

describe('transitions that depend on hidden fields', () => {
  let app: TestApp;
  let key: string;

  const plan = async (
    ...texts: string[]
  ): Promise<{ section: string; code: string; note?: string; notes?: PlanNote[] }[]> => {
    const body = { files: files(...texts) };
    const answer = await app.request('POST', '/api/admin/v1/config/plan', { key, body });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.data;
  };
  /** The notes of the plan by item; each has a Russian sentence in the console. */
  const notes = async (...texts: string[]): Promise<Record<string, string>> => {
    const items = (await plan(...texts)).filter(({ note }) => note !== undefined);
    for (const { note, notes: all = [] } of items) {
      assert.equal(all.map(({ message }) => message).join('; '), note);
      for (const one of all) assert.match(russianText(one) ?? '', /[а-я]/i, one.message);
    }
    return Object.fromEntries(items.map(({ section, code, note = '' }) => [`${section}/${code}`, note]));
  };
  const environment = async (...texts: string[]): Promise<void> => {
    await app.apply(files(...texts));
  };

  before(async () => {
    const right = 'rights: [config.manage, role.assign], assignedTo: { users: [chief] }';
    app = await startTestApp({ bundle: files(`roles: [ { code: chief, ${right} } ]\nusers:\n${user('chief')}`) });
    key = (await app.createKey({ login: 'chief', scopes: ['admin:manage'] })).key;
  });
  after(() => app.close());

  for (const [name, grants, note] of ROLES) {
    it(`are found if only a role changed: ${name}`, async () => {
      await environment(TYPE, workflow(on('cost')), role(''));
      assert.deepEqual(await notes(role(grants)), note === undefined ? {} : { 'roles/desk': note });
    });
  }

  for (const [name, condition, note] of WORKFLOWS) {
    it(`are found if only a workflow changed: ${name}`, async () => {
      await environment(TYPE, workflow(', fields: [ { code: cost } ]'), role(grant('[kind]')));
      const said = await notes(workflow(condition));
      assert.deepEqual(said, note === undefined ? {} : { 'workflows/flow': note });
    });
  }

  it('are found if only a type changed, including the field behind the system title', async () => {
    await environment(TYPE, workflow(on('cost')), workflow('', 'plain'), role(grant('[kind, title]')));
    assert.deepEqual(await notes(type('kind')), { 'types/case': says('cost', NEVER) });
    // Records of the current version keep its workflow.
    assert.deepEqual(await notes(type('title', 'plain')), { 'types/case': says('cost', NEVER) });
    const other =
      'types: [ { code: other, title: TITLE, workflow: named, fields: [ { code: a, dataType: string }, { code: b, dataType: string } ] } ]';
    const reads = role(grant('[a]').replace('type: case', 'type: other'));
    await environment(other.replace('TITLE', 'a'), workflow(on('title'), 'named'), reads);
    assert.deepEqual(await notes(other.replace('TITLE', 'b')), { 'types/other': says('b', NEVER, 'other') });
  });

  it('are found if role, type and workflow change together, but not for archived or unchanged items', async () => {
    const all = [TYPE, workflow(on('cost')), role(grant('[title]'))];
    await environment(TYPE, workflow(''), role(''));
    const note = says('cost', NEVER);
    assert.deepEqual(await notes(...all), { 'roles/desk': note, 'workflows/flow': note });
    await environment(...all);
    assert.deepEqual(await notes(...all), {});
    const body = { files: files(TYPE), archive: [{ section: 'roles', code: 'desk' }] };
    const { data } = (await app.request('POST', '/api/admin/v1/config/plan', { key, body })).body;
    const archived = data.map(({ code, action, note = null }: Record<string, unknown>) => [code, action, note]);
    assert.deepEqual(archived, [
      ['case', 'leave', null],
      ['desk', 'archive', null],
    ]);
  });

  it('are counted beyond the first ten', async () => {
    const codes = Array.from({ length: 12 }, (_, index) => `go${index}`);
    const transitions = codes.map((code) => `{ code: ${code}, from: [new], to: done${on('cost')} }`).join(', ');
    await environment(TYPE, workflow(''), role(grant('[title]')));
    const { 'workflows/flow': said = '' } = await notes(
      workflow('').replace(/transitions: \[.*?\} \]/, `transitions: [ ${transitions} ]`),
    );
    assert.deepEqual(said.match(/whether \S+/g)?.length, 10);
    assert.match(said, /; more transitions that depend on hidden fields: 2$/);
  });

  it('are printed by the command line', async () => {
    await environment(TYPE, workflow(on('cost')), role(''));
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-hidden-'));
    try {
      await writeFile(path.join(folder, 'role.yaml'), role(grant('[title]')));
      const env = { DATABASE_URL: app.databaseUrl, DOCKET_DATA_DIR: path.join(folder, 'data') };
      const said = await runCommand(['plan', folder], env);
      assert.equal(said.code, 0, said.err);
      assert.ok(said.out.startsWith(`change   roles/desk\n           ${says('cost', NEVER)}\n`), said.out);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
