import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { isSigned } from '../../../test/support/receiver.ts';
import type { Outcome } from '../../platform/outbound/outbound.ts';
import { delayMs, endpointProblem, excerptOf, retryAfterMs, shownSecret, signedHeaders, verdictOf } from './rules.ts';

const HOUR = 3_600_000;
const AT = '2026-11-21T09:15:00.123Z';
const ID = '0193a000-0000-7000-8000-000000000001';

describe('the URL of an endpoint', () => {
  it('is https without user, query and fragment, including empty ones', () => {
    for (const good of [
      'https://hooks.example.org/docket',
      'https://h:8443',
      'https://[2606:4700::1]/x',
      'https://ü.example/',
    ])
      assert.equal(endpointProblem(good), undefined, good);
    for (const wrong of [
      'http://h/p',
      'HTTPS://h/p',
      'ftp://h',
      '//h/p',
      'h',
      '',
      'https:/h',
      'https:h/p',
      'https://h/p?',
      'https://h/p?a=b',
      'https://h/p#',
      'https://h/p#a',
      'https://h?',
      'https://@h/',
      'https://a@h/',
      'https://a:b@h/',
      'https://h/a@b',
      'https://',
      'https:///p',
      'https://h /p',
      'https://h/\np',
      'https://h\\p',
      'https://[::1',
      'https://h:99999/',
    ]) {
      assert.notEqual(endpointProblem(wrong), undefined, wrong);
    }
  });
});

describe('signatures', () => {
  const secret = shownSecret(randomBytes(32));
  const older = shownSecret(randomBytes(32));
  const signed = (body: Buffer, secrets = [secret], at = AT) => ({
    raw: body,
    headers: signedHeaders(secrets, at, ID, body),
  });

  it('use the secret as shown: prefix and base64 of 32 bytes', () => {
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(Buffer.from(secret.slice(6), 'base64').length, 32);
  });

  it('verify over exactly the sent bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(), (bytes, where) => {
        const request = signed(Buffer.from(bytes));
        assert.ok(isSigned(secret, request));
        const changed = Buffer.from(bytes);
        changed[where % changed.length] = (changed[where % changed.length] ?? 0) ^ 1;
        assert.ok(!isSigned(secret, { ...request, raw: changed }));
        for (const header of ['x-itsm-timestamp', 'x-itsm-delivery'] as const) {
          const other = { ...request.headers, [header]: `${request.headers[header]}0` };
          assert.ok(!isSigned(secret, { raw: request.raw, headers: other }));
        }
        assert.ok(!isSigned(older, request));
      }),
    );
  });

  it('verify with the Standard Webhooks library, including both during an overlap', () => {
    const body = Buffer.from(JSON.stringify({ text: 'Ünïcode " / \u2028' }));
    const at = new Date().toISOString();
    const { headers } = signed(body, [secret, older], at);
    assert.equal(headers['webhook-signature']?.split(' ').length, 2);
    for (const one of [secret, older]) new Webhook(one).verify(body.toString('utf8'), headers);
    assert.throws(() => new Webhook(shownSecret(randomBytes(32))).verify(body.toString('utf8'), headers));
    assert.throws(() => new Webhook(secret).verify(`${body.toString('utf8')} `, headers));
    assert.ok(isSigned(secret, { headers, raw: body }), 'the new secret makes X-ITSM-Signature');
    assert.ok(!isSigned(older, { headers, raw: body }));
    assert.equal(headers['webhook-timestamp'], String(Math.floor(Date.parse(at) / 1000)));
  });
});

describe('the next attempt', () => {
  it('doubles the delay with up to 10 % jitter, up to an hour', () => {
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.integer({ min: 1, max: HOUR }),
        fc.integer({ min: 1, max: 10 }),
        (id, base, attempt) => {
          const plain = Math.min(base * 2 ** (attempt - 1), HOUR);
          const delay = delayMs({ deliveryId: id, baseDelayMs: base }, attempt, undefined);
          assert.ok(delay >= plain && delay <= Math.round(plain * 1.1), `${delay} for ${plain}`);
        },
      ),
    );
    const spread = new Set(
      Array.from({ length: 100 }, (_, n) => delayMs({ deliveryId: `d${n}`, baseDelayMs: 100_000 }, 1, undefined)),
    );
    assert.ok(spread.size > 90, 'deliveries that failed together do not come back together');
  });

  it('respects a longer Retry-After, up to an hour', () => {
    const policy = { deliveryId: ID, baseDelayMs: 1000 };
    assert.equal(delayMs(policy, 1, 90_000), 90_000);
    assert.equal(delayMs(policy, 1, 10 * HOUR), HOUR);
    assert.ok(delayMs(policy, 4, 10) >= 8000, 'a shorter one changes nothing');
  });

  it('parses Retry-After as seconds or as an HTTP date', () => {
    const now = Date.parse('2026-11-21T09:00:00.000Z');
    assert.equal(retryAfterMs('120', now), 120_000);
    assert.equal(retryAfterMs(' 0 ', now), 0);
    assert.equal(retryAfterMs('Sat, 21 Nov 2026 09:01:00 GMT', now), 60_000);
    assert.equal(retryAfterMs('Sat, 21 Nov 2026 08:00:00 GMT', now), 0);
    for (const nothing of [undefined, '', 'soon', '-5', '1.5', '99999999999', 'Sat, 99 Nov 2026'])
      assert.equal(retryAfterMs(nothing, now), undefined, String(nothing));
  });
});

describe('the result of an attempt', () => {
  const delivery = { id: ID, baseDelayMs: 1000, maxAttempts: 3 };
  const answered = (status: number, retryAfter?: string): Outcome => ({
    kind: 'answered',
    status,
    durationMs: 7,
    body: Buffer.from('words'),
    retryAfter,
  });
  const verdict = (outcome: Outcome, attempt = 1) => verdictOf(outcome, delivery, attempt, Date.parse(AT));

  it('is success for 2xx, a retry for 429 and 5xx, and final failure otherwise', () => {
    for (const status of [200, 201, 202, 204, 299]) assert.equal(verdict(answered(status)).status, 'DELIVERED');
    for (const status of [300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 408, 410, 413, 425, 499])
      assert.equal(verdict(answered(status)).status, 'FAILED', String(status));
    for (const status of [429, 500, 501, 502, 503, 504, 599]) {
      assert.equal(verdict(answered(status)).status, 'PENDING', String(status));
      assert.equal(verdict(answered(status), 3).status, 'FAILED', `the last: ${status}`);
    }
    assert.equal(verdict(answered(503, '60')).delayMs, 60_000);
    assert.deepEqual(
      { ...verdict(answered(200)), delayMs: 0 },
      {
        status: 'DELIVERED',
        delayMs: 0,
        httpStatus: 200,
        durationMs: 7,
        excerpt: 'words',
        error: null,
      },
    );
  });

  it('is a retry without a response, and final failure for a rejected address', () => {
    const failed: Outcome = { kind: 'failed', reason: 'no answer: ECONNRESET', durationMs: 3 };
    assert.equal(verdict(failed).status, 'PENDING');
    assert.equal(verdict(failed, 3).status, 'FAILED');
    assert.equal(verdict(failed).error, 'no answer: ECONNRESET');
    assert.equal(verdict({ kind: 'refused', reason: 'no' }).status, 'FAILED');
  });

  it('keeps an excerpt of the response that can be stored and shown', () => {
    assert.equal(excerptOf(Buffer.from('a\u0000b\u001b[31mc\r\nd')), 'a b [31mc d');
    assert.equal(excerptOf(Buffer.from([0xff, 0xfe, 0x41])), '\ufffd\ufffdA');
    const long = excerptOf(Buffer.from('😀'.repeat(5000)));
    assert.equal([...long].length, 1000);
    assert.ok(long.isWellFormed());
    assert.equal(excerptOf(Buffer.alloc(0)), '');
  });
});
