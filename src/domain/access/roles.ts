/**
 * Compiled roles: the grants of each role by type, and the union for each set of roles. Built once for each configuration
 * snapshot. Pure.
 */
import { isActive } from '../../contract/state.ts';
import {
  conditionFor,
  leavesOf,
  parseCondition,
  type TypedCondition,
  type TypedLeaf,
  type Condition,
} from '../../lib/filter.ts';
import { anyOfConditions } from '../../lib/filter-merge.ts';
import type { ConfigSnapshot, ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import { fieldResolver, type RecordType, typeView, type LocalizedText } from '../metadata/index.ts';
import {
  ADMINISTRATION_RIGHTS,
  DESK_ACTIONS,
  type GlobalRight,
  type Interface,
  type RecordAction,
} from '../../contract/rights.ts';

/** One grant on one type, with its condition parsed. */
export interface Grant {
  where: TypedCondition | null;
  actions: ReadonlySet<string>;
  read: ReadonlySet<string> | '*';
  write: ReadonlySet<string> | '*';
  transitions: ReadonlySet<string> | '*';
}

/** The union of some roles, shared by all users who hold exactly these roles. */
export interface RoleSet {
  rights: ReadonlySet<GlobalRight>;
  /** Type id → grants. */
  grants: ReadonlyMap<string, readonly Grant[]>;
  /** Interfaces of the console that the roles are for. */
  interfaces: ReadonlySet<Interface>;
}

export interface RoleRegistry {
  /** Ids of the roles, by code. */
  ids: ReadonlyMap<string, string>;
  union(roleIds: readonly string[]): RoleSet;
  /** One active role by its id. The grants on a type keep the order of the role's definition. */
  one(roleId: string): RoleSet | undefined;
}

/** The interface that a role is for (docs/spec/access.md#interface). */
function interfaceOf({ interface: own, rights, records }: Omit<RoleDefinition, 'assignedTo'>): Interface {
  if (own !== undefined) return own;
  const works = records.some(({ actions }) => actions.some((action) => DESK_ACTIONS.has(action)));
  return works || rights.some((right) => ADMINISTRATION_RIGHTS.has(right)) ? 'desk' : 'portal';
}

function names(list: string[] | '*'): ReadonlySet<string> | '*' {
  return list === '*' ? '*' : new Set(list);
}

function compileGrant(grant: RecordGrant, type: RecordType): Grant {
  const resolve = fieldResolver(type);
  return {
    where:
      grant.where === undefined
        ? null
        : parseCondition(conditionFor(grant.where, type.code), { resolve, variables: 'allowed', base: '/where' }),
    actions: new Set(grant.actions),
    read: names(grant.fields.read),
    write: names(grant.fields.write),
    transitions: names(grant.transitions),
  };
}

function build(source: ConfigSource, snapshot: ConfigSnapshot): RoleRegistry {
  const types = snapshot.get(typeView);
  const roles = new Map<string, RoleSet>();
  const ids = new Map<string, string>();
  for (const item of source.items) {
    if (item.section !== 'roles' || !isActive(item)) continue;
    const role = item.compiled as Omit<RoleDefinition, 'assignedTo'>;
    const grants = new Map<string, Grant[]>();
    for (const grant of role.records) {
      const on: RecordType[] =
        grant.type === '*'
          ? [...types.byId.values()]
          : [types.byCode.get(grant.type)].filter((type) => type !== undefined);
      for (const type of on) {
        const list = grants.get(type.id) ?? [];
        list.push(compileGrant(grant, type));
        grants.set(type.id, list);
      }
    }
    roles.set(item.id, { rights: new Set(role.rights), grants, interfaces: new Set([interfaceOf(role)]) });
    ids.set(item.code, item.id);
  }
  const unions = new Map<string, RoleSet>();
  return {
    ids,
    one: (roleId) => roles.get(roleId),
    union(roleIds) {
      const held = roleIds.filter((id) => roles.has(id)).sort();
      const key = held.join();
      let union = unions.get(key);
      if (union === undefined) {
        union = merge(held.map((id) => roles.get(id) as RoleSet));
        unions.set(key, union);
      }
      return union;
    },
  };
}

function merge(sets: readonly RoleSet[]): RoleSet {
  const rights = new Set<GlobalRight>();
  const grants = new Map<string, Grant[]>();
  for (const set of sets) {
    for (const right of set.rights) rights.add(right);
    for (const [typeId, list] of set.grants) grants.set(typeId, [...(grants.get(typeId) ?? []), ...list]);
  }
  const interfaces = new Set(sets.flatMap((set) => [...set.interfaces]));
  return { rights, grants: new Map([...grants].map(([typeId, list]) => [typeId, mergedGrants(list)])), interfaces };
}

/** Grants that give the same become one, so that a check of a record costs about the same for 1 and for 500 roles. */
export function mergedGrants(grants: readonly Grant[]): Grant[] {
  const listed = (set: ReadonlySet<string> | '*'): string[] | '*' => (set === '*' ? '*' : [...set].sort());
  const alike = Map.groupBy(grants, ({ actions, read, write, transitions }) =>
    JSON.stringify([actions, read, write, transitions].map(listed)),
  );
  return [...alike.values()].map((same) => {
    const conditions = same.flatMap(({ where }) => where ?? []);
    return { ...(same[0] as Grant), where: conditions.length < same.length ? null : anyOfConditions(conditions) };
  });
}

export const roleView: DerivedView<RoleRegistry> = { name: 'access', build };

/** Whether a reading grant of any role on the type leaves the field out: not every reader of a record reads such a field. */
export type RestrictedFields = (typeId: string, fieldCode: string) => boolean;

function buildRestricted(source: ConfigSource): RestrictedFields {
  const lists = new Map<string, (ReadonlySet<string> | '*')[]>();
  for (const item of source.items) {
    if (item.section !== 'roles' || !isActive(item)) continue;
    for (const grant of (item.compiled as Omit<RoleDefinition, 'assignedTo'>).records) {
      if (!grant.actions.includes('read')) continue;
      lists.set(grant.type, [...(lists.get(grant.type) ?? []), names(grant.fields.read)]);
    }
  }
  const types = new Map(source.items.flatMap(({ section, id, code }) => (section === 'types' ? [[id, code]] : [])));
  return (typeId, fieldCode) => {
    const of = [...(lists.get('*') ?? []), ...(lists.get(types.get(typeId) ?? '') ?? [])];
    return of.some((read) => read !== '*' && !read.has(fieldCode));
  };
}

/** The fields that not every reader of a record can read. Search indexes their words apart. */
export const restrictedFieldView: DerivedView<RestrictedFields> = { name: 'access.restricted', build: buildRestricted };

/** What the reading grants on a type compare with the caller: it identifies the few records that are the caller's own. */
export interface OwnFields {
  /** Codes of the type's fields. */
  fields: ReadonlySet<string>;
  /** Whether the creator of the record is compared. */
  createdBy: boolean;
}

const CALLERS = new Set(['me', 'myGroups', 'myOrgUnit', 'myOrgUnits']);

/** The grants of a role that concern a type, as defined and compiled. */
export function grantsOf(
  config: ConfigSnapshot,
  { id, role, typeId, code }: { id: string; role: RoleDefinition; typeId: string; code: string },
): { grant: RecordGrant; compiled: Grant }[] {
  const compiled = config.get(roleView).one(id)?.grants.get(typeId) ?? [];
  const own = role.records.filter(({ type }) => type === '*' || type === code);
  return own.flatMap((grant, index) => {
    const one = compiled[index];
    return one === undefined ? [] : [{ grant, compiled: one }];
  });
}

/** The leaves of the condition that compare a field with the caller or with one of their groups or units. */
function ownLeaves(condition: TypedCondition): TypedLeaf[] {
  return [...leavesOf(condition)].filter((leaf) => {
    const operands = leaf.operator === 'equals' ? [leaf.value] : leaf.operator === 'in' ? leaf.values : [];
    return operands.some((operand) => 'variable' in operand && CALLERS.has(operand.variable));
  });
}

function buildOwn(_source: ConfigSource, snapshot: ConfigSnapshot): ReadonlyMap<string, OwnFields> {
  const roles = snapshot.get(roleView);
  const own = new Map<string, { fields: Set<string>; createdBy: boolean }>();
  for (const id of roles.ids.values()) {
    for (const [typeId, grants] of roles.one(id)?.grants ?? []) {
      const of = own.get(typeId) ?? { fields: new Set<string>(), createdBy: false };
      own.set(typeId, of);
      for (const { where, actions } of grants) {
        if (where === null || !actions.has('read')) continue;
        for (const { field } of ownLeaves(where)) {
          if (field.kind === 'value') of.fields.add(field.code);
          else if (field.code === 'createdBy') of.createdBy = true;
        }
      }
    }
  }
  return own;
}

/** Type id → its own fields. They are indexed like filterable fields, so that lists are fast for users who see few records. */
export const ownFieldView: DerivedView<ReadonlyMap<string, OwnFields>> = { name: 'access.own', build: buildOwn };

export interface RecordGrant {
  /** Code of a type, or '*' for all. */
  type: string;
  where?: Condition;
  actions: RecordAction[];
  fields: { read: string[] | '*'; write: string[] | '*' };
  /** Codes of the transitions, or '*'. */
  transitions: string[] | '*';
}

export interface RoleDefinition {
  code: string;
  name: LocalizedText;
  description?: LocalizedText;
  /** Absent: decided by rights and actions, see `interfaceOf`. */
  interface?: Interface;
  rights: GlobalRight[];
  records: RecordGrant[];
  /**
   * Memberships that holders of the role may give to other users without having them: codes of groups and organisation units,
   * or '*' for all; ids in the compiled form. Absent if there are none.
   */
  memberships?: { groups: string[] | '*'; orgUnits: string[] | '*' };
  assignedTo: { users: string[]; groups: string[] };
}
