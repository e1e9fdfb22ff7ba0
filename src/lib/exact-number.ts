/**
 * JSON numbers that no double holds as they are written, such as `1700000000123456789`. They are kept as text, and
 * `JSON.stringify` writes them as the numbers that they are.
 */
import { canonicalDecimal, DECIMAL_DIGITS, doubleHolds, plainDecimal, scientific } from './decimal.ts';

// TypeScript does not know it yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

export class ExactNumber {
  // Private, so that no path into a value can name them. Most of these numbers are never asked for anything.
  readonly #source: string;
  #text: string | undefined;

  /** @param source a JSON number that no double holds; `exactNumber` knows which those are */
  constructor(source: string) {
    this.#source = source;
  }

  /** The JSON number in its canonical form: equal numbers have equal texts. */
  get text(): string {
    this.#text ??= canonicalNumber(this.#source);
    return this.#text;
  }

  /** Power of ten of the first significant digit. */
  get exponent(): number {
    return scientific(this.#source).exponent - 1;
  }

  get isInteger(): boolean {
    const { digits, exponent } = scientific(this.#source);
    return exponent >= digits.length;
  }

  /** How many digits it has behind the point when it is written without exponent. */
  get scale(): number {
    const { digits, exponent } = scientific(this.#source);
    return Math.max(0, digits.length - exponent);
  }

  toJSON(): object {
    return rawJSON(this.text);
  }

  toString(): string {
    return this.text;
  }
}

/** The number that a JSON text stands for: a double where one holds it as it is written. */
export function exactNumber(source: string): number | ExactNumber {
  return doubleHolds(source) ? Number(source) : new ExactNumber(source);
}

/** Without exponent while that is short, else as `1.5e+300`; an exponent that is no safe integer stays as it is written. */
function canonicalNumber(source: string): string {
  const { negative, digits, exponent } = scientific(source);
  if (!Number.isSafeInteger(exponent)) return source;
  const sign = negative ? '-' : '';
  if (Math.max(digits.length, exponent, digits.length - exponent) > DECIMAL_DIGITS) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${sign}${digits[0]}${fraction}e${exponent > 0 ? '+' : ''}${exponent - 1}`;
  }
  if (exponent <= 0) return `${sign}0.${'0'.repeat(-exponent)}${digits}`;
  const whole = digits.slice(0, exponent).padEnd(exponent, '0');
  const fraction = digits.slice(exponent);
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** `canonicalDecimal` of a value from JSON, whatever number it is. */
export function decimalOf(value: unknown): string | undefined {
  return canonicalDecimal(value instanceof ExactNumber ? plainDecimal(value.text) : value);
}

/** Whether it is a number of either kind. */
export function isNumber(value: unknown): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}

/**
 * The value with `NaN` in the place of each number that no double holds, for checks that know plain JSON alone: it is a number
 * to them, and neither an integer nor within any bound. The value itself where it holds none.
 */
export function withoutExact(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof ExactNumber) return Number.NaN;
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (const [index, member] of value.entries()) {
      const plain = withoutExact(member);
      if (plain === member) continue;
      copy ??= [...value];
      copy[index] = plain;
    }
    return copy ?? value;
  }
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    const plain = withoutExact(member);
    if (plain === member) continue;
    copy ??= { ...value };
    copy[key] = plain;
  }
  return copy ?? value;
}
