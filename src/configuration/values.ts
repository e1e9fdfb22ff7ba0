/** Values of fields in configuration: defaults of fields, and values set by transitions and catalogue items. */
import { type DataType, sectionOf } from '../lib/data-types/index.ts';
import type { FaultDetail } from '../lib/fault.ts';
import { readVariable, variableRule } from '../lib/filter-variables.ts';
import { deepEqualJson } from '../lib/json.ts';
import { problem } from '../lib/problem.ts';
import { idOf, type Naming, stepsOf } from './conditions.ts';
import type { ItemPath } from './section.ts';

export interface ConfiguredField {
  code: string;
  dataType: DataType;
  multiple: boolean;
  required: boolean;
}

/** Validates a value that contains ids. Provided by the module that implements data types. */
export type ValueCheck<Field> = (
  field: Field,
  value: unknown,
) => { ok: true; stored: unknown } | { ok: false; problems: FaultDetail[] };

/**
 * The stored form of a value written with codes and logins. Undefined if it has errors, which are reported; null if it is
 * empty.
 */
export function compileValue<Field extends ConfiguredField>(
  field: Field,
  value: unknown,
  path: ItemPath,
  check: ValueCheck<Field>,
  naming: Naming,
): unknown {
  const section = sectionOf(field.dataType);
  const named = section === undefined ? value : withIds(section, value, path, naming);
  if (named === undefined) return undefined;
  const checked = check(field, named);
  if (checked.ok) return checked.stored;
  for (const { path: at, ...found } of checked.problems) {
    naming.report([...path, ...stepsOf(at)], found);
  }
  return undefined;
}

function withIds(section: string, value: unknown, path: ItemPath, naming: Naming): unknown {
  if (value === null) return null;
  if (!Array.isArray(value)) return idOf(naming, section, value, path);
  const ids = value.map((one, index) => idOf(naming, section, one, [...path, index]));
  return ids.includes(undefined) ? undefined : ids;
}

/**
 * The compiled value that `set` writes to the field: a stored value, null to clear, or a variable. A literal leading dollar is
 * written as `$$`.
 */
function compileSetValue<Field extends ConfiguredField>(
  field: Field,
  value: unknown,
  path: ItemPath,
  check: ValueCheck<Field>,
  naming: Naming,
): unknown {
  if (typeof value !== 'string' || !value.startsWith('$')) {
    const stored = value === null ? null : compileValue(field, value, path, check, naming);
    if (stored !== null || !field.required) return stored;
    naming.report(path, problem('CANNOT_CLEAR_FIELD', { field: field.code }));
    return undefined;
  }
  if (value.startsWith('$$')) {
    const stored = compileValue(field, value.slice(1), path, check, naming);
    return typeof stored === 'string' && stored.startsWith('$') ? `$${stored}` : stored;
  }
  const operand = readVariable(value);
  if (operand === undefined) {
    naming.report(path, problem('UNKNOWN_VARIABLE'));
    return undefined;
  }
  const rule = variableRule(operand);
  if (rule.dataType !== field.dataType || rule.list) {
    const type = field.dataType;
    const found = rule.list
      ? problem('VARIABLE_IS_LIST', { type })
      : problem('VARIABLE_TYPE_DIFFERS', { variable: rule.dataType, type });
    naming.report(path, found);
    return undefined;
  }
  return value;
}

/**
 * The compiled form of a `set` on records of each of the given types. Errors are reported.
 *
 * @param types code of the type → its fields by code
 */
export function compileSet<Field extends ConfiguredField>(
  set: Readonly<Record<string, unknown>>,
  path: ItemPath,
  types: ReadonlyMap<string, ReadonlyMap<string, Field>>,
  check: ValueCheck<Field>,
  naming: Naming,
): Record<string, unknown> {
  const compiled: Record<string, unknown> = {};
  for (const [code, value] of Object.entries(set)) {
    const at = [...path, code];
    for (const [type, fields] of types) {
      const field = fields.get(code);
      if (field === undefined) {
        naming.report(at, problem('TYPE_HAS_NO_FIELD', { type, field: code }));
        break;
      }
      const stored = compileSetValue(field, value, at, check, naming);
      if (stored === undefined) break;
      if (Object.hasOwn(compiled, code) && !deepEqualJson(compiled[code], stored)) {
        naming.report(at, problem('FIELDS_DIFFER', { field: code }));
        break;
      }
      compiled[code] = stored;
    }
  }
  return compiled;
}
