/** Values made from the schemas of our own OpenAPI documents: fit ones, and ones with one thing wrong. */
import type { RandomSource } from './random-source.ts';
import { hostileString, hostileValue } from './hostile.ts';

export type Json = Record<string, unknown>;

interface Schema extends Json {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  format?: string;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

/** Gives a value for a member by its name, where things of the database are known that fit it. */
export type Known = (name: string) => unknown;

export class SchemaValues {
  readonly #document: Json;
  readonly #random: RandomSource;
  readonly #known: Known;

  constructor(document: Json, random: RandomSource, known: Known) {
    this.#document = document;
    this.#random = random;
    this.#known = known;
  }

  resolve(schema: Schema): Schema {
    if (schema.$ref === undefined) return schema;
    const found = schema.$ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, name) => (at as Json)[name], this.#document);
    return this.resolve(found as Schema);
  }

  /** A value that the schema accepts. */
  make(given: unknown, name = '', depth = 0): unknown {
    const random = this.#random;
    const schema = this.resolve(given as Schema);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) return random.pick(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) return this.make(random.pick(choices), name, depth);
    if (schema.allOf !== undefined)
      return Object.assign({}, ...schema.allOf.map((part) => this.make(part, name, depth)));
    const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
    const known = random.once(8) ? undefined : this.#known(name);
    if (
      known !== undefined &&
      (type === undefined || type === typeof known || (type === 'integer' && Number.isInteger(known)))
    )
      return known;
    switch (type) {
      case 'object':
        return this.#object(schema, depth);
      case 'array': {
        const most = Math.min(schema.maxItems ?? 3, 3);
        const length = Math.max(schema.minItems ?? 0, random.below(most + 1));
        return Array.from({ length }, () => this.make(schema.items ?? {}, name.replace(/s$/, ''), depth + 1));
      }
      case 'string':
        return this.#string(schema);
      case 'integer':
        return Math.max(schema.minimum ?? 0, Math.min(schema.maximum ?? 1000, 1 + random.below(3)));
      case 'number':
        return random.below(100) / 4;
      case 'boolean':
        return random.once(2);
      case 'null':
        return null;
      default:
        return random.once(3) ? hostileValue(random) : 'x';
    }
  }

  #object(schema: Schema, depth: number): Json {
    const made: Json = {};
    const required = new Set(schema.required);
    for (const [name, member] of Object.entries(schema.properties ?? {})) {
      if (!required.has(name) && (depth > 4 || !this.#random.once(2))) continue;
      made[name] = this.make(member, name, depth + 1);
    }
    if (schema.patternProperties !== undefined) {
      for (const code of ['title', 'shown', 'picture']) {
        const value = this.#known(`values.${code}`);
        if (value !== undefined && (code === 'title' || this.#random.once(2))) made[code] = value;
      }
      if (this.#random.once(3))
        made[this.#random.pick(['title', 'shown', 'picture', 'hush'])] = hostileValue(this.#random);
    }
    return made;
  }

  #string(schema: Schema): string {
    const random = this.#random;
    if (schema.format === 'uuid') return random.uuid();
    if (schema.format === 'date-time') return '2026-11-21T09:15:00.000Z';
    if (schema.format === 'date') return '2026-11-21';
    if (schema.format === 'email') return `p${random.below(1e9)}@example.org`;
    if (schema.format === 'uri') return 'https://1.1.1.1/hook';
    if (random.once(4)) return hostileString(random).slice(0, schema.maxLength ?? 1000);
    const text = `w${random.below(1e9)}`;
    return text.padEnd(schema.minLength ?? 1, 'x').slice(0, Math.max(schema.maxLength ?? 100, 1));
  }
}

/** A copy of the value with one thing changed somewhere in it. */
export function spoil(random: RandomSource, value: unknown): unknown {
  const copy = structuredClone(value);
  if (typeof copy !== 'object' || copy === null || random.once(25)) return hostileValue(random);
  const places: [Record<string, unknown> | unknown[], string | number][] = [];
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    for (const [key, inner] of Object.entries(part)) {
      places.push([part as Json, key]);
      if (places.length < 200) walk(inner);
    }
  };
  walk(copy);
  for (let times = random.once(4) ? 3 : 1; times > 0; times--) {
    const roll = random.below(10);
    const [holder, key] = places.length === 0 ? [copy as Json, 'a'] : random.pick(places);
    if (Array.isArray(holder)) {
      if (roll < 2) holder.splice(Number(key), 1);
      else if (roll < 4) holder.push(...holder.slice(0, 50));
      else holder[Number(key)] = hostileValue(random);
    } else if (roll < 2) delete holder[key];
    else if (roll < 4)
      define(
        holder,
        random.pick([hostileString(random), 'extra', '__proto__', 'constructor', 'id']),
        hostileValue(random),
      );
    else if (roll < 5 && typeof holder[key] === 'string')
      define(holder, String(key), `${holder[key]}${hostileString(random)}`);
    else define(holder, String(key), hostileValue(random));
  }
  return copy;
}

/** An own member, regardless of its name: assignment to `__proto__` would make none. */
function define(holder: Json, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, writable: true, configurable: true });
}
