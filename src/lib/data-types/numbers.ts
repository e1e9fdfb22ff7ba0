/** Numbers: `integer` and `decimal` (docs/spec/records.md#data-types). */
import { canonicalDecimal, compareDecimals, decimalScale } from '../decimal.ts';
import { decimalOf, ExactNumber, isNumber } from '../exact-number.ts';
import { valueProblem } from '../problem-value.ts';
import { bounded, type Descriptor, ORDER, Refusal, wrongType } from './descriptor.ts';

const HIGHEST = '2^53-1';
const LOWEST = `-(${HIGHEST})`;

const parseInteger = bounded<number>(
  (input) => {
    const whole = input instanceof ExactNumber ? input.isInteger : Number.isInteger(input);
    if (!whole) return wrongType({ phrase: 'INTEGER' });
    // Adding 0 turns -0 into 0.
    if (Number.isSafeInteger(input)) return (input as number) + 0;
    return new Refusal(valueProblem('VALUE_OUT_OF_RANGE', { min: LOWEST, max: HIGHEST }), {
      min: Number.MIN_SAFE_INTEGER,
      max: Number.MAX_SAFE_INTEGER,
    });
  },
  (a, b) => a - b,
);

const DECIMAL = { phrase: 'DECIMAL' } as const;

const parseDecimal = bounded<string>((input) => {
  if (typeof input !== 'string' && !isNumber(input)) return wrongType(DECIMAL);
  return decimalOf(input) ?? new Refusal(valueProblem('VALUE_FORMAT', { expected: DECIMAL }));
}, compareDecimals);

export const NUMBERS = {
  integer: {
    view: 'integer',
    declared: ['number'],
    expected: { phrase: 'INTEGER_BETWEEN', min: LOWEST, max: HIGHEST },
    operators: ORDER,
    comparison: 'number',
    constraints: ['min', 'max'],
    title: true,
    canonical: (value) => (Number.isSafeInteger(value) ? (value as number) + 0 : undefined),
    parse: parseInteger,
    compare: (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : Number.NaN),
    fromCell: (text) => (/^\s*[+-]?[0-9]{1,20}\s*$/.test(text) ? Number(text) : text),
    fromText: (text) => (/^-?[0-9]{1,16}$/.test(text) ? Number(text) : undefined),
  },
  decimal: {
    view: 'decimal',
    declared: ['Decimal', 'Decimal | number'],
    expected: DECIMAL,
    operators: ORDER,
    comparison: 'number',
    constraints: ['min', 'max', 'scale'],
    canonical: decimalOf,
    parse: (input, constraints) => {
      const value = parseDecimal(input, constraints);
      const { scale } = constraints;
      if (typeof value !== 'string' || scale === undefined || decimalScale(value) <= scale) return value;
      return new Refusal(valueProblem('VALUE_TOO_PRECISE', { max: scale }), { max: scale });
    },
    compare: (a, b) => {
      const left = canonicalDecimal(a);
      const right = canonicalDecimal(b);
      return left === undefined || right === undefined ? Number.NaN : compareDecimals(left, right);
    },
    comparable: canonicalDecimal,
  },
} as const satisfies Record<string, Descriptor>;
