/** Calls of the API that the model knows, and the requests that make them. */
import type { Values } from './state.ts';
import type { Caller, TypeCode } from './world.ts';

export interface Change {
  objectId: string;
  expectedRevision: number;
  changes: Values;
}

export interface Archive {
  objectId: string;
  expectedRevision: number;
}

export interface Move {
  objectId: string;
  /** Code of the transition; an id is sent. */
  transition: string;
  expectedRevision: number;
  /** Code of the state; an id is sent. */
  expectedState: string;
  values: Values;
}

export interface Filter {
  field: string;
  operator: string;
  value: unknown;
}

export type Op =
  | { kind: 'create'; type: TypeCode; values: Values; objectId?: string }
  | { kind: 'read'; objectId: string }
  | ({ kind: 'update' } & Change)
  | ({ kind: 'archive' } & Archive)
  | { kind: 'restore'; objectId: string }
  | ({ kind: 'move' } & Move)
  | { kind: 'workflow'; objectId: string }
  | { kind: 'bulk-update'; items: readonly Change[] }
  | { kind: 'bulk-archive'; items: readonly Archive[] }
  | { kind: 'bulk-move'; items: readonly Move[] }
  | { kind: 'list'; type: TypeCode; state: string }
  | { kind: 'search'; run: string; filter?: Filter }
  | { kind: 'history'; objectId: string }
  | { kind: 'comment'; objectId: string; body: string; visibility?: 'public' | 'internal' }
  | {
      kind: 'edit-comment';
      commentId: string;
      expectedRevision: number;
      body?: string;
      visibility?: 'public' | 'internal';
    }
  | { kind: 'archive-comment'; commentId: string; expectedRevision: number }
  | { kind: 'comments'; objectId: string }
  | { kind: 'relate'; objectId: string; definition: string; target: string }
  | { kind: 'unrelate'; relationId: string; expectedRevision: number }
  | { kind: 'relations'; objectId: string }
  | { kind: 'sla'; objectId: string }
  | { kind: 'sla-command'; objectId: string; command: 'pause' | 'resume' | 'stop' }
  | { kind: 'user'; login: string; userId?: string }
  | { kind: 'group'; code: string; groupId?: string }
  | { kind: 'unit'; code: string; unitId?: string }
  | { kind: 'member'; group: string; member: string; memberType: 'user' | 'group' }
  | { kind: 'place'; unit: string; user: string; from?: string }
  | { kind: 'users' }
  | { kind: 'malformed'; method: string; path: string; body: unknown };

export type OpKind = Op['kind'];

export interface Call {
  who: Caller;
  op: Op;
  /** For operations that take one. */
  idempotencyKey?: string;
}

export interface HttpRequest {
  method: string;
  path: string;
  body?: unknown;
}

/** What the ids of transitions, states, definitions and SLA instances are. */
export interface Ids {
  transition(code: string): string;
  state(code: string): string;
  definition(code: string): string;
  /** The last SLA instance of a record, as an earlier answer named it. */
  sla(objectId: string): string;
}

const V1 = '/api/v1';

const move = (ids: Ids, { transition, expectedRevision, expectedState, values }: Move): object => ({
  transitionId: ids.transition(transition),
  expectedRevision,
  expectedStateId: ids.state(expectedState),
  values,
});

/** The request of a call. */
export function requestOf(op: Op, ids: Ids): HttpRequest {
  const post = (path: string, body: unknown): HttpRequest => ({ method: 'POST', path: V1 + path, body });
  const get = (path: string): HttpRequest => ({ method: 'GET', path: V1 + path });
  switch (op.kind) {
    case 'create': {
      const { type, values, objectId } = op;
      return post('/objects', { typeDefinitionId: type, values, ...(objectId === undefined ? {} : { objectId }) });
    }
    case 'read':
      return get(`/objects/${op.objectId}`);
    case 'update': {
      const { expectedRevision, changes } = op;
      return { method: 'PATCH', path: `${V1}/objects/${op.objectId}`, body: { expectedRevision, changes } };
    }
    case 'archive': {
      const { expectedRevision } = op;
      return { method: 'DELETE', path: `${V1}/objects/${op.objectId}`, body: { expectedRevision } };
    }
    case 'restore':
      return { method: 'POST', path: `/api/admin/v1/objects/${op.objectId}/restore` };
    case 'move':
      return post(`/objects/${op.objectId}/transitions`, move(ids, op));
    case 'workflow':
      return get(`/objects/${op.objectId}/workflow`);
    case 'bulk-update':
      return post('/bulk', { operation: 'update', items: op.items });
    case 'bulk-archive':
      return post('/bulk', { operation: 'archive', items: op.items });
    case 'bulk-move': {
      const items = op.items.map((item) => ({ objectId: item.objectId, ...move(ids, item) }));
      return post('/bulk', { operation: 'transition', items });
    }
    case 'list':
      return get(`/objects?typeId=${op.type}&state=${op.state}&pageSize=100`);
    case 'search': {
      const run: Filter = { field: 'run', operator: 'equals', value: op.run };
      const filter = { logic: 'AND', conditions: op.filter === undefined ? [run] : [run, op.filter] };
      return get(`/search?pageSize=100&filter=${encodeURIComponent(JSON.stringify(filter))}`);
    }
    case 'history':
      return get(`/objects/${op.objectId}/history`);
    case 'comment': {
      const { body, visibility } = op;
      return post(`/objects/${op.objectId}/comments`, { body, ...(visibility === undefined ? {} : { visibility }) });
    }
    case 'edit-comment': {
      const { kind: _, commentId, ...body } = op;
      return { method: 'PATCH', path: `${V1}/comments/${commentId}`, body };
    }
    case 'archive-comment': {
      const { expectedRevision } = op;
      return { method: 'DELETE', path: `${V1}/comments/${op.commentId}`, body: { expectedRevision } };
    }
    case 'comments':
      return get(`/objects/${op.objectId}/comments`);
    case 'relate': {
      const body = { definitionId: ids.definition(op.definition), targetObjectId: op.target };
      return post(`/objects/${op.objectId}/relations`, body);
    }
    case 'unrelate': {
      const { expectedRevision } = op;
      return { method: 'DELETE', path: `${V1}/relations/${op.relationId}`, body: { expectedRevision } };
    }
    case 'relations':
      return get(`/objects/${op.objectId}/relations`);
    case 'sla':
      return get(`/objects/${op.objectId}/sla`);
    case 'sla-command':
      return post(`/sla/${ids.sla(op.objectId)}/${op.command}`, {});
    case 'user': {
      const { login, userId } = op;
      const body = { login, displayName: login, email: `${login}@example.org` };
      return post('/identity/users', { ...body, ...(userId === undefined ? {} : { userId }) });
    }
    case 'group': {
      const { code, groupId } = op;
      return post('/identity/groups', { code, name: code, ...(groupId === undefined ? {} : { groupId }) });
    }
    case 'unit': {
      const { code, unitId } = op;
      const id = unitId === undefined ? {} : { organizationUnitId: unitId };
      return post('/identity/org-units', { code, name: code, ...id });
    }
    case 'member': {
      const { group, member, memberType } = op;
      return post('/identity/group-memberships', { groupId: group, memberId: member, memberType });
    }
    case 'place': {
      const expected = op.from === undefined ? {} : { expectedOrganizationUnitId: op.from };
      return post('/identity/org-memberships', { organizationUnitId: op.unit, userId: op.user, ...expected });
    }
    case 'users':
      return get('/identity/users');
    case 'malformed':
      return { method: op.method, path: V1 + op.path, body: op.body };
  }
}

/** Operations that take an idempotency key. */
export const IDEMPOTENT: readonly OpKind[] = ['create', 'comment', 'relate'];
