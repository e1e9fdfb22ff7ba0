/**
 * Setting integrations up (docs/spec/webhooks-and-inbound.md#inbound-integrations,
 * docs/spec/configuration.md#administration-api).
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { startTestApp } from './support/app.ts';
import { type RecordFixture, assertRejected, countOutcomes, concurrently } from './support/record-fixture.ts';
import {
  COMMENT,
  type Config,
  CREATE,
  direct,
  type InboundFixture,
  startInboundFixture,
  UPDATE,
} from './support/inbound-fixture.ts';

let fixture: InboundFixture;
let around: RecordFixture;
let people: Record<string, string>;

describe('integrations', () => {
  before(async () => {
    fixture = await startInboundFixture();
    ({ around, people } = fixture);
  });
  after(() => around.close());

  it('are created disabled by default, and the response contains ids', async () => {
    const body = { code: 'first', type: 'inbound-webhook', executionPrincipalId: people['chief'], config: CREATE };
    const made = await around.ok('chief', 'POST', '/integrations', body);
    const types = (await around.ok('chief', 'GET', '/metadata/types')).types as { id: string; code: string }[];
    const typeId = types.find(({ code }) => code === 'case')?.id;
    assert.deepEqual(made, {
      ...body,
      id: made.id,
      enabled: false,
      state: 'ACTIVE',
      config: { ...CREATE, typeDefinitionId: typeId },
    });
    const on = await around.ok('chief', 'POST', '/integrations', { ...body, code: 'second', enabled: true });
    assert.equal(on.enabled, true);
    const byId = { ...body, code: 'third', config: { ...CREATE, typeDefinitionId: typeId } };
    assert.deepEqual((await around.ok('chief', 'POST', '/integrations', byId)).config, made.config);
    const again = await around.call('chief', 'POST', '/integrations', { ...body, config: COMMENT });
    assertRejected(again, 409, 'ALREADY_EXISTS');
    assert.deepEqual(again.body.error.details, { field: 'code' });
    const { files } = (await fixture.admin('GET', '/config/export')).body.data;
    const plan = (await fixture.admin('POST', '/config/plan', { files, prune: true })).body.data as any[];
    assert.deepEqual(
      plan.filter(({ action }) => action !== 'leave'),
      [],
    );
    assert.ok(plan.some(({ section, code }) => section === 'integrations' && code === 'first'));
  });

  it('are rejected with all invalid paths', async () => {
    const body = { code: 'wrong', type: 'inbound-webhook', executionPrincipalId: people['chief'], config: CREATE };
    const places = async (change: object): Promise<string[]> => {
      const answer = await around.call('chief', 'POST', '/integrations', { ...body, ...change });
      assertRejected(answer, 400, 'INVALID_REQUEST', JSON.stringify(change));
      return answer.body.error.details.map(({ path, code }: any) => `${path} ${code}`);
    };
    assert.deepEqual(
      await places({ executionPrincipalId: randomUUID(), config: { ...CREATE, typeDefinitionId: 'nothing' } }),
      ['/executionPrincipalId UNKNOWN_USER', '/config/typeDefinitionId UNKNOWN_TYPE'],
    );
    assert.deepEqual(await places({ config: { ...CREATE, mapping: direct('title', 'nothing', 'state', 'title') } }), [
      '/config/mapping/3/target DUPLICATE',
      '/config/mapping/1/target UNKNOWN_FIELD',
      '/config/mapping/2/target UNKNOWN_FIELD',
    ]);
    const { typeDefinitionId: _, ...typeless } = CREATE;
    assert.deepEqual(await places({ config: typeless }), ['/config/typeDefinitionId REQUIRED']);
    assert.deepEqual(await places({ config: { ...UPDATE, mapping: direct('objectId') } }), [
      '/config/mapping REQUIRED',
      '/config/mapping REQUIRED',
    ]);
    assert.deepEqual(await places({ config: { ...COMMENT, mapping: direct('title', 'body') } }), [
      '/config/mapping REQUIRED',
      '/config/mapping/0/target UNKNOWN_FIELD',
    ]);
    for (const change of [
      { type: 'outbound' },
      { code: 'Not A Code' },
      { config: { ...CREATE, command: 'object.archive' } },
      { config: { ...CREATE, mapping: [] } },
      { config: { ...CREATE, mapping: [{ source: 'a..b', target: 'title' }] } },
      { config: { ...COMMENT, visibility: 'secret' } },
      { executionPrincipalId: undefined },
    ]) {
      await places(change);
    }
  });

  it('require the right, and role.assign for a principal other than the caller', async () => {
    const { key } = await around.app.createKey({ login: 'agent' });
    await around.app.apply([
      {
        name: 'a.yaml',
        text: 'roles: [ { code: manager, rights: [integration.manage], assignedTo: { users: [agent] } } ]',
      },
    ]);
    await around.app.app.versions.refresh();
    const make = (executionPrincipalId: string, config: Config) =>
      around.app.request('POST', '/api/v1/integrations', {
        key,
        body: { code: `i-${randomUUID()}`, type: 'inbound-webhook', executionPrincipalId, config },
      });
    const other = await make(people['chief'] as string, COMMENT);
    assertRejected(other, 403, 'RIGHT_MISSING');
    assert.deepEqual(other.body.error.details, { right: 'role.assign' });
    const own = await make(people['agent'] as string, COMMENT);
    assert.equal(own.status, 201);
    const hidden = { ...UPDATE, mapping: direct('objectId', 'expectedRevision', 'secret') };
    const nothing = { ...UPDATE, mapping: direct('objectId', 'expectedRevision', 'nothing') };
    const words = async (config: Config): Promise<string> =>
      JSON.stringify((await make(people['agent'] as string, config)).body.error).replaceAll(/secret|nothing/g, 'X');
    assert.equal(await words(hidden), await words(nothing), 'a hidden field is one that is not there');
    await around.app.apply([{ name: 'a.yaml', text: 'roles: [ { code: manager, rights: [] } ]' }]);
    await around.app.app.versions.refresh();
    assertRejected(await make(people['agent'] as string, COMMENT), 403, 'RIGHT_MISSING');
  });

  it('change only while disabled, and are restored disabled', async () => {
    const id = await fixture.integration(CREATE);
    const at = `/integrations/${id}`;
    const config = { ...CREATE, mapping: direct('title') };
    assertRejected(await fixture.admin('PATCH', at, { config }), 409, 'CONNECTION_ENABLED');
    assert.equal((await fixture.admin('POST', `${at}/disable`)).body.data.enabled, false);
    const changed = await fixture.admin('PATCH', at, { config });
    assert.deepEqual([changed.status, changed.body.data.config.mapping], [200, config.mapping]);
    assertRejected(
      await fixture.admin('PATCH', at, { config: { ...CREATE, typeDefinitionId: 'nothing' } }),
      400,
      'INVALID_REQUEST',
    );
    assertRejected(await fixture.admin('PATCH', at, {}), 400, 'INVALID_REQUEST');
    assertRejected(await fixture.call('chief', id, { title: 'x' }), 409, 'INTEGRATION_DISABLED');
    for (const verb of ['enable', 'enable'])
      assert.equal((await fixture.admin('POST', `${at}/${verb}`)).body.data.enabled, true);
    assert.equal((await fixture.call('chief', id, { title: 'x' })).status, 201);
    const archived = await fixture.admin('POST', `${at}/archive`);
    assert.deepEqual([archived.body.data.state, archived.body.data.enabled], ['ARCHIVED', false]);
    assertRejected(await fixture.call('chief', id, { title: 'x' }), 409, 'INTEGRATION_DISABLED');
    for (const verb of ['archive', 'enable', 'disable']) {
      assertRejected(await fixture.admin('POST', `${at}/${verb}`), 409, 'CONNECTION_ARCHIVED', verb);
    }
    assertRejected(await fixture.admin('PATCH', at, { config }), 409, 'CONNECTION_ARCHIVED');
    const restored = await fixture.admin('POST', `${at}/restore`);
    assert.deepEqual([restored.body.data.state, restored.body.data.enabled], ['ACTIVE', false]);
    const audit = (
      await around.rows<{ data: any }>(`SELECT data FROM journal WHERE subject LIKE 'integrations:%' ORDER BY seq`)
    ).map(({ data }) => data.action);
    assert.deepEqual(audit.slice(-5), ['change', 'change', 'change', 'archive', 'restore']);
    const listed = (await fixture.admin('GET', '/integrations')).body.data as any[];
    assert.deepEqual(
      listed.find((one) => one.id === id),
      restored.body.data,
    );
    assertRejected(await fixture.admin('POST', `/integrations/${randomUUID()}/enable`), 404, 'NOT_FOUND');
  });

  it('are rejected by another server within a second of being disabled', async () => {
    const other = await startTestApp({ on: around.app });
    try {
      const id = await fixture.integration(CREATE);
      const there = () =>
        other.request('POST', `/api/v1/inbound/${id}`, { key: around.keys.chief, body: { title: 'x' } });
      await until(async () => (await there()).status === 201);
      await fixture.admin('POST', `/integrations/${id}/disable`);
      await until(async () => (await there()).status === 409);
    } finally {
      await other.close();
    }
  });

  it('have unique codes under concurrent calls and bundles', async () => {
    const body = { code: 'raced', type: 'inbound-webhook', executionPrincipalId: people['chief'], config: COMMENT };
    const answers = await concurrently(8, () => around.call('chief', 'POST', '/integrations', body));
    assert.deepEqual(countOutcomes(answers), { 201: 1, '409 ALREADY_EXISTS': 7 });
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 1000;
  for (;;) {
    // From the caller's view: a request that starts a second later must see the change, however long it runs.
    const began = performance.now();
    if (await holds()) return;
    assert.ok(began <= end, 'not within a second');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
