/** The bundle's section `groups`: groups with their members, which are users and other groups. */
import Type, { type Static } from 'typebox';
import { closed, Code, type Localized, Login, Name, optional } from '../../contract/schemas.ts';
import { cyclesOf } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { CodeOf } from '../../configuration/schemas.ts';
import type { Change, ConfigView, MergeOptions, SectionReport } from '../../configuration/section.ts';
import { problem } from '../../lib/problem.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { join, leave, writeGroup } from './changes.ts';
import { accessLock } from './store.ts';
import { loadGroups } from './store-members.ts';
import { nameKey, checkName } from './rules.ts';

const members = (description: string, of: typeof Login) =>
  optional(description, Type.Array(of, { maxItems: 100_000, uniqueItems: true }));

const GroupItem = closed({
  code: Code,
  name: optional(
    'The name that people see: a text, or one text for each locale. Default: the stored one, else the code.',
    Name,
  ),
  users: members('Logins of the members. An apply adds members; it removes others only with --prune-identity.', Login),
  groups: members(
    'Codes of the groups inside this one: their members are members too. Removed only with --prune-identity.',
    CodeOf('groups'),
  ),
});

type Item = Static<typeof GroupItem>;

interface Group {
  code: string;
  name: Localized;
  /** Logins, sorted. */
  users: string[];
  /** Codes of the groups that are members, sorted. */
  groups: string[];
}

/**
 * The members of the bundle and the stored ones, each once and in the spelling of the configuration. With `exact`, only those
 * of the bundle.
 */
function union(named: readonly string[], stored: readonly string[], section: string, options: MergeOptions): string[] {
  const all = options.exact ? named : [...named, ...stored];
  return [...new Set(all.map((code) => options.canonicalCode(section, code)))].sort();
}

function merge(item: Item, stored: Group | undefined, options: MergeOptions): Group {
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? stored?.name ?? item.code,
    users: union(item.users ?? [], stored?.users ?? [], 'users', options),
    groups: union(item.groups ?? [], stored?.groups ?? [], 'groups', options),
  };
}

function validateAll(view: ConfigView, report: SectionReport): void {
  // Archived groups count: they can be restored.
  const groups = new Map([...view.archived<Group>('groups'), ...view.active<Group>('groups')]);
  const rings = cyclesOf(new Map([...groups].map(([code, group]) => [code, group.groups])));
  for (const [code, ring] of rings) {
    report(code, ['groups'], problem('GROUP_CYCLE', { cycle: ring.join(' → ') }));
  }
}

function write(ctx: WriteContext, change: Change, view: { id(section: string, code: string): string }): void {
  const group = change.definition as Group;
  const { id, stored, state } = change;
  const former = stored?.definition as Group | undefined;
  const before =
    stored === undefined || former === undefined
      ? undefined
      : { id, code: former.code, name: former.name, state: stored.state, revision: stored.version };
  const { code, name } = group;
  writeGroup(ctx, before, { id, code, name, state, revision: (stored?.version ?? 0) + 1 });
  if (change.action === 'archive') return;
  for (const [key, memberType] of [['users', 'user'] as const, ['groups', 'group'] as const]) {
    const current = new Set(former?.[key]);
    const wanted = new Set(group[key]);
    const member = (of: string) => ({ groupId: id, memberId: view.id(key, of), memberType });
    for (const of of wanted.difference(current)) join(ctx, member(of));
    for (const of of current.difference(wanted)) leave(ctx, member(of));
  }
}

export const groupsSection = defineSection<Item, Group>({
  key: 'groups',
  summary: 'Groups of users and of other groups.',
  schema: GroupItem,
  keyOf: nameKey,
  identity: true,
  right: 'user.administer',
  lock: (ctx) => ctx.lock(accessLock()),
  normalise: (item) => merge(item, undefined, { exact: true, canonicalCode: (_section, code) => code }),
  merge,
  compile: (group, _view, report) => {
    checkName(group.name, report);
    return group;
  },
  validateAll,
  load: async (ctx: ReadContext) => {
    const rows = await loadGroups(ctx);
    return rows.map(({ id, state, revision, code, name, users, groups, ...changed }) => {
      const definition: Group = { code, name, users: users.sort(), groups: groups.sort() };
      return { id, code, state, version: revision, definition, compiled: definition, ...changed };
    });
  },
  write,
  toBundleItem: (group, { active }) => ({
    ...group,
    users: group.users.filter((login) => active('users', login)),
    groups: group.groups.filter((code) => active('groups', code)),
  }),
});
