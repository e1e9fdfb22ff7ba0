import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  checkReplyToken,
  findReplyToken,
  handleOf,
  LONGEST_LOCAL_PART,
  type MailThread,
  makeReplyToken,
  replyAddress,
  type UncheckedToken,
} from './reply-token.ts';

const KEY = Buffer.alloc(32, 7);
const NOW = Date.parse('2026-11-20T23:59:59.000Z');
const DAY = 86_400_000;
const MAILBOX = 'Support@example.org';
const thread: MailThread = {
  handle: 42,
  objectId: '01900000-0000-7000-8000-000000000001',
  userId: '01900000-0000-7000-8000-000000000002',
};

function tokenIn(address: string): UncheckedToken {
  const token = findReplyToken(MAILBOX, [address]);
  assert.ok(token);
  return token;
}

const token = makeReplyToken(KEY, thread, NOW);
const address = replyAddress(MAILBOX, token);

describe('reply tokens', () => {
  it('are read from the address whatever its case, next to other recipients', () => {
    for (const given of [address, address.toUpperCase(), address.toLowerCase()]) {
      const found = findReplyToken(MAILBOX, ['boss@example.org', 'support@example.org', given]);
      assert.ok(found);
      assert.equal(handleOf(KEY, found), 42);
      assert.equal(checkReplyToken(KEY, found, thread, NOW), 'valid');
    }
    const longest = `${'s'.repeat(LONGEST_LOCAL_PART)}@example.org`;
    assert.equal(replyAddress(longest, token).indexOf('@'), 64, 'the local part has at most 64 characters');
  });

  it('are valid for 90 days, until the end of the last day', () => {
    const lastDay = Date.parse('2027-02-18T23:59:59.999Z');
    assert.equal(checkReplyToken(KEY, tokenIn(address), thread, lastDay), 'valid');
    assert.equal(checkReplyToken(KEY, tokenIn(address), thread, lastDay + 1), 'expired');
    assert.equal(checkReplyToken(KEY, tokenIn(address), thread, NOW + 1000 * DAY), 'expired');
  });

  it('prove nothing for another record, user, handle or key', () => {
    const other = '01900000-0000-7000-8000-000000000009';
    for (const wrong of [{ objectId: other }, { userId: other }, { handle: 43 }]) {
      assert.equal(checkReplyToken(KEY, tokenIn(address), { ...thread, ...wrong }, NOW), 'invalid');
    }
    assert.equal(checkReplyToken(KEY, tokenIn(address), undefined, NOW), 'invalid');
    assert.equal(checkReplyToken(Buffer.alloc(32, 8), tokenIn(address), thread, NOW), 'invalid');
    const swapped = { ...thread, objectId: thread.userId, userId: thread.objectId };
    assert.equal(checkReplyToken(KEY, tokenIn(address), swapped, NOW), 'invalid');
  });

  it('are invalid with any other character', () => {
    const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
    for (let at = 0; at < token.length; at++) {
      const char = alphabet[(alphabet.indexOf(token[at] as string) + 1) % 32];
      const changed = tokenIn(replyAddress(MAILBOX, token.slice(0, at) + char + token.slice(at + 1)));
      const real = { ...thread, handle: handleOf(KEY, changed) };
      assert.equal(checkReplyToken(KEY, changed, real, NOW), 'invalid', `character ${at}`);
    }
  });

  it('are refused when malformed or ambiguous, and absent in other addresses', () => {
    assert.equal(findReplyToken(MAILBOX, [replyAddress(MAILBOX, 'billing')]), null);
    assert.equal(findReplyToken(MAILBOX, [replyAddress(MAILBOX, `${token.slice(1)}!`)]), null);
    const second = replyAddress(MAILBOX, makeReplyToken(KEY, { ...thread, handle: 43 }, NOW));
    assert.equal(findReplyToken(MAILBOX, [address, second]), null);
    assert.ok(findReplyToken(MAILBOX, [address, address]), 'the same one twice');
    assert.equal(findReplyToken(MAILBOX, []), undefined);
    assert.equal(findReplyToken(MAILBOX, [MAILBOX, replyAddress('sales@example.org', token)]), undefined);
    assert.equal(findReplyToken(MAILBOX, [replyAddress('support@example.com', token)]), undefined);
    assert.equal(findReplyToken(MAILBOX, ['support+@example.org']), undefined);
  });

  it('do not show the order of their handles', () => {
    const starts = [42, 43, 44].map((handle) => makeReplyToken(KEY, { ...thread, handle }, NOW).slice(0, 8));
    assert.equal(new Set(starts.map((start) => start.slice(0, 4))).size, 3, starts.join());
  });

  it('carry any handle of 40 bits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 40 - 1 }), (handle) => {
        const one = { ...thread, handle };
        const read = tokenIn(replyAddress(MAILBOX, makeReplyToken(KEY, one, NOW)));
        return handleOf(KEY, read) === handle && checkReplyToken(KEY, read, one, NOW) === 'valid';
      }),
      { numRuns: 100 },
    );
  });
});
