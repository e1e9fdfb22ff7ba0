/**
 * Where the items of a section name codes of other things. The schema of a section says what each code in it means (`names`),
 * and `mapNames` is the only function that finds them: renames and "used by" use it, and a test requires the annotation on every
 * code of every schema. Pure.
 */
import { sectionOf } from '../lib/data-types/index.ts';
import { SYSTEM_FIELDS } from '../lib/filter.ts';
import { EVENT_FIELDS, isFieldList } from '../contract/rule-fields.ts';
import { canonicalJson, isObject } from '../lib/json.ts';
import { isTemplateName, replacePlaceholders } from '../lib/template.ts';
import { mapTransform } from '../lib/transforms.ts';
import type { Codes } from './codes.ts';
import { fits, type NamedPlace, type Names, type NamingSchema, type RenameEffects } from './naming.ts';
import type { ItemPath } from './section.ts';

type Members = Record<string, unknown>;

interface Scope {
  /** Path of the item in `Codes`. */
  item: string;
  /** Path of the enclosing part, or of the item. */
  at: string;
  /** The property that holds the enclosing list. */
  list: string;
  types: readonly string[];
  /** The record types of the scope around the one that `typesAt` opened. */
  outerTypes?: readonly string[];
  /** The target of the mapping that the value belongs to. */
  target?: string;
  path: ItemPath;
}

const DEEPEST = 64;

/**
 * The value with the current code of everything that it names.
 *
 * @param effects takes what else changes
 * @param seen called for each place that names something
 */
export function mapNames(
  { key, schema }: { key: string; schema: unknown },
  item: string,
  value: unknown,
  codes: Codes,
  effects: RenameEffects = { gained: [], split: [] },
  seen?: (place: NamedPlace) => void,
): unknown {
  const types = key === 'types' ? [item] : key === 'workflows' ? codes.typesUsing(item) : codes.types();
  const at = `${key}/${item}`;
  const scope = { item: at, at, list: '', types, path: [] };
  return new Mapping(codes, effects, seen).value(schema as NamingSchema, value, scope)[0];
}

/** Calls `found` for each item that a property of the value names; not for those in conditions, values and texts. */
export function eachNamedItem(
  { names, anyOf, items, properties = {} }: NamingSchema,
  value: unknown,
  found: (section: string, code: string, path: ItemPath) => void,
  path: ItemPath = [],
): void {
  if (names?.kind === 'item' && typeof value === 'string') found(names.section, value, path);
  else if (anyOf !== undefined) {
    const branch = anyOf.find((one) => one.const === value || fits(one, value));
    if (branch !== undefined) eachNamedItem(branch, value, found, path);
  } else if (Array.isArray(value) && items !== undefined) {
    for (const [index, one] of value.entries()) eachNamedItem(items, one, found, [...path, index]);
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(properties))
      if (value[name] !== undefined) eachNamedItem(member, value[name], found, [...path, name]);
  }
}

function inside(scope: Scope, step: string | number): Scope {
  return { ...scope, path: [...scope.path, step] };
}

class Mapping {
  readonly #codes: Codes;
  readonly #effects: RenameEffects;
  readonly #seen: ((place: NamedPlace) => void) | undefined;

  constructor(codes: Codes, effects: RenameEffects, seen: ((place: NamedPlace) => void) | undefined) {
    this.#codes = codes;
    this.#effects = effects;
    this.#seen = seen;
  }

  /** One value, or several where a list names a thing that has different codes in several types. */
  value(schema: NamingSchema, value: unknown, scope: Scope): unknown[] {
    if (value === null || value === undefined) return [value];
    if (schema.names !== undefined) return this.#named(schema.names, value, scope);
    if (schema.anyOf !== undefined) {
      if (schema.anyOf.some((branch) => branch.const === value)) return [value];
      const branch = schema.anyOf.find((one) => fits(one, value));
      return branch === undefined ? [value] : this.value(branch, value, scope);
    }
    if (Array.isArray(value)) {
      const { items = {}, uniqueItems } = schema;
      const mapped = value.flatMap((one, index) => this.value(items, one, inside(scope, index)));
      for (const list of items.names === undefined ? [] : this.#lists(items.names, scope))
        this.#gain(list, value, mapped, scope);
      return [uniqueItems === true ? [...new Set(mapped)] : mapped];
    }
    return [isObject(value) && schema.properties !== undefined ? this.#object(schema, value, scope) : value];
  }

  #object({ properties = {}, part, typesAt, typesNeeded }: NamingSchema, value: Members, outer: Scope): unknown {
    const scope = { ...outer };
    if (typesAt !== undefined) {
      scope.outerTypes = outer.types;
      scope.types = typesNeeded === true && value[typesAt] === undefined ? [] : this.#typesIn(value[typesAt]);
    }
    if (typeof value['target'] === 'string') scope.target = value['target'];
    const list = `${outer.at}/${outer.list}`;
    if (part !== undefined) scope.at = `${list}/${String(value['code'])}`;
    const entries = Object.entries(value).map(([name, member]): [string, unknown] => {
      if (part !== undefined && name === 'code') return [name, this.#codes.code(list, String(member))];
      const at = inside({ ...scope, list: name }, name);
      return [name, this.#one(this.value(properties[name] ?? {}, member, at), at)];
    });
    return Object.fromEntries(entries);
  }

  #typesIn(given: unknown): readonly string[] {
    const types = typeof given === 'string' ? [given] : Array.isArray(given) ? (given as string[]) : [];
    if (types.length === 0 || types.includes('*')) return this.#codes.types();
    return types.map((type) => this.#codes.typeName(type));
  }

  /** The first of the values, for a place that has only one. */
  #one<T>(values: readonly T[], { path }: Scope): T {
    if (values.length > 1) this.#effects.split.push({ path, codes: values as unknown as string[] });
    return values[0] as T;
  }

  /** Notes the parts of the list that the codes cover only since the renames. */
  #gain(list: string, before: readonly unknown[], after: readonly unknown[], { path }: Scope): void {
    for (const to of after) {
      const from = typeof to === 'string' ? this.#codes.origin(list, to) : undefined;
      if (typeof to !== 'string' || from === undefined || before.includes(from)) continue;
      const [section = '', item = ''] = list.split('/');
      this.#effects.gained.push({ path, section, item: this.#codes.code(section, item), from, to });
    }
  }

  /** The lists of the parts that codes of the kind name. */
  #lists(names: Names | { kind: 'state' }, { item, types }: Pick<Scope, 'item' | 'types'>): string[] {
    switch (names.kind) {
      case 'node':
        return [`${item}/${names.part}`];
      case 'field':
      case 'groups':
        return types.map((type) => `types/${type}/fields`);
      case 'transition':
      case 'state':
        // In a workflow, a transition of its own.
        if (item.startsWith('workflows/')) return [`${item}/${names.kind}s`];
        return types.flatMap((type) => this.#codes.workflowsOf(type).map((code) => `workflows/${code}/${names.kind}s`));
      default:
        return [];
    }
  }

  /** What the code becomes in the lists that have it. */
  #each(code: string, lists: readonly string[]): string[] {
    const found = lists.flatMap((list) => this.#codes.at(`${list}/${code}`)?.code ?? []);
    return found.length === 0 ? [code] : [...new Set(found)].sort((a, b) => Number(a === code) - Number(b === code));
  }

  #named(names: Names, value: unknown, scope: Scope): unknown[] {
    const { types, outerTypes = types, at, path } = scope;
    this.#seen?.({ names, value, path, types, outerTypes, at });
    switch (names.kind) {
      case 'own':
        return [value];
      case 'condition':
        return [this.#condition(value, scope, 1)];
      case 'set':
      case 'filledSet':
        return [isObject(value) ? this.#set(value, scope, names.kind === 'filledSet') : value];
      case 'value':
        return [this.#literal(at, value, false)];
      case 'template':
        return [this.#template(value, scope)];
    }
    if (Array.isArray(value)) return [value.flatMap((one) => this.#named(names, one, scope))];
    if (typeof value !== 'string') return [value];
    if (names.kind === 'item') return [this.#codes.item(names.section, value)];
    if (names.kind === 'transforms') return [this.#transform(value, scope)];
    return this.#each(value, this.#lists(names, scope));
  }

  #condition(condition: unknown, scope: Scope, depth: number): unknown {
    if (!isObject(condition) || depth > DEEPEST) return condition;
    const { conditions } = condition;
    if (Array.isArray(conditions)) {
      return { ...condition, conditions: conditions.map((part) => this.#condition(part, scope, depth + 1)) };
    }
    return this.#leaf(condition, scope);
  }

  /**
   * A leaf means the same for every type, unless only some of them renamed what it names, or another type renamed something to
   * the same code. Then it is limited to the types for which it was true.
   */
  #leaf(leaf: Members, scope: Scope): unknown {
    const code = leaf['field'];
    if (typeof code !== 'string') return leaf;
    const found = scope.types.map((type) => ({ type, mapped: this.#leafFor(leaf, code, type, scope) }));
    const byLeaf = Map.groupBy(found, ({ mapped }) => (mapped === undefined ? '' : canonicalJson(mapped)));
    const others = (byLeaf.get('') ?? []).map(({ type }) => type);
    byLeaf.delete('');
    const all = [...byLeaf.values()].map((same) => ({
      mapped: same[0]?.mapped ?? leaf,
      types: same.map(({ type }) => type),
    }));
    const [first] = all;
    if (first === undefined) {
      if (code === 'workflowState') this.#gainStates(scope.types, leaf, leaf, scope);
      return this.#systemLeaf(leaf, code);
    }
    if (all.length === 1 && !others.some((type) => this.#reaches(type, first.mapped))) return first.mapped;
    // No record of the other types is in the state, also if one of their states gets its code: a freed code is no state.
    if (code === 'workflowState' && leaf['operator'] === 'not-equals') {
      for (const [value, types] of Map.groupBy(others, (type) => this.#freed(type, leaf['value'])))
        all.push({ mapped: { ...leaf, value }, types });
    }
    const conditions = all.map(({ mapped, types }) => {
      const value = types.map((type) => this.#codes.code('types', type));
      return { logic: 'AND', conditions: [{ field: 'typeCode', operator: 'in', value }, mapped] };
    });
    return conditions.length === 1 ? conditions[0] : { logic: 'OR', conditions };
  }

  #origin(lists: readonly string[], code: unknown): string | undefined {
    if (typeof code !== 'string') return undefined;
    return lists.map((list) => this.#codes.origin(list, code)).find((from) => from !== undefined);
  }

  /** Whether the mapped leaf names something of the type, although the leaf named nothing of it before. */
  #reaches(type: string, leaf: Members): boolean {
    if (leaf['field'] !== 'workflowState') return this.#origin([`types/${type}/fields`], leaf['field']) !== undefined;
    const states = this.#statesOf([type]);
    return valuesOf(leaf).some((state) => this.#origin(states, state) !== undefined);
  }

  #freed(type: string, state: unknown): unknown {
    return this.#origin(this.#statesOf([type]), state) ?? state;
  }

  #statesOf(types: readonly string[]): string[] {
    return this.#lists({ kind: 'state' }, { item: '', types });
  }

  #gainStates(types: readonly string[], leaf: Members, mapped: Members, scope: Scope): void {
    for (const list of this.#statesOf(types)) this.#gain(list, valuesOf(leaf), valuesOf(mapped), scope);
  }

  /** Undefined if the leaf names nothing of the type: then it is false for all its records, unless it is `not-equals`. */
  #leafFor(leaf: Members, code: string, type: string, scope: Scope): Members | undefined {
    const list = `types/${type}/fields`;
    const field = this.#codes.at(`${list}/${code}`);
    if (field !== undefined) {
      const mapped = withValue({ ...leaf, field: field.code }, (one) => this.#literal(`${list}/${code}`, one, true));
      this.#gain(`${list}/${code}/options`, valuesOf(leaf), valuesOf(mapped), scope);
      return mapped;
    }
    const values = valuesOf(leaf).filter((one) => typeof one === 'string');
    // Fields that an event changed, or that hold its actor.
    if (isFieldList(code)) {
      if (!values.some((one) => this.#codes.at(`${list}/${one}`) !== undefined)) return undefined;
      return withValue(leaf, (one) => (typeof one === 'string' ? this.#codes.code(list, one) : one));
    }
    const states = code === 'workflowState' ? this.#statesOf([type]) : [];
    if (!values.some((one) => states.some((state) => this.#codes.at(`${state}/${one}`) !== undefined)))
      return undefined;
    const value = values.flatMap((one) => this.#each(one, states));
    // A type can have several workflows, each of which renames its states.
    const mapped = Array.isArray(leaf['value'])
      ? { ...leaf, value }
      : value.length === 1
        ? { ...leaf, value: value[0] }
        : { ...leaf, operator: 'in', value };
    this.#gainStates([type], leaf, mapped, scope);
    if (value.length === 1 || leaf['operator'] !== 'not-equals') return mapped;
    return { logic: 'AND', conditions: value.map((one) => ({ ...leaf, value: one })) };
  }

  #systemLeaf(leaf: Members, code: string): unknown {
    const system = SYSTEM_FIELDS.get(code) ?? EVENT_FIELDS.get(code);
    const section = code === 'typeCode' || code === 'typeId' ? 'types' : sectionOf(system?.dataType ?? 'string');
    return section === undefined ? leaf : withValue(leaf, (one) => this.#item(section, one, true));
  }

  /** A value of the field. With `variables`, a leading `$` names a variable, and `$$` stands for a literal one. */
  #literal(field: string, value: unknown, variables: boolean): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#literal(field, one, variables));
    const dataType = this.#codes.at(field)?.dataType;
    const section = dataType === undefined ? undefined : sectionOf(dataType);
    if (section !== undefined) return this.#item(section, value, variables);
    return dataType === 'enum' && typeof value === 'string' ? this.#codes.code(`${field}/options`, value) : value;
  }

  #item(section: string, value: unknown, variables: boolean): unknown {
    if (typeof value !== 'string' || (variables && value.startsWith('$') && !value.startsWith('$$'))) return value;
    if (variables && value.startsWith('$$')) return `$${this.#codes.item(section, value.slice(1))}`;
    return this.#codes.item(section, value);
  }

  #set(set: Members, scope: Scope, filled: boolean): Members {
    const around = { ...scope, types: scope.outerTypes ?? scope.types };
    const entries = Object.entries(set).map(([code, value]): [string, unknown] => {
      const lists = this.#lists({ kind: 'field' }, scope).filter((list) => this.#codes.at(`${list}/${code}`));
      const name = this.#one(this.#each(code, lists), inside(scope, code));
      const list = lists.find((one) => this.#codes.code(one, code) === name);
      const mapped = list === undefined ? value : this.#literal(`${list}/${code}`, value, true);
      return [name, filled && typeof mapped === 'string' ? this.#template(mapped, around) : mapped];
    });
    return Object.fromEntries(entries);
  }

  #template(value: unknown, scope: Scope): unknown {
    if (Array.isArray(value)) return value.map((one, index) => this.#template(one, inside(scope, index)));
    if (isObject(value)) {
      const texts = Object.entries(value).map(([key, text]) => [key, this.#template(text, inside(scope, key))]);
      return Object.fromEntries(texts);
    }
    if (typeof value !== 'string') return value;
    const fields = this.#lists({ kind: 'field' }, scope);
    return replacePlaceholders(value, (name) =>
      isTemplateName(name) && name !== 'title' ? name : this.#one(this.#each(name, fields), scope),
    );
  }

  #transform(text: string, scope: Scope): string {
    const fields = this.#lists({ kind: 'field' }, scope).map((list) => `${list}/${scope.target ?? ''}`);
    const field = fields.find((path) => this.#codes.at(path) !== undefined);
    return mapTransform(text, {
      lookup: (type, code) => [this.#codes.item('types', type), this.#codes.code(`types/${type}/fields`, code)],
      result: (value) => (field === undefined ? value : this.#codes.code(`${field}/options`, value)),
    });
  }
}

/** The values of a leaf as a list. */
function valuesOf(leaf: { value?: unknown }): readonly unknown[] {
  return Array.isArray(leaf.value) ? leaf.value : [leaf.value];
}

function withValue(leaf: Members, map: (one: unknown) => unknown): Members {
  const { value } = leaf;
  return value === undefined ? leaf : { ...leaf, value: Array.isArray(value) ? value.map(map) : map(value) };
}
