/** The reference model of users, groups, units and memberships. */
import { isDeepStrictEqual } from 'node:util';
import type { TestAnswer } from '../support/app.ts';
import type { Call } from './calls.ts';
import { type Outcome, refuse, succeed } from './outcome.ts';
import { having, type Installation, type Named, type State } from './state.ts';

/** The outcome of an operation on identity. */
export function judgeIdentity(state: State, call: Call, answer: TestAnswer, installation: Installation): Outcome {
  const { op, who } = call;
  if (who === 'viewer') return refuse(403, 'RIGHT_MISSING');
  const mayAssign = who === 'chief';
  switch (op.kind) {
    case 'user':
      return add(state, 'users', op.login, op.userId, answer);
    case 'group':
      return add(state, 'groups', op.code, op.groupId, answer);
    case 'unit':
      return add(state, 'units', op.code, op.unitId, answer);
    case 'users':
      return succeed(200, state, (data) => {
        const found = data.filter(({ id }: Named) => state.users.has(id)).map(({ id, login }: any) => [id, login]);
        const wanted = [...state.users.values()].map(({ id, code }) => [id, code]);
        return isDeepStrictEqual(found.sort(), wanted.sort()) ? undefined : `expected ${JSON.stringify(wanted)}`;
      });
    case 'member': {
      const { group, member, memberType } = op;
      if (!state.groups.has(group)) return refuse(400, 'INVALID_REQUEST', ['/groupId']);
      if (!(memberType === 'user' ? state.users : state.groups).has(member))
        return refuse(400, 'INVALID_REQUEST', ['/memberId']);
      const key = `${group} ${member}`;
      const standing = state.members.get(key);
      const id = standing?.id ?? String(answer.body?.data?.id);
      const wanted = { id, groupId: group, memberId: member, memberType };
      const check = (data: unknown): string | undefined =>
        isDeepStrictEqual(data, wanted) ? undefined : `expected ${JSON.stringify(wanted)}`;
      if (standing !== undefined) return succeed(201, state, check);
      const inner = memberType === 'user' ? [member] : usersIn(state, member);
      const self = installation.people[who];
      const gives = above(state, group);
      const fresh = [...gives].filter((one) => !usersIn(state, one).includes(self));
      // Nobody changes their own memberships, even where nothing new is given.
      const isOwn = memberType === 'user' && member === self;
      const escalates = isOwn || (fresh.length > 0 && (inner.includes(self) || fresh.includes(installation.keepers)));
      if (!mayAssign && escalates) return refuse(403, 'ROLE_ESCALATION');
      if (memberType === 'group' && gives.has(member)) return refuse(409, 'GROUP_CYCLE');
      return succeed(201, having(state, 'members', key, { id, group, member }), check);
    }
    case 'place': {
      const { unit, user, from } = op;
      if (!state.units.has(unit)) return refuse(400, 'INVALID_REQUEST', ['/organizationUnitId']);
      if (!state.users.has(user)) return refuse(400, 'INVALID_REQUEST', ['/userId']);
      const now = state.places.get(user);
      const check = (data: any): string | undefined =>
        data.organizationUnitId === unit && data.userId === user ? undefined : `expected ${user} in ${unit}`;
      if (now === unit) return succeed(201, state, check);
      if (!mayAssign && user === installation.people[who]) return refuse(403, 'ROLE_ESCALATION');
      if ((now ?? null) !== (from ?? null)) return refuse(409, 'ORG_UNIT_CONFLICT');
      return succeed(201, having(state, 'places', user, unit), check);
    }
    default:
      throw new Error(`no operation ${op.kind}`);
  }
}

/** The group and those that it is in. */
function above(state: State, group: string, found = new Set<string>()): Set<string> {
  if (found.has(group)) return found;
  found.add(group);
  for (const { group: outer, member } of state.members.values()) if (member === group) above(state, outer, found);
  return found;
}

/** Users in the group and in the groups in it. */
function usersIn(state: State, group: string): string[] {
  return [...state.members.values()].flatMap(({ group: outer, member }) => {
    if (outer !== group) return [];
    return state.users.has(member) ? [member] : usersIn(state, member);
  });
}

function add(
  state: State,
  table: 'users' | 'groups' | 'units',
  given: string,
  givenId: string | undefined,
  answer: TestAnswer,
): Outcome {
  const id = givenId ?? String(answer.body?.data?.id);
  const code = given.toLowerCase();
  const isTaken = state[table].has(id) || [...state[table].values()].some((one) => one.code === code);
  if (isTaken) return refuse(409, 'ALREADY_EXISTS');
  return succeed(201, having(state, table, id, { id, code }), (data) => {
    if (data.id !== id || data.state !== 'ACTIVE') return `expected ${id}`;
    return undefined;
  });
}
