/** Text types: `string`, `text`, `url`, `email` and `phone` (docs/spec/records.md#data-types). Stored in NFC. */
import { type Phrase, valueProblem } from '../problem-value.ts';
import { hasLongMarkRun, isPlainText, isWellFormedText, nfc } from '../text.ts';
import { type Constraints, type Descriptor, type Parsed, Refusal, wrongType } from './descriptor.ts';

/** Number of Unicode code points. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(index + 1);
    if (next >= 0xdc00 && next <= 0xdfff) count--;
  }
  return count;
}

/** Text in normal form C, if it can be stored. */
export function canonicalText(value: unknown): string | undefined {
  if (typeof value !== 'string' || !isWellFormedText(value) || hasLongMarkRun(value)) return undefined;
  return nfc(value);
}

// NFC shortens a text at most by this factor, so a longer input is too long without being normalised.
const MAX_UNITS_FOR_ONE = 8;

/** Returns the text in NFC and within `maxLength` code points. */
function readText(input: unknown, maxLength: number): string | Refusal {
  if (typeof input !== 'string') return wrongType({ phrase: 'TEXT' });
  if (input.length > maxLength * MAX_UNITS_FOR_ONE) return tooLong(maxLength);
  if (!isWellFormedText(input)) {
    return new Refusal(valueProblem('VALUE_CHARACTERS'));
  }
  if (hasLongMarkRun(input)) {
    return new Refusal(valueProblem('VALUE_MARKS'));
  }
  // The run of marks was checked above.
  const text = isPlainText(input) ? input : input.normalize('NFC');
  return text.length > maxLength && codePoints(text) > maxLength ? tooLong(maxLength) : text;
}

function tooLong(max: number): Refusal {
  return new Refusal(valueProblem('VALUE_TOO_LONG', { max }), { max });
}

const LINE_BREAK = /[\n\v\f\r\u0085\u2028\u2029]/;

const oneLine = (text: string): Refusal | undefined =>
  LINE_BREAK.test(text) ? new Refusal(valueProblem('VALUE_NOT_ONE_LINE')) : undefined;

/** A check of a text's form. */
function form(fits: (text: string) => boolean, expected: Phrase): (text: string) => Refusal | undefined {
  return (text) => (fits(text) ? undefined : new Refusal(valueProblem('VALUE_FORMAT', { expected })));
}

/** A descriptor of a text type. `refuse` checks what is particular to the type, on a text in NFC. */
function textType<const Own extends Pick<Descriptor, 'view' | 'blank' | 'searched' | 'searchZone'>>(
  own: Own,
  maxLength: number,
  refuse: (text: string) => Refusal | undefined = () => undefined,
) {
  const { blank = false } = own;
  const parse = (input: unknown, constraints: Constraints): Parsed => {
    const text = readText(input, constraints.maxLength ?? maxLength);
    if (text instanceof Refusal) return text;
    if (text === '' && blank) return undefined;
    const refused = refuse(text);
    if (refused !== undefined) return refused;
    const { minLength } = constraints;
    if (minLength === undefined || codePoints(text) >= minLength) return text;
    return new Refusal(valueProblem('VALUE_TOO_SHORT', { min: minLength }), { min: minLength });
  };
  return {
    declared: ['string'],
    expected: { phrase: 'PLAIN_TEXT' },
    operators: ['contains', 'equals', 'starts-with', 'not-equals', 'in', 'is-empty'],
    comparison: 'folded',
    constraints: ['minLength', 'maxLength', 'pattern'],
    maxLength,
    title: true,
    textual: true,
    canonical: canonicalText,
    parse,
    ...own,
  } as const;
}

const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u;
const LOCAL_PART = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;

// The expressions of addresses run in linear time: no part can match in two ways.

/**
 * An e-mail address: a dot-atom of at most 64 characters, `@`, and a domain name of at least two labels that does not end in a
 * number. Letters of any script are accepted. Quoted local parts, comments and address literals are not.
 */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (text.length > 254 || at < 1 || at > 64) return false;
  const labels = text.slice(at + 1).split('.');
  return (
    LOCAL_PART.test(text.slice(0, at)) &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    !/^[0-9]+$/.test(labels.at(-1) ?? '')
  );
}

/**
 * An absolute http or https address with a host. User names and passwords are refused, because they must not be stored in a
 * record and can disguise the host. Blanks, control characters and backslashes are refused, because URL parsers disagree about
 * them.
 */
export function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s\p{Cc}\\<>"`{}|^]+$/iu.test(text)) return false;
  const authority = text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)[0] ?? '';
  return authority !== '' && !authority.includes('@') && URL.canParse(text);
}

const PHONE = /^\+?[0-9()\u00a0 ./-]+$/;
const EXTENSION = /[ \u00a0,;]{0,2}(?:ext\.?|x|доб\.?|#)[ \u00a0]?[0-9]{1,10}$/i;

/**
 * A telephone number: 2 to 15 digits (E.164), an optional leading `+`, blanks, brackets, dots, slashes and hyphens in between,
 * and an optional extension of up to 10 digits (`x12`, `ext. 12`, `доб. 12`, `#12`).
 */
function isPhoneNumber(text: string): boolean {
  if (text.length > 60) return false;
  const number = text.replace(EXTENSION, '');
  const digits = number.replace(/[^0-9]/g, '').length;
  if (!PHONE.test(number) || !/^[+(0-9]/.test(number) || !/[0-9)]$/.test(number)) return false;
  return digits >= 2 && digits <= 15 && hasPairedBrackets(number);
}

function hasPairedBrackets(number: string): boolean {
  let open = false;
  for (const character of number) {
    if (character !== '(' && character !== ')') continue;
    if ((character === '(') === open) return false;
    open = !open;
  }
  return !open;
}

export const TEXT = {
  string: textType({ view: 'line', blank: true, searched: true }, 1000, oneLine),
  text: textType({ view: 'lines', blank: true, searched: true, searchZone: 'C' }, 100_000),
  url: textType({ view: 'url' }, 2048, form(isWebAddress, { phrase: 'WEB_ADDRESS' })),
  email: textType({ view: 'email' }, 254, form(isEmail, { phrase: 'EMAIL' })),
  phone: textType({ view: 'phone' }, 60, form(isPhoneNumber, { phrase: 'PHONE' })),
} satisfies Record<string, Descriptor>;
