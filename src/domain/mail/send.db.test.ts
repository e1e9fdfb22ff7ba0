/** Mails about notifications to a real SMTP server, and replies to them. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { type CallAs, callsOf } from '../../../test/support/callers.ts';
import { mail } from '../../../test/support/mail-messages.ts';
import { type MailServer, startMailServer } from '../../../test/support/smtp-server.ts';
import { bundle, changeRights, idOf, stored } from '../../../test/support/small-configuration.ts';
import { newId, systemClock } from '../../platform/clock.ts';
import type { Loop } from '../../worker/loop.ts';
import { deliverer, sendJobs } from './send.ts';

const PEOPLE = ['boss', 'anna', 'agent', 'looker', 'clerk'];
const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: incident
    name: Incident
    title: title
    numbering: { prefix: INC, digits: 4 }
    fields:
      - { code: title, dataType: string, required: true }
      - { code: description, dataType: text }
      - { code: requester, dataType: user }
      - { code: assignee, dataType: user }
mailboxes:
  - { code: support, address: support@example.org, type: incident, enabled: true }
templates:
  - { code: assigned, subject: 'For you: {{ number }}', body: 'Hello {{ $recipient }}, see [the record]({{$url}}): **{{ title }}**' }
  - { code: called, subject: 'Called for {{ number }}', body: '{{ $author }} asks you to look at **{{ title }}**. {{ assignee }}' }
rules:
  - { code: call, on: [ObjectUpdated], types: [incident], runAs: boss, when: { field: title, operator: starts-with, value: Call }, do: [{ notify: { to: [requester], template: called } }] }
roles:
  - code: boss
    rights: [config.manage, role.assign, integration.manage]
    records: [{ type: '*', actions: [read, create, update, history, comment.create, Private Comment], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [boss, agent] }
  - code: requester
    records:
      - { type: incident, where: { field: requester, operator: equals, value: $me }, actions: [read, create, comment.create], fields: { read: '*', write: [title, description] } }
    assignedTo: { users: [anna] }
  - code: looker
    rights: [integration.manage]
    records: [{ type: incident, actions: [read], fields: { read: [title] } }]
    assignedTo: { users: [looker] }
  - code: clerk
    rights: [integration.manage]
    records: [{ type: incident, actions: [read], fields: { read: '*' } }]
    assignedTo: { users: [clerk] }
users:
${PEOPLE.map((login) => `  - { login: ${login}, displayName: Person ${login}, email: ${login}@example.com }`).join('\n')}
`;

type Received = Awaited<ReturnType<typeof simpleParser>>;

describe('mails about notifications', () => {
  let app: TestApp;
  let server: MailServer;
  let loop: Loop;
  let folder: string;
  let call: CallAs<string>;
  const got: Received[] = [];
  /** Reply codes of the next messages; others are accepted. */
  const refusals: number[] = [];

  before(async () => {
    server = await startMailServer(async (raw) => {
      const responseCode = refusals.shift();
      if (responseCode !== undefined) throw Object.assign(new Error('not \u0000now'), { responseCode });
      got.push(await simpleParser(raw));
    });
    folder = await mkdtemp(path.join(tmpdir(), 'docket-dkim-'));
    const keyFile = path.join(folder, 'key.pem');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const dkim = { domainName: 'example.org', keySelector: 'desk', keyFile };
    app = await startTestApp({ bundle: bundle(WORLD), smtp: server.smtp, dkim });
    call = await callsOf(app, PEOPLE);
    loop = app.app.startWorker();
  });
  after(async () => {
    await loop.stop();
    await app.close();
    await rm(folder, { recursive: true });
    await server.stop();
  });

  /** The next mail to the user. */
  const next = async (to: string, test: (one: Received) => boolean = () => true): Promise<Received> => {
    for (const giveUp = Date.now() + 30_000; Date.now() < giveUp; await sleep(50)) {
      const index = got.findIndex((one) => [one.to].flat()[0]?.text === `${to}@example.com` && test(one));
      if (index >= 0) return got.splice(index, 1)[0] as Received;
    }
    const log = await stored(app, 'SELECT status, attempts, error FROM mail_outgoing');
    return assert.fail(`no mail to ${to}: ${JSON.stringify(log)}`);
  };
  const record = async (values: object): Promise<string> =>
    (await call('boss', 'POST', '/api/v1/objects', { typeDefinitionId: 'incident', values })).id;

  it('fill the template of the bundle, or the built-in one, and thread', async () => {
    const id = await record({ title: 'Broken <b>door</b>', assignee: await idOf(app, 'users', 'agent') });
    const { subject, text, html, headers, messageId } = await next('agent');
    assert.match(subject ?? '', /^For you: INC/);
    assert.match(text ?? '', /Hello Person agent, see the record: http:\/\/desk\.example\.org\/records\//);
    assert.ok(String(html).includes('Broken &lt;b&gt;door') && String(html).includes(`/records/${id}`), String(html));
    assert.equal(headers.get('auto-submitted'), 'auto-generated');
    assert.match(JSON.stringify(headers.get('dkim-signature')), /example\.org.*desk/);
    assert.match(messageId ?? '', new RegExp(`^<docket\\..*${id}@example\\.org>$`));
    assert.match(String(headers.get('references')), /docket\.thread\./);
  });

  it('have the text of the template that a rule names, with what the recipient may read', async () => {
    await call('anna', 'PUT', '/api/admin/v1/notifications/choices', { rule: { console: true, mail: 'now' } });
    const id = await record({ title: 'Quiet', requester: await idOf(app, 'users', 'anna') });
    await call('agent', 'PATCH', `/api/v1/objects/${id}`, { expectedRevision: 1, changes: { title: 'Call **me**' } });
    const { subject, text } = await next('anna', (one) => one.messageId?.includes(id) === true);
    assert.match(subject ?? '', /^Called for INC/);
    assert.match(text ?? '', /^Person boss asks you to look at Call \*\*me\*\*\./);
  });

  it('never contain what the recipient may not see, and take replies as comments of the same visibility', async () => {
    const id = await record({ title: 'Slow', requester: await idOf(app, 'users', 'anna') });
    const all = { console: true, mail: 'now' };
    await call('anna', 'PUT', '/api/admin/v1/notifications/choices', { comment: all });
    await call('boss', 'POST', `/api/v1/objects/${id}/comments`, { body: 'Secret note', visibility: 'internal' });
    await call('boss', 'POST', `/api/v1/objects/${id}/comments`, { body: 'Please restart it', visibility: 'public' });
    const sent = await next('anna');
    assert.match(sent.text ?? '', /Please restart it/);
    assert.equal(got.filter(({ text }) => text?.includes('Secret note') === true).length, 0);
    const reply = sent.replyTo?.value[0]?.address ?? assert.fail('no Reply-To');
    assert.match(reply, /^support\+[a-z2-7]{32}@example\.org$/);
    const raw = mail({ to: reply, headers: [`In-Reply-To: ${sent.messageId}`], body: 'Done, thanks.' });
    const body = { raw: Buffer.from(raw).toString('base64') };
    const answer = await call('boss', 'POST', '/api/v1/mailboxes/support/messages', body);
    assert.deepEqual([answer.state, answer.objectId], ['USED', id]);
    const comments = await call('boss', 'GET', `/api/v1/objects/${id}/comments`);
    const own = comments.find((one: any) => one.id === answer.commentId);
    assert.deepEqual([own.body, own.visibility, own.author.displayName], ['Done, thanks.', 'public', 'Person anna']);
    const stolen = mail({ from: 'agent@example.com', to: reply });
    const listed = await call('boss', 'POST', '/api/v1/mailboxes/support/messages', {
      raw: Buffer.from(stolen).toString('base64'),
    });
    assert.equal(listed.reason, 'TOKEN_OF_ANOTHER_USER');
  });

  it('are tried again after a passing refusal, with the same Message-ID, and given up after a final one', async () => {
    refusals.push(451);
    const agent = await idOf(app, 'users', 'agent');
    const id = await record({ title: 'Again', assignee: agent });
    const state = async (): Promise<{ id: string; status: string; attempts: number } | undefined> =>
      (
        await stored<{ id: string; status: string; attempts: number }>(
          app,
          'SELECT id, status, attempts FROM mail_outgoing WHERE object_id = $1 AND error IS NOT NULL',
          [id],
        )
      )[0];
    for (let wait = 0; wait < 600 && (await state()) === undefined; wait++) await sleep(50);
    const waiting = (await state()) ?? assert.fail('no failed attempt');
    assert.deepEqual([waiting.status, waiting.attempts], ['PENDING', 1]);
    await changeRights(app, 'UPDATE mail_outgoing SET next_at = now() WHERE id = $1', [waiting.id]);
    const { messageId } = await next('agent', (one) => one.messageId?.includes(id) === true);
    assert.ok(messageId?.includes(waiting.id) === true);
    refusals.push(550);
    const other = await record({ title: 'Refused', assignee: agent });
    const failed = async () =>
      await stored(app, "SELECT 1 FROM mail_outgoing WHERE object_id = $1 AND status = 'FAILED'", [other]);
    for (let wait = 0; wait < 600 && (await failed()).length === 0; wait++) await sleep(50);
    assert.equal((await failed()).length, 1);
    const { items, hasMailServer } = await call('boss', 'GET', '/api/admin/v1/mail/sent?state=FAILED');
    assert.equal(hasMailServer, true);
    const [shown] = items;
    assert.deepEqual([shown.objectId, shown.recipient.id, shown.attempts], [other, agent, 1]);
    assert.match(shown.error, /550 not now/);
    const masked = (await call('looker', 'GET', '/api/admin/v1/mail/sent?state=FAILED')).items[0];
    assert.deepEqual([masked.id, masked.objectId, masked.recipient, masked.error], [shown.id, other, null, null]);
    const queued = await call('boss', 'POST', `/api/admin/v1/mail/sent/${shown.id}/retry`);
    assert.deepEqual([queued.state, queued.error], ['PENDING', null]);
    const again = await next('agent', (one) => one.messageId?.includes(shown.id) === true);
    assert.match(again.text ?? '', /Refused/);
    const [entry] = await stored(app, "SELECT subject FROM journal WHERE type = 'MailSentAgain'");
    assert.deepEqual(entry, { subject: `mail:${shown.id}` });
  });

  it('about comments that the caller may not see are listed without record and recipient', async () => {
    const id = await record({ title: 'Talk', requester: await idOf(app, 'users', 'boss') });
    for (const visibility of ['internal', 'public']) {
      const body = { body: `@agent a ${visibility} word`, visibility };
      await call('boss', 'POST', `/api/v1/objects/${id}/comments`, body);
      await next('agent', ({ text }) => text?.includes(`a ${visibility} word`) === true);
    }
    const listed = async (who: string) =>
      (await call(who, 'GET', '/api/admin/v1/mail/sent?pageSize=2')).items
        .map((one: any) => [one.objectId, one.recipient?.displayName ?? null])
        .reverse();
    assert.deepEqual(await listed('boss'), [
      [id, 'Person agent'],
      [id, 'Person agent'],
    ]);
    assert.deepEqual(await listed('clerk'), [
      [null, null],
      [id, 'Person agent'],
    ]);
  });

  it('count all notifications of a digest that the recipient may see, and list the first hundred', async () => {
    await call('anna', 'PUT', '/api/admin/v1/notifications/choices', { comment: { console: true, mail: 'digest' } });
    const id = await record({ title: 'Much talk', requester: await idOf(app, 'users', 'anna') });
    const ids: string[] = [];
    for (let index = 0; index < 102; index++) {
      const body = { body: `Word ${index}`, visibility: 'public' };
      ids.push((await call('boss', 'POST', `/api/v1/objects/${id}/comments`, body)).id);
    }
    const made = async () => await stored(app, 'SELECT 1 FROM notification_mails WHERE is_digest');
    for (let wait = 0; wait < 600 && (await made()).length < ids.length; wait++) await sleep(50);
    await changeRights(app, "UPDATE comments SET visibility = 'internal' WHERE id = $1", [ids[0] ?? '']);
    await changeRights(app, 'UPDATE notification_mails SET due_at = now() WHERE is_digest', []);
    const { subject, text } = await next('anna', (one) => one.subject?.startsWith('Notifications:') === true);
    assert.equal(subject, 'Notifications: 101');
    assert.equal(text?.match(/New comment: \S+ Much talk: http/g)?.length, 100);
    assert.doesNotMatch(text ?? '', /Word/);
  });

  it('are not sent without encryption where it is required', async () => {
    const send = deliverer({ ...server.smtp, requireTLS: true }, undefined).send;
    const message = {
      from: 'a@b.cd',
      to: 'e@f.gh',
      subject: 'S',
      text: 'T',
      html: '',
      messageId: '<x@y>',
      headers: {},
    };
    await assert.rejects(send(message), /STARTTLS|TLS/i);
  });

  it('are given up for the time being if the server does not accept them in time', async () => {
    const slow = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      onData: (stream) => {
        stream.resume();
      },
    });
    slow.listen(0, '127.0.0.1');
    await once(slow.server, 'listening');
    const { port } = slow.server.address() as AddressInfo;
    const { send, close } = deliverer({ ...server.smtp, port }, undefined, 300);
    const message = {
      from: 'a@b.org',
      to: 'c@d.org',
      subject: 'S',
      text: 'T',
      html: '',
      messageId: '<x@y>',
      headers: {},
    };
    await assert.rejects(send(message), /abort|time/i);
    close();
    await new Promise<void>((done) => slow.close(() => done()));
  });

  it('are tried again later if they cannot be composed, and do not hold up others', async () => {
    await loop.stop();
    const user = await idOf(app, 'users', 'agent');
    for (const mailId of [newId(), newId()]) {
      const text = `INSERT INTO mail_outgoing (id, user_id, notification_ids, status, due_at, next_at)
        VALUES ($1, $2, '{}', 'PENDING', now(), now()), (gen_random_uuid(), $2, '{}', 'PENDING', now() - interval '49 hours', now())`;
      await changeRights(app, text, [mailId, user]);
    }
    let asked = 0;
    const [job] = sendJobs({
      db: app.db,
      work: app.app.work,
      clock: systemClock,
      tokenKey: new Uint8Array(32),
      settings: { smtp: server.smtp, publicUrl: 'http://desk.example.org' },
      system: async () => app.app.system(),
      actorOf: async () => {
        asked++;
        throw new Error('broken');
      },
    });
    await assert.rejects(async () => await job?.run(), /broken/);
    await job?.stop?.();
    assert.ok(asked >= 2);
    const rows = await stored(
      app,
      `SELECT attempts, status, next_at > now() + interval '30 seconds' AND next_at < now() + interval '2 minutes' AS later
        FROM mail_outgoing WHERE error = 'The mail could not be composed.'`,
    );
    assert.deepEqual(rows, [
      { attempts: 1, status: 'PENDING', later: true },
      { attempts: 1, status: 'PENDING', later: true },
    ]);
    const old = `SELECT status, error FROM mail_outgoing WHERE due_at < now() - interval '2 days'`;
    const dropped = { status: 'DROPPED', error: 'The mail could not be sent within two days.' };
    assert.deepEqual(await stored(app, old), [dropped, dropped]);
    loop = app.app.startWorker();
  });

  it('are dropped if the recipient lost the right in the meantime', async () => {
    await loop.stop();
    const id = await record({ title: 'Hidden soon', assignee: await idOf(app, 'users', 'agent') });
    loop = app.app.startWorker();
    await next('agent', (one) => one.messageId?.includes(id) === true);
    const inState = async (status: string) =>
      await stored<{ id: string }>(app, 'SELECT id FROM mail_outgoing WHERE object_id = $1 AND status = $2', [
        id,
        status,
      ]);
    const reach = async (status: string) => {
      for (let wait = 0; wait < 600 && (await inState(status)).length === 0; wait++) await sleep(50);
      return await inState(status);
    };
    // The server has the mail before the service notes it.
    const [row] = await reach('SENT');
    await changeRights(app, "UPDATE users SET state = 'ARCHIVED' WHERE login = 'agent'", []);
    await app.app.versions.refresh();
    await changeRights(app, "UPDATE mail_outgoing SET status = 'PENDING', next_at = now() WHERE id = $1", [
      row?.id ?? '',
    ]);
    assert.equal((await reach('DROPPED')).length, 1);
  });
});
