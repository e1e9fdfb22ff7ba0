/** Makes what the calls of `operation-calls.ts` are about. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createSecret } from '../../src/domain/webhooks/index.ts';
import { TEST_SECRETS, type TestApp } from './app.ts';
import { HIDDEN_FIELD, HIDDEN_VALUE } from './operation-calls-case.ts';
import { idOf, stored } from './small-configuration.ts';

/** Makes what calls are about, with the rights of `full`. */
export class OperationFixture {
  readonly #app: TestApp;
  readonly #key: string;
  readonly #adminKey: string;

  constructor(app: TestApp, key: string, adminKey: string) {
    this.#app = app;
    this.#key = key;
    this.#adminKey = adminKey;
  }

  async send(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await this.#app.request(method, `/api/v1${path}`, { key: this.#key, body });
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  }

  /** The id of a new record with a value in the field that `partial` may not read. */
  async record(shown: boolean): Promise<string> {
    const values = { title: 'A thing', [HIDDEN_FIELD]: HIDDEN_VALUE, shown };
    return (await this.send('POST', '/objects', { typeDefinitionId: 'thing', values })).id;
  }

  async archived(shown: boolean): Promise<string> {
    const id = await this.record(shown);
    await this.send('DELETE', `/objects/${id}`, { expectedRevision: 1 });
    return id;
  }

  async comment(shown: boolean): Promise<string> {
    return (
      await this.send('POST', `/objects/${await this.record(shown)}/comments`, { body: 'A', visibility: 'public' })
    ).id;
  }

  async file(shown: boolean): Promise<string> {
    const body = { filename: 'a.txt', contentBase64: 'eA==' };
    return (await this.send('POST', `/objects/${await this.record(shown)}/attachments`, body)).id;
  }

  /** A record with an image in a text of it. */
  async image(shown: boolean): Promise<Record<string, string>> {
    const src = 'data:image/gif;base64,R0lGODlhAQABAAAAADs=';
    const picture = { type: 'doc', content: [{ type: 'image', attrs: { src } }] };
    const body = { typeDefinitionId: 'thing', values: { title: 'A thing', picture, shown } };
    const { id, values } = await this.send('POST', '/objects', body);
    return { objectId: id, sha256: values.picture.content[0].attrs.src.slice('blob:'.length) };
  }

  /** A shared queue; one that `partial` may not see names a field that is hidden from them. */
  async queue(shown: boolean): Promise<string> {
    const filter = { field: shown ? 'shown' : HIDDEN_FIELD, operator: 'is-empty', value: false };
    const body = { name: 'A queue', shared: true, definition: { type: 'thing', filter } };
    const answer = await this.#app.request('POST', '/api/admin/v1/desk/queues', { key: this.#adminKey, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.data.id;
  }

  role(): Promise<string> {
    return idOf(this.#app, 'config_items', 'partial');
  }

  /** A dashboard shared with the roles of `partial` and `reader`; one that they may not see names a field that is hidden from them. */
  async dashboard(shown: boolean): Promise<string> {
    const query = { types: ['thing'], measures: ['count'], groupBy: [shown ? 'shown' : HIDDEN_FIELD] };
    const tile = { kind: 'table', title: 'Things', width: 1, query };
    const roles = [await this.role(), await idOf(this.#app, 'config_items', 'reader')];
    const body = { name: 'A dashboard', tiles: [tile], sharedWith: { roles, groups: [] } };
    const answer = await this.#app.request('POST', '/api/admin/v1/dashboards', { key: this.#adminKey, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.data.id;
  }

  async near(): Promise<{ definitionId: string; targetObjectId: string }> {
    const [definition] = await this.send('GET', '/relation-definitions');
    return { definitionId: definition.id, targetObjectId: await this.record(true) };
  }

  async relation(shown: boolean): Promise<string> {
    return (await this.send('POST', `/objects/${await this.record(shown)}/relations`, await this.near())).relation.id;
  }

  /** The code of a new signing secret with a value. */
  async secret(): Promise<string> {
    const code = `s-${randomUUID()}`;
    await this.#app.app.work.write(this.#app.app.system(), (ctx) => createSecret(ctx, TEST_SECRETS, code));
    return code;
  }

  /** A subscription to nowhere that `partial` could make too. */
  async subscription(enabled: boolean): Promise<Record<string, unknown>> {
    return {
      code: `w-${randomUUID()}`,
      endpoint: 'https://1.1.1.1/hook',
      secretRef: await this.secret(),
      executionPrincipalId: await idOf(this.#app, 'users', 'partial'),
      eventTypes: ['SlaBreached'],
      enabled,
    };
  }

  async subscribed(enabled: boolean, archived = false, endpoint = 'https://1.1.1.1/hook'): Promise<string> {
    const { id } = await this.send('POST', '/webhooks', { ...(await this.subscription(enabled)), endpoint });
    const statement = `UPDATE config_items SET state = 'ARCHIVED' WHERE id = $1`;
    if (archived) await stored(this.#app, statement, [id]);
    return id;
  }

  /** A delivery that failed, of an enabled subscription. */
  async failed(): Promise<string> {
    const id = randomUUID();
    await stored(
      this.#app,
      `INSERT INTO webhook_deliveries (id, subscription_id, event_id, event_type, event_at, event_seq, event_data, status, attempt_count,
        max_attempts, base_delay_ms, created_at, due_at, finished_at)
      VALUES ($1, $2, $1, 'SlaBreached', now(), 0, '{}', 'FAILED', 3, 3, 1000, now(), now(), now())`,
      [id, await this.subscribed(true)],
    );
    return id;
  }

  /** A mail that was given up. */
  async sent(): Promise<string> {
    const id = randomUUID();
    await stored(
      this.#app,
      `INSERT INTO mail_outgoing (id, user_id, notification_ids, status, attempts, due_at, next_at, finished_at, error)
      SELECT $1, id, ARRAY[$1::uuid], 'FAILED', 1, now(), now(), now(), '550 No such user' FROM users WHERE login = 'partial'`,
      [id],
    );
    return id;
  }

  async instance(shown: boolean): Promise<string> {
    const [instance] = await this.send('GET', `/objects/${await this.record(shown)}/sla`);
    return instance.id;
  }

  async transition(): Promise<unknown> {
    const { state, transitions } = await this.send('GET', `/objects/${await this.record(true)}/workflow`);
    return { transitionId: transitions[0].id, expectedRevision: 1, expectedStateId: state.id };
  }
}
