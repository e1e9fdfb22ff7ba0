/**
 * The bundle's section `roles` (docs/spec/configuration.md#bundle, docs/spec/access.md#roles-and-rights). Role assignments are
 * stored apart from the role. The bundle adds assignments; it removes them only if identity is pruned, too.
 */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { defineSection } from '../../configuration/define.ts';
import { hiddenConditionNote } from '../../configuration/hidden-conditions.ts';
import {
  Code,
  ConditionSchema,
  Description,
  FieldCode,
  type Localized,
  Login,
  Name,
  oneOf,
} from '../../configuration/schemas.ts';
import type { Change, CompileView, MergeOptions, PresentOptions } from '../../configuration/section.ts';
import { loadItems, planItem } from '../../configuration/store.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { compileRole } from './config-grants.ts';
import { dropAssignment, insertAssignment, loadAssignments } from './config-store.ts';
import { GLOBAL_RIGHTS, RECORD_ACTIONS } from '../../contract/rights.ts';
import type { RecordGrant, RoleDefinition } from './definitions.ts';

const Names = (of: typeof FieldCode) =>
  Type.Optional(Type.Union([Type.Literal('*'), Type.Array(of, { maxItems: 1000, uniqueItems: true })]));

const RoleItem = closed({
  code: Code,
  name: Type.Optional(Name),
  description: Type.Optional(Description),
  rights: Type.Optional(Type.Array(oneOf(GLOBAL_RIGHTS), { uniqueItems: true })),
  records: Type.Optional(
    Type.Array(
      closed({
        type: Type.Union([Type.Literal('*'), Code]),
        where: Type.Optional(ConditionSchema),
        actions: Type.Array(oneOf(RECORD_ACTIONS), { uniqueItems: true }),
        fields: Type.Optional(closed({ read: Names(FieldCode), write: Names(FieldCode) })),
        transitions: Names(Code),
      }),
      { maxItems: 1000 },
    ),
  ),
  memberships: Type.Optional(closed({ groups: Names(Code), orgUnits: Names(Code) })),
  assignedTo: Type.Optional(
    closed({
      users: Type.Optional(Type.Array(Login, { maxItems: 100_000, uniqueItems: true })),
      groups: Type.Optional(Type.Array(Code, { maxItems: 10_000, uniqueItems: true })),
    }),
  ),
});

type Item = Static<typeof RoleItem>;

const KINDS = [['users', 'user'] as const, ['groups', 'group'] as const];
const GIVEN = ['groups', 'orgUnits'] as const;

function normaliseGrant(grant: NonNullable<Item['records']>[number]): RecordGrant {
  return {
    type: grant.type,
    ...(grant.where === undefined ? {} : { where: grant.where as never }),
    actions: grant.actions,
    fields: { read: grant.fields?.read ?? [], write: grant.fields?.write ?? [] },
    transitions: grant.transitions ?? [],
  };
}

function merge(item: Item, stored: RoleDefinition | undefined, { exact, spell }: MergeOptions): RoleDefinition {
  const holders = (key: 'users' | 'groups'): string[] => {
    const all = [...(item.assignedTo?.[key] ?? []), ...(exact ? [] : (stored?.assignedTo[key] ?? []))];
    return [...new Set(all.map((code) => spell(key, code)))].sort();
  };
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    ...(item.description === undefined ? {} : { description: item.description as Localized }),
    rights: item.rights ?? [],
    records: (item.records ?? []).map(normaliseGrant),
    ...(item.memberships === undefined
      ? {}
      : { memberships: { groups: item.memberships.groups ?? [], orgUnits: item.memberships.orgUnits ?? [] } }),
    assignedTo: { users: holders('users'), groups: holders('groups') },
  };
}

async function load(ctx: ReadContext) {
  const assignments = Map.groupBy(await loadAssignments(ctx), (row) => row.roleId);
  return (await loadItems(ctx, 'roles')).map((item) => {
    const own = assignments.get(item.id) ?? [];
    const of = (kind: string): string[] => own.flatMap((row) => (row.kind === kind ? [row.name] : [])).sort();
    const definition = { ...(item.definition as object), assignedTo: { users: of('user'), groups: of('group') } };
    return { ...item, definition };
  });
}

function write(ctx: WriteContext, change: Change, view: CompileView): void {
  const { assignedTo, ...definition } = change.definition as RoleDefinition;
  planItem(ctx, { ...change, definition });
  if (change.action === 'archive') return;
  const before = (change.stored?.definition as RoleDefinition | undefined)?.assignedTo;
  for (const [key, member_type] of KINDS) {
    const stood = new Set(before?.[key]);
    const stands = new Set(assignedTo[key]);
    const row = (code: string) => ({ role_id: change.id, member_type, member_id: view.id(key, code) });
    for (const code of stands.difference(stood)) ctx.plan(insertAssignment, row(code));
    for (const code of stood.difference(stands)) ctx.plan(dropAssignment, row(code));
  }
}

function present(role: RoleDefinition, { identity, active }: PresentOptions): unknown {
  const { assignedTo, ...rest } = role;
  if (!identity) return rest;
  const { users, groups } = assignedTo;
  return {
    ...rest,
    assignedTo: {
      users: users.filter((login) => active('users', login)),
      groups: groups.filter((code) => active('groups', code)),
    },
  };
}

export const rolesSection = defineSection<Item, RoleDefinition>({
  key: 'roles',
  schema: RoleItem,
  rights: () => ['role.assign'],
  normalise: (item) => merge(item, undefined, { exact: true, spell: (_section, code) => code }),
  merge,
  references: (role) => [
    ...KINDS.flatMap(([key]) =>
      role.assignedTo[key].map((code, index) => ({ section: key, code, path: ['assignedTo', key, index] })),
    ),
    ...GIVEN.flatMap((key) => {
      const codes = role.memberships?.[key] ?? [];
      return codes === '*'
        ? []
        : codes.map((code, index) => ({ section: key, code, path: ['memberships', key, index] }));
    }),
  ],
  compile: compileRole,
  note: hiddenConditionNote,
  load,
  write,
  present,
});
