/**
 * "Did you mean" for unknown codes of a bundle. Proposed are codes that the bundle itself has, and stored ones that its author may
 * read: items of sections whose right the author has, and fields whose values the author may read on every record.
 */
import { isActive } from '../contract/state.ts';
import { isObject } from '../lib/json.ts';
import { type Problem, withNearNames } from '../lib/problem.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import { UNKNOWN_ITEMS } from './conditions.ts';
import { type FieldShape, type TypeShape, workflowOf } from './record-types.ts';
import { mayRead, type ReadsField } from './require-readable.ts';
import type { ItemPath } from './section.ts';
import type { Entry, View } from './view.ts';

/** Problems for which names are compared. The rest is listed without proposals. */
const MAX = 20;

/** The section of the items that the reason says are missing. */
const SECTIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(UNKNOWN_ITEMS).map(([section, reason]) => [reason, section])),
  TRANSFORM_TYPE: 'types',
};

/** The value at the path, or undefined. */
function valueAt(value: unknown, path: ItemPath): unknown {
  return path.reduce<unknown>(
    (at, step) => (isObject(at) || Array.isArray(at) ? Reflect.get(at, step) : undefined),
    value,
  );
}

function codesIn(list: unknown): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) => (isObject(one) && typeof one['code'] === 'string' ? [one['code']] : []));
}

/** The name that is wrong, and the names that could be meant. */
type Compared = [wrong: string, known: string[]];

/** The proposals of one plan. */
export class Proposals {
  readonly #ctx: Pick<ReadContext, 'actor'>;
  readonly #view: View;
  readonly #reads: ReadsField;
  #left = MAX;

  constructor(ctx: Pick<ReadContext, 'actor'>, view: View, reads: ReadsField) {
    this.#ctx = ctx;
    this.#view = view;
    this.#reads = reads;
  }

  /** The problem of the entry, with the names that resemble the wrong one. */
  add(entry: Entry, path: ItemPath, found: Problem): Problem {
    if (this.#left === 0) return found;
    const compared = this.#compared(entry, path, found);
    if (compared === undefined) return found;
    this.#left--;
    return withNearNames(found, ...compared);
  }

  #compared(entry: Entry, path: ItemPath, { reason, params = {} }: Problem): Compared | undefined {
    const text = (name: string): string => (typeof params[name] === 'string' ? params[name] : '');
    const section = reason === 'NO_SUCH_ITEM' ? text('section') : SECTIONS[reason];
    if (section !== undefined) return [text('code'), this.#items(section)];
    switch (reason) {
      case 'TYPE_HAS_NO_FIELD':
      case 'TRANSFORM_FIELD':
        return [text('field'), this.#fields(text('type')).map(({ code }) => code)];
      case 'NO_FIELD':
        return [text('field'), this.#fields(text('forType')).map(({ code }) => code)];
      case 'ROLE_FIELD_MISSING':
        return [text('code'), this.#fields(typeAt(entry, path)).map(({ code }) => code)];
      case 'NO_TITLE_FIELD':
        return [text('code'), this.#fields(entry.code).map(({ code }) => code)];
      case 'ROLE_TRANSITION_MISSING':
        return [text('code'), this.#workflowCodes('transitions')];
      case 'REPLY_UNKNOWN':
        return [text('transition'), codesIn(valueAt(entry.definition, ['transitions']))];
      case 'UNKNOWN_STATE':
        return [text('code'), codesIn(valueAt(entry.definition, ['states']))];
      case 'NO_SUCH_CATEGORY':
        return [text('code'), codesIn(valueAt(entry.definition, ['categories']))];
      case 'NOT_IN_LIST':
        return [text('code'), codesIn(valueAt(entry.definition, path.slice(0, -2)))];
      case 'OPERAND_NOT_AN_OPTION':
        return this.#operand(entry, path);
      default:
        return undefined;
    }
  }

  /** Codes of active items. A section without the right shows only what the bundle itself says. */
  #items(section: string): string[] {
    return [...this.#view.entries(section)].flatMap((entry) =>
      isActive(entry) && (entry.named !== undefined || mayRead(this.#ctx, entry.section)) ? [entry.code] : [],
    );
  }

  #types(): TypeShape[] {
    return [...this.#view.active<TypeShape>('types').values()];
  }

  /** Fields of the type, or of all types. */
  #fields(code: string): FieldShape[] {
    const type = this.#view.get<TypeShape>('types', code);
    return (type === undefined ? this.#types() : [type]).flatMap((one) =>
      one.fields.filter((field) => this.#isShown(one, field)),
    );
  }

  #isShown(type: TypeShape, field: FieldShape): boolean {
    return this.#view.entry('types', type.code)?.named !== undefined || this.#reads(type.code, field.code);
  }

  #workflowCodes(part: 'states' | 'transitions'): string[] {
    return this.#types().flatMap((type) => workflowOf(this.#view, type)?.[part].map(({ code }) => code) ?? []);
  }

  /** A value of a condition: a state, or an option of a field. */
  #operand(entry: Entry, path: ItemPath): Compared | undefined {
    const wrong = valueAt(entry.definition, path);
    const field = valueAt(entry.definition, [...path.slice(0, path.lastIndexOf('value')), 'field']);
    if (typeof wrong !== 'string') return undefined;
    if (field === 'workflowState') return [wrong, this.#workflowCodes('states')];
    const options = this.#fields('').flatMap(({ code, constraints }) =>
      code === field ? (constraints.options ?? []) : [],
    );
    return [wrong, codesIn(options)];
  }
}

/** The record type of the grant of a role. */
function typeAt(entry: Entry, [list, index]: ItemPath): string {
  const type = list === undefined || index === undefined ? '' : valueAt(entry.definition, [list, index, 'type']);
  return typeof type === 'string' ? type : '';
}
