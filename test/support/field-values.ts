/** Helpers for tests of values. */
import assert from 'node:assert/strict';
import type { DataType } from '../../src/lib/data-types/index.ts';
import type { FieldConstraints, FieldDefinition } from '../../src/domain/metadata/registry.ts';
import { checkValue, sameValue, toWire } from '../../src/domain/metadata/values.ts';

/** A field with the given properties. */
export function field(
  dataType: DataType,
  constraints: FieldConstraints = {},
  more: Partial<FieldDefinition> = {},
): FieldDefinition {
  const search = { text: false, filter: false, facet: false };
  return {
    code: 'f',
    name: 'F',
    dataType,
    required: false,
    readOnly: false,
    multiple: false,
    constraints,
    search,
    ...more,
  };
}

/** The stored form of a valid value. Checks that it is stable when parsed again. */
export function stored(of: FieldDefinition, input: unknown): unknown {
  const checked = checkValue(of, input, '/values/f');
  assert.ok(checked.ok, `${of.dataType} ${String(JSON.stringify(input)).slice(0, 60)}: ${JSON.stringify(checked)}`);
  const again = checkValue(of, checked.stored, '/values/f');
  assert.deepEqual(again, { ...checked, images: [] }, 'checking the stored form changes it');
  assert.ok(sameValue(toWire(of, checked.stored), checked.stored));
  return checked.stored;
}

/** The code of the first problem with a value. */
export function problem(of: FieldDefinition, input: unknown): string {
  const checked = checkValue(of, input, '/values/f');
  assert.ok(!checked.ok, `${of.dataType} accepted ${String(JSON.stringify(input)).slice(0, 60)}`);
  for (const { path, message } of checked.problems) {
    assert.ok(path.startsWith('/values/f'), path);
    assert.match(message, /^[A-Z].*\.$/);
  }
  return checked.problems[0]?.code ?? '';
}

export const UUID = '0190f3a2-7c1e-7aaa-8bbb-123456789abc';
export const OPTIONS: FieldConstraints = {
  options: [
    { code: 'p1', name: 'One' },
    { code: 'p2', name: 'Two' },
  ],
};
