/** Checks that the record grants of a role name only what exists, and compiles them. */
import { unknownReference } from '../../configuration/conditions.ts';
import type { CompileView, ConfigView, ItemPath, Report } from '../../configuration/section.ts';
import { compileTypedCondition, type TypeShape, workflowOf } from '../../configuration/record-types.ts';
import type { RecordGrant, RoleDefinition } from './definitions.ts';

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
  what: string,
  report: Report,
): void {
  if (list === '*') return;
  for (const [index, code] of list.entries()) {
    if (!known.has(code)) report([...path, index], 'UNKNOWN_NAME', `There is no ${what} ${code} here; take it out.`);
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
  if (grant.type !== '*' && !view.has('types', grant.type)) {
    report([...path, 'type'], 'UNKNOWN_REFERENCE', unknownReference('types', grant.type, view));
  }
  const types = typesOf(view, grant);
  if (types === undefined) return grant;
  const fields = new Set(types.flatMap((type) => [...fieldCodes(view, type)]));
  checkNames(grant.fields.read, fields, [...path, 'fields', 'read'], 'field', report);
  checkNames(grant.fields.write, fields, [...path, 'fields', 'write'], 'field', report);
  const transitions = types.flatMap((type) => workflowOf(view, type)?.transitions.map(({ code }) => code) ?? []);
  checkNames(grant.transitions, new Set(transitions), [...path, 'transitions'], 'transition', report);
  if (grant.where === undefined) return grant;
  const where = compileTypedCondition(grant.where, [...path, 'where'], types, { view, report }, grant.type === '*');
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
