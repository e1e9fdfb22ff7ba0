/**
 * Exact decimals as text: no exponent, no superfluous zeros, never `-0`. Equal numbers have equal texts, so they are stored in
 * this form (docs/spec/records.md#values).
 */

/** Maximum number of stored digits, before and after the decimal point together. */
export const DECIMAL_DIGITS = 130;
/** Maximum number of significant digits of the shortest decimal form of a double. */
const DOUBLE_DIGITS = 17;
/** Longer texts are rejected at once: only leading or trailing zeros could make a valid decimal this long. */
const LONGEST_TEXT = 1000;

const DECIMAL = /^(-?)([0-9]+)(?:\.([0-9]+))?$/;

/** A number as sign, significant digits and the power of ten of `0.DIGITS`; zero has no digits. */
interface Scientific {
  negative: boolean;
  digits: string;
  exponent: number;
}

function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === 0x30) end--;
  return digits.slice(0, end);
}

/** Expects a JSON number. Avoids regular expressions for speed: a body may contain very many numbers. */
export function scientific(text: string): Scientific {
  const negative = text.startsWith('-');
  const mark = Math.max(text.indexOf('e'), text.indexOf('E'));
  const mantissa = text.slice(negative ? 1 : 0, mark < 0 ? text.length : mark);
  const point = mantissa.indexOf('.');
  const all = point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  let start = 0;
  while (start < all.length && all.charCodeAt(start) === 0x30) start++;
  const digits = withoutTrailingZeros(all.slice(start));
  if (digits === '') return { negative: false, digits, exponent: 0 };
  const power = mark < 0 ? 0 : Number(text.slice(mark + 1));
  return { negative, digits, exponent: (point < 0 ? all.length : point) - start + power };
}

/**
 * Whether a double represents the number exactly as written, that is, whether the shortest decimal form of the nearest double
 * is the same number. Expects a JSON number.
 */
export function doubleHolds(text: string): boolean {
  const written = scientific(text);
  if (written.digits.length > DOUBLE_DIGITS) return false;
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  const shortest = String(value);
  if (shortest === text) return true;
  const held = scientific(shortest);
  return written.digits === held.digits && written.exponent === held.exponent && written.negative === held.negative;
}

/** The decimal form of a JSON number, without an exponent; `undefined` if it has too many digits. */
export function plainDecimal(text: string): string | undefined {
  const { negative, digits, exponent } = scientific(text);
  if (!(Math.abs(exponent) <= DECIMAL_DIGITS) || digits.length > DECIMAL_DIGITS) return undefined;
  const whole = exponent <= 0 ? '0' : digits.slice(0, exponent).padEnd(exponent, '0');
  const fraction = exponent <= 0 ? '0'.repeat(-exponent) + digits : digits.slice(exponent);
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * The shortest decimal form of a double, without an exponent; `undefined` for NaN and infinities, or if it has too many digits.
 */
function fromNumber(value: number): string | undefined {
  if (!Number.isFinite(value)) return undefined;
  const text = String(value);
  if (!text.includes('e')) return text;
  return plainDecimal(text);
}

/**
 * The canonical text of an exact decimal. Accepts a string of digits with an optional minus sign and decimal point (`"-012.50"`
 * is `"-12.5"`), or a JSON number, which is converted to its shortest decimal form. `undefined` for anything else, including
 * strings with exponents and numbers of more than 130 digits.
 */
export function canonicalDecimal(value: unknown): string | undefined {
  const text = typeof value === 'number' ? fromNumber(value) : value;
  if (typeof text !== 'string' || text.length > LONGEST_TEXT) return undefined;
  const parts = DECIMAL.exec(text);
  if (parts === null) return undefined;
  const [, sign = '', digits = '', decimals = ''] = parts;
  const whole = digits.replace(/^0+(?=[0-9])/, '');
  const fraction = withoutTrailingZeros(decimals);
  if (whole.length + fraction.length > DECIMAL_DIGITS) return undefined;
  if (fraction !== '') return `${sign}${whole}.${fraction}`;
  return whole === '0' ? '0' : `${sign}${whole}`;
}

/** The number of digits of a canonical decimal after the decimal point. */
export function decimalScale(canonical: string): number {
  const point = canonical.indexOf('.');
  return point < 0 ? 0 : canonical.length - point - 1;
}

/** Compares two canonical decimals exactly: negative, zero or positive. */
export function compareDecimals(a: string, b: string): number {
  const negative = a.startsWith('-');
  if (negative !== b.startsWith('-')) return negative ? -1 : 1;
  return negative ? compareMagnitudes(b.slice(1), a.slice(1)) : compareMagnitudes(a, b);
}

function compareMagnitudes(a: string, b: string): number {
  const [wholeA = '', fractionA = ''] = a.split('.');
  const [wholeB = '', fractionB = ''] = b.split('.');
  if (wholeA.length !== wholeB.length) return wholeA.length - wholeB.length;
  if (wholeA !== wholeB) return wholeA < wholeB ? -1 : 1;
  if (fractionA === fractionB) return 0;
  // Without trailing zeros, fractions are ordered like their texts: a prefix is smaller.
  return fractionA < fractionB ? -1 : 1;
}
