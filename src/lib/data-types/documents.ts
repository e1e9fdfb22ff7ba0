/**
 * Types whose values are documents: `rich-text` and `json` (docs/spec/records.md#data-types). The server checks and converts
 * rich text in `domain/metadata/rich-text.ts`.
 */
import { ExactNumber, isNumber } from '../exact-number.ts';
import { valueProblem } from '../problem-value.ts';
import { isUnsafeKey, isWellFormedText } from '../text.ts';
import { type Descriptor, type Parsed, Refusal } from './descriptor.ts';

/** Maximum size of a `json` value as JSON in bytes, with numbers written without exponent. */
export const JSON_BYTES = 65_536;
/**
 * Maximum nesting depth of a `json` value: a request body has 64 levels, and the value is one level down. If it is deeper
 * within the body, the limit of the body applies first. This limit is for values that do not come from a request body.
 */
export const JSON_DEPTH = 63;
/** Maximum absolute value of an exponent. */
const NUMBER_EXPONENT = 1000;
/** Maximum number of digits after the decimal point: the limit of the database. */
const NUMBER_SCALE = 16_383;

/** The number of zeros that the database adds when it writes the number without exponent. */
function hiddenZeros(text: string): number {
  const mark = text.indexOf('e');
  return mark === -1 ? 0 : Math.abs(Number(text.slice(mark + 1)));
}

interface Open {
  value: unknown;
  depth: number;
}

const tooLarge = (): Refusal => new Refusal(valueProblem('JSON_TOO_LARGE'));

/** Why PostgreSQL cannot store the number. */
function refusedNumber(value: number | ExactNumber): Refusal | undefined {
  if (!(value instanceof ExactNumber))
    return Number.isFinite(value) ? undefined : new Refusal(valueProblem('NOT_JSON'));
  if (!(Math.abs(value.exponent) <= NUMBER_EXPONENT)) {
    return new Refusal(valueProblem('JSON_EXPONENT', { max: NUMBER_EXPONENT }), {
      min: -NUMBER_EXPONENT,
      max: NUMBER_EXPONENT,
    });
  }
  if (value.scale <= NUMBER_SCALE) return undefined;
  return new Refusal(valueProblem('JSON_TOO_PRECISE', { max: NUMBER_SCALE }), { max: NUMBER_SCALE });
}

/**
 * Checks the value without recursion, because values that do not come from a request body can be nested deeply. The value is
 * stored unchanged: its strings are not normalised.
 */
function parseJson(input: unknown): Parsed {
  const open: Open[] = [{ value: input, depth: 0 }];
  let units = 0;
  let zeros = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    // Every value has at least one character and a separator.
    units += typeof value === 'string' ? value.length + 2 : 2;
    if (units > JSON_BYTES * 2) return tooLarge();
    if (typeof value === 'string') {
      if (!isWellFormedText(value)) {
        return new Refusal(valueProblem('JSON_CHARACTERS'));
      }
    } else if (isNumber(value)) {
      const refused = refusedNumber(value);
      if (refused !== undefined) return refused;
      zeros += hiddenZeros(String(value));
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= JSON_DEPTH) return new Refusal(valueProblem('JSON_TOO_DEEP', { max: JSON_DEPTH }));
      if (Array.isArray(value)) {
        if (value.length > JSON_BYTES) return tooLarge();
        for (const member of value) open.push({ value: member, depth: depth + 1 });
        continue;
      }
      for (const [key, member] of Object.entries(value)) {
        if (isUnsafeKey(key) || !isWellFormedText(key)) return new Refusal(valueProblem('JSON_KEY'));
        units += key.length;
        open.push({ value: member, depth: depth + 1 });
      }
    } else if (typeof value !== 'boolean' && value !== null) return new Refusal(valueProblem('NOT_JSON'));
  }
  const text = JSON.stringify(input);
  // Each code unit has at most 3 bytes, so a short text needs no encoding.
  const bytes = text.length * 3 + zeros <= JSON_BYTES ? 0 : new TextEncoder().encode(text).length;
  return bytes + zeros > JSON_BYTES ? tooLarge() : (input as Parsed);
}

export const DOCUMENTS = {
  'rich-text': {
    view: 'rich-text',
    declared: ['RichText', 'RichText | Html'],
    expected: { phrase: 'NOTHING' },
    operators: ['contains', 'starts-with', 'is-empty'],
    comparison: 'folded',
    constraints: [],
    document: true,
    searched: true,
    searchZone: 'D',
    toCell: (stored) => JSON.stringify(stored),
    fromCell: (text, readJson) => (text.trimStart().startsWith('{') ? (readJson(text) ?? text) : text),
  },
  json: {
    view: 'json',
    declared: ['unknown'],
    expected: { phrase: 'NOTHING' },
    operators: ['is-empty'],
    comparison: 'none',
    constraints: [],
    document: true,
    searchZone: 'D',
    parse: parseJson,
    text: (stored) => JSON.stringify(stored),
    fromCell: (text, readJson) => readJson(text) ?? text,
  },
} as const satisfies Record<string, Descriptor>;
