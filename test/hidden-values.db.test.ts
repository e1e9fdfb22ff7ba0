/**
 * Hidden data contains a unique marker: hidden fields, hidden records, internal comments, attachments, keys, passwords,
 * secrets, and content of rejected requests. After a short mixed run the marker may not appear in responses to users who may
 * not see it, in log lines, metrics and deliveries. Traces: `traces.db.test.ts`; many requests: `leaks.db.test.ts`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { WEBHOOK_EVENTS } from '../src/contract/events.ts';
import type { TestAnswer } from './support/app.ts';
import { type WebhookFixture, startWebhookFixture } from './support/webhook-fixture.ts';

const BIRD = 'quetzalcanary';
/** Content of an invalid request, which may not appear in the log. */
const SAID = 'kakapocanary';

describe('marked hidden values', () => {
  let fixture: WebhookFixture;
  const log: string[] = [];
  let seen: { id: string };
  let unseen: { id: string };
  let limited = '';
  let boss = '';
  const statuses = new Map<number, number>();

  const asked = async (promise: Promise<TestAnswer>): Promise<TestAnswer> => {
    const answer = await promise;
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    return answer;
  };
  const secretsOf = (): string[] => [
    ...[...Object.values(fixture.keys), ...Object.values(fixture.adminKeys)].map((key) => key.slice(-20)),
    fixture.secret.slice(-20),
  ];
  const found = (text: string): string[] => [BIRD, SAID, ...secretsOf()].filter((word) => text.includes(word));

  before(async () => {
    const stream = { write: (line: string) => void log.push(line) };
    fixture = await startWebhookFixture({ log: pino({ level: 'trace' }, stream) });
    const at = (path: string): string => new URL(path, fixture.receiver.url).href;
    boss = (await fixture.subscribe({ endpoint: at('/boss'), eventTypes: [...WEBHOOK_EVENTS] })).id;
    const toLimited = { endpoint: at('/limited'), as: 'limited' as const, eventTypes: [...WEBHOOK_EVENTS] };
    limited = (await fixture.subscribe(toLimited)).id;
    // A receiver that fails with a message: only its own subscription may show it.
    fixture.receiver.answer = ({ path }) =>
      path === '/fails' ? { status: 500, body: `${SAID} failed` } : { status: 200 };
    await fixture.subscribe({ endpoint: at('/fails'), eventTypes: ['ObjectCreated'], retryPolicy: { maxAttempts: 1 } });
    await writes();
    await broken();
    await fixture.settled(boss, 8);
    await fixture.settled(limited, 8);
  });
  after(() => fixture?.close());

  async function writes(): Promise<void> {
    seen = await fixture.make({ title: 'Plain', secret: `${BIRD} field` });
    unseen = await fixture.make({ title: `${BIRD} record`, kind: 'b' });
    await fixture.ok('boss', 'PATCH', `/objects/${seen.id}`, {
      expectedRevision: 1,
      changes: { secret: `${BIRD} changed` },
    });
    await fixture.ok('boss', 'POST', `/objects/${seen.id}/comments`, {
      body: `${BIRD} comment`,
      visibility: 'internal',
    });
    await fixture.ok('boss', 'POST', `/objects/${unseen.id}/comments`, {
      body: `${BIRD} comment`,
      visibility: 'public',
    });
    await fixture.ok('boss', 'POST', `/objects/${unseen.id}/attachments`, {
      filename: `${BIRD}.txt`,
      contentBase64: Buffer.from(`${BIRD} file`).toString('base64'),
    });
    const [near] = await fixture.ok('boss', 'GET', '/relation-definitions');
    const relation = { definitionId: near.id, targetObjectId: unseen.id };
    await fixture.ok('boss', 'POST', `/objects/${seen.id}/relations`, relation);
    const items = [{ objectId: unseen.id, expectedRevision: 1, changes: { secret: `${BIRD} bulk` } }];
    await fixture.ok('boss', 'POST', '/bulk', { operation: 'update', items });
    await fixture.ok('boss', 'GET', `/search?q=${BIRD}`);
  }

  /** Requests that are rejected, and one that fails in the database, whose error quotes the row. */
  async function broken(): Promise<void> {
    const call = (method: string, path: string, body?: unknown): Promise<TestAnswer> =>
      asked(fixture.call('boss', method, path, body));
    const { app } = fixture;
    await call('POST', '/objects', { typeDefinitionId: 'thing', values: { title: 'x', amount: SAID, [SAID]: 1 } });
    await call('POST', '/objects', { typeDefinitionId: SAID, values: { title: 'x' }, [SAID]: SAID });
    await call('POST', '/objects', { typeDefinitionId: 'thing', values: { title: `${SAID}\u0000` } });
    await call('PATCH', `/objects/${seen.id}`, { expectedRevision: 1, changes: { title: SAID } });
    await call('GET', `/objects/${SAID}`);
    await call('GET', `/search?q=${SAID}&filter=${SAID}`);
    await call('POST', `/inbound/${SAID}`, { [SAID]: SAID });
    const json = { 'content-type': 'application/json' };
    const raw = { method: 'POST', body: `{"${SAID}": ${SAID}`, headers: json };
    for (const authorization of [`Bearer ${SAID}`, `Bearer dk_${SAID}_${SAID}`, `Bearer ${fixture.keys.boss}x`]) {
      const answer = await fetch(`${app.url}/api/v1/objects`, { ...raw, headers: { ...json, authorization } });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    }
    await fetch(`${app.url}/api/v1/${SAID}?${SAID}`, raw);
    const signIn = { login: SAID, password: SAID };
    await asked(app.request('POST', '/api/admin/v1/session', { body: signIn }));
    await fixture.rows(`ALTER TABLE comments ADD CONSTRAINT canary CHECK (body <> '${SAID}')`);
    const failed = await call('POST', `/objects/${unseen.id}/comments`, { body: SAID, visibility: 'public' });
    assert.equal(failed.status, 500, 'the database refused what no rule forbids');
    await fixture.rows('ALTER TABLE comments DROP CONSTRAINT canary');
  }

  it('appear in no response to callers who may not see them', async () => {
    const paths = [
      '/objects?pageSize=100',
      `/objects/${seen.id}`,
      `/objects/${unseen.id}`,
      ...['schema', 'history', 'comments', 'attachments', 'relations', 'workflow', 'sla'].map(
        (part) => `/objects/${seen.id}/${part}`,
      ),
      ...['history', 'comments', 'attachments', 'relations'].map((part) => `/objects/${unseen.id}/${part}`),
      '/search?q=field',
      '/search?q=record&kinds=object,comment',
      '/webhook-deliveries?pageSize=100',
      '/webhooks',
    ];
    for (const path of paths) {
      const answer = await asked(fixture.call('limited', 'GET', path));
      assert.deepEqual(found(`${JSON.stringify([...answer.headers])} ${JSON.stringify(answer.body)}`), [], path);
    }
    const control = await fixture.call('boss', 'GET', `/objects/${seen.id}`);
    assert.ok(JSON.stringify(control.body).includes(BIRD), 'who may see them hears them');
  });

  it('appear in no log line, regardless of what was rejected or failed', () => {
    const lines = log.join('');
    assert.deepEqual(found(lines), []);
    assert.ok(log.length > 30 && lines.includes('"level":50'), 'there is a log, with a defect in it');
    for (const status of [400, 401, 404, 409, 500]) assert.ok(statuses.has(status), `something was answered ${status}`);
  });

  it('appear in no metric', async () => {
    const { body } = await fixture.app.request('GET', '/metrics');
    assert.deepEqual(found(body), []);
    assert.match(body, /docket_http_/);
  });

  it('appear in no delivery to receivers who may not see them', async () => {
    const { received } = fixture.receiver;
    const to = (where: string) =>
      received.filter(({ path }) => path === where).map(({ headers, raw }) => `${JSON.stringify(headers)} ${raw}`);
    assert.ok(to('/limited').length > 0, 'something was delivered');
    assert.deepEqual(found(to('/limited').join('\n')), []);
    assert.ok(to('/boss').join('\n').includes(BIRD), 'who may see them hears them');
    assert.deepEqual(
      secretsOf().filter((secret) =>
        received.some(({ headers, raw }) => `${JSON.stringify(headers)} ${raw}`.includes(secret)),
      ),
      [],
    );
  });
});
