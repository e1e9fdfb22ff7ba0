/** Compares the access that changes of identity grant with the access of the caller. `escalation.ts` documents the rules. */
import { isActive } from '../../contract/state.ts';
import { Fault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import { type Audience, audienceView } from '../../configuration/audience.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { Granting } from './store-plain.ts';
import { articlesAdmit } from '../knowledge/index.ts';
import {
  groupsAround,
  holdAny,
  loadStandings,
  type Standing,
  unitsAbove,
  unitsBelow,
  usersInside,
  usersOfUnits,
} from './store-members.ts';
import type { ConfigSnapshot, ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';

/** The access that the changes of one transaction grant. */
export interface GrantedAccess {
  /** Users as whom the caller could sign in afterwards, or whom the caller restores. */
  users: string[];
  /** New members of groups. A restored group grants access to its own members: then `memberId` is its own id. */
  members: { groupId: string; memberId: string; memberType: 'user' | 'group' }[];
  /** Users who are put into a unit. */
  places: { userId: string; unitId: string }[];
  /** Units that get another parent or are restored (`restored`). */
  units: { unitId: string; parentId: string | null; formerParentId: string | null; restored: boolean }[];
}

type Pairs = ReadonlyMap<string, readonly string[]>;

/** Start → ids. */
function byStart(pairs: readonly { start: string; id: string }[]): Pairs {
  const found = new Map<string, string[]>();
  for (const { start, id } of pairs) {
    const list = found.get(start);
    if (list === undefined) found.set(start, [id]);
    else list.push(id);
  }
  return found;
}

class EscalationCheck {
  readonly #ctx: ReadContext;
  readonly #caller: Standing;
  readonly #facts: ReadonlyMap<string, RoleFacts>;
  readonly #groups: ReadonlySet<string>;
  readonly #roles: ReadonlySet<string>;
  readonly #below: ReadonlySet<string>;
  readonly #above: ReadonlySet<string>;
  /** Ids by which an audience could newly admit a user. `audiences` checks them together at the end. */
  readonly #admitting = new Set<string>();

  constructor(ctx: ReadContext, caller: Standing) {
    this.#ctx = ctx;
    this.#caller = caller;
    this.#facts = ctx.config.get(roleFactsView);
    this.#groups = new Set(caller.groups);
    this.#roles = new Set(caller.roles);
    this.#below = new Set(caller.unitsBelow);
    this.#above = new Set(caller.unitsAbove);
  }

  /** Whether a role of the caller lists the membership, so that the caller may give it to others. */
  #lists(kind: 'groups' | 'orgUnits', id: string): boolean {
    return this.#caller.roles.some((role) => {
      const listed = this.#facts.get(role)?.[kind];
      return listed === '*' || listed?.has(id) === true;
    });
  }

  #depends(roles: readonly string[], variable: MembershipVariable): boolean {
    return roles.some((role) => this.#facts.get(role)?.variables.has(variable) === true);
  }

  /** Whether one of the users holds a role that has the variable. */
  async #someDepend(users: readonly string[], variable: MembershipVariable): Promise<boolean> {
    const roles = [...this.#facts].flatMap(([id, { variables }]) => (variables.has(variable) ? [id] : []));
    return await holdAny(this.#ctx, users, roles);
  }

  /** Inactive roles grant nothing. */
  #holdsAll(roles: readonly string[]): boolean {
    return roles.every((role) => this.#roles.has(role) || !this.#facts.has(role));
  }

  async members(members: GrantedAccess['members']): Promise<void> {
    if (members.length === 0) return;
    const byGroup = Map.groupBy(members, ({ groupId }) => groupId);
    const found = await groupsAround(this.#ctx, [...byGroup.keys()]);
    const around = byStart(found);
    const rolesAt = new Map(found.map(({ id, roles }) => [id, roles]));
    const inner = members.flatMap(({ memberType, memberId }) => (memberType === 'group' ? [memberId] : []));
    const inside = inner.length === 0 ? new Map() : byStart(await usersInside(this.#ctx, inner));
    for (const [groupId, own] of byGroup) {
      const subjects = own.flatMap(({ memberType, memberId }): readonly string[] =>
        memberType === 'user' ? [memberId] : (inside.get(memberId) ?? []),
      );
      const toSelf = subjects.includes(this.#caller.userId);
      const given = around.get(groupId) ?? [groupId];
      const fresh = given.filter((id) => !this.#groups.has(id) && (toSelf || !this.#lists('groups', id)));
      if (fresh.length === 0) continue;
      if (toSelf) throw escalation('OWN_MEMBERSHIP');
      if (!fresh.every((id) => this.#holdsAll(rolesAt.get(id) ?? []))) {
        throw escalation('ROLES_OF_GROUP');
      }
      const roles = given.flatMap((id) => rolesAt.get(id) ?? []);
      if (this.#depends(roles, '$myGroups') || (await this.#someDepend(subjects, '$myGroups'))) {
        throw escalation('RECORDS_OF_GROUP');
      }
      for (const id of fresh) this.#admitting.add(id);
    }
  }

  async places(places: GrantedAccess['places']): Promise<void> {
    const byUnit = Map.groupBy(
      places.filter(({ unitId }) => unitId !== this.#caller.unit),
      ({ unitId }) => unitId,
    );
    if (byUnit.size === 0) return;
    const above = byStart(await unitsAbove(this.#ctx, [...byUnit.keys()]));
    const below = byStart(await unitsBelow(this.#ctx, [...byUnit.keys()]));
    for (const [unitId, own] of byUnit) {
      if (!this.#lists('orgUnits', unitId)) {
        const users = own.map(({ userId }) => userId);
        const beneath = below.get(unitId) ?? [];
        if ((await this.#someDepend(users, '$myOrgUnit')) || !(await this.#allReach(users, beneath))) {
          throw escalation('RECORDS_OF_UNIT');
        }
      }
      for (const id of above.get(unitId) ?? []) if (!this.#lists('orgUnits', id)) this.#admitting.add(id);
    }
  }

  /** Whether the roles grant no access in these units that the caller lacks. */
  #reaches(roles: readonly string[], units: readonly string[]): boolean {
    return !this.#depends(roles, '$myOrgUnits') || units.every((id) => this.#below.has(id));
  }

  /** Whether no role of the users grants access in these units that the caller lacks. */
  async #allReach(users: readonly string[], units: readonly string[]): Promise<boolean> {
    return units.every((id) => this.#below.has(id)) || !(await this.#someDepend(users, '$myOrgUnits'));
  }

  async units(units: GrantedAccess['units']): Promise<void> {
    for (const { unitId, parentId, formerParentId, restored } of units) {
      const above = byStart(
        await unitsAbove(
          this.#ctx,
          [parentId, formerParentId].filter((id) => id !== null),
        ),
      );
      const former = new Set(formerParentId === null || restored ? [] : above.get(formerParentId));
      const joined = (parentId === null ? [] : (above.get(parentId) ?? [])).filter((id) => !former.has(id));
      const beneath = (await unitsBelow(this.#ctx, [unitId])).map(({ id }) => id);
      if (joined.length > 0) {
        const users = await usersOfUnits(this.#ctx, joined);
        if (!(await this.#allReach(users, beneath))) throw escalation('PARENT_GIVES_RECORDS');
      }
      if ((await usersOfUnits(this.#ctx, beneath)).length === 0) continue;
      for (const id of restored ? [...joined, unitId] : joined) this.#admitting.add(id);
    }
  }

  async users(users: readonly string[]): Promise<void> {
    for (const { userId, groups, unit, unitsBelow: below, unitsAbove: above, roles } of await loadStandings(
      this.#ctx,
      users,
    )) {
      if (userId === this.#caller.userId) continue;
      const has =
        this.#holdsAll(roles) &&
        (!this.#depends(roles, '$myGroups') || groups.every((id) => this.#groups.has(id))) &&
        (!this.#depends(roles, '$myOrgUnit') || unit === null || unit === this.#caller.unit) &&
        this.#reaches(roles, below);
      if (!has) throw escalation('ACCESS_OF_USER');
      for (const id of [userId, ...groups, ...above]) this.#admitting.add(id);
    }
  }

  /** @throws Fault ROLE_ESCALATION if an audience admits one of the ids and does not admit the caller */
  async audiences(): Promise<void> {
    const { userId, groups } = this.#caller;
    const own = new Set([userId, ...groups, ...this.#above].filter((id) => id !== ''));
    const fresh = this.#admitting.difference(own);
    if (fresh.size === 0) return;
    const admits = ({ groups: named, orgUnits, users }: Audience, ids: ReadonlySet<string>): boolean =>
      [named, orgUnits, users].some((list) => list.some((id) => ids.has(id)));
    const configured = this.#ctx.config
      .get(audienceView)
      .some((audience) => !audience.everyone && admits(audience, fresh) && !admits(audience, own));
    if (configured || (await articlesAdmit(this.#ctx, [...fresh], [...own]))) {
      throw escalation('HIDDEN_AUDIENCE');
    }
  }
}

function escalation(
  reason:
    | 'OWN_MEMBERSHIP'
    | 'ROLES_OF_GROUP'
    | 'RECORDS_OF_GROUP'
    | 'RECORDS_OF_UNIT'
    | 'PARENT_GIVES_RECORDS'
    | 'ACCESS_OF_USER'
    | 'HIDDEN_AUDIENCE',
): Fault {
  return new Fault('ROLE_ESCALATION', problem(reason));
}

/** @throws Fault ROLE_ESCALATION if the caller neither has the access nor may assign it */
export async function checkGranted(ctx: ReadContext, granted: GrantedAccess, caller: Standing): Promise<void> {
  const check = new EscalationCheck(ctx, caller);
  await check.users(granted.users);
  await check.members(granted.members);
  await check.places(granted.places);
  await check.units(granted.units);
  await check.audiences();
}

/** Variables of the condition language that stand for the caller's memberships. */
const VARIABLES = ['$myGroups', '$myOrgUnit', '$myOrgUnits'] as const;
export type MembershipVariable = (typeof VARIABLES)[number];

export interface RoleFacts {
  /** Variables that the row conditions of the role use. */
  variables: ReadonlySet<MembershipVariable>;
  /** Ids of the groups and units whose memberships the holders of the role may give. */
  groups: ReadonlySet<string> | '*';
  orgUnits: ReadonlySet<string> | '*';
}

interface CompiledRole {
  records: readonly { where?: unknown }[];
  memberships?: { groups: readonly string[] | '*'; orgUnits: readonly string[] | '*' };
}

function isVariable(value: unknown): value is MembershipVariable {
  return VARIABLES.some((variable) => variable === value);
}

/** The variables in a condition, at any depth. A literal text that looks like a variable is written with two dollar signs. */
function* variablesIn(condition: unknown): Generator<MembershipVariable> {
  if (isVariable(condition)) yield condition;
  else if (typeof condition === 'object' && condition !== null) {
    for (const part of Object.values(condition)) yield* variablesIn(part);
  }
}

function build(source: ConfigSource): ReadonlyMap<string, RoleFacts> {
  const found = new Map<string, RoleFacts>();
  for (const { id, section, compiled } of source.items.filter(isActive)) {
    if (section !== 'roles') continue;
    const { records, memberships } = compiled as CompiledRole;
    const named = (list: readonly string[] | '*' | undefined) => (list === '*' ? list : new Set(list));
    found.set(id, {
      variables: new Set(records.flatMap(({ where }) => [...variablesIn(where)])),
      groups: named(memberships?.groups),
      orgUnits: named(memberships?.orgUnits),
    });
  }
  return found;
}

/** Id of an active role → what it means for memberships. */
export const roleFactsView: DerivedView<ReadonlyMap<string, RoleFacts>> = { name: 'identity.roles', build };

/** The ids of groups, units and users that an audience of the configuration names, unless it admits everyone. */
const namedView: DerivedView<ReadonlySet<string>> = {
  name: 'identity.named-in-audiences',
  build: (_source, snapshot) => {
    const audiences = snapshot.get(audienceView).filter(({ everyone }) => !everyone);
    return new Set(audiences.flatMap(({ groups, orgUnits, users }) => [...groups, ...orgUnits, ...users]));
  },
};

/**
 * Whether a membership that gives no role grants nothing, no matter who adds the user: no role of the user depends on such
 * memberships, and no audience names the group or unit, or one around it. If so, the full check passes for every caller but the
 * user. The answer depends on nothing that other such memberships change.
 */
export function grantsNothing(
  config: ConfigSnapshot,
  { config: version, around, heldRoles, inArticles }: Granting,
  variables: readonly MembershipVariable[],
): boolean {
  // The facts may be newer than the configuration that this process knows.
  if (version !== config.version || heldRoles === null || inArticles) return false;
  const facts = config.get(roleFactsView);
  const depends = (role: string): boolean => variables.some((variable) => facts.get(role)?.variables.has(variable));
  const named = config.get(namedView);
  return !heldRoles.some(depends) && !around.some((id) => named.has(id));
}
