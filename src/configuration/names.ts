/**
 * Where the items of a section name codes of other things. The schema of a section says what each code in it means (`names`),
 * and `mapNames` is the only function that finds them: renames and "used by" use it, and a test requires the annotation on every
 * code of every schema. Pure.
 */
import type { DataType } from '../lib/data-types/index.ts';
import { sectionOf } from '../lib/data-types/index.ts';
import { SYSTEM_FIELDS } from '../lib/filter.ts';
import { canonicalJson, isObject } from '../lib/json.ts';
import { isTemplateName, replacePlaceholders } from '../lib/template.ts';
import { mapTransform } from '../lib/transforms.ts';

/**
 * What a code or a value in a schema means. `field`, `transition`, `condition`, `set`, `template` (a text with placeholders),
 * `transforms` and `groups` (of a report) refer to the record types in scope, `state` to the workflow itself, `value` to the
 * field itself, and `node` to a part of the same item.
 */
export type Names =
  | { kind: 'item'; section: string }
  | { kind: 'node'; part: string }
  | {
      kind: 'field' | 'transition' | 'state' | 'value' | 'condition' | 'set' | 'template' | 'transforms' | 'groups';
    };

/** A list element that has a code of its own and may be renamed. */
export type PartKind = 'field' | 'option' | 'state' | 'transition' | 'node';

/** A JSON schema with the annotations of this file. */
export interface NamingSchema {
  type?: string | string[];
  const?: unknown;
  anyOf?: NamingSchema[];
  items?: NamingSchema;
  uniqueItems?: boolean;
  properties?: Record<string, NamingSchema>;
  names?: Names;
  part?: PartKind;
  /** The property with the codes of the record types that fields and conditions inside refer to. Without a value: all types. */
  typesAt?: string;
}

/** The current codes of things, by codes in the definitions that are mapped. */
export interface CurrentCodes {
  item(section: string, code: string): string;
  /** The code of a record type that is named by its code or id. */
  typeCode(type: string): string;
  /** Codes of all record types. */
  types(): readonly string[];
  /** Types that use the workflow in any of their versions. */
  typesUsing(workflow: string): readonly string[];
  workflowsOf(type: string): readonly string[];
  /** Undefined if the type has no such field. */
  field(type: string, code: string): CurrentField | undefined;
  /** Undefined if the workflow has no such state or transition. */
  state(workflow: string, code: string): string | undefined;
  transition(workflow: string, code: string): string | undefined;
  /** A part of an item of another kind, such as a category of a catalogue. */
  node(section: string, item: string, part: string, code: string): string;
}

export interface CurrentField {
  code: string;
  dataType: DataType;
  option(code: string): string;
}

interface Scope {
  section: string;
  item: string;
  types: readonly string[];
  /** Code of the enclosing field, in the definition of a type. */
  field?: string;
  /** The property that holds the enclosing list. */
  list?: string;
  /** The target of the mapping that the value belongs to. */
  target?: string;
}

const DEEPEST = 64;

/** The value with the current code of everything that it names. */
export function mapNames(
  { key, schema }: { key: string; schema: unknown },
  item: string,
  value: unknown,
  codes: CurrentCodes,
): unknown {
  const own = key === 'types' ? [item] : key === 'workflows' ? codes.typesUsing(item) : codes.types();
  return new Mapping(codes).value(schema as NamingSchema, value, { section: key, item, types: own })[0];
}

class Mapping {
  readonly #codes: CurrentCodes;

  constructor(codes: CurrentCodes) {
    this.#codes = codes;
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
      const mapped = value.flatMap((one) => this.value(items, one, scope));
      return [uniqueItems === true ? [...new Set(mapped)] : mapped];
    }
    return [isObject(value) && schema.properties !== undefined ? this.#object(schema, value, scope) : value];
  }

  #object({ properties = {}, part, typesAt }: NamingSchema, value: Record<string, unknown>, outer: Scope): unknown {
    const scope = { ...outer };
    if (typesAt !== undefined) scope.types = this.#typesIn(value[typesAt]);
    if (typeof value['target'] === 'string') scope.target = value['target'];
    if (part === 'field') scope.field = String(value['code']);
    const entries = Object.entries(value).map(([name, member]): [string, unknown] => {
      if (part !== undefined && name === 'code') return [name, this.#own(part, String(member), outer)];
      return [name, this.value(properties[name] ?? {}, member, { ...scope, list: name })[0]];
    });
    return Object.fromEntries(entries);
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
    if (names.kind === 'condition') return [this.#condition(value, scope.types, 1)];
    if (names.kind === 'set') return [isObject(value) ? this.#set(value, scope.types) : value];
    if (names.kind === 'value') return [this.#ownValue(value, scope)];
    if (names.kind === 'template') return [this.#template(value, scope.types)];
    if (Array.isArray(value)) {
      return [value.flatMap((one) => this.#named(names, one, scope))];
    }
    if (typeof value !== 'string') return [value];
    switch (names.kind) {
      case 'item':
        return [this.#codes.item(names.section, value)];
      case 'node':
        return [this.#codes.node(scope.section, scope.item, names.part, value)];
      case 'state':
        return [this.#codes.state(scope.item, value) ?? value];
      case 'transition':
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

  #condition(condition: unknown, types: readonly string[], depth: number): unknown {
    if (!isObject(condition) || depth > DEEPEST) return condition;
    const { conditions } = condition;
    if (Array.isArray(conditions)) {
      return { ...condition, conditions: conditions.map((part) => this.#condition(part, types, depth + 1)) };
    }
    return this.#leaf(condition, types);
  }

  /** A leaf means the same for every type, unless only some of them renamed what it names. */
  #leaf(leaf: Record<string, unknown>, types: readonly string[]): unknown {
    const code = leaf['field'];
    if (typeof code !== 'string') return leaf;
    const mapped = new Map<string, { leaf: unknown; types: string[] }>();
    for (const type of types) {
      const one = this.#leafFor(leaf, code, type);
      if (one === undefined) continue;
      const key = canonicalJson(one);
      const known = mapped.get(key);
      if (known === undefined) mapped.set(key, { leaf: one, types: [type] });
      else known.types.push(type);
    }
    const all = [...mapped.values()];
    if (all.length === 0) return this.#systemLeaf(leaf, code);
    if (all.length === 1) return all[0]?.leaf;
    const conditions = all.map((one) => {
      const value = one.types.map((type) => this.#codes.typeCode(type));
      return { logic: 'AND', conditions: [{ field: 'typeCode', operator: 'in', value }, one.leaf] };
    });
    return { logic: 'OR', conditions };
  }

  /** Undefined if the condition is false for all records of the type. */
  #leafFor(leaf: Record<string, unknown>, code: string, type: string): unknown {
    const field = this.#codes.field(type, code);
    if (field !== undefined) {
      return withValue({ ...leaf, field: field.code }, (one) => this.#literal(field, one, true));
    }
    if (code !== 'workflowState') return undefined;
    let known = false;
    const mapped = withValue(leaf, (one) => {
      const [state] = typeof one === 'string' ? this.#inWorkflows(type, one, 'state') : [];
      if (state !== undefined) known = true;
      return state ?? one;
    });
    return known ? mapped : undefined;
  }

  #systemLeaf(leaf: Record<string, unknown>, code: string): unknown {
    const section =
      code === 'typeCode' || code === 'typeId' ? 'types' : sectionOf(SYSTEM_FIELDS.get(code)?.dataType ?? 'string');
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

  #set(set: Record<string, unknown>, types: readonly string[]): Record<string, unknown> {
    const entries = Object.entries(set).flatMap(([code, value]): [string, unknown][] => {
      const fields = types.flatMap((type) => this.#codes.field(type, code) ?? []);
      if (code.startsWith('$') || fields.length === 0) return [[code, value]];
      return this.#each(
        code,
        fields.map((field) => field.code),
      ).map((name) => {
        const field = fields.find((one) => one.code === name) as CurrentField;
        return [name, each(value, (one) => this.#literal(field, one, true))];
      });
    });
    return Object.fromEntries(entries);
  }

  /** The default of a field, in the definition of a type. */
  #ownValue(value: unknown, { item, field = '' }: Scope): unknown {
    const known = this.#codes.field(item, field);
    return known === undefined ? value : each(value, (one) => this.#literal(known, one, false));
  }

  #template(value: unknown, types: readonly string[]): unknown {
    if (isObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, this.#template(text, types)]));
    }
    if (typeof value !== 'string') return value;
    return replacePlaceholders(value, (name) => {
      if (isTemplateName(name) && name !== 'title') return name;
      const found = types.flatMap((type) => this.#codes.field(type, name)?.code ?? []);
      return this.#each(name, found)[0] as string;
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

function fits(schema: NamingSchema, value: unknown): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.some((branch) => fits(branch, value));
  if (Array.isArray(value)) return schema.type === 'array';
  if (isObject(value))
    return schema.type === 'object' || schema.names?.kind === 'condition' || schema.names?.kind === 'set';
  return schema.type === typeof value && schema.const === undefined;
}

function each(value: unknown, map: (one: unknown) => unknown): unknown {
  return Array.isArray(value) ? value.map(map) : map(value);
}

function withValue(leaf: Record<string, unknown>, map: (one: unknown) => unknown): Record<string, unknown> {
  return Object.hasOwn(leaf, 'value') ? { ...leaf, value: each(leaf['value'], map) } : leaf;
}
