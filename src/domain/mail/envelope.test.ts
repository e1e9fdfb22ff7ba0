import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Envelope, readEnvelope } from './envelope.ts';
import { Headers } from './headers.ts';
import { handleOf, makeReplyToken, replyAddress } from './reply-token.ts';
import { messageIdOf } from './threading.ts';

const MAILBOX = { address: 'support@example.org', authServer: 'mx.example.org' };
const RECORD = '01900000-0000-7000-8000-00000000000a';
const MAIL = '01900000-0000-7000-8000-00000000000c';
const thread = { handle: 7, objectId: RECORD, userId: MAIL };
const KEY = Buffer.alloc(32);
const TOKEN_ADDRESS = replyAddress(MAILBOX.address, makeReplyToken(KEY, thread, 0));

function read(
  lines: string[],
  from = ['anna@example.com'],
  recipients = ['support@example.org'],
  raw = 'raw',
): Envelope {
  const headers = Headers.ofLines(['From: Anna <anna@example.com>', ...lines]);
  const content = { title: 'S', text: 'T', reply: 'T', files: [] };
  return readEnvelope(
    { subject: 'S', content, report: null, headers, sha256: raw, from, fromName: '', recipients },
    MAILBOX,
  );
}

describe('the envelope of a mail', () => {
  it('has the sender, the proof of their domain, and what is answered', () => {
    const envelope = read([
      'Authentication-Results: mx.example.org; dmarc=pass header.from=example.com',
      'Message-ID: <x1@mail.example.com>',
      `In-Reply-To: ${messageIdOf({ mailId: MAIL, objectId: RECORD, mailbox: MAILBOX.address })}`,
    ]);
    const { messageKey, ...rest } = envelope;
    assert.match(messageKey, /^[0-9a-f]{64}$/);
    assert.deepEqual(rest, {
      messageId: 'x1@mail.example.com',
      automatic: null,
      from: 'anna@example.com',
      dmarc: 'pass',
      token: undefined,
      refers: true,
      answered: [MAIL],
    });
  });

  it('has no sender with several addresses, several fields or none', () => {
    assert.equal(read([], ['anna@example.com', 'boss@example.com']).from, null);
    assert.equal(read([], []).from, null);
    assert.equal(read([], ['anna']).from, null);
    const twice = read([
      'From: boss@example.com',
      'Authentication-Results: mx.example.org; dmarc=pass header.from=example.com',
    ]);
    assert.deepEqual([twice.from, twice.dmarc], [null, 'none']);
    assert.equal(read([], ['ANNA@Example.com']).from, 'anna@example.com');
  });

  it('has the token of any recipient, also of those that a server noted', () => {
    for (const { token } of [
      read([], undefined, ['boss@example.com', TOKEN_ADDRESS]),
      read([`Delivered-To: ${TOKEN_ADDRESS}`]),
      read([`X-Original-To: <${TOKEN_ADDRESS}>`]),
    ]) {
      assert.equal(token && handleOf(KEY, token), 7);
    }
    assert.equal(read([], undefined, ['support+x@example.org']).token, null);
  });

  it('has one key for a message that is delivered again, and another for that of another sender', () => {
    const key = (id: string, raw: string, from = 'anna@example.com') =>
      read(id === '' ? [] : [`Message-ID: ${id}`], [from], undefined, raw).messageKey;
    assert.equal(key('<a@b>', 'raw 1'), key('<a@b>', 'raw 2'), 'other Received fields');
    assert.notEqual(key('<a@b>', 'raw'), key('<a@c>', 'raw'));
    assert.notEqual(key('<a@b>', 'raw'), key('<a@b>', 'raw', 'eve@example.com'), 'nobody uses up ids of others');
    assert.equal(key('', 'raw 1'), key('', 'raw 1'));
    assert.notEqual(key('', 'raw 1'), key('', 'raw 2'));
    assert.notEqual(key('<a@b> <c@d>', 'raw 1'), key('<a@b> <c@d>', 'raw 2'), 'an ambiguous id is none');
    const twice = ['raw 1', 'raw 2'].map((raw) =>
      read(['Message-ID: <a@b>', 'Message-ID: <c@d>'], undefined, undefined, raw),
    );
    assert.deepEqual(
      twice.map(({ messageId, messageKey }) => [messageId, messageKey === twice[0]?.messageKey]),
      [
        [null, true],
        [null, false],
      ],
      'nor is one of two',
    );
  });
});
