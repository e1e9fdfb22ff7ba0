/**
 * The user who acts, with all their rights: the union of the grants of their roles (docs/spec/access.md#roles-and-rights).
 * Checks one record in memory and compiles the same check to SQL for lists. The tests of the condition language prove that both
 * agree.
 */
import sql, { join, raw, type Sql } from 'sql-template-tag';
import {
  type FieldAccess,
  type GlobalRight,
  type Interface,
  INTERFACES,
  type RecordAction,
} from '../../contract/rights.ts';
import { Fault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import { evaluate, type RecordFacts, type TypedCondition, type Variables } from '../../lib/filter.ts';
import { anyOfConditions } from '../../lib/filter-merge.ts';
import { newId } from '../../platform/clock.ts';
import type {
  Actor,
  ActorVariables,
  Caller,
  RecordRight,
  TypeFieldAccess,
} from '../../platform/unit-of-work/context.ts';
import { compileCondition } from '../../platform/database/filter-sql.ts';
import type { ConfigSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import { conditionEnvironment, CurrentVariables, type TypeRegistry, typeView } from '../metadata/index.ts';
import { type Grant, type RoleSet, roleView } from './roles.ts';
import type { UserRow } from './store.ts';

const EVERY_FIELD: FieldAccess = { canRead: () => true, canWrite: () => true };
const NO_FIELD: FieldAccess = { canRead: () => false, canWrite: () => false };
const NOTHING: RecordRight = { can: () => false, ...NO_FIELD, canTransition: () => false };

function unionOf(grants: readonly Grant[]): RecordRight {
  if (grants.length === 0) return NOTHING;
  const named = (pick: (grant: Grant) => ReadonlySet<string> | '*'): ((name: string) => boolean) => {
    const sets = grants.map(pick);
    if (sets.includes('*')) return () => true;
    const all = new Set((sets as ReadonlySet<string>[]).flatMap((set) => [...set]));
    return (name) => all.has(name);
  };
  const actions = new Set(grants.flatMap((grant) => [...grant.actions]));
  return {
    can: (action) => actions.has(action),
    canRead: named((grant) => grant.read),
    canWrite: named((grant) => grant.write),
    canTransition: named((grant) => grant.transitions),
  };
}

/** Maximum number of kept predicates of one user. */
const MAX_PREDICATES = 50;

export class UserActor implements Actor {
  readonly userId: string;
  readonly displayName: string;
  readonly roles: readonly string[];
  readonly variables: ActorVariables;
  readonly unitsAbove: readonly string[];
  readonly names: Map<string, string>;
  readonly #roles: RoleSet;
  readonly #types: TypeRegistry;
  /** Type id and the grants that admit a record → their union. There are few combinations; each union is built once. */
  readonly #unions = new Map<string, RecordRight>();
  /** Type id → access to its fields; built once. */
  readonly #fieldAccess = new Map<string, TypeFieldAccess>();
  /** Alias, action and types → the predicate. Only predicates that do not depend on the current time are kept. */
  readonly #predicates = new Map<string, Sql | null>();
  /** Grants, by their places in the list of the type → their merged condition. */
  readonly #merged = new Map<string, TypedCondition>();
  /** Counts the reads of the current time by conditions. */
  #timed = 0;
  readonly #noteTime = (): void => {
    this.#timed++;
  };

  constructor(
    user: {
      id: string;
      displayName: string;
      roles: readonly string[];
      variables: ActorVariables;
      unitsAbove: readonly string[];
    },
    roles: RoleSet,
    types: TypeRegistry,
    names: Map<string, string>,
  ) {
    this.userId = user.id;
    this.displayName = user.displayName;
    this.roles = user.roles;
    this.variables = user.variables;
    this.unitsAbove = user.unitsAbove;
    this.#roles = roles;
    this.#types = types;
    this.names = names;
  }

  get interfaces(): readonly Interface[] {
    const held = INTERFACES.filter((one) => this.#roles.interfaces.has(one));
    return held.length === 0 ? ['portal'] : held;
  }

  has(right: GlobalRight): boolean {
    return this.#roles.rights.has(right);
  }

  require(right: GlobalRight): void {
    if (!this.has(right)) throw rightMissing(right);
  }

  #grants(typeId: string): readonly Grant[] {
    return this.#roles.grants.get(typeId) ?? [];
  }

  #variables(now: string): Variables {
    return new CurrentVariables(this.variables, this.#types, now, this.#noteTime);
  }

  on(typeId: string, record: RecordFacts, now: string): RecordRight {
    const grants = this.#grants(typeId);
    let admitted = typeId;
    let variables: Variables | undefined;
    for (const grant of grants) {
      if (grant.where !== null) variables ??= this.#variables(now);
      const admits = grant.where === null || evaluate(grant.where, record, variables as Variables);
      admitted += admits ? '1' : '0';
    }
    let right = this.#unions.get(admitted);
    if (right === undefined) {
      right = unionOf(grants.filter((_, index) => admitted[typeId.length + index] === '1'));
      this.#unions.set(admitted, right);
    }
    return right;
  }

  mayEver(typeId: string, action: RecordAction): boolean {
    return this.#grants(typeId).some((grant) => grant.actions.has(action));
  }

  fieldAccess(typeId: string): TypeFieldAccess {
    let access = this.#fieldAccess.get(typeId);
    if (access === undefined) {
      access = this.#accessOf(typeId);
      this.#fieldAccess.set(typeId, access);
    }
    return access;
  }

  alwaysMay(typeId: string, action: RecordAction): boolean {
    return this.#grants(typeId).some((grant) => grant.where === null && grant.actions.has(action));
  }

  #accessOf(typeId: string): TypeFieldAccess {
    const grants = this.#grants(typeId);
    const reading = (code: string): Grant[] => grants.filter(({ read }) => read === '*' || read.has(code));
    const canAlwaysRead = (code: string): boolean => {
      const covering = reading(code);
      return (
        covering.some((grant) => grant.where === null) ||
        grants.every((grant) => !grant.actions.has('read') || covering.includes(grant))
      );
    };
    const ruleOf = (code: string): TypedCondition | null | undefined => {
      if (canAlwaysRead(code)) return null;
      const covering = reading(code);
      return covering.length === 0 ? undefined : this.#conditionOf(typeId, covering);
    };
    return {
      canRead: (code) => grants.some(({ read }) => read === '*' || read.has(code)),
      canWrite: (code) => grants.some(({ write }) => write === '*' || write.has(code)),
      canAlwaysRead,
      ruleOf,
      whereReadable: (alias, code, now) => {
        const rule = ruleOf(code);
        return rule === undefined ? sql`false` : this.#compiled(alias, typeId, rule, now);
      },
    };
  }

  /**
   * For each field the predicate on rows of `objects` under `alias` that a grant covers reading or writing it: null if on every
   * record on which the actor may do `read` or `update`, undefined if on none. The rows must be limited to such records.
   */
  fieldPredicates(
    alias: string,
    typeId: string,
    { access, codes, now }: { access: 'read' | 'write'; codes: Iterable<string>; now: string },
  ): Map<string, Sql | null | undefined> {
    const grants = this.#grants(typeId);
    const action = access === 'read' ? 'read' : 'update';
    const made = new Map<string, Sql | null | undefined>();
    const predicate = (covering: readonly Grant[]): Sql | null | undefined => {
      if (covering.length === 0) return undefined;
      if (grants.every((grant) => !grant.actions.has(action) || covering.includes(grant))) return null;
      return this.#anyOf(alias, typeId, covering, now);
    };
    const found = new Map<string, Sql | null | undefined>();
    for (const code of codes) {
      const covers = (grant: Grant): boolean => grant[access] === '*' || grant[access].has(code);
      const key = grants.map((grant) => (covers(grant) ? '1' : '0')).join('');
      if (!made.has(key)) made.set(key, predicate(grants.filter(covers)));
      found.set(code, made.get(key));
    }
    return found;
  }

  typesFor(action: RecordAction): string[] {
    return [...this.#roles.grants.keys()].filter((typeId) => this.mayEver(typeId, action));
  }

  visible(alias: string, action: RecordAction, now: string, typeIds?: readonly string[]): Sql | null {
    const key = `${alias} ${action} ${typeIds?.join() ?? '*'}`;
    const known = this.#predicates.get(key);
    if (known !== undefined) return known;
    const timed = this.#timed;
    const made = this.#visible(alias, action, now, typeIds ?? this.#roles.grants.keys());
    if (this.#timed === timed && this.#predicates.size < MAX_PREDICATES) this.#predicates.set(key, made);
    return made;
  }

  #visible(alias: string, action: RecordAction, now: string, typeIds: Iterable<string>): Sql | null {
    const whole: string[] = [];
    const parts: Sql[] = [];
    const column = raw(`${alias}.type_id`);
    for (const typeId of typeIds) {
      const grants = this.#grants(typeId).filter((grant) => grant.actions.has(action));
      if (grants.length === 0) continue;
      const condition = this.#anyOf(alias, typeId, grants, now);
      if (condition === null) whole.push(typeId);
      else parts.push(sql`(${column} = ${typeId}::uuid AND ${condition})`);
    }
    if (whole.length === 1) parts.unshift(sql`${column} = ${whole[0]}::uuid`);
    else if (whole.length > 1) parts.unshift(sql`${column} = ANY(${whole}::uuid[])`);
    return parts.length === 0 ? null : sql`(${join(parts, ' OR ')})`;
  }

  rule(action: RecordAction, typeIds?: readonly string[]): Map<string, TypedCondition | null> {
    const rule = new Map<string, TypedCondition | null>();
    for (const typeId of typeIds ?? this.#roles.grants.keys()) {
      const grants = this.#grants(typeId).filter((grant) => grant.actions.has(action));
      if (grants.length > 0) rule.set(typeId, this.#conditionOf(typeId, grants));
    }
    return rule;
  }

  /** The predicate "at least one of these grants admits the row"; null if one of them admits every row. */
  #anyOf(alias: string, typeId: string, grants: readonly Grant[], now: string): Sql | null {
    return this.#compiled(alias, typeId, this.#conditionOf(typeId, grants), now);
  }

  #compiled(alias: string, typeId: string, condition: TypedCondition | null, now: string): Sql | null {
    if (condition === null) return null;
    const environment = conditionEnvironment(this.#types, typeId, alias, this.#variables(now));
    return compileCondition(condition, environment);
  }

  /** The same as a condition. */
  #conditionOf(typeId: string, grants: readonly Grant[]): TypedCondition | null {
    return grants.some((grant) => grant.where === null) ? null : this.#mergedCondition(typeId, grants);
  }

  #mergedCondition(typeId: string, grants: readonly Grant[]): TypedCondition {
    const all = this.#grants(typeId);
    const key = `${typeId} ${grants.map((grant) => all.indexOf(grant)).join()}`;
    let merged = this.#merged.get(key);
    if (merged === undefined) {
      merged = anyOfConditions(grants.map((grant) => grant.where as TypedCondition));
      this.#merged.set(key, merged);
    }
    return merged;
  }
}

/** The actor of a user in a configuration. @param names shared by all actors of a rights version */
export function actorFor(user: UserRow, config: ConfigSnapshot, names: Map<string, string> = new Map()): UserActor {
  const { id, displayName, roles, unitsAbove, groups, orgUnit, orgUnits } = user;
  const variables = { me: id, groups, orgUnit, orgUnits };
  return new UserActor(
    { id, displayName, roles, variables, unitsAbove },
    config.get(roleView).union(roles),
    config.get(typeView),
    names,
  );
}

/** The predicate of all records of the types, or of all types. */
export function everyRecord(alias: string, typeIds: readonly string[] | undefined): Sql {
  return typeIds === undefined ? sql`true` : sql`${raw(`${alias}.type_id`)} = ANY(${[...typeIds]}::uuid[])`;
}

/**
 * The actor of the service itself: command line, starter configuration, background jobs. It holds every right. It bypasses no
 * other rule: the checks of values, states and revisions do not depend on rights.
 */
export function systemActor(types: TypeRegistry | null): Actor {
  const all: RecordRight = { can: () => true, ...EVERY_FIELD, canTransition: () => true };
  return {
    userId: null,
    displayName: 'system',
    roles: [],
    interfaces: ['desk'],
    variables: { me: '00000000-0000-0000-0000-000000000000', groups: [], orgUnit: null, orgUnits: [] },
    unitsAbove: [],
    names: new Map(),
    has: () => true,
    require: () => {},
    on: () => all,
    mayEver: () => true,
    alwaysMay: () => true,
    fieldAccess: () => ({ ...EVERY_FIELD, canAlwaysRead: () => true, ruleOf: () => null, whereReadable: () => null }),
    typesFor: () => [...(types?.byId.keys() ?? [])],
    visible: (alias, _action, _now, typeIds) => everyRecord(alias, typeIds),
    rule: (_action, typeIds) => new Map([...(typeIds ?? types?.byId.keys() ?? [])].map((typeId) => [typeId, null])),
  };
}

/** The actor of operations that need no key: it holds no right. */
export function anonymousActor(): Actor {
  return {
    userId: null,
    displayName: '',
    roles: [],
    interfaces: [],
    variables: { me: '00000000-0000-0000-0000-000000000000', groups: [], orgUnit: null, orgUnits: [] },
    unitsAbove: [],
    names: new Map(),
    has: () => false,
    require: (right) => {
      throw rightMissing(right);
    },
    on: () => NOTHING,
    mayEver: () => false,
    alwaysMay: () => false,
    fieldAccess: () => ({
      ...NO_FIELD,
      canAlwaysRead: () => false,
      ruleOf: () => undefined,
      whereReadable: () => sql`false`,
    }),
    typesFor: () => [],
    visible: () => null,
    rule: () => new Map(),
  };
}

/** The system user as a caller, with the given configuration. */
export function systemCaller(config: ConfigSnapshot): Caller {
  return {
    actor: systemActor(config.get(typeView)),
    via: 'system',
    keyId: null,
    correlationId: newId(),
    config,
  };
}

export function rightMissing(right: string): Fault {
  return new Fault('RIGHT_MISSING', problem('RIGHT_OF_ROLE_MISSING', { right }), {
    right,
  });
}
