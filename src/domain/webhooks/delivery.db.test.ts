/** From an event to a receiver: what is sent, to whom, signed how (api.md, "Events"; decisions, "Events and webhooks"). */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type Hooks, startHooks } from '../../../test/harness/hooks.ts';
import { isSigned } from '../../../test/harness/receiver.ts';

describe('delivery', () => {
  let hooks: Hooks;
  before(async () => {
    hooks = await startHooks();
  });
  after(() => hooks.close());
  beforeEach(() => {
    hooks.receiver.received.length = 0;
    hooks.receiver.answer = { status: 200, body: 'thank you' };
  });

  it('sends the card of a new record, signed, with the headers of both schemes', async () => {
    const { id: subscription } = await hooks.subscribe();
    const began = Date.now();
    const { id } = await hooks.make({ title: 'Ünïcode / "quoted"', amount: '12.50' });
    const [request] = await hooks.receiver.wait(1);
    assert.ok(request);
    const { headers, body, raw } = request;
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['authorization'], undefined);
    assert.match(String(headers['x-itsm-timestamp']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(Math.abs(Date.parse(String(headers['x-itsm-timestamp'])) - began) < 2000);
    assert.ok(isSigned(hooks.secret, request));
    const { data, ...outer } = body;
    assert.equal(outer.deliveryId, headers['x-itsm-delivery']);
    assert.equal(outer.timestamp, headers['x-itsm-timestamp']);
    assert.equal(outer.eventType, 'ObjectCreated');
    assert.deepEqual(Object.keys(outer).sort(), ['deliveryId', 'eventId', 'eventType', 'occurredAt', 'timestamp']);
    assert.equal(data.objectId, id);
    assert.equal(data.revision, 1);
    assert.equal(data.object.values.title, 'Ünïcode / "quoted"');
    assert.equal(data.object.values.amount, '12.5');
    assert.deepEqual(Object.keys(data.object).sort(), [
      'id',
      'number',
      'revision',
      'state',
      'typeDefinitionId',
      'values',
      'workflowState',
    ]);
    assert.equal(headers['webhook-id'], outer.deliveryId);
    const verified = new Webhook(hooks.secret).verify(raw.toString('utf8'), headers as Record<string, string>);
    assert.deepEqual(verified, body);
    const [delivery] = await hooks.settled(subscription);
    assert.equal(delivery.id, outer.deliveryId);
    assert.equal(delivery.status, 'DELIVERED');
    assert.equal(delivery.attemptCount, 1);
    assert.equal(delivery.objectId, id);
    assert.equal(delivery.response.status, 200);
    assert.equal(delivery.response.bodyExcerpt, 'thank you');
  });
});
