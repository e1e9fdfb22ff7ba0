/** `boolean` and `enum` (docs/spec/records.md#data-types). */
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
    expected: 'true or false',
    operators: EQUALITY,
    comparison: 'text',
    constraints: [],
    canonical: (value) => (typeof value === 'boolean' ? value : undefined),
    parse: (input) => (typeof input === 'boolean' ? input : wrongType('true or false')),
    fromCell: (text) => {
      const word = text.trim().toLowerCase();
      return word === 'true' ? true : word === 'false' ? false : text;
    },
    fromText: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  },
  enum: {
    view: 'choice',
    declared: ['string'],
    expected: 'a string without U+0000, lone surrogates and long runs of combining marks',
    operators: EQUALITY,
    comparison: 'text',
    constraints: ['options'],
    title: true,
    textual: true,
    canonical: canonicalText,
    parse: (input, constraints) => {
      if (typeof input !== 'string') return wrongType('a JSON string: the code of an option');
      if (optionCodes(constraints).has(input)) return input;
      return new Refusal('NOT_AN_OPTION', 'The value is not the code of an option of this field.');
    },
  },
} as const satisfies Record<string, Descriptor>;
