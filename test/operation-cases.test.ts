/** Every operation has a case beside its module, for the tests over all operations. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type, { type TSchema } from 'typebox';
import { MODULES } from '../src/modules.ts';
import { operationsOf } from '../src/platform/module.ts';
import { CASES, isRecordRead, LISTED } from './support/operation-calls.ts';
import { OperationFixture } from './support/operation-calls-fixture.ts';

/** Larger bodies take time to read. */
const SMALL_BODY = 64 * 1024;

interface JsonSchema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  format?: string;
  pattern?: string;
  maxLength?: number;
  maxItems?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: unknown;
}

/** About how many characters a value of the schema has at most. */
function longest(schema: JsonSchema): number {
  if (schema.const !== undefined) return JSON.stringify(schema.const).length;
  if (schema.enum !== undefined) return Math.max(...schema.enum.map((one) => JSON.stringify(one).length));
  if (schema.anyOf !== undefined) return Math.max(...schema.anyOf.map(longest));
  const { maxItems = Number.POSITIVE_INFINITY, maxLength = Number.POSITIVE_INFINITY } = schema;
  switch (schema.type) {
    case 'string':
      return schema.format !== undefined || /^\^[^*+]*\$$/.test(schema.pattern ?? '*') ? 100 : maxLength;
    case 'array':
      return maxItems * longest(schema.items ?? {});
    case 'object':
      return schema.additionalProperties === false
        ? Object.entries(schema.properties ?? {}).reduce((sum, [name, value]) => sum + name.length + longest(value), 2)
        : Number.POSITIVE_INFINITY;
    case 'integer':
    case 'number':
    case 'boolean':
    case 'null':
      return 24;
    default:
      return Number.POSITIVE_INFINITY;
  }
}

describe('the cases of operations', () => {
  it('are there for every operation of a module, in its folder, and for no other', () => {
    for (const { name, operations = [] } of MODULES) {
      const ids = new Set(operations.map(({ operation }) => operation.id));
      const listed = Object.keys(CASES.get(name)?.of(new OperationFixture()) ?? {});
      const needed = operations.flatMap(({ operation }) => (isRecordRead(operation) ? [] : [operation.id]));
      assert.deepEqual(
        needed.filter((id) => !listed.includes(id)),
        [],
        `${name}.cases.ts in the folder of the module ${name} has no case of these operations`,
      );
      assert.deepEqual(
        listed.filter((id) => !ids.has(id)),
        [],
        `${name}.cases.ts has cases of operations that the module ${name} does not have`,
      );
    }
    const known = operationsOf(MODULES).map(({ id }) => id);
    assert.deepEqual(Object.keys(LISTED).sort(), known.sort());
    assert.ok(known.length >= 150);
  });

  it('have the largest input where a body can be large', () => {
    let large = 0;
    for (const { id, body } of operationsOf(MODULES)) {
      if (body === undefined || longest(body as JsonSchema) <= SMALL_BODY) continue;
      large++;
      assert.ok(LISTED[id]?.large !== undefined, `${id} takes a large body: \`large\` in its case says the largest`);
    }
    assert.ok(large >= 30);
  });

  it('are measured by the schema of the body', () => {
    const sizes = (schemas: TSchema[]): boolean[] => schemas.map((one) => longest(one as JsonSchema) <= SMALL_BODY);
    const closed = { additionalProperties: false };
    const text = Type.String({ maxLength: 100 });
    assert.deepEqual(
      sizes([Type.Object({ text, n: Type.Integer() }, closed), Type.Array(text, { maxItems: 9 }), Type.Literal('a')]),
      [true, true, true],
    );
    const wide = Type.Array(text, { maxItems: 1000 });
    assert.deepEqual(
      sizes([
        Type.Object({ text }),
        Type.Object({ wide }, closed),
        Type.Array(text),
        Type.Union([text, Type.String()]),
      ]),
      [false, false, false, false],
    );
  });
});
