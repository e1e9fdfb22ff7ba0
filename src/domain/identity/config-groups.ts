/** The bundle's section `groups`: groups with their members, people and other groups. */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { cyclesOf } from '../../mechanisms/config-checks.ts';
import { defineSection } from '../../mechanisms/config-define.ts';
import { Code, type Localized, Login, Name } from '../../mechanisms/config-schemas.ts';
import type { Change, ConfigView, MergeOptions, SectionReport } from '../../mechanisms/config-section.ts';
import type { ReadContext, WriteContext } from '../../mechanisms/context.ts';
import { dropGroupMember, insertGroupMember, loadGroups } from './config-store.ts';
import { nameKey } from './names.ts';
import { insertGroup, structureLock, updateGroup } from './store.ts';

const Members = (of: typeof Login) => Type.Optional(Type.Array(of, { maxItems: 100_000, uniqueItems: true }));

const GroupItem = closed({
  code: Code,
  name: Type.Optional(Name),
  users: Members(Login),
  groups: Members(Code),
});

type Item = Static<typeof GroupItem>;

interface Group {
  code: string;
  name: Localized;
  /** Logins, sorted. */
  users: string[];
  /** Codes of the groups inside, sorted. */
  groups: string[];
}

/** What the bundle names and what stands, each once, as the configuration spells it. */
function union(named: readonly string[], stored: readonly string[], section: string, options: MergeOptions): string[] {
  const all = options.exact ? named : [...named, ...stored];
  return [...new Set(all.map((code) => options.spell(section, code)))].sort();
}

function merge(item: Item, stored: Group | undefined, options: MergeOptions): Group {
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? stored?.name ?? item.code,
    users: union(item.users ?? [], stored?.users ?? [], 'users', options),
    groups: union(item.groups ?? [], stored?.groups ?? [], 'groups', options),
  };
}

function whole(view: ConfigView, report: SectionReport): void {
  // Archived ones count: they may come back.
  const groups = new Map([...view.archived<Group>('groups'), ...view.active<Group>('groups')]);
  const rings = cyclesOf(new Map([...groups].map(([code, group]) => [code, group.groups])));
  for (const [code, ring] of rings) {
    report(code, ['groups'], 'GROUP_CYCLE', `The groups contain each other: ${ring.join(' → ')}.`);
  }
}

/** The group and all groups that contain it, over however many steps: whoever becomes a member gets the roles of all. */
function upwards(view: ConfigView, code: string): Set<string> {
  const groups = view.active<Group>('groups');
  const found = new Set([code]);
  for (const inner of found) {
    for (const [outer, { groups: inside }] of groups) if (inside.includes(inner)) found.add(outer);
  }
  return found;
}

/** Whoever makes somebody a member of a group that holds roles hands these roles on. */
function rights(change: Change, view: ConfigView): string[] {
  const before = change.stored?.definition as Group | undefined;
  const after = change.definition as Group;
  const more = (key: 'users' | 'groups'): boolean => new Set(after[key]).difference(new Set(before?.[key])).size > 0;
  if (change.action !== 'restore' && !more('users') && !more('groups')) return [];
  const holders = upwards(view, change.code);
  const roles = view.active<{ assignedTo: { groups: string[] } }>('roles').values();
  return [...roles].some((role) => role.assignedTo.groups.some((group) => holders.has(group))) ? ['role.assign'] : [];
}

function write(ctx: WriteContext, change: Change, view: { id(section: string, code: string): string }): void {
  const group = change.definition as Group;
  const before = change.stored?.definition as Group | undefined;
  const { id } = change;
  const row = {
    id,
    code: group.code,
    code_key: nameKey(group.code),
    name: group.name,
    state: change.state,
    at: ctx.now,
  };
  if (change.stored === undefined) ctx.plan(insertGroup, row);
  else ctx.plan(updateGroup, { ...row, expected: change.stored.version });
  if (change.action === 'archive') return;
  for (const [key, type] of [['users', 'user'] as const, ['groups', 'group'] as const]) {
    const stood = new Set(before?.[key]);
    const stands = new Set(group[key]);
    const member = (code: string) => ({ group_id: id, member_type: type, member_id: view.id(key, code) });
    for (const code of stands.difference(stood))
      ctx.plan(insertGroupMember, { id: ctx.newId(), ...member(code), at: ctx.now });
    for (const code of stood.difference(stands)) ctx.plan(dropGroupMember, member(code));
  }
}

export const groupsSection = defineSection<Item, Group>({
  key: 'groups',
  schema: GroupItem,
  keyOf: nameKey,
  identity: true,
  right: 'user.administer',
  rights,
  lock: (ctx) => ctx.lock(structureLock('groups')),
  normalise: (item) => merge(item, undefined, { exact: true, spell: (_section, code) => code }),
  merge,
  references: (group) => [
    ...group.users.map((code, index) => ({ section: 'users', code, path: ['users', index] })),
    ...group.groups.map((code, index) => ({ section: 'groups', code, path: ['groups', index] })),
  ],
  whole,
  load: async (ctx: ReadContext) => {
    const rows = await loadGroups(ctx);
    return rows.map(({ id, state, revision, code, name, users, groups }) => {
      const definition: Group = { code, name, users: users.sort(), groups: groups.sort() };
      return { id, code, state, version: revision, definition, compiled: definition };
    });
  },
  write,
  present: (group, { active }) => ({
    ...group,
    users: group.users.filter((login) => active('users', login)),
    groups: group.groups.filter((code) => active('groups', code)),
  }),
});
