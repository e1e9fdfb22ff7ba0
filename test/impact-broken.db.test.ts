/** The impact of a plan names every kind of item that stops working, with the reason. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from './support/app.ts';
import { bundle, user } from './support/small-configuration.ts';

const role = (actions: string): string =>
  `roles:\n  - { code: agents, records: [ { type: case, actions: [${actions}], fields: { read: '*', write: '*' }, transitions: '*' } ], assignedTo: { users: [robot] } }`;
const EVERYTHING = "read, create, update, transition, comment.create, 'Private Comment'";
const CHIEF = '  - { code: chiefs, rights: [config.manage, role.assign], assignedTo: { users: [admin] } }';
const WORLD = `
types: [ { code: case, workflow: flow, fields: [ { code: title, dataType: string } ] } ]
workflows: [ { code: flow, initial: new, states: [ { code: new, category: open }, { code: done, category: done } ], transitions: [ { code: close, from: [new], to: done } ] } ]
rules: [ { code: react, types: [case], runAs: robot, on: [ObjectUpdated], do: [ { comment: { visibility: internal, body: x } } ] } ]
macros: [ { code: reply, types: [case], transition: close }, { code: fill, types: [case], set: { title: x } } ]
dashboards: [ { code: board, tiles: [ { kind: number, title: N, query: { types: [case], measures: [count] } } ] } ]
templates: [ { code: answer, subject: Hello, body: Hello } ]
mailboxes: [ { code: desk, address: desk@example.org, type: case, enabled: true } ]
`;

describe('what stops working', () => {
  let app: TestApp;
  let key: string;
  const broken = async (text: string, more: object = {}): Promise<string[]> => {
    const body = { files: text === '' ? [] : bundle(text), impact: true, ...more };
    const answer = await app.request('POST', '/api/admin/v1/config/plan', { key, body });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const found = answer.body.meta.impact.broken as { section: string; code: string; reason: string }[];
    return found.map(({ section, code, reason }) => `${section}/${code} ${reason}`);
  };

  before(async () => {
    app = await startTestApp({
      bundle: bundle(`${WORLD}${role(EVERYTHING)}\n${CHIEF}\nusers:\n${user('robot')}\n${user('admin')}`),
    });
    key = (await app.createKey({ login: 'admin', scopes: ['admin:manage'] })).key;
  });
  after(() => app.close());

  it('is named if it is archived', async () => {
    const archive = [
      ['rules', 'react'],
      ['macros', 'reply'],
      ['dashboards', 'board'],
      ['templates', 'answer'],
      ['mailboxes', 'desk'],
    ].map(([section, code]) => ({ section, code }));
    const found = await broken('', { archive });
    assert.deepEqual(found.sort(), archive.map(({ section, code }) => `${section}/${code} ARCHIVED`).sort());
  });

  it('is named if it is disabled', async () => {
    const off = WORLD.replace('enabled: true', 'enabled: false').replace(
      'runAs: robot',
      'enabled: false, runAs: robot',
    );
    assert.deepEqual((await broken(off)).sort(), ['mailboxes/desk DISABLED', 'rules/react DISABLED']);
  });

  it('is named if its user, or every role, loses a right that it needs', async () => {
    assert.deepEqual(await broken(role(EVERYTHING)), []);
    assert.deepEqual(await broken(role('read, create, update, transition, comment.create')), [
      'rules/react PRINCIPAL_MAY_NOT_COMMENT',
    ]);
    assert.deepEqual((await broken(role("comment.create, 'Private Comment'"))).sort(), [
      'dashboards/board NOBODY_MAY_USE',
      'macros/fill NOBODY_MAY_USE',
      'macros/reply NOBODY_MAY_USE',
      'mailboxes/desk NOBODY_MAY_USE',
      'rules/react PRINCIPAL_READS_LESS',
    ]);
  });
});
