/** Integrations on top of `record-fixture.ts`, created by chief. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestAnswer } from './app.ts';
import { type RecordFixture, type FixtureUser, startRecordFixture } from './record-fixture.ts';

export interface Config {
  command: 'object.create' | 'object.update' | 'comment.add';
  typeDefinitionId?: string;
  mapping: { source: string; target: string }[];
  visibility?: string;
}

/** A mapping of members to targets of the same name. */
export function direct(...targets: string[]): Config['mapping'] {
  return targets.map((target) => ({ source: target, target }));
}

export const CREATE: Config = {
  command: 'object.create',
  typeDefinitionId: 'case',
  mapping: direct('title', 'kind', 'count', 'note', 'secret', 'grade', 'cause', 'day', 'objectId'),
};
export const UPDATE: Config = {
  command: 'object.update',
  mapping: direct(
    'objectId',
    'expectedRevision',
    'title',
    'kind',
    'count',
    'note',
    'secret',
    'grade',
    'assignee',
    'cause',
    'day',
  ),
};
export const COMMENT: Config = { command: 'comment.add', mapping: direct('objectId', 'body', 'visibility') };

export interface InboundFixture {
  around: RecordFixture;
  /** Login → id. */
  people: Record<string, string>;
  /** A call of the chief's below `/api/admin/v1`. */
  admin(method: string, path: string, body?: unknown): Promise<TestAnswer>;
  /** The id of a new integration whose principal is chief. */
  integration(config: Config, enabled?: boolean): Promise<string>;
  call(who: FixtureUser, id: string, body: unknown, idempotencyKey?: string): Promise<TestAnswer>;
  runs(id: string, query?: string): Promise<any[]>;
}

export async function inboundOf(fixture: RecordFixture): Promise<InboundFixture> {
  const { key } = await fixture.app.createKey({ login: 'chief', scopes: ['admin:manage'] });
  const rows = await fixture.rows<{ id: string; login: string }>('SELECT id, login FROM users');
  const people = Object.fromEntries(rows.map(({ id, login }) => [login, id]));
  const admin: InboundFixture['admin'] = (method, path, body) =>
    fixture.app.request(method, `/api/admin/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
  return {
    around: fixture,
    people,
    admin,
    integration: async (config, enabled = true) => {
      const executionPrincipalId = people['chief'];
      const body = { code: `i-${randomUUID()}`, type: 'inbound-webhook', executionPrincipalId, enabled, config };
      return (await fixture.ok('chief', 'POST', '/integrations', body)).id;
    },
    call: (who, id, body, idempotencyKey) =>
      fixture.call(who, 'POST', `/inbound/${id}`, body, idempotencyKey === undefined ? {} : { idempotencyKey }),
    runs: async (id, query = '') => {
      const answer = await admin('GET', `/integrations/${id}/runs${query}`);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.data;
    },
  };
}

export async function startInboundFixture(): Promise<InboundFixture> {
  return await inboundOf(await startRecordFixture());
}
