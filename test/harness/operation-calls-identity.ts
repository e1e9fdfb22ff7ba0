/** The cases of users, groups and units (`operation-calls.ts`). */
import { randomUUID } from 'node:crypto';
import type { TestApp } from './app.ts';
import { changeRights } from './small-configuration.ts';

/** A call below `/api/v1` with every right; gives the answer's `data`. */
type Send = (method: string, path: string, body: unknown) => Promise<{ id: string }>;

interface Call {
  params?: Record<string, string>;
  body?: unknown;
}

/** A row as `operation-calls.ts` has them. */
interface Row {
  call(): Call | Promise<Call>;
  lacks: { login: 'reader'; status: number; code: string; details: unknown };
  hidden?: { seen(): Promise<Call>; absent(): Call };
}

class Maker {
  readonly #app: TestApp;
  readonly #send: Send;

  constructor(app: TestApp, send: Send) {
    this.#app = app;
    this.#send = send;
  }

  /** The id of a new person, group or unit, archived if asked. */
  async someone(kind: 'users' | 'groups' | 'org-units', archived = false): Promise<string> {
    const name = `x-${randomUUID()}`;
    const bodies = {
      users: { login: name, displayName: 'Somebody', email: `${name}@example.org` },
      groups: { code: name, name: 'Some group' },
      'org-units': { name: 'Some unit' },
    };
    const { id } = await this.#send('POST', `/identity/${kind}`, bodies[kind]);
    if (archived) {
      const table = kind === 'org-units' ? 'org_units' : kind;
      await changeRights(this.#app, `UPDATE ${table} SET state = 'ARCHIVED' WHERE id = $1`, [id]);
    }
    return id;
  }

  async member(of: 'group' | 'unit'): Promise<string> {
    const person = await this.someone('users');
    if (of === 'group') {
      const body = { groupId: await this.someone('groups'), memberId: person };
      return (await this.#send('POST', '/identity/group-memberships', body)).id;
    }
    const body = { organizationUnitId: await this.someone('org-units'), userId: person };
    return (await this.#send('POST', '/identity/org-memberships', body)).id;
  }
}

/** Operations on users, groups and units: all need one right, and nothing is hidden from its holders. */
export function identityCases(app: TestApp, send: Send): Record<string, Row> {
  const make = new Maker(app, send);
  const lacks: Row['lacks'] = {
    login: 'reader',
    status: 403,
    code: 'RIGHT_MISSING',
    details: { right: 'user.administer' },
  };
  const found: Record<string, Row> = {
    'identity.users': { call: () => ({}), lacks },
    'identity.groups': { call: () => ({}), lacks },
    'identity.orgUnits': { call: () => ({}), lacks },
    'identity.archived': { call: () => ({}), lacks },
    'identity.groupMembers': { call: () => ({}), lacks },
    'identity.orgMembers': { call: () => ({}), lacks },
    'identity.createUser': {
      call: () => {
        const login = `x-${randomUUID()}`;
        return { body: { login, displayName: 'Somebody', email: `${login}@example.org` } };
      },
      lacks,
    },
    'identity.createGroup': { call: () => ({ body: { code: `x-${randomUUID()}`, name: 'Some group' } }), lacks },
    'identity.createOrgUnit': { call: () => ({ body: { name: 'Some unit' } }), lacks },
    'identity.addGroupMember': {
      call: async () => ({
        body: { groupId: await make.someone('groups'), memberId: await make.someone('users') },
      }),
      lacks,
    },
    'identity.setOrgMember': {
      call: async () => ({
        body: { organizationUnitId: await make.someone('org-units'), userId: await make.someone('users') },
      }),
      lacks,
    },
  };
  const on = (id: () => Promise<string>, body?: unknown): Row => ({
    call: async () => ({ params: { id: await id() }, body }),
    lacks,
    hidden: {
      seen: async () => ({ params: { id: randomUUID() }, body }),
      absent: () => ({ params: { id: randomUUID() }, body }),
    },
  });
  const change = { expectedRevision: 1 };
  for (const [what, kind] of [
    ['User', 'users'],
    ['Group', 'groups'],
    ['OrgUnit', 'org-units'],
  ] as const) {
    found[`identity.change${what}`] = on(() => make.someone(kind), change);
    found[`identity.archive${what}`] = on(() => make.someone(kind));
    found[`identity.restore${what}`] = on(() => make.someone(kind, true));
  }
  found['identity.setPassword'] = on(() => make.someone('users'), { password: 'a password of a user' });
  found['identity.removeGroupMember'] = on(() => make.member('group'));
  found['identity.removeOrgMember'] = on(() => make.member('unit'));
  return found;
}
