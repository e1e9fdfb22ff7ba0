/**
 * Conditions and values in configuration: written with codes and logins, stored with ids (docs/spec/configuration.md#bundle).
 */
import { sectionOf } from '../lib/data-types/index.ts';
import { isFault } from '../lib/fault.ts';
import { type Condition, type FieldResolver, type FilterField, parseCondition } from '../lib/filter.ts';
import type { CompileView, ConfigView, ItemPath, Report } from './section.ts';

/** The section that the field's values refer to; undefined for plain values. */
function sectionOfField(field: Pick<FilterField, 'code' | 'kind' | 'dataType'>): string | undefined {
  if (field.kind === 'system' && field.code === 'typeId') return 'types';
  return sectionOf(field.dataType);
}

const THINGS: ReadonlyMap<string, string> = new Map([
  ['users', 'user with the login'],
  ['groups', 'group with the code'],
  ['orgUnits', 'organisation unit with the code'],
  ['services', 'service with the code'],
  ['types', 'record type with the code'],
  ['workflows', 'workflow with the code'],
  ['calendars', 'calendar with the code'],
  ['signingSecrets', 'signing secret with the code'],
]);

/** Explains an invalid reference: "There is no user with the login X", or that the referenced item is archived. */
export function unknownReference(section: string, code: unknown, view: ConfigView): string {
  const stored = typeof code === 'string' ? view.stored(section, code) : undefined;
  if (stored === undefined) {
    return `There is no ${THINGS.get(section) ?? `item of ${section} with the code`} ${JSON.stringify(code)}.`;
  }
  const why = stored.state === 'ARCHIVED' ? 'is archived; name it in the bundle to restore it' : 'would be archived';
  return `The item ${stored.code} of ${section} ${why}, and this refers to it.`;
}

export interface Naming {
  view: CompileView;
  report: Report;
}

/** The id of the item with the code. Reports an error and returns undefined if there is none. */
export function idOf({ view, report }: Naming, section: string, code: unknown, path: ItemPath): string | undefined {
  if (typeof code === 'string' && view.has(section, code)) return view.id(section, code);
  report(path, 'UNKNOWN_REFERENCE', unknownReference(section, code, view));
  return undefined;
}

/** Converts a literal of a condition to its id. Variables are unchanged; in a literal, a leading `$` is written as `$$`. */
function literal(naming: Naming, section: string, value: unknown, path: ItemPath): unknown {
  if (typeof value === 'string' && value.startsWith('$')) {
    if (!value.startsWith('$$')) return value;
    return idOf(naming, section, value.slice(1), path);
  }
  return idOf(naming, section, value, path);
}

function members(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

interface Walk extends Naming {
  resolve: FieldResolver;
  unnamed: boolean;
}

function withIds(walk: Walk, condition: unknown, path: ItemPath, depth: number): unknown {
  const record = members(condition);
  if (record === undefined || depth > 64) return condition;
  const parts = own(record, 'conditions');
  if (Array.isArray(parts)) {
    return {
      ...record,
      conditions: parts.map((part, index) => withIds(walk, part, [...path, 'conditions', index], depth + 1)),
    };
  }
  const code = own(record, 'field');
  const field = typeof code === 'string' ? walk.resolve(code) : undefined;
  const section = field === undefined ? undefined : sectionOfField(field);
  const value = own(record, 'value');
  if (section === undefined || value === undefined || typeof value === 'boolean' || value === null) return condition;
  const id = (one: unknown, at: ItemPath): unknown => {
    const found = literal(walk, section, one, at);
    if (found === undefined) walk.unnamed = true;
    return found;
  };
  const named = Array.isArray(value)
    ? value.map((one, index) => id(one, [...path, 'value', index]))
    : id(value, [...path, 'value']);
  return { ...record, value: named };
}

/** The path segments of a JSON Pointer relative to the item. */
export function stepsOf(pointer: string): (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^(?:0|[1-9][0-9]{0,8})$/.test(step) ? Number(step) : step));
}

/**
 * The condition with ids instead of codes and logins, validated by the condition language against the fields of `resolve`.
 * Undefined if it has errors, which are reported.
 */
export function compileCondition(
  condition: unknown,
  path: ItemPath,
  resolve: FieldResolver,
  naming: Naming,
): Condition | undefined {
  const walk: Walk = { ...naming, resolve, unnamed: false };
  const named = withIds(walk, condition, path, 1);
  if (walk.unnamed) return undefined;
  try {
    parseCondition(named, { resolve, variables: 'allowed' });
    return named as Condition;
  } catch (error) {
    if (!isFault(error, 'INVALID_FILTER') || !Array.isArray(error.details)) throw error;
    for (const { path: place, code, message } of error.details) {
      const steps = stepsOf(place);
      const unknown = code === 'UNKNOWN_FIELD' ? fieldNamed(condition, steps) : undefined;
      naming.report([...path, ...steps], code, unknown === undefined ? message : `There is no field ${unknown} here.`);
    }
    return undefined;
  }
}

/** The name of an unknown field, for the error message. Authors of configuration may see all names, unlike external callers. */
function fieldNamed(condition: unknown, steps: readonly (string | number)[]): string | undefined {
  let at: unknown = condition;
  for (const step of steps) {
    at = Array.isArray(at) ? at[Number(step)] : own(members(at) ?? {}, String(step));
  }
  return typeof at === 'string' ? JSON.stringify(at) : undefined;
}
