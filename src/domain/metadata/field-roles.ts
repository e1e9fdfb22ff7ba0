/** Which field of a type has a role (docs/spec/configuration.md#roles-of-fields). Pure. */
import { FIELD_ROLES, type FieldRole, unmetShape } from '../../contract/field-roles.ts';
import type { DataType } from '../../lib/data-types/index.ts';

/** The parts of a field that matter here. */
interface RoleField {
  code: string;
  dataType: DataType;
  multiple: boolean;
  role?: FieldRole;
}

/** Role → its fields. Roles that the type has no field for are absent. */
export type FieldsByRole<Field> = ReadonlyMap<FieldRole, readonly Field[]>;

/**
 * The definition of an older version with the roles of the newest one: a change of roles makes no new version and holds for
 * every record at once.
 */
export function withRolesOf<Type extends { fields: RoleField[] }>(newest: Type, older: Type): Type {
  const now = new Map(newest.fields.map(({ code, role }) => [code, role]));
  const taken = new Set(now.values());
  const fields = older.fields.map((field) => {
    const { role: had, ...plain } = field;
    const gone = !now.has(field.code) && !taken.has(had);
    const role = gone ? had : now.get(field.code);
    return role === undefined || unmetShape(role, field) !== undefined ? plain : { ...plain, role };
  });
  return { ...older, fields };
}

/**
 * Where no field of the type has the role assignee, group or requester, the fields of `settings.notificationFields` stand for
 * it: of data type user or group, one or several.
 */
export function fieldsByRole<Field extends RoleField>(
  fields: readonly Field[],
  fallback: { readonly [role in FieldRole]?: readonly string[] },
): FieldsByRole<Field> {
  const people = fields.filter(({ dataType }) => dataType === 'user' || dataType === 'group');
  const found = FIELD_ROLES.flatMap((role) => {
    const own = fields.filter((field) => field.role === role);
    const standing = (fallback[role] ?? []).flatMap((code) => people.filter((field) => field.code === code));
    const all = own.length > 0 ? own : standing;
    return all.length === 0 ? [] : [[role, all] as const];
  });
  return new Map(found);
}

/** The fields that stand for the role: one, none, or those of `settings.notificationFields`. */
export function fieldsInRole<Field>({ roles }: { roles: FieldsByRole<Field> }, role: FieldRole): readonly Field[] {
  return roles.get(role) ?? [];
}

/** The field that has the role, or the first that stands for it and has its shape. */
export function fieldInRole<Field extends RoleField>(
  version: { roles: FieldsByRole<Field> },
  role: FieldRole,
): Field | undefined {
  return fieldsInRole(version, role).find((field) => unmetShape(role, field) === undefined);
}
