/** Bounces of mails that a real SMTP server accepted. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { simpleParser } from 'mailparser';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { type CallAs, callsOf } from '../../../test/support/callers.ts';
import { bounce, type BounceParts, eximNotice } from '../../../test/proofs/mail-bounces.ts';
import { mail } from '../../../test/support/mail-messages.ts';
import { type MailServer, startMailServer } from '../../../test/support/smtp-server.ts';
import { bundle, changeRights, idOf, stored } from '../../../test/support/small-configuration.ts';
import type { Loop } from '../../worker/loop.ts';

const PEOPLE = ['boss', 'anna', 'looker', 'relay'];
const type = (code: string): string => `
  - code: ${code}
    name: ${code}
    title: title
    numbering: { prefix: ${code.slice(0, 3).toUpperCase()}, digits: 4 }
    fields:
      - { code: title, dataType: string, required: true }
      - { code: requester, dataType: user }
      - { code: assignee, dataType: user }`;
const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:${type('incident')}${type('request')}
mailboxes:
  - { code: support, address: support@example.org, type: incident, enabled: true }
  - { code: requests, address: requests@example.org, type: request, enabled: true }
roles:
  - code: boss
    rights: [config.manage, role.assign, integration.manage]
    records: [{ type: '*', actions: [read, create, update, comment.create], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [boss] }
  - code: worker
    records: [{ type: incident, actions: [read], fields: { read: '*' } }]
    assignedTo: { users: [anna] }
  - code: looker
    rights: [integration.manage]
    assignedTo: { users: [looker] }
users:
${PEOPLE.map((login) => `  - { login: ${login}, displayName: Person ${login}, email: ${login}@example.com }`).join('\n')}
`;

describe('a bounce', () => {
  let app: TestApp;
  let server: MailServer;
  let loop: Loop;
  let call: CallAs<string>;
  const got: { messageId: string; to: string }[] = [];
  /** Called before the server accepts a mail. */
  let onMail: (messageId: string) => Promise<void> = async () => undefined;

  before(async () => {
    server = await startMailServer(async (raw) => {
      const { messageId = '', to } = await simpleParser(raw);
      await onMail(messageId);
      got.push({ messageId, to: [to].flat()[0]?.text ?? '' });
    });
    app = await startTestApp({ bundle: bundle(WORLD), smtp: server.smtp });
    call = await callsOf(app, PEOPLE, (login) =>
      login === 'relay' ? ['integrations:execute'] : ['all', 'admin:manage'],
    );
    loop = app.app.startWorker();
  });
  after(async () => {
    await loop.stop();
    await app.close();
    await server.stop();
  });
  beforeEach(() => {
    onMail = async () => undefined;
  });

  const handIn = async (raw: Buffer, mailbox = 'support', who = 'boss'): Promise<any> =>
    await call(who, 'POST', `/api/v1/mailboxes/${mailbox}/messages`, { raw: raw.toString('base64') });
  const received = async (id: string, who = 'boss'): Promise<any> => {
    const { items } = await call(who, 'GET', '/api/admin/v1/mail/received?pageSize=100');
    return items.find((one: any) => one.id === id) ?? assert.fail('it is not in the list');
  };
  const sent = async (id: string, who = 'boss'): Promise<any> => {
    const { items } = await call(who, 'GET', '/api/admin/v1/mail/sent?pageSize=100');
    return items.find((one: any) => one.id === id) ?? assert.fail('it is not in the list');
  };
  const inState = async (state: string): Promise<string[]> =>
    (await call('boss', 'GET', `/api/admin/v1/mail/sent?pageSize=100&state=${state}`)).items.map((one: any) => one.id);
  const until = async (id: string, states: readonly string[]): Promise<any> => {
    for (const giveUp = Date.now() + 60_000; Date.now() < giveUp; await sleep(50)) {
      const row = await sent(id);
      if (states.includes(row.state)) return row;
    }
    return assert.fail(`no state ${states.join()}: ${JSON.stringify(await sent(id))}`);
  };
  const make = async (title: string): Promise<string> => {
    const values = { title, assignee: await idOf(app, 'users', 'anna') };
    return (await call('boss', 'POST', '/api/v1/objects', { typeDefinitionId: 'incident', values })).id;
  };
  /** A mail to Anna about a new record that the server accepted. */
  const mailAbout = async (title: string): Promise<{ id: string; about: string; objectId: string }> => {
    const objectId = await make(title);
    for (const giveUp = Date.now() + 60_000; Date.now() < giveUp; await sleep(50)) {
      const about = got.find(({ messageId }) => messageId.includes(objectId))?.messageId;
      if (about === undefined) continue;
      const id = about.split('.')[1] ?? '';
      await until(id, ['SENT']);
      return { id, about, objectId };
    }
    return assert.fail('no mail');
  };
  const recipient = 'anna@example.com';

  it('marks the mail that it is about, and is shown with it', async () => {
    const { id, about, objectId } = await mailAbout('Broken door');
    const answer = await handIn(bounce({ about, recipient: 'Anna@Example.com' }));
    assert.deepEqual([answer.state, answer.reason, answer.objectId], ['LISTED', 'BOUNCE', null]);
    const row = await sent(id);
    assert.deepEqual([row.state, row.attempts, row.nextAttemptAt], ['BOUNCED', 1, null]);
    assert.equal(row.error, '550 5.1.1 <Anna@Example.com>: Recipient address rejected');
    assert.ok((await inState('BOUNCED')).includes(id) && !(await inState('SENT')).includes(id));
    const shown = await received(answer.id);
    assert.deepEqual(shown.sentMail, row);
    assert.deepEqual([shown.sentMail.objectId, shown.sentMail.recipient.displayName], [objectId, 'Person anna']);
    assert.equal(shown.subject, 'Undelivered Mail Returned to Sender');
    const metrics = await (await fetch(`${app.url}/metrics`)).text();
    assert.match(metrics, /^docket_mails_bounced \d/m);
  });

  it('tells nobody who may not read the record', async () => {
    const { id, about } = await mailAbout('Secret door');
    const answer = await handIn(bounce({ about, recipient }), 'support', 'relay');
    assert.deepEqual([answer.state, answer.reason, answer.sentMail], [null, null, undefined]);
    const shown = await received(answer.id, 'looker');
    assert.deepEqual([shown.sender, shown.subject, shown.reason], [null, '', 'BOUNCE']);
    const masked = await sent(id, 'looker');
    assert.deepEqual([masked.state, masked.recipient, masked.error, masked.objectId], ['BOUNCED', null, null, null]);
    assert.deepEqual(shown.sentMail, masked);
  });

  it('in another form than a report counts, too', async () => {
    const { id, about } = await mailAbout('Exim');
    await handIn(eximNotice({ about, recipient }));
    const { state, error } = await sent(id);
    assert.deepEqual([state, error], ['BOUNCED', '550 Unknown user']);
  });

  it('about a delay names the mail and changes nothing', async () => {
    const { id, about } = await mailAbout('Slow');
    const answer = await handIn(bounce({ about, recipient, action: 'delayed', status: '4.4.1' }));
    assert.equal((await received(answer.id)).sentMail.id, id);
    assert.deepEqual([(await sent(id)).state, (await sent(id)).error], ['SENT', null]);
    // The server gave up later.
    await handIn(bounce({ about, recipient, status: '4.4.7', diagnostic: 'delivery time expired' }));
    assert.deepEqual([(await sent(id)).state, (await sent(id)).error], ['BOUNCED', '4.4.7 delivery time expired']);
  });

  it('that does not name recipient, mailbox and mail is only listed', async () => {
    const { id, about } = await mailAbout('Forged');
    const other = about.replace(id, '01900000-0000-7000-8000-00000000000c');
    const cases: [BounceParts, string][] = [
      [{ about, recipient: 'boss@example.com' }, 'support'],
      [{ about, recipient }, 'requests'],
      [{ about: other, recipient }, 'support'],
      [{ about: '<x@example.com>', recipient }, 'support'],
      [{ about: about.replace('docket.', 'other.'), recipient }, 'support'],
    ];
    for (const [given, mailbox] of cases) {
      const answer = await handIn(bounce(given), mailbox);
      assert.equal(answer.reason, 'BOUNCE');
      assert.equal((await received(answer.id)).sentMail, null, JSON.stringify(given));
    }
    // A person quotes a bounce.
    const quoted = eximNotice({ about, recipient }).toString('latin1').split('\r\n\r\n').slice(1).join('\r\n\r\n');
    const answer = await handIn(mail({ from: 'boss@example.com', body: quoted }));
    assert.notEqual(answer.reason, 'BOUNCE');
    assert.equal((await received(answer.id)).sentMail, null);
    assert.equal((await sent(id)).state, 'SENT');
  });

  it('has one effect, and none on the next attempt', async () => {
    const { id, about } = await mailAbout('Again');
    const raw = bounce({ about, recipient });
    const first = await handIn(raw);
    await Promise.all([handIn(raw), handIn(bounce({ about, recipient, diagnostic: 'another one' }))]);
    assert.match((await sent(id)).error, /^550/);
    const before = got.length;
    const queued = await call('boss', 'POST', `/api/admin/v1/mail/sent/${id}/retry`);
    assert.deepEqual([queued.state, queued.error, queued.finishedAt], ['PENDING', null, null]);
    const after = await until(id, ['SENT', 'BOUNCED']);
    assert.deepEqual([after.state, after.error], ['SENT', null]);
    assert.ok(got.length > before && got.at(-1)?.messageId === about);
    // The old bounce, handed in or tried again, is about the attempt before.
    await handIn(raw);
    await call('boss', 'POST', `/api/admin/v1/mail/received/${first.id}/retry`);
    assert.equal((await sent(id)).state, 'SENT');
    assert.equal((await received(first.id)).sentMail.id, id);
    await handIn(bounce({ about, recipient, diagnostic: '550 5.1.1 still unknown' }));
    assert.deepEqual([(await sent(id)).state, (await sent(id)).error], ['BOUNCED', '550 5.1.1 still unknown']);
  });

  it('that is faster than the answer of the server counts once the mail was sent', async () => {
    const states: string[] = [];
    onMail = async (messageId) => {
      onMail = async () => undefined;
      await handIn(bounce({ about: messageId, recipient }));
      states.push((await sent(messageId.split('.')[1] ?? '')).state);
    };
    const objectId = await make('Fast');
    const find = () => stored<{ id: string }>(app, 'SELECT id FROM mail_outgoing WHERE object_id = $1', [objectId]);
    for (let wait = 0; wait < 1200 && states.length === 0; wait++) await sleep(50);
    const [row] = await find();
    assert.equal((await until(row?.id ?? '', ['SENT', 'BOUNCED', 'FAILED'])).state, 'BOUNCED');
    assert.deepEqual(states, ['PENDING']);
  });

  it('never stops a mail that waits', async () => {
    const { id, about } = await mailAbout('Waits');
    await changeRights(
      app,
      "UPDATE mail_outgoing SET status = 'PENDING', next_at = now() + interval '1 hour' WHERE id = $1",
      [id],
    );
    await handIn(bounce({ about, recipient }));
    assert.equal((await sent(id)).state, 'PENDING');
    await changeRights(app, 'UPDATE mail_outgoing SET next_at = now() WHERE id = $1', [id]);
    assert.equal((await until(id, ['SENT', 'BOUNCED'])).state, 'SENT');
    assert.equal(got.filter(({ messageId }) => messageId === about).length, 2);
  });

  it('has its text cut and cleaned', async () => {
    const { id, about } = await mailAbout('Long');
    await handIn(bounce({ about, recipient, diagnostic: `550\u001b[31m \u0000${'a'.repeat(2000)}` }));
    const { error } = await sent(id);
    assert.match(error, /^5\.1\.1 550 \[31m a+$/);
    assert.equal(error.length, 500);
  });
});
