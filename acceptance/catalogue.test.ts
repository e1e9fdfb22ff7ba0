/** Services and the catalogue, from outside. Rules by number: `COVERAGE.md`. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe } from 'node:test';
import { type Answer, before, it, problemsOf, Fixture } from './service.ts';

const BUNDLE = `
services:
  - { code: print, name: { ru-RU: Печать, en-US: Printing }, audience: { everyone: true } }
  - { code: inner, name: Inner, audience: { users: [chief] } }
catalogs:
  - code: shop
    categories: [{ code: office, name: { ru-RU: Офис, en-US: Office } }, { code: inner }]
    items:
      - { code: printer, name: Printer, category: office, service: print, type: ticket, form: [{ code: subject, required: true }, { code: urgency }], requesterField: requester, set: { hours: '2.5' }, audience: { everyone: true } }
      - { code: hidden, name: Hidden, category: inner, type: ticket, form: [{ code: subject }], audience: { users: [chief] } }
types:
  - code: ticket
    name: { ru-RU: Заявка, en-US: Ticket }
    numbering: { prefix: TCK, digits: 7 }
    title: subject
    workflow: ticket
    fields:
      - { code: subject, dataType: string, required: true }
      - { code: urgency, dataType: enum, default: low, constraints: { options: [{ code: low }, { code: high }] } }
      - { code: hours, dataType: decimal }
      - { code: due, dataType: datetime }
      - { code: parts, dataType: reference, multiple: true, constraints: { types: [part] } }
      - { code: open, dataType: boolean, default: true }
      - { code: secret, dataType: string }
      - { code: requester, dataType: user }
roles:
  - { code: portal, rights: [catalog.impersonate], assignedTo: { users: [portal] } }
users: [{ login: portal, displayName: Портал }]
`;

let fixture: Fixture;
let portal: string;
let people: Record<string, string>;

function accepted(answer: Answer, status = 200): any {
  assert.equal(answer.status, status, answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
  return answer.body.data;
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.body.error?.code], [status, code], answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
}

describe('catalogue', () => {
  before(async () => {
    fixture = await Fixture.start();
    await fixture.apply(BUNDLE);
    portal = await fixture.keyOf('portal', 'catalog:read,catalog:impersonate');
    const key = await fixture.keyOf('chief', 'admin:manage');
    const users = accepted(await fixture.send('GET', '/api/admin/v1/config/users', { key }));
    people = Object.fromEntries(users.map(({ code, id }: { code: string; id: string }) => [code, id]));
  });
  after(() => fixture?.stop());

  const item = async (code: string): Promise<string> =>
    accepted(await fixture.api('GET', '/catalog')).items.find((one: { code: string }) => one.code === code).id;

  it('lists and reads services in the requested locale and hides unavailable ones (CA-1, CA-2)', async () => {
    const [print] = accepted(await fixture.api('GET', '/services', { key: portal }));
    assert.deepEqual([print.code, print.name], ['print', 'Печать']);
    const english = accepted(await fixture.api('GET', `/services/${print.id}?locale=en-US`, { key: portal }));
    assert.equal(english.name, 'Printing');
    const inner = accepted(await fixture.api('GET', '/services')).find(
      ({ code }: { code: string }) => code === 'inner',
    );
    const [hidden, absent] = [inner.id, randomUUID()].map((id) =>
      fixture.api('GET', `/services/${id}`, { key: portal }),
    );
    refused((await hidden) as Answer, 404, 'NOT_FOUND');
    assert.deepEqual((await hidden)?.body.error, (await absent)?.body.error);
  });

  it('shows only the part of the catalogue that is available to the caller (CA-3)', async () => {
    const mine = accepted(await fixture.api('GET', '/catalog'));
    assert.deepEqual(mine.items.map(({ code }: any) => code).sort(), ['hidden', 'printer']);
    const theirs = accepted(await fixture.api('GET', '/catalog', { key: portal }));
    assert.deepEqual(
      [theirs.items.map(({ code }: any) => code), theirs.categories.map(({ name }: any) => name)],
      [['printer'], ['Офис']],
    );
  });

  it('creates a request on behalf of another user, once per Idempotency-Key (CA-4, I-1)', async () => {
    const path = `/catalog/items/${await item('printer')}/requests`;
    const body = { requesterId: people.chief, values: { subject: 'Принтер', urgency: 'high' } };
    const call = () => fixture.api('POST', path, { key: portal, body, headers: { 'idempotency-key': 'one' } });
    const made = accepted(await call(), 201);
    assert.deepEqual(accepted(await call(), 201), made);
    assert.deepEqual([made.title, made.workflowState.code], ['Принтер', 'fresh']);
    const record = accepted(await fixture.api('GET', `/objects/${made.id}`));
    assert.deepEqual(
      [record.values.requester, record.values.hours, record.createdBy.displayName],
      [people.chief, '2.5', 'Портал'],
    );
    const [event] = accepted(await fixture.api('GET', `/objects/${made.id}/history`));
    assert.deepEqual(
      [event.actor.id, event.actor.via, event.data.onBehalfOf.id],
      [people.portal, 'catalog', people.chief],
    );
  });

  it('checks the rights of the requester and reveals nothing hidden from them (CA-4, E-403, E-404)', async () => {
    const body = (requesterId: string | undefined, values: object = { subject: 'x' }): object => ({
      requesterId,
      values,
    });
    const [printer, hidden] = [await item('printer'), await item('hidden')];
    const ask = (id: string, asked: object, key: string | undefined = portal) =>
      fixture.api('POST', `/catalog/items/${id}/requests`, { key, body: asked });
    refused(await ask(printer, body(people.outsider)), 403, 'RIGHT_MISSING');
    refused(await ask(hidden, body(people.helper)), 404, 'NOT_FOUND');
    refused(await ask(randomUUID(), body(people.helper)), 404, 'NOT_FOUND');
    refused(await ask(printer, body(randomUUID())), 400, 'INVALID_REQUEST');
    refused(await ask(printer, body(people.chief, { subject: 'x', secret: 'y' })), 400, 'INVALID_VALUES');
    refused(await ask(printer, body(people.chief, {})), 400, 'INVALID_VALUES');
    refused(await ask(printer, body(people.helper), fixture.key), 403, 'RIGHT_MISSING');
    accepted(await ask(printer, body(people.chief), fixture.key), 201);
    const writes = await fixture.keyOf('portal', 'objects:write,catalog:read');
    refused(await ask(printer, body(people.chief), writes), 403, 'SCOPE_MISSING');
  });

  it('returns null without an active catalogue (CA-3)', async () => {
    await fixture.apply('catalogs: [{ code: shop, active: false }]\n');
    const answer = await fixture.api('GET', '/catalog');
    assert.equal(answer.status, 200);
    assert.equal(answer.body.data, null);
  });
});
