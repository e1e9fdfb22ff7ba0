import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DeliveryReport, readDeliveryReport } from './delivery-report.ts';
import { Headers } from './headers.ts';

const RETURNED =
  'From: support@example.org\r\nMessage-ID:\r\n <m1@example.org>\r\nSubject: Help\r\n\r\nMessage-ID: <no@x>';

interface Given {
  headers?: string[];
  text?: string;
  /** Media type → content. */
  parts?: Record<string, string>;
}

function read({ headers = [], text, parts = {} }: Given): DeliveryReport | null {
  return readDeliveryReport({
    headers: Headers.ofLines(headers),
    text: text ?? null,
    parts: Object.entries(parts).map(([mediaType, content]) => ({ mediaType, content: Buffer.from(content) })),
  });
}

function status(lines: string[], returned: Record<string, string> = { 'message/rfc822': RETURNED }) {
  const report = `Reporting-MTA: dns; mx.example.com\r\n\r\n${lines.join('\r\n')}\r\n`;
  return read({ parts: { 'message/delivery-status': report, ...returned } });
}

describe('a report of delivery status', () => {
  it('names the returned message, the recipient and the reason', () => {
    const report = status([
      'Final-Recipient: rfc822; Anna@Example.com',
      'Original-Recipient: rfc822;desk-anna@example.com',
      'Action: failed',
      'Status: 5.1.1',
      'Remote-MTA: dns; mx.example.com',
      'Diagnostic-Code: smtp; 550 5.1.1 <anna@example.com>: Recipient address rejected:',
      '    User unknown',
    ]);
    assert.deepEqual(report, {
      messageIds: ['m1@example.org'],
      recipients: [
        {
          addresses: ['desk-anna@example.com', 'anna@example.com'],
          isPermanent: true,
          text: '550 5.1.1 <anna@example.com>: Recipient address rejected:    User unknown',
        },
      ],
    });
  });

  it('has an entry for each recipient', () => {
    const report = status([
      'Final-Recipient: rfc822; <a@example.com>',
      'Action: failed (gave up)',
      'Status: 4.4.7 (too long)',
      '',
      ' ',
      'Final-Recipient: utf-8; b@example.com',
      'Action: delayed',
      'Status: 4.4.1',
      '',
      'Final-Recipient: rfc822; c@example.com',
      'Action: relayed',
      '',
      'Final-Recipient: rfc822; d@example.com',
      'Status: 5.7.1 (refused)',
      'Diagnostic-Code: X-Postfix; not allowed',
    ]);
    const found = report?.recipients.map(({ addresses, isPermanent, text }) => [...addresses, isPermanent, text]);
    assert.deepEqual(found, [
      ['a@example.com', true, '4.4.7'],
      ['b@example.com', false, '4.4.1'],
      ['c@example.com', false, ''],
      ['d@example.com', true, '5.7.1 not allowed'],
    ]);
  });

  it('returns the whole message, its header fields alone, or either in UTF-8', () => {
    const lines = ['Final-Recipient: rfc822; a@example.com', 'Action: failed'];
    for (const type of ['message/rfc822', 'text/rfc822-headers', 'message/global', 'message/global-headers']) {
      assert.deepEqual(
        status(lines, { [type]: RETURNED.replaceAll('\r\n', '\n') })?.messageIds,
        ['m1@example.org'],
        type,
      );
    }
    assert.equal(status(lines, { 'text/plain': RETURNED }), null);
    assert.equal(status(lines, { 'message/rfc822': 'Subject: no id\r\n\r\nMessage-ID: <a@b>' }), null);
  });

  it('says nothing without a recipient', () => {
    for (const lines of [[], ['Action: failed'], ['Final-Recipient: rfc822; ', 'Final-Recipient']]) {
      const report = status(lines);
      assert.deepEqual(report?.recipients.flatMap(({ addresses }) => addresses) ?? [], []);
    }
    assert.equal(
      read({ parts: { 'message/disposition-notification': 'Final-Recipient: rfc822; a@example.com' } }),
      null,
    );
  });

  it('is read within limits', () => {
    const many = Array.from(
      { length: 5000 },
      (_, index) => `Final-Recipient: rfc822; u${index}@x.org\r\nAction: failed\r\n`,
    );
    assert.equal(status(many)?.recipients.length, 100);
    const began = performance.now();
    for (const text of [
      '\n'.repeat(1e6),
      ' \r\n'.repeat(3e5),
      `${'a'.repeat(1e6)}@`,
      '<'.repeat(1e6),
      '> '.repeat(5e5),
    ]) {
      status([text]);
      read({ text, parts: { 'message/rfc822': text } });
    }
    assert.ok(performance.now() - began < 20_000);
  });
});

describe('a notice without a report', () => {
  const copy =
    '\n------ This is a copy of the message. ------\n\nReturn-path: <support@example.org>\nMessage-ID: <m1@example.org>\n';

  it('of Exim names the recipients in a header field', () => {
    const report = read({
      headers: ['X-Failed-Recipients: anna@example.com, bob@example.com'],
      text: `A message that you sent could not be delivered:\n\n  anna@example.com\n    SMTP error from remote mail server:\n    550 no such user\n${copy}`,
    });
    assert.deepEqual(report, {
      messageIds: ['m1@example.org'],
      recipients: [
        {
          addresses: ['anna@example.com'],
          isPermanent: true,
          text: 'SMTP error from remote mail server: 550 no such user',
        },
        { addresses: ['bob@example.com'], isPermanent: true, text: '' },
      ],
    });
  });

  it('of qmail names the recipients in lines of its text', () => {
    const text = `Hi. This is the qmail-send program at mx.example.com.\nThis is a permanent error; I've given up.\n\n<anna@example.com>:\nSorry, no mailbox here by that name. (#5.1.1)\n\n--- Below this line is a copy of the message.\n${copy}`;
    assert.deepEqual(read({ text })?.recipients, [
      { addresses: ['anna@example.com'], isPermanent: true, text: 'Sorry, no mailbox here by that name. (#5.1.1)' },
    ]);
  });

  it('can return the message as a part', () => {
    const text =
      'Your message did not reach some recipients.\n\n  anna@example.com on 11/23/2026\n    550 5.1.1 unknown';
    const report = read({ text, parts: { 'message/rfc822': RETURNED } });
    assert.deepEqual(report?.messageIds, ['m1@example.org']);
    assert.deepEqual(report.recipients[0]?.addresses, ['anna@example.com']);
    assert.equal(report.recipients[0].isPermanent, true);
  });

  it('is no failure if it is about a delay, or says no reason', () => {
    const delay = `Warning: message delayed 24 hours. It will be retried.\n\n<anna@example.com>:\n451 4.4.1 after 550 5.1.1\n${copy}`;
    assert.equal(read({ text: delay })?.recipients[0]?.isPermanent, false);
    assert.equal(read({ text: `<anna@example.com>:\nIt did not work.\n${copy}` })?.recipients[0]?.isPermanent, false);
  });

  it('is read before the copy of the message only', () => {
    const report = read({ text: `Sorry.\n${copy}\n<anna@example.com>: 550 5.1.1 no` });
    assert.equal(report, null);
    assert.equal(read({ text: '<anna@example.com>: 550 5.1.1 no' }), null);
  });
});
