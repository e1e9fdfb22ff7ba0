import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { startMailServer } from '../../../test/support/smtp-server.ts';
import { readSmtpUrl } from '../../lib/smtp-url.ts';
import { deliverer } from './send.ts';
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

/** What a verifier that is not the library that signed says, with the key as the only DNS record. */
async function verified(raw: Buffer, publicKey: KeyObject) {
  const asked: string[] = [];
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const { results } = await dkimVerify(raw, {
    resolver: async (name: string, type: string) => {
      asked.push(`${type} ${name}`);
      return [[`v=DKIM1; k=rsa; p=${key}`]];
    },
  });
  const [result = assert.fail('there is no signature')] = results;
  assert.equal(results.length, 1);
  if (asked.length > 0) assert.deepEqual(asked, ['TXT desk._domainkey.example.org']);
  const { status, signingDomain, selector, signingHeaders } = result;
  const signed = signingHeaders?.keys.toLowerCase().split(/\s*:\s*/) ?? [];
  return { status: status.result, signingDomain, selector, signed };
}

describe('the signature of a mail', () => {
  it('is valid for what the server received, and for nothing else', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-dkim-'));
    const keyFile = path.join(folder, 'key.pem');
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const received = Promise.withResolvers<Buffer>();
    const server = await startMailServer(received.resolve);
    const { send, close } = deliverer(server.smtp, { domainName: 'example.org', keySelector: 'desk', keyFile });
    await send({
      from: 'support@example.org',
      to: 'anna@example.com',
      replyTo: 'support+token@example.org',
      subject: 'Обращение с длинной темой, которая занимает несколько строк заголовка письма',
      text: 'Сделано.  \n\n',
      html: '<p>Сделано.</p>',
      messageId: '<1@example.org>',
      headers: { 'List-Id': '<incident.example.org>' },
    });
    close();
    const raw = await received.promise;
    await server.stop();
    await rm(folder, { recursive: true });
    const { status, signingDomain, selector, signed } = await verified(raw, publicKey);
    assert.deepEqual([status, signingDomain, selector], ['pass', 'example.org', 'desk']);
    for (const name of ['from', 'to', 'subject', 'reply-to', 'message-id']) assert.ok(signed.includes(name), name);
    const changed = (from: string, to: string): Buffer =>
      Buffer.from(raw.toString('latin1').replace(from, to), 'latin1');
    assert.equal((await verified(changed('support+token', 'support+other'), publicKey)).status, 'fail');
    assert.notEqual((await verified(Buffer.concat([raw, Buffer.from('more')]), publicKey)).status, 'pass');
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    assert.equal((await verified(raw, other)).status, 'fail');
  });
});
