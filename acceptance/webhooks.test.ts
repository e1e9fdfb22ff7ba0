/** Outgoing webhooks from outside: a service as its users run it, and a receiver as theirs. Rules by number: `COVERAGE.md`. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { isSigned, type Receiver, startReceiver } from '../test/support/receiver.ts';
import { type Answer, before, it, problemsOf, CONFIGURATION, Fixture } from './service.ts';

let folder: string;
let receiver: Receiver;
let fixture: Fixture;
let admin: string;
let secret: string;
let chiefId: string;

function accepted(answer: Answer, status = 200): any {
  assert.equal(answer.status, status, answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
  return answer.body.data;
}

const call = async (method: string, place: string, body?: unknown): Promise<any> =>
  accepted(
    await fixture.send(method, `/api/v1${place}`, body === undefined ? {} : { body }),
    method === 'POST' ? 201 : 200,
  );

const administer = async (method: string, place: string, body?: unknown): Promise<any> =>
  accepted(
    await fixture.send(method, `/api/admin/v1${place}`, { key: admin, ...(body === undefined ? {} : { body }) }),
    method === 'POST' && place === '/signing-secrets' ? 201 : 200,
  );

const make = (subject: string): Promise<any> =>
  call('POST', '/objects', { typeDefinitionId: 'ticket', values: { subject } });

describe('webhooks', () => {
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'docket-acceptance-ca-'));
    receiver = await startReceiver();
    const ca = path.join(folder, 'ca.pem');
    await writeFile(ca, receiver.ca);
    fixture = await Fixture.start({ DOCKET_WEBHOOK_ALLOW_PRIVATE: 'true', NODE_EXTRA_CA_CERTS: ca });
    await fixture.apply(CONFIGURATION.replace('rights: [', 'rights: [webhook.manage, '));
    admin = await fixture.keyOf('chief', 'admin:manage');
    chiefId = (await administer('GET', '/config/users')).find(({ code }: { code: string }) => code === 'chief').id;
  });
  after(async () => {
    await fixture?.stop();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('shows a secret once, created by the command line (CL-secrets)', async () => {
    const made = await fixture.docket(['secrets', 'create', 'main', '--json']);
    assert.equal(made.code, 0, made.stderr);
    const shown = JSON.parse(made.stdout);
    assert.deepEqual(Object.keys(shown), ['code', 'secret']);
    secret = shown.secret;
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const again = await fixture.docket(['secrets', 'create', 'main']);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /rotate/i);
    assert.equal((await fixture.docket(['secrets', 'create', 'Not A Code'])).code, 1);
    assert.equal((await fixture.docket(['secrets', 'create'])).code, 2);
    assert.ok(!fixture.output.includes(secret));
  });

  it('delivers events with a signature that receivers can verify (W-1, EV-1)', async () => {
    await sleep(1000);
    const { id, enabled } = await call('POST', '/webhooks', {
      code: 'first',
      endpoint: receiver.url,
      secretRef: 'main',
      executionPrincipalId: chiefId,
      eventTypes: ['ObjectCreated'],
    });
    assert.equal(enabled, true);
    const made = await make('Printer');
    const [request] = await receiver.wait(1);
    assert.ok(request && isSigned(secret, request));
    new Webhook(secret).verify(request.raw.toString('utf8'), request.headers as Record<string, string>);
    assert.equal(request.headers['x-itsm-delivery'], request.body.deliveryId);
    assert.equal(request.headers.authorization, undefined);
    assert.equal(request.body.eventType, 'ObjectCreated');
    assert.equal(request.body.data.object.values.subject, 'Printer');
    assert.equal(request.body.data.objectId, made.id);
    for (let tries = 0; tries < 100; tries++) {
      const [delivery] = await call('GET', `/webhook-deliveries?subscriptionId=${id}`);
      if (delivery?.status === 'DELIVERED') {
        assert.deepEqual([delivery.attemptCount, delivery.response.status], [1, 200]);
        return;
      }
      await sleep(20);
    }
    assert.fail('the delivery was not noted');
  });

  it('signs with both secrets during the overlap (EV-secrets)', async () => {
    const rotated = await fixture.docket(['secrets', 'rotate', 'main', '--overlap', 'PT1H', '--json']);
    assert.equal(rotated.code, 0, rotated.stderr);
    const next = JSON.parse(rotated.stdout).secret as string;
    const count = receiver.received.length;
    await make('Scanner');
    const request = (await receiver.wait(count + 1)).at(-1);
    assert.ok(request && isSigned(next, request) && !isSigned(secret, request));
    for (const one of [next, secret]) {
      new Webhook(one).verify(request.raw.toString('utf8'), request.headers as Record<string, string>);
    }
  });

  it('archives and restores subscriptions only in the administration (AD-webhooks)', async () => {
    const [{ id }] = await call('GET', '/webhooks');
    const locked = await fixture.send('PATCH', `/api/admin/v1/webhooks/${id}`, {
      key: admin,
      body: { eventTypes: ['ObjectUpdated'] },
    });
    assert.equal(locked.body.error.code, 'CONNECTION_ENABLED');
    await administer('POST', `/webhooks/${id}/disable`);
    await administer('PATCH', `/webhooks/${id}`, { eventTypes: ['ObjectUpdated'] });
    const count = receiver.received.length;
    const { id: objectId } = await make('Cable');
    await administer('POST', `/webhooks/${id}/enable`);
    await call('PATCH', `/objects/${objectId}`, { expectedRevision: 1, changes: { subject: 'Longer cable' } });
    const request = (await receiver.wait(count + 1)).at(-1);
    assert.equal(request?.body.eventType, 'ObjectUpdated');
    assert.equal(request?.body.data.object.values.subject, 'Longer cable');
    const { state } = await administer('POST', `/webhooks/${id}/archive`);
    assert.equal(state, 'ARCHIVED');
    assert.equal((await administer('POST', `/webhooks/${id}/restore`)).enabled, false);
    assert.equal((await fixture.send('POST', `/api/v1/webhooks/${id}/enable`, {})).status, 404);
  });
});
