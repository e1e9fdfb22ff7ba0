/** A service with records, articles and users of different rights, and calls of the changes feed. */
import assert from 'node:assert/strict';
import { raw } from 'sql-template-tag';
import { givePlaces } from '../../src/platform/journal/places.ts';
import { startTestApp, type TestApp } from './app.ts';
import { watchAnswers } from './response-check.ts';
import { ACTIONS, bundle } from './small-configuration.ts';

const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: thing
    name: Thing
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: open, dataType: boolean }
      - { code: secret, dataType: string }
  - code: other
    name: Other
    title: title
    fields: [{ code: title, dataType: string, required: true }]
relationDefinitions:
  - { code: near, name: Near, inverseName: Near, sourceTypes: [thing], targetTypes: [thing], cardinality: many-to-many, acyclic: false, active: true }
knowledgeBases: [{ code: it, name: IT, visibility: internal, locales: [en-US], sections: [{ code: all, name: All }] }]
roles:
  - code: chief
    name: Chief
    rights: [config.manage, key.manage, role.assign, user.administer, kb.read, kb.write, kb.publish]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
  - code: reader
    name: Reader
    records:
      - { type: thing, where: { field: open, operator: equals, value: true }, actions: [read, history], fields: { read: [title, open] } }
    assignedTo: { users: [reader] }
users: [${['chief', 'reader', 'nobody'].map((login) => `{ login: ${login}, displayName: ${login} }`).join(', ')}]`;

export interface FeedEvent {
  cursor: string;
  eventId: string;
  eventType: string;
  objectId?: string;
  revision?: number;
  changes: { field: string }[];
  data: Record<string, unknown>;
  object?: unknown;
}

export interface FeedPage {
  events: FeedEvent[];
  next: string;
  caughtUp: boolean;
}

export class FeedFixture {
  readonly app: TestApp;
  /** Keys of `chief`, who may do all, `reader`, `nobody`, and `bare`: chief with the scope objects:read. */
  readonly keys: Readonly<Record<string, string>>;
  readonly #undocumented: readonly unknown[];

  constructor(app: TestApp, keys: Readonly<Record<string, string>>) {
    this.app = app;
    this.keys = keys;
    this.#undocumented = watchAnswers(app);
  }

  async get(who: string, query = ''): Promise<any> {
    return await this.app.request('GET', `/api/v1/changes${query}`, { key: this.keys[who] as string });
  }

  async page(who: string, query = ''): Promise<FeedPage> {
    const { status, body } = await this.get(who, query);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data;
  }

  /** Everything after the cursor, in pages of that size. */
  async readAll(who: string, cursor: string | undefined, limit = 1000): Promise<Omit<FeedPage, 'caughtUp'>> {
    const events: FeedEvent[] = [];
    for (let next = cursor; ; ) {
      const found = await this.page(who, `?limit=${limit}${next === undefined ? '' : `&after=${next}`}`);
      events.push(...found.events);
      next = found.next;
      if (found.caughtUp) return { events, next };
    }
  }

  async post(path: string, body: unknown, status = 201): Promise<any> {
    const answer = await this.app.request('POST', `/api/v1${path}`, { key: this.keys['chief'] as string, body });
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    return answer.body.data;
  }

  /** The id of a new record. */
  async make(title: string, values: Record<string, unknown> = {}, typeDefinitionId = 'thing'): Promise<string> {
    return (await this.post('/objects', { typeDefinitionId, values: { title, ...values } })).id;
  }

  async change(id: string, expectedRevision: number, changes: Record<string, unknown>): Promise<void> {
    const request = { key: this.keys['chief'] as string, body: { expectedRevision, changes } };
    const answer = await this.app.request('PATCH', `/api/v1/objects/${id}`, request);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }

  /** Gives places to all that is committed. @returns the cursor behind it */
  async now(): Promise<string> {
    while (await givePlaces(this.app.db));
    return (await this.page('chief', '?after=now')).next;
  }

  async sqlOf<Row>(text: string): Promise<Row[]> {
    return await this.app.db.query<Row>(raw(text));
  }

  async close(): Promise<void> {
    await this.app.close();
    assert.deepEqual(this.#undocumented, []);
  }
}

export async function startFeedFixture(): Promise<FeedFixture> {
  const app = await startTestApp({ bundle: bundle(WORLD) });
  const keys: Record<string, string> = {};
  for (const login of ['chief', 'reader', 'nobody']) keys[login] = (await app.createKey({ login })).key;
  keys['bare'] = (await app.createKey({ login: 'chief', scopes: ['objects:read'] })).key;
  return new FeedFixture(app, keys);
}
