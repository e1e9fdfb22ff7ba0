/**
 * The bundle's section `roles` (docs/spec/configuration.md#bundle, docs/spec/access.md#roles-and-rights). Role assignments are
 * stored apart from the role. The bundle adds assignments; it removes them only if identity is pruned, too.
 */
import Type, { type Static } from 'typebox';
import { closed, Code, described, type Localized, Login, Name, oneOf, optional } from '../../contract/schemas.ts';
import { defineSection } from '../../configuration/define.ts';
import { hiddenConditionNotes } from '../../configuration/hidden-conditions.ts';
import { ConditionSchema, Description, CodeOf, ListedField, TransitionCode } from '../../configuration/schemas.ts';
import type {
  Change,
  CompileView,
  MergeOptions,
  ExportOptions,
  ConfigView,
  ItemPath,
  Report,
} from '../../configuration/section.ts';
import { loadItems, planItem } from '../../configuration/store.ts';
import { problem } from '../../lib/problem.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { dropAssignment, insertAssignment, loadAssignments } from './store.ts';
import { GLOBAL_RIGHTS, INTERFACES, RECORD_ACTIONS } from '../../contract/rights.ts';
import type { RecordGrant, RoleDefinition } from './roles.ts';
import { compileTypedCondition, type TypeShape, workflowOf } from '../../configuration/record-types.ts';

const names = (description: string, of: typeof ListedField) =>
  optional(description, Type.Union([Type.Literal('*'), Type.Array(of, { maxItems: 1000, uniqueItems: true })]));

const RoleItem = closed({
  code: Code,
  name: Type.Optional(Name),
  description: Type.Optional(Description),
  interface: Type.Optional(
    oneOf(INTERFACES, {
      description:
        'Which interface of the console the role is for. Absent: the desk if the role grants `update`, `archive`, `transition` or `Private Comment` on a type or a right other than `kb.portal`, `kb.read` and `catalog.impersonate`, else the portal.',
    }),
  ),
  rights: optional(
    'General rights, which hold for no single record, such as config.manage. Default: none.',
    Type.Array(oneOf(GLOBAL_RIGHTS), { uniqueItems: true }),
  ),
  records: optional(
    'Grants on records. A user may do what any grant of any of their roles allows, and nothing else.',
    Type.Array(
      closed(
        {
          type: described(
            'Code of the record type that the grant is for, or * for all types.',
            Type.Union([Type.Literal('*'), CodeOf('types')]),
          ),
          where: optional(
            'The grant holds only for records that meet this condition. Absent: for all records of the type.',
            ConditionSchema,
          ),
          actions: described(
            'What may be done with these records. Which fields and transitions, `fields` and `transitions` say.',
            Type.Array(oneOf(RECORD_ACTIONS), { uniqueItems: true }),
          ),
          fields: optional(
            'The fields that may be read and written on these records. A field in no read list does not exist for the user.',
            closed({
              read: names('Codes of the fields that may be read, or * for all. Default: none.', ListedField),
              write: names('Codes of the fields that may be changed, or * for all. Default: none.', ListedField),
            }),
          ),
          transitions: names(
            'Codes of the transitions that may be made, or * for all; the action transition is needed too. Default: none.',
            TransitionCode,
          ),
        },
        { typesAt: 'type' },
      ),
      { maxItems: 1000 },
    ),
  ),
  memberships: optional(
    'Memberships that holders may give to other users, also without having them; never to themselves.',
    closed({
      groups: names(
        'Codes of the groups whose members they may change, or * for all. Default: none.',
        CodeOf('groups'),
      ),
      orgUnits: names(
        'Codes of the organisation units whose members they may change, or * for all. Default: none.',
        CodeOf('orgUnits'),
      ),
    }),
  ),
  assignedTo: optional(
    'Who holds the role. An apply adds holders; it removes others only with --prune-identity.',
    closed({
      users: optional(
        'Logins of the users who hold the role.',
        Type.Array(Login, { maxItems: 100_000, uniqueItems: true }),
      ),
      groups: optional(
        'Codes of the groups whose members hold the role, with the members of nested groups.',
        Type.Array(CodeOf('groups'), { maxItems: 10_000, uniqueItems: true }),
      ),
    }),
  ),
});

type Item = Static<typeof RoleItem>;

const KINDS = [['users', 'user'] as const, ['groups', 'group'] as const];

function normaliseGrant(grant: NonNullable<Item['records']>[number]): RecordGrant {
  return {
    type: grant.type,
    ...(grant.where === undefined ? {} : { where: grant.where as never }),
    actions: grant.actions,
    fields: { read: grant.fields?.read ?? [], write: grant.fields?.write ?? [] },
    transitions: grant.transitions ?? [],
  };
}

function merge(item: Item, stored: RoleDefinition | undefined, { exact, canonicalCode }: MergeOptions): RoleDefinition {
  const holders = (key: 'users' | 'groups'): string[] => {
    const all = [...(item.assignedTo?.[key] ?? []), ...(exact ? [] : (stored?.assignedTo[key] ?? []))];
    return [...new Set(all.map((code) => canonicalCode(key, code)))].sort();
  };
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    ...(item.description === undefined ? {} : { description: item.description as Localized }),
    ...(item.interface === undefined ? {} : { interface: item.interface }),
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
  for (const [key, memberType] of KINDS) {
    const former = new Set(before?.[key]);
    const next = new Set(assignedTo[key]);
    const row = (code: string) => ({ roleId: change.id, memberType, memberId: view.id(key, code) });
    for (const code of next.difference(former)) ctx.plan(insertAssignment, row(code));
    for (const code of former.difference(next)) ctx.plan(dropAssignment, row(code));
  }
}

function toBundleItem(role: RoleDefinition, { identity, active }: ExportOptions): unknown {
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
  summary: 'Roles: rights, and what they allow on which records.',
  schema: RoleItem,
  rights: () => ['role.assign'],
  normalise: (item) => merge(item, undefined, { exact: true, canonicalCode: (_section, code) => code }),
  merge,
  compile: compileRole,
  notes: hiddenConditionNotes,
  load,
  write,
  toBundleItem,
});

/** Codes of the type's fields in all versions: stored records may still have fields of older versions. */
function fieldCodes(view: ConfigView, type: TypeShape): Set<string> {
  const codes = new Set(type.fields.map((field) => field.code));
  for (const { compiled } of view.versions('types', type.code)) {
    for (const field of (compiled as TypeShape).fields) codes.add(field.code);
  }
  return codes;
}

function checkNames(
  list: string[] | '*',
  known: ReadonlySet<string>,
  path: ItemPath,
  reason: 'ROLE_FIELD_MISSING' | 'ROLE_TRANSITION_MISSING',
  report: Report,
): void {
  if (list === '*') return;
  for (const [index, code] of list.entries()) {
    if (!known.has(code)) report([...path, index], problem(reason, { code }));
  }
}

/** The types that the grant covers. '*' includes archived types, since their records can still be read. */
function typesOf(view: ConfigView, grant: RecordGrant): TypeShape[] | undefined {
  if (grant.type === '*') {
    return [...view.active<TypeShape>('types').values(), ...view.archived<TypeShape>('types').values()];
  }
  const type = view.get<TypeShape>('types', grant.type);
  return type === undefined ? undefined : [type];
}

function compileGrant(grant: RecordGrant, index: number, view: CompileView, report: Report): RecordGrant {
  const path = ['records', index];
  const types = typesOf(view, grant);
  if (types === undefined) return grant;
  const fields = new Set(types.flatMap((type) => [...fieldCodes(view, type)]));
  checkNames(grant.fields.read, fields, [...path, 'fields', 'read'], 'ROLE_FIELD_MISSING', report);
  checkNames(grant.fields.write, fields, [...path, 'fields', 'write'], 'ROLE_FIELD_MISSING', report);
  const transitions = types.flatMap((type) => workflowOf(view, type)?.transitions.map(({ code }) => code) ?? []);
  checkNames(grant.transitions, new Set(transitions), [...path, 'transitions'], 'ROLE_TRANSITION_MISSING', report);
  if (grant.where === undefined) return grant;
  const where = compileTypedCondition(
    grant.where,
    [...path, 'where'],
    types,
    { view, report },
    { all: grant.type === '*' },
  );
  return where === undefined ? grant : { ...grant, where };
}

/** Compiles the role without its assignments, which are stored as rows of their own. */
export function compileRole(
  role: RoleDefinition,
  view: CompileView,
  report: Report,
): Omit<RoleDefinition, 'assignedTo'> {
  const { assignedTo: _rows, memberships, ...rest } = role;
  const records = role.records.map((grant, index) => compileGrant(grant, index, view, report));
  // Unknown codes are reported by the check of references.
  const ids = (section: 'groups' | 'orgUnits', codes: string[] | '*'): string[] | '*' =>
    codes === '*' ? codes : codes.flatMap((code) => (view.has(section, code) ? [view.id(section, code)] : []));
  if (memberships === undefined) return { ...rest, records };
  const { groups, orgUnits } = memberships;
  return { ...rest, records, memberships: { groups: ids('groups', groups), orgUnits: ids('orgUnits', orgUnits) } };
}
