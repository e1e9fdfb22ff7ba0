import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Automatic, automaticKind } from './automatic.ts';
import { Headers, messageIds } from './headers.ts';
import { messageIdOf, type OutgoingMail, proposedThread, readMessageId, threadHeaders } from './threading.ts';

const MAILBOX = 'support@example.org';
const RECORD = '01900000-0000-7000-8000-00000000000a';
const OTHER = '01900000-0000-7000-8000-00000000000b';
const MAIL = '01900000-0000-7000-8000-00000000000c';
const mail: OutgoingMail = { mailId: MAIL, objectId: RECORD, typeCode: 'incident', mailbox: MAILBOX };

describe('header fields', () => {
  it('are read from folded lines, in their order', () => {
    const headers = Headers.ofLines(['Received: from a\r\n\tby b', 'SUBJECT:  Hello', 'no name', ': x', 'received: c']);
    assert.deepEqual(headers.list, [
      { name: 'received', value: 'from a\tby b' },
      { name: 'subject', value: 'Hello' },
      { name: 'received', value: 'c' },
    ]);
    assert.equal(headers.count('received'), 2);
    assert.equal(headers.first('x'), undefined);
  });

  it('hold message ids between angle brackets, at most 200', () => {
    assert.deepEqual(messageIds('<a@b> text <c@d>\t<e f> <<g@h>'), ['a@b', 'c@d', 'g@h']);
    assert.equal(messageIds('<a@b>'.repeat(500)).length, 200);
    assert.deepEqual(messageIds(undefined), []);
  });
});

describe('threading', () => {
  it('refers to the thread of the record, and to the mail that is answered', () => {
    assert.deepEqual(threadHeaders(mail), {
      'Message-ID': `<docket.${MAIL}.${RECORD}@example.org>`,
      'In-Reply-To': `<docket.thread.${RECORD}@example.org>`,
      References: `<docket.thread.${RECORD}@example.org>`,
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'List-Id': '<incident.docket.example.org>',
    });
    const answer = threadHeaders({ ...mail, answers: 'CAF+a=1@mail.gmail.com' });
    assert.equal(answer['In-Reply-To'], '<CAF+a=1@mail.gmail.com>');
    assert.equal(answer['References'], `<docket.thread.${RECORD}@example.org> <CAF+a=1@mail.gmail.com>`);
  });

  it('never copies characters into a header that could begin another one', () => {
    for (const answers of ['a@b>\r\nBcc: x@y', 'a b@c', 'a@b\n', '"a"@b', 'no-domain', 'a@b> <c@d']) {
      const headers = threadHeaders({ ...mail, answers });
      assert.equal(headers['In-Reply-To'], `<docket.thread.${RECORD}@example.org>`, answers);
    }
  });

  it('proposes the record of the mail that is answered', () => {
    const id = messageIdOf(mail);
    const thread = (lines: string[]) => proposedThread(Headers.ofLines(lines), MAILBOX);
    assert.deepEqual(thread([`In-Reply-To: ${id}`]), { refers: true, objectId: RECORD, mailIds: [MAIL] });
    const other = messageIdOf({ ...mail, objectId: OTHER });
    assert.deepEqual(thread([`References: ${other} <x@y> ${id}`]), { refers: true, objectId: RECORD, mailIds: [MAIL] });
    assert.deepEqual(thread([`References: <docket.thread.${OTHER}@EXAMPLE.org>`]), {
      refers: true,
      objectId: OTHER,
      mailIds: [],
    });
    assert.deepEqual(thread(['References: <x@y>']), { refers: false, objectId: null, mailIds: [] });
  });

  it('has no thread for a mail about several records, which is recognised nevertheless', () => {
    const headers = threadHeaders({ ...mail, objectId: null, typeCode: 'digest', answers: 'a@b' });
    assert.deepEqual(Object.keys(headers), ['Message-ID', 'Auto-Submitted', 'X-Auto-Response-Suppress', 'List-Id']);
    const [id = ''] = messageIds(headers['Message-ID']);
    assert.deepEqual(readMessageId(id, MAILBOX), { mailId: MAIL, objectId: null });
    const alone = proposedThread(Headers.ofLines([`In-Reply-To: <${id}>`]), MAILBOX);
    assert.deepEqual(alone, { refers: true, objectId: null, mailIds: [] });
    const thread = proposedThread(Headers.ofLines([`References: ${messageIdOf(mail)} <${id}>`]), MAILBOX);
    assert.deepEqual(thread, { refers: true, objectId: RECORD, mailIds: [MAIL] });
  });

  it('takes only ids of this service', () => {
    for (const id of [
      `docket.${MAIL}.${RECORD}@example.com`,
      `docket.x.${RECORD}@example.org`,
      `docket.${MAIL}.${RECORD}.x@example.org`,
      `docket.${MAIL}@example.org`,
      `other.${MAIL}.${RECORD}@example.org`,
      '',
    ]) {
      assert.equal(readMessageId(id, MAILBOX), undefined, id);
    }
  });
});

describe('automatic mail', () => {
  const kindOf = (lines: string[], subject = 'Printer is broken', from: string | null = 'anna@example.com') =>
    automaticKind({ headers: Headers.ofLines(lines), from, subject, mailbox: MAILBOX });

  const CASES: readonly [Automatic | null, string[], string?, (string | null)?][] = [
    [null, []],
    [null, ['Auto-Submitted: no']],
    [null, ['Auto-Submitted: No (written by hand)']],
    [null, ['X-Auto-Response-Suppress: All'], 'Sent by Outlook'],
    [null, ['Return-Path: <anna@example.com>']],
    [null, [], 'Re: Automatic reply: on vacation'],
    [null, [], 'Автоответчик в приёмной не работает'],
    [null, [], 'Out of office hours the door stays open'],
    [null, [], 'Undelivered parcel', 'postmaster@example.com'],
    ['AUTO_REPLY', ['Auto-Submitted: auto-replied']],
    ['AUTO_REPLY', ['Auto-Submitted: auto-generated; owner-email="a@b"']],
    ['AUTO_REPLY', ['auto-submitted: AUTO-NOTIFIED']],
    ['AUTO_REPLY', ['Auto-Submitted: no', 'Auto-Submitted: auto-replied'], 'with two fields'],
    ['BULK_MAIL', ['Precedence: list', 'Precedence: bulk'], 'with two fields'],
    ['BOUNCE', ['Return-Path: <a@b>', 'Return-Path: <>'], 'with two fields'],
    ['LOOP', ['List-Id: <all.example.com>', 'List-Id: <incident.docket.example.org>'], 'with two fields'],
    ['AUTO_REPLY', ['X-Autoreply: yes']],
    ['AUTO_REPLY', ['X-Autorespond: Re']],
    ['AUTO_REPLY', ['Precedence: auto_reply']],
    ['AUTO_REPLY', [], 'Automatic reply: Printer'],
    ['AUTO_REPLY', [], 'Out of Office: Printer'],
    ['AUTO_REPLY', [], 'Автоматический ответ: Принтер'],
    ['AUTO_REPLY', [], 'Автоответ: Принтер'],
    ['BULK_MAIL', ['Precedence: bulk']],
    ['BULK_MAIL', ['Precedence: Junk']],
    // The address of a desk can be a list.
    [null, ['List-Id: <support.example.com>', 'Precedence: list', 'List-Unsubscribe: <mailto:a@b>']],
    ['LOOP', ['List-Id: <incident.docket.EXAMPLE.org>']],
    [null, ['List-Id: <incident.docket.example.com>']],
    ['BOUNCE', ['Content-Type: multipart/report; report-type=delivery-status; boundary=x']],
    ['BOUNCE', ['Content-Type: multipart/report;\r\n report-type=disposition-notification']],
    ['BOUNCE', ['Return-Path: <>']],
    ['BOUNCE', ['X-Failed-Recipients: a@b']],
    ['BOUNCE', ['Auto-Submitted: auto-replied'], 'Whatever', 'MAILER-DAEMON@example.com'],
    ['BOUNCE', [], 'Недоставленное сообщение', 'postmaster@example.com'],
    ['BOUNCE', [], 'Undeliverable: Printer', 'postmaster+x@example.com'],
    ['BOUNCE', [], 'Delivery failure', 'postmaster@example.com'],
    ['BOUNCE', [], 'Printer', 'MAILER-DAEMON@example.com'],
    ['BOUNCE', ['From: Mailer Daemon <>'], 'Printer', null],
    [null, ['From: Anna <>'], 'Printer', null],
    [null, [], 'Printer', 'postmaster@example.com'],
    [null, [], 'Delivery failure', 'mailer@example.com'],
    ['LOOP', [`Message-ID: ${messageIdOf(mail)}`]],
    ['LOOP', [], 'Printer', 'Support@EXAMPLE.org'],
    ['LOOP', [], 'Printer', 'support+token@example.org'],
    ['LOOP', Array.from({ length: 51 }, () => 'Received: from a by b')],
    [null, Array.from({ length: 50 }, () => 'Received: from a by b')],
  ];

  for (const [kind, lines, subject, from] of CASES) {
    it(`is ${kind ?? 'not assumed'} for ${lines[0] ?? ''} ${subject ?? ''} ${from ?? ''}`, () => {
      assert.equal(kindOf(lines, subject, from), kind);
    });
  }

  it('includes every mail that this service sends', () => {
    const lines = Object.entries(threadHeaders(mail)).map(([name, value]) => `${name}: ${value}`);
    assert.equal(kindOf(lines), 'LOOP');
    assert.equal(kindOf(lines.filter((line) => !line.startsWith('Message-ID'))), 'LOOP', 'with another message id');
  });
});
