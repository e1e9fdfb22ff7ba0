/**
 * Conditions and values in configuration: written with codes and logins, stored with ids (docs/spec/configuration.md#bundle).
 */
import { isArchived } from '../contract/state.ts';
import { sectionOf } from '../lib/data-types/index.ts';
import { isFault } from '../lib/fault.ts';
import { type Condition, type FieldResolver, type FilterField, parseCondition } from '../lib/filter.ts';
import { type Problem, problem } from '../lib/problem.ts';
import type { CompileView, ConfigView, ItemPath, Report } from './section.ts';
import { isObject, ownMember } from '../lib/json.ts';

/** The section that the field's values refer to; undefined for plain values. */
function sectionOfField(field: Pick<FilterField, 'code' | 'kind' | 'dataType'>): string | undefined {
  if (field.kind === 'system' && field.code === 'typeId') return 'types';
  return sectionOf(field.dataType);
}

/** Section → why an item of it is unknown. */
export const UNKNOWN_ITEMS = {
  users: 'NO_SUCH_USER',
  groups: 'NO_SUCH_GROUP',
  orgUnits: 'NO_SUCH_UNIT',
  services: 'NO_SUCH_SERVICE',
  types: 'NO_SUCH_TYPE',
  workflows: 'NO_SUCH_WORKFLOW',
  calendars: 'NO_SUCH_CALENDAR',
  signingSecrets: 'NO_SUCH_SECRET',
} as const;

/** Why a reference is invalid: there is no such item, or it is archived. */
export function unknownReference(section: string, code: unknown, view: ConfigView): Problem {
  const stored = typeof code === 'string' ? view.stored(section, code) : undefined;
  if (stored !== undefined) {
    const archived = isArchived(stored);
    return problem(archived ? 'ITEM_ARCHIVED' : 'ITEM_WOULD_BE_ARCHIVED', { code: stored.code, section });
  }
  const shown = typeof code === 'string' ? code : JSON.stringify(code);
  const reason = Object.hasOwn(UNKNOWN_ITEMS, section)
    ? UNKNOWN_ITEMS[section as keyof typeof UNKNOWN_ITEMS]
    : undefined;
  return reason === undefined ? problem('NO_SUCH_ITEM', { section, code: shown }) : problem(reason, { code: shown });
}

export interface Naming {
  view: CompileView;
  report: Report;
}

/** The id of the item with the code. Reports an error and returns undefined if there is none. */
export function idOf({ view, report }: Naming, section: string, code: unknown, path: ItemPath): string | undefined {
  if (typeof code === 'string' && view.has(section, code)) return view.id(section, code);
  report(path, unknownReference(section, code, view));
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
  return isObject(value) ? value : undefined;
}

interface Walk extends Naming {
  resolve: FieldResolver;
  unnamed: boolean;
}

function withIds(walk: Walk, condition: unknown, path: ItemPath, depth: number): unknown {
  const record = members(condition);
  if (record === undefined || depth > 64) return condition;
  const parts = ownMember(record, 'conditions');
  if (Array.isArray(parts)) {
    return {
      ...record,
      conditions: parts.map((part, index) => withIds(walk, part, [...path, 'conditions', index], depth + 1)),
    };
  }
  const code = ownMember(record, 'field');
  const field = typeof code === 'string' ? walk.resolve(code) : undefined;
  const section = field === undefined ? undefined : sectionOfField(field);
  const value = ownMember(record, 'value');
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
    for (const { path: place, ...found } of error.details) {
      const steps = stepsOf(place);
      const field = found.code === 'UNKNOWN_FIELD' ? fieldNamed(condition, steps) : undefined;
      naming.report([...path, ...steps], field === undefined ? found : problem('NO_FIELD', { field }));
    }
    return undefined;
  }
}

/** The name of an unknown field, for the error message. Authors of configuration may see all names, unlike external callers. */
function fieldNamed(condition: unknown, steps: readonly (string | number)[]): string | undefined {
  let at: unknown = condition;
  for (const step of steps) {
    at = Array.isArray(at) ? at[Number(step)] : ownMember(members(at) ?? {}, String(step));
  }
  return typeof at === 'string' ? at : undefined;
}
