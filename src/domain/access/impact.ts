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
import { deepEqualJson } from '../../lib/json.ts';
import { Yielder } from '../../lib/yielding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { type RecordType, typeView } from '../metadata/index.ts';
import { actorFor } from './actor.ts';
import { brokenItems } from './impact-broken.ts';
import { Counter } from './impact-counter.ts';
import { changedRoles, itemsOf, profiles } from './impact-roles.ts';
import type { UserRow } from './store.ts';
import {
  type Actors,
  type FieldShift,
  loadActiveUsers,
  type Shift,
  shiftsOn,
  type TypeShifts,
} from './store-impact.ts';

const USERS_AT_ONCE = 500;
/** More users are not examined. */
const MAX_USERS = 20_000;
const MAX_PEOPLE = 50;
/** Holders of a role with different rights whose conditions are examined. */
const MAX_HOLDERS = 100;

interface Users {
  byId: ReadonlyMap<string, UserRow>;
  complete: boolean;
}

async function loadUsers(ctx: ReadContext, hasTime: () => boolean): Promise<Users> {
  const byId = new Map<string, UserRow>();
  for (let after: string | null = null; byId.size < MAX_USERS && hasTime(); ) {
    const page = await loadActiveUsers(ctx, after, USERS_AT_ONCE);
    for (const user of page) byId.set(user.id, user);
    after = page.at(-1)?.id ?? null;
    if (page.length < USERS_AT_ONCE) return { byId, complete: true };
  }
  return { byId, complete: false };
}

interface Present {
  context: ImpactContext;
  counter: Counter;
  /** Active users before and after. */
  was: ReadonlyMap<string, UserRow>;
  is: ReadonlyMap<string, UserRow>;
  changed: ReadonlyMap<string, ReadonlySet<string>>;
  types: ReadonlyMap<string, RecordType>;
  /** Equal for users with the same rights before and after. */
  profileOf(old: UserRow | undefined, now: UserRow | undefined): string;
  yielder: Yielder;
  /** Whether all users were loaded. */
  isWhole: boolean;
}

function actorsOf({ before, after }: ImpactContext, old: UserRow | undefined, now: UserRow | undefined): Actors {
  return {
    before: old === undefined ? undefined : actorFor(old, before.config),
    after: now === undefined ? undefined : actorFor(now, after.config),
  };
}

const one = (shift: Shift | undefined): Shift[] => (shift === undefined ? [] : [shift]);
const groupsOf = ({ read, write, fields }: TypeShifts): Shift[][] => [
  one(read),
  one(write),
  ...fields.map(({ shift }) => [shift]),
];

interface RoleFields extends Omit<FieldShift, 'shift'> {
  group: Shift[];
}

/** The shifts of all holders of a role together: a record counts if it changes for any of them. */
class Union {
  readonly read: Shift[] = [];
  readonly write: Shift[] = [];
  readonly fields = new Map<string, RoleFields>();

  add({ read, write, fields }: TypeShifts): void {
    this.read.push(...one(read));
    this.write.push(...one(write));
    for (const { field, access, general, shift } of fields) {
      const key = `${access} ${field}`;
      const known = this.fields.get(key);
      if (known === undefined) this.fields.set(key, { field, access, general, group: [shift] });
      else known.group.push(shift);
    }
  }
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

/** Differs from `NOBODY` in all that conditions may compare. */
const SOMEBODY: UserRow = { ...NOBODY, id: 'x', groups: ['x'], orgUnit: 'x', orgUnits: ['x'] };

/** Whether the caller may know who holds a role. */
const seesHolders = ({ caller }: ImpactContext): boolean => caller.has('role.assign') || caller.has('user.administer');

/**
 * The holders of each changed role with this role alone, without those whose rights from it are the same. For callers who may not
 * know them, nobody: records that a condition with `$me` selects would tell who the holders are.
 */
async function holdersOf({ context, was, is, changed, profileOf, yielder }: Present): Promise<Map<string, UserRow[]>> {
  if (!seesHolders(context)) {
    const profileWith = (user: UserRow, role: string): string =>
      profileOf({ ...user, roles: [role] }, { ...user, roles: [role] });
    if ([...changed.keys()].some((role) => profileWith(NOBODY, role) !== profileWith(SOMEBODY, role)))
      context.inexact(null);
    return new Map([...changed.keys()].map((role) => [role, [{ ...NOBODY, roles: [role] }]]));
  }
  const holders = new Map([...changed.keys()].map((role) => [role, new Map<string, UserRow>()]));
  for (const user of [...is.values(), ...was.values()]) {
    await yielder.next();
    for (const role of user.roles) {
      const of = holders.get(role);
      if (of === undefined) continue;
      const only = { ...user, roles: [role] };
      const profile = profileOf(only, only);
      if (!of.has(profile)) of.set(profile, only);
    }
  }
  return new Map(
    [...holders].map(([role, of]) => [role, of.size === 0 ? [{ ...NOBODY, roles: [role] }] : [...of.values()]]),
  );
}

async function rolesImpact(present: Present): Promise<Impact['roles']> {
  const { context, counter, changed, types, yielder } = present;
  const codes = new Map([...itemsOf(context.before.config, 'roles'), ...itemsOf(context.after.config, 'roles')]);
  const found: Impact['roles'] = [];
  for (const [id, holders] of await holdersOf(present)) {
    if (holders.length > MAX_HOLDERS) context.inexact(null);
    const actors = holders.slice(0, MAX_HOLDERS).map((user) => actorsOf(context, user, user));
    const role = { role: codes.get(id)?.code ?? id, records: [] as AccessCount[], fields: [] as FieldAccessChange[] };
    for (const typeId of changed.get(id) ?? []) {
      const type = types.get(typeId);
      if (type === undefined) continue;
      const union = new Union();
      for (const pair of actors) {
        await yielder.next();
        const shifts = shiftsOn(pair, type, context);
        if (shifts !== undefined) union.add(shifts);
      }
      const fields = [...union.fields.values()];
      await counter.count(typeId, [union.read, union.write, ...fields.map(({ group }) => group)]);
      const records = await counter.records(typeId, union);
      if (records !== undefined) role.records.push(records);
      role.fields.push(...(await counter.fields(typeId, fields, role.fields.length)));
    }
    if (role.records.length + role.fields.length > 0) found.push(role);
  }
  return found.sort((a, b) => (a.role < b.role ? -1 : 1));
}

/** Users with the same rights before and after. */
interface Profile {
  users: UserRow[];
  actors: Actors;
  types: Map<string, TypeShifts>;
}

const rightsOf = ({ roles, groups, orgUnit, orgUnits }: UserRow): unknown => ({
  roles: [...roles].sort(),
  groups,
  orgUnit,
  orgUnits,
});

/** The types on which the rights of a user may change. */
function touched({ changed, types }: Present, old: UserRow | undefined, now: UserRow | undefined): Iterable<string> {
  if (old === undefined || now === undefined || !deepEqualJson(rightsOf(old), rightsOf(now))) return types.keys();
  return new Set(now.roles.flatMap((role) => [...(changed.get(role) ?? [])]));
}

async function affectedProfiles(present: Present): Promise<{ profiles: Profile[]; isWhole: boolean }> {
  let { isWhole } = present;
  const { context, was, is, types, profileOf, yielder } = present;
  const found = new Map<string, Profile>();
  for (const id of new Set([...was.keys(), ...is.keys()])) {
    await yielder.next();
    const [old, now] = [was.get(id), is.get(id)];
    const on = [...touched(present, old, now)].flatMap((typeId) => types.get(typeId) ?? []);
    if (on.length === 0) continue;
    const user = (now ?? old) as UserRow;
    const key = profileOf(old, now);
    const known = found.get(key);
    if (known !== undefined) {
      known.users.push(user);
      continue;
    }
    if (!context.hasTime()) {
      context.inexact(null);
      isWhole = false;
      break;
    }
    const profile: Profile = { users: [user], actors: actorsOf(context, old, now), types: new Map() };
    for (const type of on) {
      await yielder.next();
      const shifts = shiftsOn(profile.actors, type, context);
      if (shifts !== undefined) profile.types.set(type.id, shifts);
    }
    found.set(key, profile);
  }
  return { profiles: [...found.values()].filter((profile) => profile.types.size > 0), isWhole };
}

interface Sum {
  gained: number;
  lost: number;
  /** Null if not all was counted. */
  errorBound: number | null;
  /** Whether a field becomes readable or writable, or stops being so, on some records. */
  general: boolean;
}

/** What changes for one user of the profile, over all types. */
function sumOf({ types }: Profile, counter: Counter): Sum {
  const sum: Sum = { gained: 0, lost: 0, errorBound: 0, general: false };
  for (const [typeId, shifts] of types) {
    for (const group of groupsOf(shifts)) {
      if (group.length === 0) continue;
      const counted = counter.found(typeId, group);
      sum.gained += counted?.gained ?? 0;
      sum.lost += counted?.lost ?? 0;
      sum.errorBound = sum.errorBound === null || counted === undefined ? null : sum.errorBound + counted.errorBound;
    }
    sum.general ||= shifts.fields.some(({ general }) => general !== undefined);
  }
  return sum;
}

async function personImpact(user: UserRow, { types }: Profile, counter: Counter): Promise<PersonImpact> {
  const { id, login, displayName } = user;
  const person: PersonImpact = { id, login, displayName, records: [], fields: [] };
  for (const [typeId, { read, write, fields }] of types) {
    const records = await counter.records(typeId, { read: one(read), write: one(write) });
    if (records !== undefined) person.records.push(records);
    const groups = fields.map(({ shift, ...field }) => ({ ...field, group: [shift] }));
    person.fields.push(...(await counter.fields(typeId, groups, person.fields.length)));
  }
  return person;
}

async function peopleImpact(present: Present) {
  const { context, counter, types, yielder } = present;
  const { profiles: all, isWhole } = await affectedProfiles(present);
  for (const typeId of types.keys()) {
    const groups = all.flatMap((profile) => {
      const shifts = profile.types.get(typeId);
      return shifts === undefined ? [] : groupsOf(shifts);
    });
    await yielder.next();
    await counter.count(typeId, groups);
  }
  const affected: { profile: Profile; sum: Sum }[] = [];
  const access = { gained: 0, lost: 0 };
  let errorBound: number | null = isWhole ? 0 : null;
  for (const profile of all) {
    await yielder.next();
    const sum = sumOf(profile, counter);
    const count = profile.users.length;
    access.gained += sum.gained * count;
    access.lost += sum.lost * count;
    errorBound = errorBound === null || sum.errorBound === null ? null : errorBound + sum.errorBound * count;
    if (sum.gained + sum.lost > 0 || sum.general) affected.push({ profile, sum });
  }
  affected.sort((a, b) => b.sum.gained + b.sum.lost - a.sum.gained - a.sum.lost);
  // Who holds which role is shown to those who may see holders of roles.
  const people: PersonImpact[] = [];
  for (const { profile } of seesHolders(context) ? affected : []) {
    const users = profile.users.toSorted((a, b) => (a.login < b.login ? -1 : 1));
    for (const user of users.slice(0, MAX_PEOPLE - people.length)) {
      await yielder.next();
      people.push(await personImpact(user, profile, counter));
    }
    if (people.length >= MAX_PEOPLE) break;
  }
  const affectedPeople = affected.reduce((total, { profile }) => total + profile.users.length, 0);
  return { people, affectedPeople, access, errors: { 'lost-access': errorBound, 'gained-access': errorBound } };
}

const IDENTITY: ReadonlySet<string> = new Set(['users', 'groups', 'orgUnits', 'roles']);

export const accessImpact: ImpactSource = async (before, hasTime) => {
  const was = await loadUsers(before, hasTime);
  return async (context) => {
    const moved = context.changes.some(({ section }) => IDENTITY.has(section));
    const is = moved ? await loadUsers(context.after, context.hasTime) : was;
    const isWhole = was.complete && is.complete;
    if (!isWhole) context.inexact(null);
    const [then, now] = [profiles(context.before.config), profiles(context.after.config)];
    const present: Present = {
      context,
      counter: new Counter(context),
      was: was.byId,
      is: is.byId,
      changed: changedRoles(context.before.config, context.after.config),
      types: context.before.config.get(typeView).byId,
      profileOf: (old, next) => `${then(old)} ${now(next)}`,
      yielder: new Yielder(),
      isWhole,
    };
    const roles = await rolesImpact(present);
    const people = await peopleImpact(present);
    return { roles, ...people, broken: brokenItems(context, was.byId, is.byId) };
  };
};
