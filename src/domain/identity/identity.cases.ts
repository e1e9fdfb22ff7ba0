/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { MINIMAL, missing, type OperationCase } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';
import { changeRights } from '../../../test/support/small-configuration.ts';

/** Operations on users, groups and units: all need one right, and nothing is hidden from its holders. */
export const cases: ModuleCases = {
  of: (make) => {
    /** The id of a new person, group or unit, archived if asked. */
    const someone = async (kind: 'users' | 'groups' | 'org-units', archived = false): Promise<string> => {
      const name = `x-${randomUUID()}`;
      const bodies = {
        users: { login: name, displayName: 'Somebody', email: `${name}@example.org` },
        groups: { code: name, name: 'Some group' },
        'org-units': { name: 'Some unit' },
      };
      const { id } = await make.send('POST', `/identity/${kind}`, bodies[kind]);
      if (archived) {
        const table = kind === 'org-units' ? 'org_units' : kind;
        await changeRights(make.app, `UPDATE ${table} SET state = 'ARCHIVED' WHERE id = $1`, [id]);
      }
      return id;
    };

    const member = async (of: 'group' | 'unit'): Promise<string> => {
      const person = await someone('users');
      if (of === 'group') {
        const body = { groupId: await someone('groups'), memberId: person };
        return (await make.send('POST', '/identity/group-memberships', body)).id;
      }
      const body = { organizationUnitId: await someone('org-units'), userId: person };
      return (await make.send('POST', '/identity/org-memberships', body)).id;
    };
    const lacks = missing('user.administer', 'reader');
    const found: Record<string, OperationCase> = {
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
          body: { groupId: await someone('groups'), memberId: await someone('users') },
        }),
        lacks,
      },
      'identity.setOrgMember': {
        call: async () => ({
          body: { organizationUnitId: await someone('org-units'), userId: await someone('users') },
        }),
        lacks,
      },
    };
    const on = (id: () => Promise<string>, body?: unknown): OperationCase => ({
      call: async () => ({ params: { id: await id() }, body }),
      lacks,
      hidden: make.hidesNothing('id', body),
    });
    const change = { expectedRevision: 1 };
    for (const [what, kind] of [
      ['User', 'users'],
      ['Group', 'groups'],
      ['OrgUnit', 'org-units'],
    ] as const) {
      // The names of a group or unit have no limit of their own.
      found[`identity.change${what}`] = { ...on(() => someone(kind), change), large: MINIMAL };
      found[`identity.archive${what}`] = on(() => someone(kind));
      found[`identity.restore${what}`] = on(() => someone(kind, true));
    }
    found['identity.removeGroupMember'] = on(() => member('group'));
    found['identity.removeOrgMember'] = on(() => member('unit'));
    return found;
  },
};
