/** Types whose value is the id of another item (docs/spec/records.md#data-types). Stored in lower case. */
import { type ConstraintKey, type Descriptor, EQUALITY, formatted, type Referent } from './descriptor.ts';

/** A UUID in lower case. */
export function canonicalUuid(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(value)) return undefined;
  return value.toLowerCase();
}

const ID = { phrase: 'ID' } as const;
const parse = formatted(canonicalUuid, ID);

function idOf<const R extends Referent>(refersTo: R, constraints: readonly ConstraintKey[] = []) {
  return {
    view: 'reference',
    declared: ['Id'],
    expected: ID,
    operators: EQUALITY,
    comparison: 'text',
    constraints,
    refersTo,
    canonical: canonicalUuid,
    parse,
  } as const;
}

export const REFERENCES = {
  reference: idOf('records', ['types']),
  user: idOf('users'),
  group: idOf('groups'),
  'org-unit': idOf('orgUnits'),
  service: idOf('services'),
} satisfies Record<string, Descriptor>;
