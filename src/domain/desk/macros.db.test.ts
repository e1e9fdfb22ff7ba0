/** Macros and merging: texts, rights, all or nothing, one revision, idempotency (docs/reference/macros.md). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { watchAnswers } from '../../../test/support/response-check.ts';
import { duringUncommittedChange } from '../../../test/support/record-fixture.ts';
import { ACTIONS, bundle, idOf, stored } from '../../../test/support/small-configuration.ts';

/** `agent` does everything but read `secret`; `junior` may neither update nor make `solve`; `guest` only reads. */
const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: case
    title: title
    numbering: { prefix: C, digits: 3 }
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true, search: { filter: true } }
      - { code: priority, dataType: enum, constraints: { options: [{ code: p1, name: { en-US: Critical, ru-RU: Критический } }, { code: p2 }] } }
      - { code: requester, dataType: user }
      - { code: assignee, dataType: user }
      - { code: solution, dataType: text }
      - { code: secret, dataType: string }
  - { code: other, title: title, fields: [{ code: title, dataType: string, required: true }, { code: requester, dataType: string }] }
workflows:
  - code: flow
    initial: new
    states: [{ code: new, category: open }, { code: solved, name: Solved, category: done }, { code: closed, category: done }]
    transitions:
      - { code: solve, from: [new], to: solved, fields: [{ code: solution, required: true }, { code: $reason, required: true }] }
      - { code: close-duplicate, from: [new], to: closed }
relationDefinitions:
  - { code: duplicate-of, sourceTypes: [case], targetTypes: [case], cardinality: many-to-one, acyclic: true }
macros:
  - code: solved
    name: { en-US: Solved, ru-RU: Решено }
    types: [case]
    comment:
      visibility: public
      body: { en-US: '{{ requester }}: {{ number }} {{ title }} {{priority}}[{{ secret }}] {{ $me }} {{ workflowState }}', ru-RU: '{{ priority }}' }
    transition: solve
    set: { priority: p2, assignee: $me, $reason: { en-US: Done, ru-RU: Готово } }
  - { code: note, types: [case], roles: [agent], comment: { visibility: internal, body: 'Noted' } }
  - { code: raise, types: [case, other], set: { title: Raised } }
roles:
  - code: agent
    records:
      - { type: '*', actions: [${ACTIONS}], fields: { read: [title, priority, requester, assignee, solution], write: [title, priority, requester, assignee, solution] }, transitions: '*' }
    assignedTo: { users: [agent] }
  - code: junior
    records:
      - { type: case, actions: [read, comment.create, transition, relation.create], fields: { read: '*' }, transitions: [close-duplicate] }
    assignedTo: { users: [junior] }
  - code: guest
    records: [{ type: case, where: { field: priority, operator: equals, value: p1 }, actions: [read], fields: { read: '*' } }]
    assignedTo: { users: [guest] }
  - code: chief
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
orgUnits: [{ code: hq, name: Head office }]
users:
  - { login: agent, displayName: Agent Smith }
  - { login: junior, displayName: Junior }
  - { login: guest, displayName: Guest }
  - { login: chief, displayName: Chief }
  - { login: ann, displayName: Ann Lee, email: ann@example.org, orgUnit: hq }`;

describe('macros and merging', () => {
  let app: TestApp;
  let undocumented: readonly unknown[];
  const keys: Record<string, string> = {};
  let work: string;
  let ann: string;

  async function call(
    who: string,
    method: string,
    path: string,
    body?: unknown,
    idempotencyKey?: string,
  ): Promise<any> {
    return await app.request(method, `/api/admin/v1${path}`, {
      key: keys[who] as string,
      ...(body === undefined ? {} : { body }),
      ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
    });
  }
  async function make(values: object = {}): Promise<string> {
    const body = {
      typeDefinitionId: 'case',
      values: { title: 'Printer', requester: ann, priority: 'p1', secret: 'x', ...values },
    };
    const { body: answer } = await app.request('POST', '/api/v1/objects', { key: work, body });
    return answer.data.id;
  }
  const macroId = (code: string): Promise<string> => idOf(app, 'config_items', code);
  /** Everything that is stored about the record. */
  const traces = async (id: string): Promise<unknown> =>
    await stored(
      app,
      `SELECT revision, "values", workflow_state_id, (SELECT count(*)::int FROM comments WHERE object_id = o.id) AS comments,
        (SELECT count(*)::int FROM relations WHERE source_id = o.id) AS relations,
        (SELECT count(*)::int FROM journal WHERE object_id = o.id) AS events FROM objects o WHERE id = $1`,
      [id],
    );

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    undocumented = watchAnswers(app);
    for (const login of ['agent', 'junior', 'guest', 'chief']) {
      keys[login] = (await app.createKey({ login, scopes: ['admin:manage'] })).key;
    }
    work = (await app.createKey({ login: 'chief' })).key;
    ann = await idOf(app, 'users', 'ann');
  });
  after(async () => {
    await app.close();
    assert.deepEqual(undocumented, []);
  });

  it('fills texts with what the caller may read, in their language', async () => {
    const id = await make();
    const { body } = await call('agent', 'GET', `/objects/${id}/macros`);
    const [note, raise, solved] = body.data;
    assert.deepEqual([note.code, raise.code, solved.code], ['note', 'raise', 'solved']);
    assert.equal(solved.comment.body, 'Ann Lee: C001 Printer Critical[] Agent Smith new');
    assert.deepEqual(
      [solved.transition.code, solved.set.$reason, solved.set.priority, solved.refused],
      ['solve', 'Done', 'p2', []],
    );
    const russian = await call('agent', 'GET', `/objects/${id}/macros?locale=ru-RU`);
    assert.equal(russian.status === 200 ? russian.body.data[2].comment.body : 'Критический', 'Критический');
    const { body: whole } = await call('chief', 'GET', `/objects/${id}/macros`);
    assert.deepEqual(
      whole.data.map(({ code }: { code: string }) => code),
      ['raise', 'solved'],
      'a macro of a role',
    );
    assert.match(whole.data[1].comment.body, /\[x\]/);
  });

  it('names the parts that the caller cannot do', async () => {
    const { body } = await call('junior', 'GET', `/objects/${await make()}/macros`);
    assert.deepEqual(
      body.data.map(({ code, refused, transition }: any) => [code, refused, transition]),
      [
        ['raise', ['set'], null],
        ['solved', ['transition', 'set'], null],
      ],
    );
    assert.equal((await call('guest', 'GET', `/objects/${await make({ priority: 'p2' })}/macros`)).status, 404);
  });

  it('adds the comment, makes the transition and sets the fields in one revision', async () => {
    const id = await make();
    const body = { macroId: await macroId('solved'), expectedRevision: 1, values: { solution: 'Toner' } };
    const used = await call('agent', 'POST', `/objects/${id}/macros`, body, 'first');
    assert.equal(used.status, 200, JSON.stringify(used.body));
    assert.deepEqual(used.body.data.object, { id, revision: 2 });
    const { body: now } = await call('agent', 'GET', `/objects/${id}`);
    assert.deepEqual(
      [now.data.workflowState.code, now.data.values.priority, now.data.values.solution, now.data.values.assignee],
      ['solved', 'p2', 'Toner', await idOf(app, 'users', 'agent')],
    );
    const { body: comments } = await call('agent', 'GET', `/objects/${id}/comments`);
    assert.match(comments.data[0].body, /^Ann Lee: C\d+ Printer Critical/);
    const { body: history } = await call('agent', 'GET', `/objects/${id}/history`);
    assert.deepEqual(
      history.data.slice(1).map((event: any) => [event.type, event.data.reason]),
      [
        ['CommentAdded', undefined],
        ['ObjectTransitioned', 'Done'],
      ],
    );
    const again = await call('agent', 'POST', `/objects/${id}/macros`, body, 'first');
    assert.deepEqual(again.body.data, used.body.data, 'a repeated call is answered from the first one');
    const before = await traces(id);
    const late = await call('agent', 'POST', `/objects/${id}/macros`, body);
    assert.deepEqual([late.status, late.body.error.code], [409, 'REVISION_CONFLICT']);
    assert.deepEqual(await traces(id), before);
  });

  it('does nothing if one part is not allowed or not valid', async () => {
    const id = await make();
    const before = await traces(id);
    const path = `/objects/${id}/macros`;
    const solved = { macroId: await macroId('solved'), expectedRevision: 1 };
    const attempts: [string, object, number, string][] = [
      ['agent', solved, 400, 'INVALID_VALUES'],
      ['agent', { ...solved, values: { solution: 'x', secret: 'y' } }, 400, 'INVALID_VALUES'],
      ['junior', { ...solved, values: { solution: 'x' } }, 403, 'RIGHT_MISSING'],
      ['junior', { macroId: await macroId('raise'), expectedRevision: 1 }, 403, 'RIGHT_MISSING'],
      ['junior', { macroId: await macroId('note'), expectedRevision: 1 }, 404, 'NOT_FOUND'],
      ['guest', { macroId: await macroId('raise'), expectedRevision: 1 }, 403, 'RIGHT_MISSING'],
      [
        'agent',
        { macroId: await macroId('raise'), expectedRevision: 1, values: { title: 'x' } },
        400,
        'INVALID_VALUES',
      ],
      ['agent', { macroId: await macroId('raise'), expectedRevision: 9 }, 409, 'REVISION_CONFLICT'],
    ];
    for (const [who, body, status, code] of attempts) {
      const answer = await call(who, 'POST', path, body);
      assert.deepEqual([answer.status, answer.body.error?.code], [status, code], JSON.stringify([who, body]));
    }
    assert.deepEqual(await traces(id), before);
  });

  it('sets fields without a comment, and comments with another text', async () => {
    const id = await make({ title: 'Raised' });
    const same = { macroId: await macroId('raise'), expectedRevision: 1 };
    assert.deepEqual((await call('agent', 'POST', `/objects/${id}/macros`, same)).body.data.object, {
      id,
      revision: 1,
    });
    const comment = { body: 'Own words', visibility: 'public' };
    const own = await call('agent', 'POST', `/objects/${id}/macros`, { ...same, comment });
    assert.notEqual(own.body.data.commentId, null, 'a change without effect keeps the comment');
    const note = { macroId: await macroId('note'), expectedRevision: 99, comment };
    assert.equal((await call('agent', 'POST', `/objects/${id}/macros`, note)).status, 200);
    const { body } = await call('agent', 'GET', `/objects/${id}/comments`);
    assert.deepEqual(
      body.data.map((one: any) => [one.body, one.visibility]),
      [
        ['Own words', 'public'],
        ['Own words', 'public'],
      ],
    );
  });

  it('merges a duplicate: relation, comment and transition', async () => {
    const [id, target] = [await make(), await make()];
    const { body: offer } = await call('junior', 'GET', `/objects/${id}/merge`);
    assert.deepEqual([offer.data.relation.targetTypes, offer.data.transition.code], [['case'], 'close-duplicate']);
    const comment = { body: 'Goes on in C002', visibility: 'public' };
    const body = { expectedRevision: 1, targetObjectId: target, close: true, comment };
    const merged = await call('junior', 'POST', `/objects/${id}/merge`, body);
    assert.equal(merged.status, 200, JSON.stringify(merged.body));
    const { body: now } = await call('junior', 'GET', `/objects/${id}`);
    assert.deepEqual([now.data.workflowState.code, now.data.revision], ['closed', 2]);
    const { body: related } = await call('junior', 'GET', `/objects/${id}/relations?direction=outgoing`);
    assert.equal(related.data[0].related.id, target);
    const { body: comments } = await call('junior', 'GET', `/objects/${id}/comments`);
    assert.equal(comments.data[0].body, comment.body);
  });

  it('merges nothing if one part is refused', async () => {
    const [id, target, closed] = [await make(), await make(), await make()];
    await call('agent', 'POST', `/objects/${closed}/merge`, {
      expectedRevision: 1,
      targetObjectId: target,
      close: true,
    });
    const body = { expectedRevision: 1, targetObjectId: target, close: true };
    const internal = { body: 'x', visibility: 'internal' };
    const attempts: [string, string, object, number, string][] = [
      ['junior', id, { ...body, comment: internal }, 403, 'RIGHT_MISSING'],
      ['guest', id, body, 403, 'RIGHT_MISSING'],
      ['agent', id, { ...body, targetObjectId: id }, 400, 'INVALID_REQUEST'],
      ['agent', id, { ...body, targetObjectId: ann }, 400, 'INVALID_REQUEST'],
      ['agent', id, { ...body, expectedRevision: 2 }, 409, 'REVISION_CONFLICT'],
      ['agent', closed, { ...body, expectedRevision: 2 }, 400, 'TRANSITION_NOT_AVAILABLE'],
      ['agent', target, { ...body, targetObjectId: closed }, 409, 'RELATION_CYCLE'],
    ];
    for (const [who, one, parts, status, code] of attempts) {
      const before = await traces(one);
      const answer = await call(who, 'POST', `/objects/${one}/merge`, parts);
      assert.deepEqual([answer.status, answer.body.error?.code], [status, code], JSON.stringify(parts));
      assert.deepEqual(await traces(one), before);
    }
  });

  it('merges nothing if the record changes meanwhile', async () => {
    const [id, target] = [await make(), await make()];
    const body = { expectedRevision: 1, targetObjectId: target, close: false };
    const change = 'UPDATE objects SET revision = revision + 1 WHERE id = $1';
    const answer = await duringUncommittedChange({ app }, change, [id], () =>
      call('agent', 'POST', `/objects/${id}/merge`, body),
    );
    assert.deepEqual([answer.status, answer.body.error?.code], [409, 'REVISION_CONFLICT']);
    assert.equal((await call('agent', 'POST', `/objects/${id}/merge`, { ...body, expectedRevision: 2 })).status, 200);
  });

  it('shows contacts of the requester and whom to mention to those who work on the record', async () => {
    const id = await make();
    const contact = { id: ann, name: 'Ann Lee', login: 'ann', email: 'ann@example.org', unit: 'Head office' };
    assert.deepEqual((await call('agent', 'GET', `/objects/${id}/requester`)).body.data, contact);
    const hidden = { ...contact, login: null, email: null, unit: null };
    assert.deepEqual((await call('guest', 'GET', `/objects/${id}/requester`)).body.data, hidden);
    assert.equal((await call('agent', 'GET', `/objects/${await make({ requester: null })}/requester`)).body.data, null);
    const people = await call('agent', 'GET', `/objects/${id}/mentionable?q=`);
    assert.deepEqual(Object.fromEntries(people.body.data.map((one: any) => [one.login, one.canRead])), {
      agent: true,
      ann: false,
      chief: true,
      guest: true,
      junior: true,
    });
    assert.equal((await call('guest', 'GET', `/objects/${id}/mentionable`)).status, 403);
  });

  it('takes no text of another kind of field for the requester', async () => {
    for (const requester of ['Ann Lee', ann]) {
      const body = { typeDefinitionId: 'other', values: { title: 'Call', requester } };
      const { body: made } = await app.request('POST', '/api/v1/objects', { key: work, body });
      const answer = await call('chief', 'GET', `/objects/${made.data.id}/requester`);
      assert.deepEqual([answer.status, answer.body.data], [200, null], requester);
    }
  });

  it('leaves out fields that the version of the record lacks', async () => {
    const old = await make();
    // Records keep the older version, because their values do not fit the new one.
    const later = '- { code: secret, dataType: integer }\n      - { code: later, dataType: string }\n';
    await app.apply(
      bundle(
        WORLD.replace('- { code: secret, dataType: string }\n', later).replace(
          'types: [case, other], set: { title: Raised }',
          'types: [case], set: { title: Raised, later: x }',
        ),
      ),
    );
    await app.app.versions.refresh();
    const raised = async (id: string): Promise<any> =>
      (await call('chief', 'GET', `/objects/${id}/macros`)).body.data.find((one: any) => one.code === 'raise');
    const shown = await raised(old);
    assert.deepEqual([shown.set, shown.refused], [{ title: 'Raised' }, []]);
    assert.deepEqual((await raised(await make({ secret: 1 }))).set, { title: 'Raised', later: 'x' });
    const used = { macroId: await macroId('raise'), expectedRevision: 1 };
    const { body } = await call('chief', 'POST', `/objects/${old}/macros`, used);
    assert.equal(body.data?.object.revision, 2, JSON.stringify(body));
  });
});
