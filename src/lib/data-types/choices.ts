/** `boolean` and `enum` (docs/spec/records.md#data-types). */
import { valueProblem } from '../problem-value.ts';
import { type Constraints, type Descriptor, EQUALITY, Refusal, wrongType } from './descriptor.ts';
import { canonicalText } from './text.ts';

/** Codes of options by constraints. Weak, so entries are released with their definition. */
const codes = new WeakMap<Constraints, ReadonlySet<string>>();

function optionCodes(constraints: Constraints): ReadonlySet<string> {
  let known = codes.get(constraints);
  if (known === undefined) {
    known = new Set(constraints.options?.map((option) => option.code));
    codes.set(constraints, known);
  }
  return known;
}

export const CHOICES = {
  boolean: {
    view: 'boolean',
    declared: ['boolean'],
    expected: { phrase: 'BOOLEAN' },
    operators: EQUALITY,
    comparison: 'text',
    constraints: [],
    canonical: (value) => (typeof value === 'boolean' ? value : undefined),
    parse: (input) => (typeof input === 'boolean' ? input : wrongType({ phrase: 'BOOLEAN' })),
    fromCell: (text) => {
      const word = text.trim().toLowerCase();
      return word === 'true' ? true : word === 'false' ? false : text;
    },
    fromText: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  },
  enum: {
    view: 'choice',
    declared: ['string'],
    expected: { phrase: 'PLAIN_TEXT' },
    operators: EQUALITY,
    comparison: 'text',
    constraints: ['options'],
    title: true,
    textual: true,
    canonical: canonicalText,
    parse: (input, constraints) => {
      if (typeof input !== 'string') return wrongType({ phrase: 'OPTION' });
      if (optionCodes(constraints).has(input)) return input;
      return new Refusal(valueProblem('VALUE_NOT_AN_OPTION'));
    },
  },
} as const satisfies Record<string, Descriptor>;
