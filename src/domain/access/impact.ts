/**
 * The impact of a plan on access: which roles and users gain or lose records and fields, and which connections stop working. Uses
 * the compiled rights of both configurations.
 */
import type {
  AccessCount,
  FieldAccessChange,
  Impact,
  ImpactContext,
  ImpactSource,
  PersonImpact,
} from '../../configuration/impact.ts';
import { isActive } from '../../contract/state.ts';
import { deepEqualJson } from '../../lib/json.ts';
import { Turns } from '../../lib/yielding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigItem, ConfigSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import { type TypeRegistry, typeView } from '../metadata/index.ts';
import { actorFor, type UserActor } from './actor.ts';
import { hasHiddenCondition } from './impact-limits.ts';
import type { RoleDefinition } from './roles.ts';
import type { UserRow } from './store.ts';
import {
  loadActiveUsers,
  accessExamples,
  type AccessPair,
  countAccess,
  type Counted,
  populationOf,
  type Population,
} from './store-impact.ts';

const USERS_AT_ONCE = 500;
/** More users are not examined. */
const MOST_USERS = 20_000;
const MOST_PEOPLE = 50;
/** Different holders of a role whose conditions are examined. */
const MOST_HOLDERS = 100;

type Users = ReadonlyMap<string, UserRow>;

async function loadUsers(ctx: ReadContext): Promise<Users> {
  const users = new Map<string, UserRow>();
  for (let after: string | null = null; users.size < MOST_USERS; ) {
    const page = await loadActiveUsers(ctx, after, USERS_AT_ONCE);
    for (const user of page) users.set(user.id, user);
    after = page.at(-1)?.id ?? null;
    if (page.length < USERS_AT_ONCE) break;
  }
  return users;
}

/** An actor before and after the change; undefined where the user is not active or does not exist. */
interface Actors {
  before: UserActor | undefined;
  after: UserActor | undefined;
}

function pairOn({ before, after }: Actors, typeId: string, now: string): AccessPair {
  return {
    readBefore: before?.visible('o', 'read', now, [typeId]) ?? null,
    readAfter: after?.visible('o', 'read', now, [typeId]) ?? null,
    writeBefore: before?.visible('o', 'update', now, [typeId]) ?? null,
    writeAfter: after?.visible('o', 'update', now, [typeId]) ?? null,
  };
}

const keyOf = (pair: AccessPair): string =>
  JSON.stringify(
    Object.values(pair).map((condition) => (condition === null ? null : [condition.sql, condition.values])),
  );

const isUnchanged = ({ readBefore, readAfter, writeBefore, writeAfter }: AccessPair): boolean => {
  const same = (a: AccessPair['readBefore'], b: AccessPair['readBefore']): boolean =>
    a === null || b === null ? a === b : a.sql === b.sql && deepEqualJson(a.values, b.values);
  return same(readBefore, readAfter) && same(writeBefore, writeAfter);
};

/** Fields that both configurations have and that are readable or writable in only one of them. */
function fieldChanges(
  { before, after }: Actors,
  { config: was }: ReadContext,
  { config: is }: ReadContext,
): FieldAccessChange[] {
  const found: FieldAccessChange[] = [];
  for (const type of was.get(typeView).byId.values()) {
    const now = is.get(typeView).byId.get(type.id);
    for (const { code: field, former = [] } of now?.newest.fields.values() ?? []) {
      const old = [field, ...former].find((code) => type.newest.fields.has(code));
      if (old === undefined) continue;
      for (const [access, can] of [
        ['read', 'canRead'],
        ['write', 'canWrite'],
      ] as const) {
        const had = before?.fieldAccess(type.id)[can](old) ?? false;
        const has = after?.fieldAccess(type.id)[can](field) ?? false;
        if (had !== has) found.push({ type: type.code, field, access, change: has ? 'gained' : 'lost' });
      }
    }
  }
  return found;
}

function itemsOf(config: ConfigSnapshot, section: string): Map<string, ConfigItem> {
  return new Map(config.items(section).map((item) => [item.id, item]));
}

/** Ids of the roles whose grants differ, or have conditions on types that differ: these may match other records. */
function changedRoles(was: ConfigSnapshot, is: ConfigSnapshot): Set<string> {
  const [before, after] = [itemsOf(was, 'roles'), itemsOf(is, 'roles')];
  const [oldTypes, newTypes] = [itemsOf(was, 'types'), itemsOf(is, 'types')];
  const types = new Set<string>();
  for (const { id, code, compiled } of oldTypes.values()) {
    if (!deepEqualJson(compiled, newTypes.get(id)?.compiled)) types.add(code);
  }
  const depends = (role: ConfigItem | undefined): boolean =>
    ((role?.compiled as Pick<RoleDefinition, 'records'> | undefined)?.records ?? []).some(
      ({ type, where }) => where !== undefined && types.size > 0 && (type === '*' || types.has(type)),
    );
  const same = (id: string): boolean => {
    const [one, other] = [before.get(id), after.get(id)];
    return one?.state === other?.state && deepEqualJson(one?.compiled, other?.compiled) && !depends(one);
  };
  return new Set([...before.keys(), ...after.keys()].filter((id) => !same(id)));
}

/** Populations of the types, made when they are first needed. */
class Counter {
  readonly #context: ImpactContext;
  readonly #populations = new Map<string, Population>();

  constructor(context: ImpactContext) {
    this.#context = context;
  }

  async #population(typeId: string): Promise<Population> {
    let population = this.#populations.get(typeId);
    if (population === undefined) {
      const { after, limit } = this.#context;
      const scope = limit === null ? undefined : limit.visible('o', 'read', after.now, [typeId]);
      population = await populationOf(after, typeId, scope);
      if (population.errorBound > 0) this.#context.inexact(population.errorBound);
      this.#populations.set(typeId, population);
    }
    return population;
  }

  /** Counts each group of pairs; null for those for which no time was left, or whose count would tell hidden values. */
  async count(typeId: string, groups: readonly (readonly AccessPair[])[]): Promise<(Counted | null)[]> {
    if (hasHiddenCondition(this.#context, typeId)) return groups.map(() => null);
    if (!this.#context.hasTime()) {
      this.#context.inexact(null);
      return groups.map(() => null);
    }
    return await countAccess(this.#context.after, await this.#population(typeId), groups);
  }

  async examples(typeId: string, pairs: readonly AccessPair[]): Promise<AccessCount['examples']> {
    if (!this.#context.hasTime()) return [];
    const { after, caller } = this.#context;
    const visible = caller.visible('o', 'read', after.now, [typeId]);
    return await accessExamples(after, await this.#population(typeId), pairs, visible);
  }
}

const isZero = ({ gained, lost, writable }: Counted): boolean => gained + lost + writable.gained + writable.lost === 0;

/** The pairs of a user or role by type id, without unchanged ones. */
function pairsOf(actors: Actors, types: readonly { id: string }[], now: string): Map<string, AccessPair> {
  const pairs = types.map(({ id }) => [id, pairOn(actors, id, now)] as const);
  return new Map(pairs.filter(([, pair]) => !isUnchanged(pair)));
}

async function rolesImpact(
  { before, after, inexact }: ImpactContext,
  counter: Counter,
  { was, is }: { was: Users; is: Users },
): Promise<Impact['roles']> {
  const types = [...before.config.get(typeView).byId.values()];
  const codes = new Map([...itemsOf(before.config, 'roles'), ...itemsOf(after.config, 'roles')]);
  const found: Impact['roles'] = [];
  for (const id of changedRoles(before.config, after.config)) {
    const only = (user: UserRow): UserRow => ({ ...user, roles: [id] });
    const nobody: UserRow = { ...NOBODY, roles: [id] };
    const holders = [
      ...new Set([...was.values(), ...is.values()].filter((user) => user.roles.includes(id)).map((user) => user.id)),
    ];
    if (holders.length > MOST_HOLDERS) inexact(null);
    const users = holders.slice(0, MOST_HOLDERS).map((holder) => (is.get(holder) ?? was.get(holder)) as UserRow);
    const actors = (users.length === 0 ? [nobody] : users.map(only)).map((user) => ({
      before: actorFor(user, before.config),
      after: actorFor(user, after.config),
    }));
    const records: AccessCount[] = [];
    for (const type of types) {
      const pairs = new Map(
        actors.flatMap((one) => [...pairsOf(one, [type], after.now).values()]).map((pair) => [keyOf(pair), pair]),
      );
      if (pairs.size === 0) continue;
      const group = [...pairs.values()];
      const [counted] = await counter.count(type.id, [group]);
      if (counted === undefined || counted === null || isZero(counted)) continue;
      records.push({ type: type.code, ...counted, examples: await counter.examples(type.id, group) });
    }
    const fields = actors[0] === undefined ? [] : fieldChanges(actors[0], before, after);
    if (records.length + fields.length > 0) found.push({ role: codes.get(id)?.code ?? id, records, fields });
  }
  return found.sort((a, b) => (a.role < b.role ? -1 : 1));
}

const NOBODY: UserRow = {
  id: '00000000-0000-0000-0000-000000000000',
  login: '',
  displayName: '',
  state: 'ACTIVE',
  locale: null,
  groups: [],
  orgUnit: null,
  orgUnits: [],
  unitsAbove: [],
  roles: [],
};

const RIGHTS_OF = ({ roles, groups, orgUnit, orgUnits }: UserRow): unknown => ({
  roles: [...roles].sort(),
  groups,
  orgUnit,
  orgUnits,
});

interface Affected {
  user: UserRow;
  actors: Actors;
  pairs: ReadonlyMap<string, AccessPair>;
  counts: Map<string, Counted>;
}

async function affectedUsers({ before, after }: ImpactContext, was: Users, is: Users): Promise<Affected[]> {
  const changed = changedRoles(before.config, after.config);
  const types = [...before.config.get(typeView).byId.values()];
  const turns = new Turns();
  const found: Affected[] = [];
  for (const id of new Set([...was.keys(), ...is.keys()])) {
    await turns.next();
    const [old, now] = [was.get(id), is.get(id)];
    const held = [...(old?.roles ?? []), ...(now?.roles ?? [])];
    const same = old !== undefined && now !== undefined && deepEqualJson(RIGHTS_OF(old), RIGHTS_OF(now));
    if (same && !held.some((role) => changed.has(role))) continue;
    const actors = {
      before: old === undefined ? undefined : actorFor(old, before.config),
      after: now === undefined ? undefined : actorFor(now, after.config),
    };
    const pairs = pairsOf(actors, types, after.now);
    found.push({ user: (now ?? old) as UserRow, actors, pairs, counts: new Map() });
  }
  return found;
}

/** Counts for each user. Users with the same conditions are counted once. */
async function countUsers(affected: readonly Affected[], counter: Counter): Promise<void> {
  const types = new Set(affected.flatMap(({ pairs }) => [...pairs.keys()]));
  for (const typeId of types) {
    const distinct = new Map<string, AccessPair>();
    for (const { pairs } of affected) {
      const pair = pairs.get(typeId);
      if (pair !== undefined) distinct.set(keyOf(pair), pair);
    }
    const keys = [...distinct.keys()];
    const counts = new Map<string, Counted>();
    for (let start = 0; start < keys.length; start += 50) {
      const some = keys.slice(start, start + 50);
      const counted = await counter.count(
        typeId,
        some.map((key) => [distinct.get(key) as AccessPair]),
      );
      for (const [index, key] of some.entries()) {
        const one = counted[index] ?? null;
        if (one !== null) counts.set(key, one);
      }
    }
    for (const { pairs, counts: own } of affected) {
      const pair = pairs.get(typeId);
      const counted = pair === undefined ? undefined : counts.get(keyOf(pair));
      if (counted !== undefined && !isZero(counted)) own.set(typeId, counted);
    }
  }
}

const weight = ({ counts }: Affected): number =>
  [...counts.values()].reduce(
    (sum, { gained, lost, writable }) => sum + gained + lost + writable.gained + writable.lost,
    0,
  );

async function peopleImpact(context: ImpactContext, counter: Counter, was: Users, is: Users) {
  const { before, after, caller } = context;
  const affected = await affectedUsers(context, was, is);
  await countUsers(affected, counter);
  const withFields = affected
    .map((one) => ({ ...one, fields: fieldChanges(one.actors, before, after) }))
    .filter(({ counts, fields }) => counts.size + fields.length > 0)
    .sort((a, b) => weight(b) - weight(a) || (a.user.login < b.user.login ? -1 : 1));
  const types = before.config.get(typeView).byId;
  const people: PersonImpact[] = [];
  // Who holds which role is shown to those who may see holders of roles.
  const named = caller.has('role.assign') || caller.has('user.administer') ? withFields.slice(0, MOST_PEOPLE) : [];
  for (const { user, pairs, counts, fields } of named) {
    const records: AccessCount[] = [];
    for (const [typeId, counted] of counts) {
      const pair = pairs.get(typeId) as AccessPair;
      records.push({
        type: types.get(typeId)?.code ?? typeId,
        ...counted,
        examples: await counter.examples(typeId, [pair]),
      });
    }
    people.push({ id: user.id, login: user.login, displayName: user.displayName, records, fields });
  }
  const all = withFields.flatMap(({ counts }) => [...counts.values()]);
  const sum = (change: 'gained' | 'lost'): number =>
    all.reduce((total, one) => total + one[change] + one.writable[change], 0);
  return { people, affectedPeople: withFields.length, access: { gained: sum('gained'), lost: sum('lost') } };
}

interface Connection {
  enabled?: boolean;
  executionPrincipalId?: string;
  filters?: { types?: string[] };
  config?: { typeDefinitionId?: string; command?: string };
}

/** Why a connection works before and not after the change; undefined if nothing breaks. */
function breakOf(
  was: ConfigItem,
  is: ConfigItem | undefined,
  { before, after }: Actors,
  types: TypeRegistry,
): string | undefined {
  const [old, now] = [was.compiled as Connection, is?.compiled as Connection | undefined];
  if (!isActive(was) || old.enabled === false) return undefined;
  if (is === undefined || !isActive(is)) return 'ARCHIVED';
  if (now?.enabled === false) return 'DISABLED';
  if (now?.executionPrincipalId === undefined || before === undefined) return undefined;
  if (after === undefined) return 'PRINCIPAL_ARCHIVED';
  if (was.section === 'webhooks') {
    const only = now.filters?.types ?? [];
    const reads = (actor: UserActor): string[] =>
      actor.typesFor('read').filter((type) => only.length === 0 || only.includes(type));
    return reads(before).some((type) => !after.mayEver(type, 'read')) ? 'PRINCIPAL_READS_LESS' : undefined;
  }
  const named = now.config?.typeDefinitionId;
  const type = named === undefined ? undefined : (types.byCode.get(named)?.id ?? named);
  const lost = type !== undefined && before.mayEver(type, 'create') && !after.mayEver(type, 'create');
  return lost ? 'PRINCIPAL_MAY_NOT_CREATE' : undefined;
}

function brokenConnections({ before, after }: ImpactContext, was: Users, is: Users): Impact['broken'] {
  const broken: Impact['broken'] = [];
  for (const section of ['webhooks', 'integrations', 'importDefinitions']) {
    const now = itemsOf(after.config, section);
    for (const item of before.config.items(section)) {
      const next = now.get(item.id);
      const principal = (next?.compiled as Connection | undefined)?.executionPrincipalId ?? '';
      const [old, present] = [was.get(principal), is.get(principal)];
      const actors = {
        before: old === undefined ? undefined : actorFor(old, before.config),
        after: present === undefined ? undefined : actorFor(present, after.config),
      };
      const reason = breakOf(item, next, actors, after.config.get(typeView));
      if (reason !== undefined) broken.push({ section, code: item.code, reason });
    }
  }
  return broken;
}

const IDENTITY: ReadonlySet<string> = new Set(['users', 'groups', 'orgUnits', 'roles']);

export const accessImpact: ImpactSource = async (present) => {
  const was = await loadUsers(present);
  return async (context) => {
    const moved = context.changes.some(({ section }) => IDENTITY.has(section));
    const is = moved ? await loadUsers(context.after) : was;
    if (was.size >= MOST_USERS) context.inexact(null);
    const counter = new Counter(context);
    const roles = await rolesImpact(context, counter, { was, is });
    return { roles, ...(await peopleImpact(context, counter, was, is)), broken: brokenConnections(context, was, is) };
  };
};
