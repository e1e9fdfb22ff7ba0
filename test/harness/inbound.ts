/** Integrations in the world of `around.ts`, set up by the chief. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestAnswer } from './app.ts';
import { type Around, type Person, startAround } from './around.ts';

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

export interface Inbound {
  around: Around;
  /** Login → id. */
  people: Record<string, string>;
  /** A call of the chief's below `/api/admin/v1`. */
  admin(method: string, path: string, body?: unknown): Promise<TestAnswer>;
  /** The id of a new integration whose principal is the chief. */
  integration(config: Config, enabled?: boolean): Promise<string>;
  call(who: Person, id: string, body: unknown, idempotencyKey?: string): Promise<TestAnswer>;
  runs(id: string, query?: string): Promise<any[]>;
}

export async function inboundOf(around: Around): Promise<Inbound> {
  const { key } = await around.app.createKey({ login: 'chief', scopes: ['admin:manage'] });
  const rows = await around.rows<{ id: string; login: string }>('SELECT id, login FROM users');
  const people = Object.fromEntries(rows.map(({ id, login }) => [login, id]));
  const admin: Inbound['admin'] = (method, path, body) =>
    around.app.request(method, `/api/admin/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
  return {
    around,
    people,
    admin,
    integration: async (config, enabled = true) => {
      const executionPrincipalId = people['chief'];
      const body = { code: `i-${randomUUID()}`, type: 'inbound-webhook', executionPrincipalId, enabled, config };
      return (await around.ok('chief', 'POST', '/integrations', body)).id;
    },
    call: (who, id, body, idempotencyKey) =>
      around.call(who, 'POST', `/inbound/${id}`, body, idempotencyKey === undefined ? {} : { idempotencyKey }),
    runs: async (id, query = '') => {
      const answer = await admin('GET', `/integrations/${id}/runs${query}`);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.data;
    },
  };
}

export async function startInbound(): Promise<Inbound> {
  return await inboundOf(await startAround());
}
