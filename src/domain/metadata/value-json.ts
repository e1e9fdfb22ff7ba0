/** Values of data type `json`: any JSON up to 64 KiB that the database can store. */
import { ExactNumber, isNumber } from '../../lib/exact-number.ts';
import type { FaultDetail } from '../../lib/fault.ts';
import { isUnsafeKey } from '../../lib/json.ts';
import { isWellFormedText } from '../../lib/text.ts';

/** Maximum size of a value as JSON in bytes, with numbers written without exponent. */
export const JSON_BYTES = 65_536;
/**
 * Maximum nesting depth of a value: a request body has 64 levels, and the value is one level down. If it is deeper within the
 * body, the limit of the body applies first. This limit is for values that do not come from a request body.
 */
export const JSON_DEPTH = 63;

/** Maximum absolute value of an exponent. */
const NUMBER_EXPONENT = 1000;
/** Maximum number of digits after the decimal point: the limit of the database. */
const NUMBER_SCALE = 16_383;
const OUT_OF_RANGE = `The exponent of a number must lie between -${NUMBER_EXPONENT} and ${NUMBER_EXPONENT}.`;
const TOO_PRECISE = `A number may have at most ${NUMBER_SCALE} digits behind the point.`;

/** The number of zeros that the database adds when it writes the number without exponent. */
function hiddenZeros(text: string): number {
  const mark = text.indexOf('e');
  return mark === -1 ? 0 : Math.abs(Number(text.slice(mark + 1)));
}

export type JsonReading = { ok: true; value: unknown } | { ok: false; problem: FaultDetail };

interface Open {
  value: unknown;
  depth: number;
}

/**
 * Checks the value without recursion, because values that do not come from a request body can be nested deeply. The value is
 * stored unchanged: its strings are not normalised.
 */
export function readJson(input: unknown, path: string): JsonReading {
  const refuse = (code: string, message: string): JsonReading => ({ ok: false, problem: { path, code, message } });
  const tooLarge = (): JsonReading => refuse('TOO_LARGE', 'The value is larger than 64 KiB of JSON.');
  const open: Open[] = [{ value: input, depth: 0 }];
  let units = 0;
  let zeros = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    // Every value has at least one character and a separator.
    units += typeof value === 'string' ? value.length + 2 : 2;
    if (units > JSON_BYTES * 2) return tooLarge();
    if (typeof value === 'string') {
      if (!isWellFormedText(value)) return refuse('INVALID_TEXT', 'A text holds U+0000 or half of a surrogate pair.');
    } else if (isNumber(value)) {
      if (value instanceof ExactNumber) {
        if (!(Math.abs(value.exponent) <= NUMBER_EXPONENT)) return refuse('OUT_OF_RANGE', OUT_OF_RANGE);
        if (value.scale > NUMBER_SCALE) return refuse('TOO_PRECISE', TOO_PRECISE);
      } else if (!Number.isFinite(value)) return refuse('WRONG_TYPE', 'The value must be JSON.');
      zeros += hiddenZeros(String(value));
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= JSON_DEPTH) return refuse('TOO_DEEP', `The value is nested more than ${JSON_DEPTH} deep.`);
      if (Array.isArray(value)) {
        if (value.length > JSON_BYTES) return tooLarge();
        for (const member of value) open.push({ value: member, depth: depth + 1 });
        continue;
      }
      for (const [key, member] of Object.entries(value)) {
        if (isUnsafeKey(key) || !isWellFormedText(key)) return refuse('INVALID_TEXT', 'A key is not accepted.');
        units += key.length;
        open.push({ value: member, depth: depth + 1 });
      }
    } else if (typeof value !== 'boolean' && value !== null) return refuse('WRONG_TYPE', 'The value must be JSON.');
  }
  return Buffer.byteLength(JSON.stringify(input)) + zeros > JSON_BYTES ? tooLarge() : { ok: true, value: input };
}
