/**
 * What callers with the right `webhook.manage` cannot access: values of signing secrets of other users' subscriptions, and
 * hidden records in the list of deliveries.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRejected } from '../../../test/support/record-fixture.ts';
import { type WebhookFixture, type FixtureUser, startWebhookFixture } from '../../../test/support/webhook-fixture.ts';
import { bundle } from '../../../test/support/small-configuration.ts';

let hooks: WebhookFixture;
let count = 0;

/** A disabled subscription with the user as executor. */
async function subscribed(as: FixtureUser, secretRef: string): Promise<string> {
  const body = {
    code: `owned-${++count}`,
    endpoint: hooks.receiver.url,
    secretRef,
    executionPrincipalId: hooks.ids[as],
    eventTypes: ['ObjectCreated'],
    enabled: false,
  };
  return (await hooks.ok('boss', 'POST', '/webhooks', body)).id;
}

const rotate = (who: FixtureUser, code: string) => hooks.admin(who, 'POST', `/signing-secrets/${code}/rotate`, {});
const create = (who: FixtureUser, code: string) => hooks.admin(who, 'POST', '/signing-secrets', { code });

describe('the right webhook.manage', () => {
  before(async () => {
    hooks = await startWebhookFixture();
  });
  after(() => hooks.close());

  it('rotates a secret only if the caller may manage all its subscriptions', async () => {
    assert.equal((await create('manager', 'own')).status, 201);
    assert.equal((await rotate('manager', 'own')).status, 200, 'nobody uses it');
    await subscribed('manager', 'own');
    assert.equal((await rotate('manager', 'own')).status, 200, 'their own subscription alone');
    const others = await subscribed('boss', 'own');
    const answer = await rotate('manager', 'own');
    assertRejected(answer, 403, 'RIGHT_MISSING');
    assert.deepEqual(answer.body.error.details, { right: 'role.assign' });
    assert.ok(!JSON.stringify(answer.body).includes('whsec_'));
    assert.equal((await rotate('boss', 'own')).status, 200, 'who may assign roles manages them all');
    // A restored subscription uses the same secret, so archived ones count.
    await hooks.okAdmin('boss', 'POST', `/webhooks/${others}/archive`);
    assertRejected(await rotate('manager', 'own'), 403, 'RIGHT_MISSING');
    assertRejected(await rotate('manager', 'missing'), 404, 'NOT_FOUND');
    assertRejected(await rotate('nobody', 'own'), 403, 'RIGHT_MISSING');
  });

  it('creates the first value of a secret under the same condition', async () => {
    await hooks.app.apply(bundle('signingSecrets: [waiting]'));
    await subscribed('boss', 'waiting');
    const answer = await create('manager', 'waiting');
    assertRejected(answer, 403, 'RIGHT_MISSING');
    assert.deepEqual(answer.body.error.details, { right: 'role.assign' });
    assert.equal((await create('boss', 'waiting')).status, 201);
  });

  it('rotates nothing concurrently with a subscription that starts to use the secret', async () => {
    assert.equal((await create('manager', 'raced')).status, 201);
    const [, rotated] = await Promise.all([subscribed('boss', 'raced'), rotate('manager', 'raced')]);
    assert.ok([200, 403].includes(rotated.status));
    assertRejected(await rotate('manager', 'raced'), 403, 'RIGHT_MISSING');
  });

  it('hides records in the list of deliveries that the reader may not read', async () => {
    const { id } = await hooks.subscribe({ as: 'boss' });
    const seen = await hooks.make({ title: 'Seen', kind: 'a' });
    const hidden = await hooks.make({ title: 'Hidden', kind: 'b' });
    await hooks.settled(id, 2);
    const listed = async (who: FixtureUser): Promise<(string | null)[]> => {
      const deliveries = await hooks.ok(who, 'GET', `/webhook-deliveries?subscriptionId=${id}`);
      for (const { id: delivery, objectId } of deliveries) {
        const one = await hooks.okAdmin(who, 'GET', `/webhook-deliveries/${delivery}`);
        assert.equal(one.objectId, objectId, 'alone as in the list');
      }
      return deliveries.map(({ objectId }: { objectId: string | null }) => objectId).sort();
    };
    assert.deepEqual(await listed('boss'), [seen.id, hidden.id].sort());
    assert.deepEqual(await listed('limited'), [seen.id, null].sort());
    assert.deepEqual(await listed('manager'), [null, null]);
  });
});
