/** The value that `set` of a transition or a catalogue item writes: a stored value, or the current value of a variable. */
import { readVariable, resolveOperand } from '../../lib/filter-variables.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { FieldDefinition } from './definitions.ts';
import { variables } from './variables.ts';

/** @returns the value in the stored form of the field; null if the field is cleared or the variable has no value */
export function setValue(ctx: ReadContext, field: FieldDefinition, configured: unknown): unknown {
  if (typeof configured !== 'string' || !configured.startsWith('$')) return configured;
  if (configured.startsWith('$$')) return configured.slice(1);
  const operand = readVariable(configured);
  const values = operand === undefined ? [] : resolveOperand(operand, variables(ctx));
  if (values.length === 0) return null;
  return field.multiple ? [...values] : values[0];
}
