/** The rules that the schemas of operations must follow. */
import type { TSchema } from 'typebox';
import Format from 'typebox/format';
import { type JsonSchema, partsOf } from '../lib/json-schema.ts';

/** TypeBox types are JSON Schema; this changes only the static type. */
export function asJsonSchema(schema: TSchema): JsonSchema {
  return schema as JsonSchema;
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
  for (const [name, part] of partsOf(schema)) requireStrict(part, `${place}/${name}`);
}
