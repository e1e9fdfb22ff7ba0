/** Answers of requesters on the starter configuration (docs/spec/workflow-and-sla.md#answers-of-requesters). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ParsedMail, simpleParser } from 'mailparser';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { mail } from '../../../test/support/mail-messages.ts';
import { type MailServer, startMailServer } from '../../../test/support/smtp-server.ts';
import { bundle } from '../../../test/support/small-configuration.ts';
import type { BundleError } from '../../configuration/errors.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Loop } from '../../worker/loop.ts';

const PEOPLE = ['anna', 'ivan', 'agent', 'robot'] as const;
type Login = (typeof PEOPLE)[number] | 'admin';

const WORLD = `
mailboxes: [{ code: support, address: support@example.org, type: incident, enabled: true, authServer: mx.example.org }]
users: [${PEOPLE.map((login) => `{ login: ${login}, displayName: ${login}, email: ${login}@example.org }`).join(', ')}]
groups: [{ code: service-desk, users: [agent] }]
roles: [{ code: asks, interface: portal, assignedTo: { users: [anna, ivan, agent] },
  records: [{ type: incident, where: { field: requester, operator: equals, value: $me },
    actions: [read, create, transition, comment.create], transitions: [reopen, close, cancel],
    fields: { read: [title, requester, priority], write: [title, requester] } }] }]
`;

let app: TestApp;
let server: MailServer;
let loop: Loop;
/** Mails that the service sent. */
const got: ParsedMail[] = [];
/** Milliseconds that the clock of the service is ahead. */
let ahead = 0;
const keys = new Map<Login, string>();
const ids = new Map<Login, string>();

interface Call {
  headers?: Record<string, string>;
  idempotencyKey?: string;
}

async function call(who: Login, method: string, path: string, body?: unknown, how: Call = {}): Promise<any> {
  const prefix = path.startsWith('/api/') ? '' : '/api/v1';
  const given = body === undefined ? how : { ...how, body };
  const answer = await app.request(method, `${prefix}${path}`, { key: keys.get(who) ?? '', ...given });
  assert.ok(answer.status < 300, `${who} ${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function go(id: string, code: string, values: Record<string, unknown> = {}): Promise<void> {
  const { data } = await call('agent', 'GET', `/objects/${id}/workflow`);
  const { id: transitionId } = data.transitions.find((one: { code: string }) => one.code === code);
  const expected = { expectedRevision: data.object.revision, expectedStateId: data.state.id };
  await call('agent', 'POST', `/objects/${id}/transitions`, { transitionId, ...expected, values });
}

/** An incident of the user that the agent has put on hold with a question, or resolved. */
async function incident(state: 'pending' | 'resolved' = 'pending', requester: Login = 'anna'): Promise<string> {
  const values = { title: 'No network', requester: ids.get(requester) };
  const { data } = await call('agent', 'POST', '/objects', { typeDefinitionId: 'incident', values });
  await go(data.id, 'take', { assignee: ids.get('agent') });
  if (state === 'resolved') await go(data.id, 'resolve', { solution: 'Cable', closeCode: 'solved' });
  else await go(data.id, 'hold', { $reason: 'Which room?' });
  return data.id;
}

const PORTAL = { headers: { 'X-Docket-Interface': 'portal' } };
const say = (who: Login, id: string, how: Call = {}, visibility = 'public'): Promise<any> =>
  call(who, 'POST', `/api/admin/v1/objects/${id}/comments`, { body: 'Room 12', visibility }, how);
const record = async (id: string): Promise<any> => (await call('admin', 'GET', `/objects/${id}`)).data;
const stateOf = async (id: string): Promise<string> => (await record(id)).workflowState.code;
const history = async (id: string): Promise<any[]> => (await call('admin', 'GET', `/objects/${id}/history`)).data;

describe('an answer of the requester', () => {
  before(async () => {
    server = await startMailServer(async (raw) => void got.push(await simpleParser(raw)));
    app = await startTestApp({ clock: { now: () => systemClock.now() + ahead }, smtp: server.smtp });
    loop = app.app.startWorker();
    await app.apply(bundle(WORLD));
    for (const login of ['admin', ...PEOPLE] as const) {
      keys.set(login, (await app.createKey({ login, scopes: ['all', 'admin:manage'] })).key);
      ids.set(login, (await call(login, 'GET', '/api/admin/v1/session')).data.user.id);
    }
  });
  after(async () => {
    await loop.stop();
    await app.close();
    await server.stop();
  });

  /** The next mail to the user with this text. */
  const mailTo = async (login: Login, text: string): Promise<ParsedMail> => {
    for (let wait = 0; wait < 600; wait++) {
      const index = got.findIndex((one) => {
        return [one.to].flat()[0]?.text === `${login}@example.org` && one.text?.includes(text) === true;
      });
      if (index >= 0) return got.splice(index, 1)[0] as ParsedMail;
      await sleep(50);
    }
    return assert.fail(`no mail to ${login} with ${text}`);
  };

  it('is asked for by mail, and is by mail what it is in the portal: the assignee is notified', async () => {
    const id = await incident();
    const body = { body: 'Which room is it?', visibility: 'public' };
    await call('agent', 'POST', `/objects/${id}/comments`, body);
    const asked = await mailTo('anna', 'Which room is it?');
    const shown = await call('anna', 'GET', `/api/admin/v1/objects/${id}/comments`);
    assert.deepEqual(
      shown.data.map((one: { body: string }) => one.body),
      [body.body],
    );
    await call('agent', 'POST', '/api/admin/v1/notifications/read', { all: true });
    const raw = mail({
      from: 'anna@example.org',
      to: asked.replyTo?.value[0]?.address ?? assert.fail('no Reply-To'),
      headers: [
        `In-Reply-To: ${asked.messageId}`,
        'Authentication-Results: mx.example.org; dmarc=pass header.from=example.org',
      ],
      body: 'Room 12, by mail.',
    });
    const path = '/mailboxes/support/messages';
    const used = await call('admin', 'POST', path, { raw: Buffer.from(raw).toString('base64') });
    assert.deepEqual([used.data.state, used.data.reason ?? null], ['USED', null]);
    assert.equal(await stateOf(id), 'in-progress');
    const last = (await history(id)).findLast(({ type }) => type === 'ObjectTransitioned');
    assert.deepEqual([last.actor.displayName, last.actor.via], ['anna', 'workflow']);
    for (let wait = 0; wait < 600; wait++) {
      const { data } = await call('agent', 'GET', '/api/admin/v1/notifications?unread=true');
      const one = data.rows.find((row: any) => row.object.id === id && row.comment?.excerpt.includes('by mail'));
      if (one === undefined) {
        await sleep(50);
        continue;
      }
      assert.deepEqual([one.kind, one.actor.displayName], ['comment', 'anna']);
      const unread = async (): Promise<boolean> => {
        const list = await call('agent', 'GET', '/api/admin/v1/desk/objects?typeId=incident');
        return list.data.rows.find((row: { id: string }) => row.id === id).unread;
      };
      assert.equal(await unread(), true, 'the record is unread in the list of the agent');
      await call('agent', 'POST', '/api/admin/v1/notifications/read', { objectId: id });
      return assert.equal(await unread(), false, 'read when it is opened');
    }
    assert.fail('the assignee is not notified');
  });

  it('ends waiting in the same change, with the rights of the configuration, and resumes the SLA', async () => {
    const id = await incident();
    const before = await record(id);
    const comment = await say('anna', id);
    const now = await record(id);
    assert.deepEqual([now.workflowState.code, now.revision], ['in-progress', before.revision + 1]);
    const events = await history(id);
    const added = events.find(({ type }) => type === 'CommentAdded');
    const last = events.findLast(({ type }) => type === 'ObjectTransitioned');
    assert.equal(added.data.commentId, comment.data.id);
    assert.deepEqual(
      [last.actor.displayName, last.actor.via, last.data.transition.code],
      ['anna', 'workflow', 'resume'],
    );
    assert.ok(events.some(({ type }) => type === 'SlaResumed'));
    const { data } = await call('admin', 'GET', `/objects/${id}/sla`);
    assert.ok(data.some(({ status }: { status: string }) => status === 'ACTIVE'));
  });

  it('counts by the public API too, and is the same call with an idempotency key', async () => {
    const id = await incident();
    const answer = { body: 'Room 12', visibility: 'public' };
    const path = `/objects/${id}/comments`;
    const first = await call('anna', 'POST', path, answer, { idempotencyKey: 'answer-1' });
    const revision = (await record(id)).revision;
    await go(id, 'hold', { $reason: 'Which floor?' });
    const again = await call('anna', 'POST', path, answer, { idempotencyKey: 'answer-1' });
    assert.equal(again.data.id, first.data.id);
    assert.equal(await stateOf(id), 'pending', 'a repeated call is no second answer');
    assert.equal((await record(id)).revision, revision + 1);
  });

  it('is shown by a dry run, which changes nothing', async () => {
    const id = await incident();
    const body = { body: 'Room 12', visibility: 'public' };
    const { meta } = await call('admin', 'POST', '/api/admin/v1/access/explain-request', {
      user: 'anna',
      method: 'POST',
      path: `/api/v1/objects/${id}/comments`,
      body,
    });
    assert.ok(meta);
    const tried = await call('anna', 'POST', `/objects/${id}/comments?dryRun=true`, body);
    assert.equal(tried.meta.dryRun, true);
    assert.equal(await stateOf(id), 'pending');
    await changeHistory();
    const shown = await call('anna', 'POST', `/objects/${id}/comments?dryRun=true`, body);
    assert.deepEqual(shown.meta.effects.events.map(({ type, actor }: any) => [type, actor.via]).slice(0, 2), [
      ['CommentAdded', 'api'],
      ['ObjectTransitioned', 'workflow'],
    ]);
    assert.equal(await stateOf(id), 'pending');
  });

  it('is nothing that others say, nor an internal comment, nor words of an agent at the desk', async () => {
    const id = await incident();
    await say('agent', id);
    assert.equal(await stateOf(id), 'pending', 'a comment of an agent');
    const own = await incident('pending', 'agent');
    await say('agent', own);
    await say('agent', own, {}, 'internal');
    assert.equal(await stateOf(own), 'pending', 'an agent who is the requester, at the desk');
    await say('agent', own, PORTAL);
    assert.equal(await stateOf(own), 'in-progress', 'the same agent in the portal');
  });

  it('reopens what was resolved only in time', async () => {
    const [soon, late] = [await incident('resolved'), await incident('resolved')];
    ahead = 6.9 * 86_400_000;
    await say('anna', soon);
    assert.equal(await stateOf(soon), 'in-progress');
    assert.equal((await record(soon)).values.resolvedAt ?? null, null);
    ahead = 7.1 * 86_400_000;
    await say('anna', late);
    assert.equal(await stateOf(late), 'resolved');
    ahead = 0;
  });

  it('fires once for answers at one moment, and loses none of them', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await incident();
      const { revision } = await record(id);
      await Promise.all([say('anna', id), say('anna', id), say('anna', id)]);
      const now = await record(id);
      assert.deepEqual([now.workflowState.code, now.revision], ['in-progress', revision + 1]);
      assert.equal((await call('agent', 'GET', `/objects/${id}/comments`)).data.length, 3);
    }
  });

  it('is judged on the state of the moment against a transition of an agent', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await incident();
      const values = { solution: 'Cable', closeCode: 'solved' };
      const resolved = go(id, 'resolve', values).then(
        () => true,
        () => false,
      );
      const [isResolved] = await Promise.all([resolved, say('anna', id)]);
      // Answered first, the agent's transition is refused by its revision; resolved first, the answer reopens.
      assert.equal(await stateOf(id), 'in-progress');
      const transitions = (await history(id)).flatMap(({ type, data }) =>
        type === 'ObjectTransitioned' ? [data.transition.code] : [],
      );
      assert.deepEqual(transitions.slice(2), isResolved ? ['resolve', 'reopen'] : ['resume']);
    }
  });

  it('is checked by a plan, and leaves the comment where the transition is not possible', async () => {
    const flow = (state: string, transition = ''): string =>
      `workflows: [{ code: ask, initial: a, states: [{ code: a, category: open, ${state} }, { code: b, category: done }],
        transitions: [{ code: go, from: [a], to: b, ${transition} }, { code: back, from: [b], to: a }] }]`;
    const refused = async (text: string, code: string): Promise<void> =>
      await assert.rejects(app.apply(bundle(text)), (error: BundleError) =>
        error.problems.some((one) => one.path.includes('states') && one.code === code),
      );
    await refused(flow('onRequesterReply: gone'), 'UNKNOWN_TRANSITION');
    await refused(flow('onRequesterReply: back'), 'NOT_ALLOWED');
    await refused(flow('onRequesterReply: go', 'fields: [{ code: $reason, required: true }]'), 'NOT_ALLOWED');
    await refused(flow('onRequesterReply: go, reopenWithin: soon'), 'WRONG_FORMAT');
    await refused(flow('reopenWithin: P1D'), 'NOT_ALLOWED');
    await app.apply(
      bundle(`${flow('onRequesterReply: go', 'fields: [{ code: note, required: true }]')}
types: [{ code: ask, title: title, workflow: ask, fields: [{ code: title, dataType: string }, { code: note, dataType: string }, { code: requester, dataType: user }] }]
roles: [{ code: asker, assignedTo: { users: [anna] }, records: [{ type: ask, actions: [read, comment.create], fields: { read: '*' } }] }]`),
    );
    const create = async (note: string | null): Promise<string> => {
      const values = { title: 'A', note, requester: ids.get('anna') };
      return (await call('admin', 'POST', '/objects', { typeDefinitionId: 'ask', values })).data.id;
    };
    const [without, having] = [await create(null), await create('x')];
    for (const id of [without, having]) await say('anna', id);
    assert.deepEqual([await stateOf(without), await stateOf(having)], ['a', 'b']);
    assert.equal((await call('admin', 'GET', `/objects/${without}/comments`)).data.length, 1);
  });
});

/** Lets requesters read the history, which effects need. */
async function changeHistory(): Promise<void> {
  await app.apply(
    bundle(`roles: [{ code: historian, interface: portal, assignedTo: { users: [anna] },
      records: [{ type: incident, actions: [read, history], fields: { read: [title] } }] }]`),
  );
}
