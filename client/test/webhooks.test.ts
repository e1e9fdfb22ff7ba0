/** What a receiver believes and what not; signed by the service's own code. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { shownSecret, signedHeaders } from '../../src/domain/webhooks/rules.ts';
import { verifyWebhook, WebhookInvalid } from '../src/index.ts';

const [older, newer] = [shownSecret(randomBytes(32)), shownSecret(randomBytes(32))];
const id = '019a9f6c-8d1e-7c32-9a51-2f6d1c1f0a77';
const AT = '2026-11-21T09:15:00.123Z';
const now = Date.parse(AT);
const body = Buffer.from(JSON.stringify({ deliveryId: id, eventType: 'ObjectCreated', data: { text: 'Ёлка 😀' } }));

const only = (headers: Record<string, string>, prefix: string): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(prefix)));

describe('verifyWebhook', () => {
  const headers = signedHeaders([newer], AT, id, body);

  it('returns the event of a genuine request, with either family of headers', async () => {
    for (const some of [headers, only(headers, 'x-itsm-'), only(headers, 'webhook-'), new Headers(headers)]) {
      const event = await verifyWebhook({ secrets: newer, headers: some, body, now });
      assert.equal(event.eventType, 'ObjectCreated');
      assert.equal(event.deliveryId, id);
    }
    const named = {
      'X-ITSM-Delivery': id,
      'X-ITSM-Timestamp': AT,
      'X-ITSM-Signature': [headers['x-itsm-signature'] ?? ''],
    };
    await verifyWebhook({ secrets: [older, newer], headers: named, body: body.toString(), now });
  });

  it('accepts the old, the new and both secrets during a rotation', async () => {
    const rotated = signedHeaders([newer, older], AT, id, body);
    for (const secrets of [older, newer, [older, newer]]) await verifyWebhook({ secrets, headers: rotated, body, now });
    await assert.rejects(verifyWebhook({ secrets: older, headers, body, now }), WebhookInvalid, 'after the overlap');
  });

  it('rejects a timestamp that is too old, too new or invalid', async () => {
    for (const away of [-301_000, 301_000]) {
      await assert.rejects(verifyWebhook({ secrets: newer, headers, body, now: now + away }), /too far from now/);
      await verifyWebhook({ secrets: newer, headers, body, now: now + away, toleranceSeconds: 302 });
    }
    await verifyWebhook({ secrets: newer, headers, body, now: now + 299_000 });
    const timeless = { ...only(headers, 'x-itsm-'), 'x-itsm-timestamp': 'now' };
    await assert.rejects(verifyWebhook({ secrets: newer, headers: timeless, body, now }), WebhookInvalid);
    await assert.rejects(verifyWebhook({ secrets: newer, headers, body }), /too far/, 'the clock of the machine');
  });

  it('rejects a change in any byte and any header', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
        const changed = Buffer.from(body);
        changed[at] = (changed[at] ?? 0) ^ by;
        await assert.rejects(verifyWebhook({ secrets: newer, headers, body: changed, now }), WebhookInvalid);
      }),
      { numRuns: 50 },
    );
    for (const [prefix, name] of [
      ['x-itsm-', 'x-itsm-delivery'],
      ['x-itsm-', 'x-itsm-timestamp'],
      ['webhook-', 'webhook-id'],
      ['webhook-', 'webhook-timestamp'],
    ] as const) {
      const value = headers[name] ?? '';
      const forged = {
        ...only(headers, prefix),
        [name]: value.replace(/\d(?=\D*$)/, (d) => String((Number(d) + 1) % 10)),
      };
      assert.notEqual(forged[name], value);
      await assert.rejects(verifyWebhook({ secrets: newer, headers: forged, body, now }), WebhookInvalid, name);
    }
  });

  it('rejects a missing, empty or malformed signature', async () => {
    for (const forged of [
      {},
      { ...only(headers, 'x-itsm-'), 'x-itsm-signature': 'sha256=' },
      { ...only(headers, 'x-itsm-'), 'x-itsm-signature': 'sha256=zz' },
      { ...only(headers, 'webhook-'), 'webhook-signature': 'v1a,AAAA' },
      { ...only(headers, 'webhook-'), 'webhook-signature': 'v1,***' },
    ]) {
      await assert.rejects(verifyWebhook({ secrets: newer, headers: forged, body, now }), WebhookInvalid);
    }
    await assert.rejects(verifyWebhook({ secrets: [], headers, body, now }), /at least one secret/);
    const other = signedHeaders([newer], AT, id.replace('0', '1'), body);
    await assert.rejects(verifyWebhook({ secrets: newer, headers: other, body, now }), /another delivery/);
  });
});
