/** The subset of JSON Schema that operations use, and the rules that their schemas must follow. */
import type { TSchema } from 'typebox';
import Format from 'typebox/format';

export interface JsonSchema {
  $id?: string;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  patternProperties?: Record<string, JsonSchema>;
  minProperties?: number;
  maxProperties?: number;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
}

/** TypeBox types are JSON Schema; this changes only the static type. */
export function asJsonSchema(schema: TSchema): JsonSchema {
  return schema as JsonSchema;
}

/** The direct subschemas, each with a name for error messages. */
function* parts(schema: JsonSchema): Generator<[string, JsonSchema]> {
  for (const [name, part] of Object.entries(schema.properties ?? {})) yield [name, part];
  for (const [name, part] of Object.entries(schema.patternProperties ?? {})) yield [name, part];
  for (const [name, part] of Object.entries(schema.$defs ?? {})) yield [name, part];
  if (typeof schema.additionalProperties === 'object') yield ['*', schema.additionalProperties];
  if (schema.items !== undefined) yield ['items', schema.items];
  for (const list of [schema.anyOf, schema.oneOf, schema.allOf]) {
    for (const [index, part] of (list ?? []).entries()) yield [String(index), part];
  }
}

/** Schemas that can be referenced: those in `$defs` and those with an `$id`. */
export function definitionsOf(schema: JsonSchema, found = new Map<string, JsonSchema>()): Map<string, JsonSchema> {
  for (const [name, part] of Object.entries(schema.$defs ?? {})) found.set(name, part);
  if (schema.$id !== undefined) found.set(schema.$id, schema);
  for (const [, part] of parts(schema)) definitionsOf(part, found);
  return found;
}

/** `Node`, `#/$defs/Node` and `#/components/schemas/Node` refer to the same definition. */
export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

/**
 * Requires that a request schema accepts nothing unknown: objects are closed (or maps), formats are known.
 *
 * @throws Error naming the place
 */
export function requireStrict(schema: JsonSchema, place: string): void {
  if (schema.properties !== undefined && schema.additionalProperties !== false) {
    throw new Error(`${place}: an object schema of a request needs additionalProperties: false`);
  }
  const isMap = schema.patternProperties !== undefined || typeof schema.additionalProperties === 'object';
  if (schema.type === 'object' && schema.properties === undefined && !isMap && schema.additionalProperties !== false) {
    throw new Error(`${place}: an object schema of a request needs properties, or is a Record`);
  }
  // An unknown format would accept every value.
  if (schema.format !== undefined && !Format.Has(schema.format)) {
    throw new Error(`${place}: the format "${schema.format}" is not known`);
  }
  if (schema.allOf !== undefined) throw new Error(`${place}: allOf cannot be closed; write one object`);
  for (const [name, part] of parts(schema)) requireStrict(part, `${place}/${name}`);
}
