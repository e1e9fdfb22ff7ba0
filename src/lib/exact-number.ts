/**
 * JSON numbers that no double represents exactly, such as `1700000000123456789`. They are stored as text, and `JSON.stringify`
 * writes them as numbers.
 */
import { canonicalDecimal, DECIMAL_DIGITS, doubleHolds, plainDecimal, scientific } from './decimal.ts';

// TypeScript does not declare it yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

export class ExactNumber {
  // Private, so that no path into a value can address them. The canonical text is computed lazily, since most of these numbers
  // never need it.
  readonly #source: string;
  #text: string | undefined;

  /** @param source a JSON number that no double represents exactly; use `exactNumber` to decide */
  constructor(source: string) {
    this.#source = source;
  }

  /** The JSON number in canonical form: equal numbers have equal texts. */
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

  /** The number of digits after the decimal point when written without an exponent. */
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

/** The value of a JSON number: a double if it represents the number exactly. */
export function exactNumber(source: string): number | ExactNumber {
  return doubleHolds(source) ? Number(source) : new ExactNumber(source);
}

/**
 * Written without an exponent while that is short, otherwise as `1.5e+300`. A number whose exponent is not a safe integer stays
 * as written.
 */
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

/** `canonicalDecimal` for a JSON value, including `ExactNumber`. */
export function decimalOf(value: unknown): string | undefined {
  return canonicalDecimal(value instanceof ExactNumber ? plainDecimal(value.text) : value);
}

/** Whether the value is a number of either kind. */
export function isNumber(value: unknown): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}

/**
 * Replaces each number that no double represents exactly by `NaN`, for validators that only know plain JSON: they see a number
 * that is neither an integer nor within any bounds. Returns the same value if it contains no such number.
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
