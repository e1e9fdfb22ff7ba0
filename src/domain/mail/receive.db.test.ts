/** Received mail on a running service: about 200 messages of every kind, repetitions, relays and new attempts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import sql from 'sql-template-tag';
import { startTestApp, TEST_SECRETS, type TestApp } from '../../../test/support/app.ts';
import { file, mail, type MailCase, multipart, plain } from '../../../test/support/mail-messages.ts';
import { mailCases, type Tokens } from '../../../test/support/mail-senders.ts';
import { bundle, changeRights, idOf, stored } from '../../../test/support/small-configuration.ts';
import { givePlaces } from '../../platform/journal/places.ts';
import { newId } from '../../platform/clock.ts';
import { mailboxes } from './registry.ts';
import { MAX_BYTES, receiveMail } from './receive.ts';
import { makeReplyToken, replyAddress, TOKEN_KEY } from './reply-token.ts';
import { makeThreads } from './store.ts';

const PEOPLE = ['boss', 'operator', 'relay', 'anna', 'bob', 'agent', 'nobody', 'watcher'];
const WORLD = `
settings: { defaultLocale: en-US, attachmentMaxBytes: 100000 }
types:
  - code: incident
    name: Incident
    title: title
    numbering: { prefix: INC, digits: 4 }
    fields:
      - { code: title, dataType: string, required: true }
      - { code: description, dataType: text }
      - { code: requester, dataType: user }
      - { code: priority, dataType: string }
  - { code: note, name: Note, title: title, fields: [{ code: title, dataType: string, required: true }] }
mailboxes:
  - { code: support, address: support@example.org, type: incident, defaults: { priority: p3 }, authServer: mx.example.org, enabled: true }
  - { code: notes, address: notes@example.org, type: note, enabled: true }
  - { code: open, address: open@example.org, type: incident, unknownSender: create, enabled: true }
  - { code: off, address: off@example.org, type: incident }
roles:
  - code: boss
    rights: [config.manage, role.assign, integration.manage]
    records: [{ type: '*', actions: [read, create, update, history, comment.create, comment.edit, attachment.add, Private Comment], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [boss] }
  - code: operator
    rights: [integration.manage]
    assignedTo: { users: [operator] }
  - code: watcher
    rights: [integration.manage]
    records: [{ type: incident, actions: [read], fields: { read: [description] } }]
    assignedTo: { users: [watcher] }
  - code: agent
    records: [{ type: '*', actions: [read, create, update, comment.create, attachment.add, Private Comment], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [agent] }
  - code: requester
    records:
      - { type: incident, where: { field: requester, operator: equals, value: $me }, actions: [read, history, create, comment.create, attachment.add, attachment.delete], fields: { read: '*', write: [title, description] } }
      - { type: note, actions: [read, create, comment.create, attachment.add], fields: { read: '*', write: '*' } }
    assignedTo: { users: [anna, bob] }
users:
${PEOPLE.map((login) => `  - { login: ${login}, displayName: ${login}, email: ${login}@example.com }`).join('\n')}
  - { login: gone, displayName: Gone, email: gone@example.com }
`;

interface Answer {
  id: string;
  state: string;
  reason: string | null;
  objectId: string | null;
  commentId: string | null;
}

describe('received mail', () => {
  let app: TestApp;
  let boss: string;
  let relay: string;
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    await changeRights(app, "UPDATE users SET state = 'ARCHIVED' WHERE login = 'gone'", []);
    boss = (await app.createKey({ login: 'boss', scopes: ['all', 'admin:manage'] })).key;
    relay = (await app.createKey({ login: 'relay', scopes: ['integrations:execute'] })).key;
  });
  after(() => app.close());

  const send = async (raw: Uint8Array, { box = 'support', key = boss } = {}): Promise<Answer> => {
    const answer = await app.request('POST', `/api/v1/mailboxes/${box}/messages`, {
      key,
      body: { raw: Buffer.from(raw).toString('base64') },
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.data;
  };
  const get = async (path: string): Promise<any> => {
    const answer = await app.request('GET', path, { key: boss });
    assert.equal(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };

  async function tokensOf(objectId: string): Promise<Tokens> {
    const key = TEST_SECRETS.deriveKey(TOKEN_KEY);
    const ids = await Promise.all(['anna', 'bob', 'agent'].map((login) => idOf(app, 'users', login)));
    const threads = await makeThreads(
      app.db,
      ids.map((userId) => ({ objectId, userId })),
    );
    const of = (userId: string | undefined, signed = key, at = Date.now()): string => {
      const thread = threads.find((one) => one.userId === userId) ?? assert.fail();
      return replyAddress('support@example.org', makeReplyToken(signed, thread, at));
    };
    const [anna, bob, agent] = ids;
    return {
      anna: of(anna),
      bob: of(bob),
      agent: of(agent),
      expired: of(anna, key, Date.now() - 92 * 86_400_000),
      forged: of(anna, Buffer.alloc(32, 1)),
    };
  }

  async function check({ name, reason, title, text, not, files, visibility }: MailCase, answer: Answer): Promise<void> {
    assert.equal(answer.reason, reason ?? null, name);
    if (reason !== undefined) return;
    const record = await get(`/api/v1/objects/${answer.objectId}`);
    let content: string = record.values.description ?? '';
    if (visibility !== undefined) {
      const comments: { id: string; body: string; visibility: string }[] = await get(
        `/api/v1/objects/${answer.objectId}/comments`,
      );
      const comment = comments.find(({ id }) => id === answer.commentId) ?? assert.fail(`${name}: no comment`);
      assert.equal(comment.visibility, visibility, name);
      content = comment.body;
    } else if (title !== undefined) assert.equal(record.title, title, name);
    if (text !== undefined) assert.ok(content.includes(text), `${name}: ${JSON.stringify(content.slice(0, 300))}`);
    if (not !== undefined) assert.ok(!content.includes(not), `${name}: ${JSON.stringify(content.slice(0, 300))}`);
    if (files !== undefined) {
      const found: { originalFilename: string; createdAt: string }[] = await get(
        `/api/v1/objects/${answer.objectId}/attachments`,
      );
      const names = found.map(({ originalFilename }) => originalFilename);
      for (const one of files) assert.ok(names.includes(one), `${name}: ${JSON.stringify(names)}`);
      if (visibility === undefined) assert.equal(names.length, files.length, `${name}: ${JSON.stringify(names)}`);
    }
  }

  it('becomes what it should, or stands in the list with the reason', async () => {
    const first = await send(mail({ subject: 'First' }));
    const cases = mailCases(await tokensOf(first.objectId ?? ''));
    assert.ok(cases.length >= 200, String(cases.length));
    const before = await stored<{ n: number }>(app, 'SELECT count(*)::int AS n FROM users');
    const wrong: string[] = [];
    for (const one of cases) {
      try {
        await check(one, await send(one.raw));
      } catch (error) {
        wrong.push((error as Error).message.slice(0, 400));
      }
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(await stored(app, 'SELECT count(*)::int AS n FROM users'), before, 'no mail makes a user here');
    const listed = cases.filter(({ reason }) => reason !== undefined).length;
    const rows = await stored<{ n: number }>(
      app,
      "SELECT count(*)::int AS n FROM mail_messages WHERE state = 'LISTED'",
    );
    assert.equal(rows[0]?.n, listed);
  });

  it('is the record of its sender, by mail', async () => {
    const { objectId } = await send(mail({ subject: 'Mine' }));
    const { createdBy, values, number } = await get(`/api/v1/objects/${objectId}`);
    const anna = await idOf(app, 'users', 'anna');
    assert.equal(createdBy.id, anna);
    assert.match(number, /^INC-?\d+$/);
    assert.equal(values.priority, 'p3');
    assert.equal(values.requester.id ?? values.requester, anna);
    const via = await stored(app, 'SELECT DISTINCT via FROM journal WHERE object_id = $1', [objectId]);
    assert.deepEqual(via, [{ via: 'mail' }]);
  });

  it('has one effect however often it is delivered, also at the same time', async () => {
    await Promise.all(Array.from({ length: 8 }, () => send(mail({ subject: 'Warm' }))));
    const raw = mail({ subject: 'Once', headers: ['Message-ID: <once@mail.example.com>'] });
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(raw)));
    const again = await send(Buffer.concat([Buffer.from('Received: again\r\n'), raw]));
    assert.equal(new Set([...answers, again].map(({ objectId }) => objectId)).size, 1);
    const records = await stored(app, "SELECT id FROM objects WHERE title = 'Once'");
    assert.equal(records.length, 1);
    const eve = await send(
      mail({ from: 'bob@example.com', subject: 'Twice', headers: ['Message-ID: <once@mail.example.com>'] }),
    );
    assert.notEqual(eve.objectId, answers[0]?.objectId);
    const listed = mail({ from: 'eve@evil.net', headers: ['Message-ID: <listed@evil.net>'] });
    const ids = await Promise.all(Array.from({ length: 4 }, async () => (await send(listed)).id));
    assert.equal(new Set(ids).size, 1, 'a repeated message is listed once');
  });

  it('shows a relay without rights not what a message became, and believes no results that it passes on', async () => {
    const pass = 'Authentication-Results: mx.example.org; dmarc=pass header.from=example.com';
    const own = await send(mail({ subject: 'Via relay' }), { key: relay });
    assert.deepEqual([own.state, own.reason, own.objectId], [null, null, null]);
    const agent = await send(mail({ from: 'agent@example.com', headers: [pass] }), { key: relay });
    assert.deepEqual([agent.state, agent.reason], [null, null]);
    const { items } = await get('/api/admin/v1/mail/received?state=LISTED&pageSize=1');
    assert.deepEqual([items[0].id, items[0].reason], [agent.id, 'SENDER_NOT_PROVEN']);
  });

  it('shows who manages connections nothing of the records of used mails', async () => {
    const used = await send(mail({ subject: 'My salary' }));
    const listed = await send(mail({ from: 'eve@evil.net', subject: 'Unknown' }));
    const { key } = await app.createKey({ login: 'operator', scopes: ['admin:manage'] });
    const { body } = await app.request('GET', '/api/admin/v1/mail/received?pageSize=2', { key });
    const shown = body.data.items.map(({ id, state, sender, subject, objectId }: any) => {
      return [id, state, sender, subject, objectId];
    });
    assert.deepEqual(shown, [
      [listed.id, 'LISTED', 'eve@evil.net', 'Unknown', null],
      [used.id, 'USED', null, '', null],
    ]);
    const [own] = (await get('/api/admin/v1/mail/received?state=USED&pageSize=1')).items;
    assert.deepEqual([own.sender, own.subject, own.objectId], ['anna@example.com', 'My salary', used.objectId]);
  });

  it('is shown without subject to who may not read the title, and without ids if the comment is hidden', async () => {
    const { objectId } = await send(mail({ subject: 'Bonus of Bob' }));
    const headers = ['Authentication-Results: mx.example.org; dmarc=pass header.from=example.com'];
    const { agent: to } = await tokensOf(objectId ?? '');
    const internal = await send(mail({ from: 'agent@example.com', to, headers, body: 'He knows' }));
    assert.notEqual(internal.commentId, null);
    const { key } = await app.createKey({ login: 'watcher', scopes: ['admin:manage'] });
    const { body } = await app.request('GET', '/api/admin/v1/mail/received?pageSize=2', { key });
    const shown = body.data.items.map((one: any) => [one.sender, one.subject, one.objectId, one.commentId]);
    assert.deepEqual(shown, [
      [null, '', null, null],
      ['anna@example.com', '', objectId, null],
    ]);
  });

  it('is an internal comment, with files for its readers, if its sender created the record for somebody else', async () => {
    const pass = 'Authentication-Results: mx.example.org; dmarc=pass header.from=example.com';
    const from = 'agent@example.com';
    const { key } = await app.createKey({ login: 'agent' });
    const created = async (requester: string): Promise<string> => {
      const values = { title: 'By phone', requester: await idOf(app, 'users', requester) };
      const { body } = await app.request('POST', '/api/v1/objects', {
        key,
        body: { typeDefinitionId: 'incident', values },
      });
      return body.data.id;
    };
    const visibilityOf = async (objectId: string, answers = true): Promise<string> => {
      const { agent: to } = await tokensOf(objectId);
      const [mailId, user] = [newId(), await idOf(app, 'users', 'agent')];
      await app.db.query(sql`INSERT INTO mail_outgoing (id, user_id, notification_ids, status, due_at, next_at, object_id)
        VALUES (${mailId}, ${user}, ${[mailId]}, 'SENT', now(), now(), ${objectId})`);
      const replied = `In-Reply-To: <docket.${mailId}.${objectId}@example.org>`;
      const headers = answers ? [pass, replied] : [pass];
      const { commentId } = await send(mail({ from, to, headers, body: 'A remark' }));
      const comments = await get(`/api/v1/objects/${objectId}/comments`);
      return comments.find(({ id }: { id: string }) => id === commentId)?.visibility;
    };
    assert.equal(await visibilityOf(await created('anna')), 'internal');
    assert.equal(await visibilityOf(await created('agent')), 'public');
    assert.equal(await visibilityOf(await created('agent'), false), 'internal', 'what it answers is not known');

    const objectId = await created('anna');
    const { agent: to } = await tokensOf(objectId);
    const costs = file('filename="cost.pdf"');
    await send(mail({ from, to, headers: [pass], ...multipart('mixed', plain('See'), costs) }));
    await send(mail({ from, to, headers: [pass], ...multipart('mixed', costs) }));
    const comments = await get(`/api/v1/objects/${objectId}/comments`);
    assert.deepEqual(
      comments.map((one: any) => [one.visibility, one.body]),
      [
        ['internal', 'See'],
        ['internal', 'cost.pdf'],
      ],
    );
    const files = await get(`/api/v1/objects/${objectId}/attachments`);
    assert.deepEqual(
      files.map((one: any) => [one.originalFilename, one.commentId]),
      comments.map(({ id }: any) => ['cost.pdf', id]),
    );
    const { key: anna } = await app.createKey({ login: 'anna' });
    const as = (method: string, path: string, body?: object) =>
      app.request(method, `/api/v1${path}`, { key: anna, ...(body && { body }) });
    const listed = async (): Promise<string[]> =>
      (await as('GET', `/objects/${objectId}/attachments`)).body.data.map(({ id }: any) => id);
    assert.deepEqual(await listed(), []);
    const [first, second] = files.map(({ id }: any) => `/attachments/${id}`);
    assert.equal((await as('GET', `${first}/content`)).status, 404);
    assert.equal((await as('DELETE', first, { expectedRevision: 1 })).status, 404);
    const eventsOf = async (): Promise<number> => {
      while (await givePlaces(app.db));
      const { body } = await as('GET', '/changes?limit=1000&eventTypes=AttachmentAdded');
      return body.data.events.filter((one: any) => one.objectId === objectId).length;
    };
    assert.equal(await eventsOf(), 0);
    await app.request('PATCH', `/api/v1/comments/${comments[0].id}`, {
      key: boss,
      body: { expectedRevision: 1, visibility: 'public' },
    });
    assert.deepEqual(await listed(), [files[0].id]);
    assert.equal((await as('GET', `${first}/content`)).status, 200);
    assert.equal((await as('GET', `${second}/content`)).status, 404);
    assert.equal(await eventsOf(), 1);
  });

  it('stands in the list with its start if it is too large, and cannot be tried again', async () => {
    const caller = app.app.system();
    const mailbox = [...mailboxes(caller).values()].find(({ code }) => code === 'support') ?? assert.fail();
    const tokenKey = TEST_SECRETS.deriveKey(TOKEN_KEY);
    const parts = { tokenKey, actorOf: async () => assert.fail('its sender is not asked for') };
    const raw = Buffer.from(mail({ subject: 'Scans', body: 'The start' }));
    const incoming = { mailbox, raw, size: 3_000_000_000, trusted: true };
    const first = await receiveMail({ work: app.app.work, caller }, parts, incoming);
    const second = await receiveMail({ work: app.app.work, caller }, parts, incoming);
    assert.deepEqual([first.reason, second.id], ['TOO_LARGE', first.id]);
    const path = `/api/admin/v1/mail/received/${first.id}/retry`;
    const { sender, subject, size, reason } = (await app.request('POST', path, { key: boss })).body.data;
    assert.deepEqual([sender, subject, size, reason], ['anna@example.com', 'Scans', 2 ** 31 - 1, 'TOO_LARGE']);
    assert.ok(size > MAX_BYTES);
  });

  it('is a comment where the type has no field for its text', async () => {
    const answer = await send(mail({ to: 'notes@example.org', body: 'As a comment' }), { box: 'notes' });
    const comments = await get(`/api/v1/objects/${answer.objectId}/comments`);
    assert.deepEqual(
      comments.map(({ body, visibility }: any) => [body, visibility]),
      [['As a comment', 'public']],
    );
  });

  it('stays in the list of a disabled mailbox, and is unknown at an unknown one', async () => {
    assert.equal((await send(mail({}), { box: 'off' })).reason, 'MAILBOX_DISABLED');
    const raw = Buffer.from(mail({})).toString('base64');
    const answer = await app.request('POST', '/api/v1/mailboxes/other/messages', { key: boss, body: { raw } });
    assert.equal(answer.status, 404);
    const bad = await app.request('POST', '/api/v1/mailboxes/support/messages', { key: boss, body: { raw: '%%' } });
    assert.equal(bad.status, 400);
  });

  it('can be tried again when its sender got the right, with one effect', async () => {
    const from = '=?utf-8?B?TmV34oCuIFBlcnNvbg==?= <new@partner.example>'; // With U+202E.
    const answer = await send(mail({ from, subject: 'New here' }), { box: 'open' });
    assert.equal(answer.reason, 'RIGHT_MISSING');
    const [user] = await stored<{ login: string; name: string }>(
      app,
      "SELECT login, display_name AS name FROM users WHERE email = 'new@partner.example'",
    );
    assert.deepEqual(user, { login: 'new@partner.example', name: 'New Person' });
    const retry = async (): Promise<any> => {
      const { status, body } = await app.request('POST', `/api/admin/v1/mail/received/${answer.id}/retry`, {
        key: boss,
      });
      assert.equal(status, 200, JSON.stringify(body));
      return body.data;
    };
    assert.equal((await retry()).reason, 'RIGHT_MISSING', 'nothing is forced');
    await app.apply(bundle(WORLD.replace('[anna, bob]', '[anna, bob, new@partner.example]')));
    await app.app.versions.refresh();
    const done = await retry();
    assert.deepEqual([done.id, done.state, done.reason, done.mailbox], [answer.id, 'USED', null, 'open']);
    assert.equal((await get(`/api/v1/objects/${done.objectId}`)).title, 'New here');
    assert.deepEqual(await retry(), done);
    const left = await stored(app, 'SELECT sha256 FROM mail_messages WHERE id = $1', [answer.id]);
    assert.deepEqual(left, [{ sha256: null }], 'its content is not kept');
  });

  it('creates a limited number of users in an hour', async () => {
    const reasons: (string | null)[] = [];
    const from = (index: number, domain: string): Promise<Answer> =>
      send(mail({ from: `a${index}@${domain}`, subject: `From a${index}` }), { box: 'open' });
    for (let index = 0; index < 21; index++) reasons.push((await from(index, 'flood.example')).reason);
    assert.deepEqual(reasons.slice(-2), ['RIGHT_MISSING', 'SENDER_UNKNOWN']);
    assert.equal((await from(0, 'flood.example')).reason, 'RIGHT_MISSING', 'a user who was created');
    assert.equal((await from(0, 'other.example')).reason, 'RIGHT_MISSING', 'another domain');
  });

  it('does not hold the event loop while a large message is parsed', async () => {
    const body = `${'<div class="a"><p>Some <b>text</b> of a letter</p></div>'.repeat(100_000)}`;
    const raw = mail({ type: 'Content-Type: text/html', body: body.slice(0, 5_000_000), subject: 'Large' });
    // CPU time of this thread, in microseconds: other processes of a busy machine do not count.
    let longest = 0;
    let last = process.threadCpuUsage();
    const timer = setInterval(() => {
      const { user, system } = process.threadCpuUsage(last);
      longest = Math.max(longest, user + system);
      last = process.threadCpuUsage();
    }, 5);
    try {
      await send(raw);
    } finally {
      clearInterval(timer);
    }
    // The client of this test encodes 7 MB in the same process; parsing in the event loop takes seconds.
    assert.ok(longest < 500_000, `${longest} µs`);
  });
});
