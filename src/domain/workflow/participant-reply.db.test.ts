/** Who else answers, and who else learns of an answer: participants by mail, and the group of a record that nobody has taken. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ParsedMail, simpleParser } from 'mailparser';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { mail } from '../../../test/support/mail-messages.ts';
import { type MailServer, startMailServer } from '../../../test/support/smtp-server.ts';
import { bundle, idOf } from '../../../test/support/small-configuration.ts';
import type { Loop } from '../../worker/loop.ts';

const PEOPLE = ['anna', 'ivan', 'agent', 'colleague', 'outsider'] as const;
type Login = (typeof PEOPLE)[number] | 'admin';

const OWN = (field: string): string => `where: { field: ${field}, operator: equals, value: $me }`;
const WORLD = `
mailboxes: [{ code: support, address: support@example.org, type: incident, enabled: true, authServer: mx.example.org }]
users: [${PEOPLE.map((login) => `{ login: ${login}, displayName: ${login}, email: ${login}@example.org }`).join(', ')}]
groups: [{ code: service-desk, users: [agent, colleague] }]
roles: [{ code: asks, interface: portal, assignedTo: { users: [anna, ivan, outsider] }, records: [
  { type: incident, ${OWN('requester')}, actions: [read, create, comment.create], fields: { read: [title, requester, participants], write: [title, requester] } },
  { type: incident, ${OWN('participants')}, actions: [read, comment.create], fields: { read: [title, requester, participants] } }] }]
`;

let app: TestApp;
let server: MailServer;
let loop: Loop;
const got: ParsedMail[] = [];
const keys = new Map<Login, string>();
const ids = new Map<Login | 'service-desk', string>();

async function call(who: Login, method: string, path: string, body?: unknown): Promise<any> {
  const full = path.startsWith('/api/') ? path : `/api/v1${path}`;
  const answer = await app.request(method, full, { key: keys.get(who) ?? '', ...(body === undefined ? {} : { body }) });
  assert.ok(answer.status < 300, `${who} ${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

async function go(id: string, code: string, values: Record<string, unknown>): Promise<void> {
  const { object, state, transitions } = await call('agent', 'GET', `/objects/${id}/workflow`);
  const { id: transitionId } = transitions.find((one: { code: string }) => one.code === code);
  const expected = { expectedRevision: object.revision, expectedStateId: state.id };
  await call('agent', 'POST', `/objects/${id}/transitions`, { transitionId, ...expected, values });
}

async function eventually<Found>(
  what: string,
  find: () => Promise<Found | undefined> | Found | undefined,
): Promise<Found> {
  for (let wait = 0; wait < 600; wait++) {
    const found = await find();
    if (found !== undefined) return found;
    await sleep(50);
  }
  return assert.fail(`in vain: ${what}`);
}

const incident = async (values: object): Promise<string> =>
  (
    await call('agent', 'POST', '/objects', {
      typeDefinitionId: 'incident',
      values: { title: 'No network', ...values },
    })
  ).id;
const comment = (who: Login, id: string, body: string): Promise<any> =>
  call(who, 'POST', `/objects/${id}/comments`, { body, visibility: 'public' });
const mailTo = (login: Login, text: string): Promise<ParsedMail> =>
  eventually(`a mail to ${login}`, () =>
    got.find((one) => [one.to].flat()[0]?.text === `${login}@example.org` && one.text?.includes(text) === true),
  );
const unread = async (who: Login, id: string): Promise<boolean> => {
  const { rows } = await call(who, 'GET', '/api/admin/v1/desk/objects?typeId=incident');
  return rows.find((row: { id: string }) => row.id === id).unread;
};
const becomesUnread = (who: Login, id: string): Promise<true> =>
  eventually(`the record is unread for ${who}`, async () => ((await unread(who, id)) ? true : undefined));

describe('answers', () => {
  before(async () => {
    server = await startMailServer(async (raw) => void got.push(await simpleParser(raw)));
    app = await startTestApp({ smtp: server.smtp });
    loop = app.app.startWorker();
    await app.apply(bundle(WORLD));
    for (const login of ['admin', ...PEOPLE] as const) {
      keys.set(login, (await app.createKey({ login, scopes: ['all', 'admin:manage'] })).key);
      ids.set(login, await idOf(app, 'users', login));
    }
    ids.set('service-desk', await idOf(app, 'groups', 'service-desk'));
  });
  after(async () => {
    await loop.stop();
    await app.close();
    await server.stop();
  });

  it('of a participant by mail end waiting: asked by mail, answered by mail, the assignee learns of it', async () => {
    const id = await incident({ requester: ids.get('anna'), participants: [ids.get('ivan')] });
    await go(id, 'take', { assignee: ids.get('agent') });
    await comment('agent', id, 'Which room, Ivan?');
    await go(id, 'hold', { $reason: 'Which room?' });
    const asked = await mailTo('ivan', 'Which room, Ivan?');
    assert.equal(await unread('agent', id), false);
    const raw = mail({
      from: 'ivan@example.org',
      to: asked.replyTo?.value[0]?.address ?? assert.fail('no Reply-To'),
      headers: [
        `In-Reply-To: ${asked.messageId}`,
        'Authentication-Results: mx.example.org; dmarc=pass header.from=example.org',
      ],
      body: 'Room 12, says Ivan.',
    });
    const used = await call('admin', 'POST', '/mailboxes/support/messages', {
      raw: Buffer.from(raw).toString('base64'),
    });
    assert.deepEqual([used.state, used.reason ?? null, used.objectId], ['USED', null, id]);
    assert.equal((await call('admin', 'GET', `/objects/${id}`)).workflowState.code, 'in-progress');
    const last = (await call('admin', 'GET', `/objects/${id}/history`)).findLast(
      ({ type }: { type: string }) => type === 'ObjectTransitioned',
    );
    assert.deepEqual([last.actor.displayName, last.actor.via], ['ivan', 'workflow']);
    await becomesUnread('agent', id);
    // The requester, too, reads what the participant answered, in the portal and by mail.
    const said = await call('anna', 'GET', `/objects/${id}/comments`);
    assert.ok(said.some(({ body }: { body: string }) => body.includes('Room 12, says Ivan.')));
    await mailTo('anna', 'Room 12, says Ivan.');
    assert.ok(!got.some((one) => [one.to].flat()[0]?.text === 'outsider@example.org'));
  });

  it('on a record that nobody has taken are unread for each member of its group, until they open it', async () => {
    const id = await incident({ requester: ids.get('anna'), assignmentGroup: ids.get('service-desk') });
    // The new record itself is news for all but its author.
    await becomesUnread('colleague', id);
    for (const who of ['agent', 'colleague'] as const) {
      await call(who, 'POST', '/api/admin/v1/notifications/read', { objectId: id });
      assert.equal(await unread(who, id), false, who);
    }
    await comment('anna', id, 'It is room 12.');
    for (const who of ['agent', 'colleague'] as const) await becomesUnread(who, id);
    await call('agent', 'POST', '/api/admin/v1/notifications/read', { objectId: id });
    assert.equal(await unread('agent', id), false, 'read by the one who opened it');
    assert.equal(await unread('colleague', id), true, 'and by nobody else');
  });
});
