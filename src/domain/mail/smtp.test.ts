import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSmtpUrl } from '../../lib/smtp-url.ts';
import { verdictOf } from './smtp.ts';

describe('the address of the mail server', () => {
  it('requires encryption unless it is turned off', () => {
    const implicit = { host: 'mail.example.org', port: 465, secure: true, requireTLS: false };
    const auth = { user: 'desk@example.org', pass: 'p@ss/1' };
    assert.deepEqual(readSmtpUrl('smtps://desk%40example.org:p%40ss%2F1@mail.example.org'), { ...implicit, auth });
    const upgraded = { host: 'mail.example.org', port: 2525, secure: false, requireTLS: true };
    assert.deepEqual(readSmtpUrl('smtp://mail.example.org:2525'), upgraded);
    assert.equal(readSmtpUrl('smtp://mail.example.org').port, 587);
    const plain = { host: '::1', port: 25, secure: false, requireTLS: false };
    assert.deepEqual(readSmtpUrl('smtp://[::1]:25?tls=off'), plain);
  });

  it('is refused in any other form, without repeating the password', () => {
    for (const text of [
      'mail.example.org',
      'https://mail.example.org',
      'smtp://',
      'smtp://h?tls=on',
      'smtp://h?insecure=true',
      'smtp://h/path',
      'smtp://h#x',
      'smtps://h?tls=off',
      'smtp://u:secret@h?tls=off',
      'smtp://u:secret%@h',
    ]) {
      assert.throws(
        () => readSmtpUrl(text),
        (error: Error) => !error.message.includes('secret'),
        text,
      );
    }
  });
});

describe('the result of an attempt', () => {
  const HOUR = 3_600_000;

  it('is final for an accepted and for a refused mail', () => {
    assert.deepEqual(verdictOf({ kind: 'accepted' }, 1, 0), { status: 'SENT' });
    for (const replyCode of [500, 550, 554]) {
      assert.deepEqual(verdictOf({ kind: 'refused', replyCode }, 1, 0), { status: 'FAILED' });
    }
  });

  it('is tried again after growing delays, for two days', () => {
    let [age, attempt] = [0, 0];
    const delays: number[] = [];
    for (;;) {
      const verdict = verdictOf(
        attempt % 2 === 0 ? { kind: 'failed' } : { kind: 'refused', replyCode: 451 },
        ++attempt,
        age,
      );
      if (verdict.status !== 'PENDING') {
        assert.equal(verdict.status, 'FAILED');
        break;
      }
      delays.push(verdict.delayMs);
      age += verdict.delayMs;
    }
    assert.deepEqual(delays.slice(0, 4), [60_000, 120_000, 240_000, 480_000]);
    assert.equal(Math.max(...delays), 4 * HOUR);
    assert.ok(age > 40 * HOUR && age <= 48 * HOUR, `${age / HOUR} h`);
    assert.ok(delays.length < 25, `${delays.length} attempts`);
  });
});
