/**
 * Where the items of a section name codes of other things. The schema of a section says what each code in it means (`names`),
 * and `mapNames` is the only function that finds them: renames and "used by" use it, and a test requires the annotation on every
 * code of every schema. Pure.
 */
import { sectionOf } from '../lib/data-types/index.ts';
import { SYSTEM_FIELDS } from '../lib/filter.ts';
import { ACTOR_IN, CHANGED, EVENT_FIELDS } from '../contract/rule-fields.ts';
import { canonicalJson, isObject } from '../lib/json.ts';
import { isTemplateName, replacePlaceholders } from '../lib/template.ts';
import { mapTransform } from '../lib/transforms.ts';
import {
  type CurrentCodes,
  type CurrentField,
  fits,
  type NamedPlace,
  type Names,
  type NamingSchema,
  type PartKind,
  type PartsList,
  type RenameEffects,
} from './naming.ts';
import type { ItemPath } from './section.ts';

interface Scope {
  section: string;
  item: string;
  types: readonly string[];
  /** The record types of the scope around the one that `typesAt` opened. */
  outerTypes?: readonly string[];
  /** Code of the enclosing field, in the definition of a type. */
  field?: string;
  /** The property that holds the enclosing list. */
  list?: string;
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
  codes: CurrentCodes,
  effects: RenameEffects = { gained: [], split: [] },
  seen?: (place: NamedPlace) => void,
): unknown {
  const own = key === 'types' ? [item] : key === 'workflows' ? codes.typesUsing(item) : codes.types();
  const scope = { section: key, item, types: own, path: [] };
  return new Mapping(codes, effects, seen).value(schema as NamingSchema, value, scope)[0];
}

function inside(scope: Scope, step: string | number): Scope {
  return { ...scope, path: [...scope.path, step] };
}

class Mapping {
  readonly #codes: CurrentCodes;
  readonly #effects: RenameEffects;
  readonly #seen: ((place: NamedPlace) => void) | undefined;

  constructor(codes: CurrentCodes, effects: RenameEffects, seen: ((place: NamedPlace) => void) | undefined) {
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
      for (const type of scope.types) {
        if (items.names?.kind === 'field') this.#gain('types', type, 'fields', { before: value, after: mapped, scope });
        if (items.names?.kind !== 'transition') continue;
        for (const workflow of this.#codes.workflowsOf(type))
          this.#gain('workflows', workflow, 'transitions', { before: value, after: mapped, scope });
      }
      return [uniqueItems === true ? [...new Set(mapped)] : mapped];
    }
    return [isObject(value) && schema.properties !== undefined ? this.#object(schema, value, scope) : value];
  }

  #object(
    { properties = {}, part, typesAt, typesNeeded }: NamingSchema,
    value: Record<string, unknown>,
    outer: Scope,
  ): unknown {
    const scope = { ...outer };
    if (typesAt !== undefined) {
      scope.outerTypes = outer.types;
      scope.types = typesNeeded === true && value[typesAt] === undefined ? [] : this.#typesIn(value[typesAt]);
    }
    if (typeof value['target'] === 'string') scope.target = value['target'];
    if (part === 'field') scope.field = String(value['code']);
    const entries = Object.entries(value).map(([name, member]): [string, unknown] => {
      if (part !== undefined && name === 'code') return [name, this.#own(part, String(member), outer)];
      const at = inside({ ...scope, list: name }, name);
      return [name, this.#one(this.value(properties[name] ?? {}, member, at) as [unknown, ...string[]], at)];
    });
    return Object.fromEntries(entries);
  }

  /** The first of the codes, for a place that has only one. */
  #one<T>(codes: readonly [T, ...string[]], { path }: Scope): T {
    if (codes.length > 1) this.#effects.split.push({ path, codes: codes as unknown as string[] });
    return codes[0];
  }

  /** Notes the parts of the item that the codes cover only since the renames. */
  #gain(
    section: 'types' | 'workflows',
    item: string,
    list: PartsList,
    { before, after, scope: { path } }: { before: readonly unknown[]; after: readonly unknown[]; scope: Scope },
  ): void {
    for (const to of after) {
      const from = typeof to === 'string' ? this.#codes.origin(section, item, list, to) : undefined;
      if (typeof to !== 'string' || from === undefined || before.includes(from)) continue;
      this.#effects.gained.push({ path, section, item: this.#codes.item(section, item), from, to });
    }
  }

  #typesIn(given: unknown): readonly string[] {
    const types = typeof given === 'string' ? [given] : Array.isArray(given) ? (given as string[]) : [];
    return types.length === 0 || types.includes('*') ? this.#codes.types() : types;
  }

  /** The code of a part of the item itself. */
  #own(part: PartKind, code: string, { section, item, field, list }: Scope): string {
    switch (part) {
      case 'field':
        return this.#codes.field(item, code)?.code ?? code;
      case 'option':
        return this.#codes.field(item, field ?? '')?.option(code) ?? code;
      case 'state':
        return this.#codes.state(item, code) ?? code;
      case 'transition':
        return this.#codes.transition(item, code) ?? code;
      default:
        return this.#codes.node(section, item, list ?? '', code);
    }
  }

  #named(names: Names, value: unknown, scope: Scope): unknown[] {
    const { types, outerTypes = types, field, path } = scope;
    this.#seen?.({ names, value, path, types, outerTypes, field });
    if (names.kind === 'condition') return [this.#condition(value, scope, 1)];
    if (names.kind === 'set') return [isObject(value) ? this.#set(value, scope) : value];
    if (names.kind === 'filledSet') return [isObject(value) ? this.#filledSet(value, scope) : value];
    if (names.kind === 'value') return [this.#ownValue(value, scope)];
    if (names.kind === 'template') return [this.#template(value, scope)];
    if (Array.isArray(value)) {
      return [value.flatMap((one) => this.#named(names, one, scope))];
    }
    if (typeof value !== 'string' || names.kind === 'own') return [value];
    switch (names.kind) {
      case 'item':
        return [this.#codes.item(names.section, value)];
      case 'node':
        return [this.#codes.node(scope.section, scope.item, names.part, value)];
      case 'state':
        return [this.#codes.state(scope.item, value) ?? value];
      case 'transition':
        // In a workflow, a transition of its own.
        if (scope.section === 'workflows') return [this.#codes.transition(scope.item, value) ?? value];
        return this.#each(
          value,
          scope.types.flatMap((type) => this.#inWorkflows(type, value, 'transition')),
        );
      case 'transforms':
        return [this.#transform(value, scope)];
      default:
        return this.#each(
          value,
          scope.types.flatMap((type) => this.#codes.field(type, value)?.code ?? []),
        );
    }
  }

  #each(code: string, found: readonly string[]): string[] {
    return found.length === 0 ? [code] : [...new Set(found)].sort((a, b) => Number(a === code) - Number(b === code));
  }

  #inWorkflows(type: string, code: string, kind: 'state' | 'transition'): string[] {
    return this.#codes.workflowsOf(type).flatMap((workflow) => this.#codes[kind](workflow, code) ?? []);
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
  #leaf(leaf: Record<string, unknown>, scope: Scope): unknown {
    const code = leaf['field'];
    if (typeof code !== 'string') return leaf;
    const mapped = new Map<string, { leaf: Record<string, unknown>; types: string[] }>();
    const others: string[] = [];
    for (const type of scope.types) {
      const one = this.#leafFor(leaf, code, type, scope);
      if (one === undefined) {
        others.push(type);
        continue;
      }
      const key = canonicalJson(one);
      const known = mapped.get(key);
      if (known === undefined) mapped.set(key, { leaf: one, types: [type] });
      else known.types.push(type);
    }
    const all = [...mapped.values()];
    const [first] = all;
    if (first === undefined) {
      this.#gainStates(scope.types, leaf, leaf, scope);
      return this.#systemLeaf(leaf, code);
    }
    if (all.length === 1 && !others.some((type) => this.#reaches(type, first.leaf))) return first.leaf;
    // No record of the other types is in the state, also if one of their states gets its code: a freed code is no state.
    if (code === 'workflowState' && leaf['operator'] === 'not-equals') {
      for (const [value, types] of Map.groupBy(others, (type) => this.#freed(type, leaf['value'])))
        all.push({ leaf: { ...leaf, value }, types });
    }
    const conditions = all.map((one) => {
      const value = one.types.map((type) => this.#codes.typeCode(type));
      return { logic: 'AND', conditions: [{ field: 'typeCode', operator: 'in', value }, one.leaf] };
    });
    return conditions.length === 1 ? conditions[0] : { logic: 'OR', conditions };
  }

  /** Whether the mapped leaf names something of the type, although the leaf named nothing of it before. */
  #reaches(type: string, leaf: Record<string, unknown>): boolean {
    const named = (section: 'types' | 'workflows', item: string, list: PartsList, code: unknown): boolean =>
      typeof code === 'string' && this.#codes.origin(section, item, list, code) !== undefined;
    if (leaf['field'] !== 'workflowState') return named('types', type, 'fields', leaf['field']);
    const workflows = this.#codes.workflowsOf(type);
    return valuesOf(leaf).some((state) => workflows.some((one) => named('workflows', one, 'states', state)));
  }

  #freed(type: string, state: unknown): unknown {
    if (typeof state !== 'string') return state;
    const freed = this.#codes.workflowsOf(type).map((one) => this.#codes.origin('workflows', one, 'states', state));
    return freed.find((from) => from !== undefined) ?? state;
  }

  #gainStates(types: readonly string[], leaf: object, mapped: object, scope: Scope): void {
    if ((leaf as { field?: unknown }).field !== 'workflowState') return;
    for (const workflow of types.flatMap((type) => this.#codes.workflowsOf(type))) {
      this.#gain('workflows', workflow, 'states', { before: valuesOf(leaf), after: valuesOf(mapped), scope });
    }
  }

  /** Undefined if the leaf names nothing of the type: then it is false for all its records, unless it is `not-equals`. */
  #leafFor(
    leaf: Record<string, unknown>,
    code: string,
    type: string,
    scope: Scope,
  ): Record<string, unknown> | undefined {
    const field = this.#codes.field(type, code);
    if (field !== undefined) {
      const mapped = withValue({ ...leaf, field: field.code }, (one) => this.#literal(field, one, true));
      const values = { before: valuesOf(leaf), after: valuesOf(mapped), scope };
      this.#gain('types', type, { optionsOf: code }, values);
      return mapped;
    }
    if (code === CHANGED || code === ACTOR_IN) return this.#fieldsLeaf(leaf, type);
    if (code !== 'workflowState') return undefined;
    const states = (one: unknown): string[] =>
      typeof one === 'string' ? this.#each(one, this.#inWorkflows(type, one, 'state')) : [];
    const values = valuesOf(leaf);
    if (!values.some((one) => typeof one === 'string' && this.#inWorkflows(type, one, 'state').length > 0))
      return undefined;
    const value = values.flatMap(states);
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

  /** A leaf whose values are fields: those that an event changed, or that hold its actor. Undefined if it names no field of the type. */
  #fieldsLeaf(leaf: Record<string, unknown>, type: string): Record<string, unknown> | undefined {
    const current = (one: unknown): string | undefined =>
      typeof one === 'string' ? this.#codes.field(type, one)?.code : undefined;
    if (!valuesOf(leaf).some((one) => current(one) !== undefined)) return undefined;
    return withValue(leaf, (one) => current(one) ?? one);
  }

  #systemLeaf(leaf: Record<string, unknown>, code: string): unknown {
    const system = SYSTEM_FIELDS.get(code) ?? EVENT_FIELDS.get(code);
    const section = code === 'typeCode' || code === 'typeId' ? 'types' : sectionOf(system?.dataType ?? 'string');
    return section === undefined ? leaf : withValue(leaf, (one) => this.#item(section, one, true));
  }

  /** A value of the field. With `variables`, a leading `$` names a variable, and `$$` stands for a literal one. */
  #literal(field: CurrentField, value: unknown, variables: boolean): unknown {
    const section = sectionOf(field.dataType);
    if (section !== undefined) return this.#item(section, value, variables);
    return field.dataType === 'enum' && typeof value === 'string' ? field.option(value) : value;
  }

  #item(section: string, value: unknown, variables: boolean): unknown {
    if (typeof value !== 'string' || (variables && value.startsWith('$') && !value.startsWith('$$'))) return value;
    if (variables && value.startsWith('$$')) return `$${this.#codes.item(section, value.slice(1))}`;
    return this.#codes.item(section, value);
  }

  #set(set: Record<string, unknown>, scope: Scope): Record<string, unknown> {
    const entries = Object.entries(set).flatMap(([code, value]): [string, unknown][] => {
      const fields = scope.types.flatMap((type) => this.#codes.field(type, code) ?? []);
      if (code.startsWith('$') || fields.length === 0) return [[code, value]];
      const names = this.#each(
        code,
        fields.map((field) => field.code),
      );
      const name = this.#one(names as [string, ...string[]], inside(scope, code));
      const field = fields.find((one) => one.code === name) as CurrentField;
      return [[name, each(value, (one) => this.#literal(field, one, true))]];
    });
    return Object.fromEntries(entries);
  }

  #filledSet(set: Record<string, unknown>, scope: Scope): Record<string, unknown> {
    const around = { ...scope, types: scope.outerTypes ?? scope.types };
    const entries = Object.entries(this.#set(set, scope)).map(([code, value]): [string, unknown] => [
      code,
      typeof value === 'string' ? this.#template(value, around) : value,
    ]);
    return Object.fromEntries(entries);
  }

  /** The default of a field, in the definition of a type. */
  #ownValue(value: unknown, { item, field = '' }: Scope): unknown {
    const known = this.#codes.field(item, field);
    return known === undefined ? value : each(value, (one) => this.#literal(known, one, false));
  }

  #template(value: unknown, scope: Scope): unknown {
    if (Array.isArray(value)) return value.map((one, index) => this.#template(one, inside(scope, index)));
    if (isObject(value)) {
      const texts = Object.entries(value).map(([key, text]) => [key, this.#template(text, inside(scope, key))]);
      return Object.fromEntries(texts);
    }
    if (typeof value !== 'string') return value;
    return replacePlaceholders(value, (name) => {
      if (isTemplateName(name) && name !== 'title') return name;
      const found = scope.types.flatMap((type) => this.#codes.field(type, name)?.code ?? []);
      return this.#one(this.#each(name, found) as [string, ...string[]], scope);
    });
  }

  #transform(text: string, { types, target = '' }: Scope): string {
    const field = types.flatMap((type) => this.#codes.field(type, target) ?? [])[0];
    return mapTransform(text, {
      lookup: (type, code) => [this.#codes.item('types', type), this.#codes.field(type, code)?.code ?? code],
      result: (value) => (field === undefined || field.dataType !== 'enum' ? value : field.option(value)),
    });
  }
}

function each(value: unknown, map: (one: unknown) => unknown): unknown {
  return Array.isArray(value) ? value.map(map) : map(value);
}

/** The values of a leaf as a list. */
function valuesOf(leaf: { value?: unknown }): readonly unknown[] {
  return Array.isArray(leaf.value) ? leaf.value : [leaf.value];
}

function withValue(leaf: Record<string, unknown>, map: (one: unknown) => unknown): Record<string, unknown> {
  return Object.hasOwn(leaf, 'value') ? { ...leaf, value: each(leaf['value'], map) } : leaf;
}
