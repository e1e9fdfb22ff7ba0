/** For tests: similar values and edge cases of the comparisons of the condition language. */
import fc from 'fast-check';
import { type DataType, canonicalDuration, canonicalInstant, isFolded } from '../../src/lib/data-types/index.ts';
import { canonicalDecimal } from '../../src/lib/decimal.ts';
import type { RecordFacts, SystemFacts, Variables } from '../../src/lib/filter.ts';
import { canonicalTime } from '../../src/lib/data-types/times.ts';
import { fold, nfc } from '../../src/lib/text.ts';

export const uuid = (n: number): string => `0000000${n}-0000-7000-8000-00000000000a`;
const IDS = [1, 2, 3, 4, 5].map(uuid);
export const VARIABLES: Variables = {
  me: uuid(1),
  groups: [uuid(2), uuid(3)],
  orgUnit: uuid(4),
  orgUnits: [uuid(4), uuid(5)],
  now: '2026-11-21T09:15:00.000Z',
  today: '2026-11-21',
};
export const TYPES = new Map([
  ['incident', uuid(1)],
  ['problem', uuid(2)],
]);
export const STATES = [
  { id: uuid(1), code: 'new', category: 'open' },
  { id: uuid(2), code: 'new', category: 'waiting' },
  { id: uuid(3), code: 'closed', category: 'done' },
];
const TEXTS = [
  '',
  'Ёлка',
  'елка',
  'ЁЛКА',
  'е\u0308лка',
  'Straße',
  'STRASSE',
  'é',
  'e\u0301',
  'E',
  'Σίσυφος',
  'ΣΊΣΥΦΟΣ',
  'I',
  'ı',
  '%',
  '_',
  '\\',
  "'",
  '"',
  '["a"]',
  'null',
  '5',
  '$me',
  '$$',
  'a\nb',
  'İ',
  'ﬃ',
  'Ꭰ',
  'ꭰ',
  'https://Example.org/%D0',
  '😀',
  '😁',
  '\ufffd',
  '\u{10ffff}',
  '\ud7ff',
  '\ue000',
  'a😀',
  'a\ue000',
  '\u{10ffff}\u{10ffff}',
  '\u0301',
  '\u0308',
  'x'.repeat(199),
  'x'.repeat(200),
  'X'.repeat(201),
  `${'x'.repeat(199)}Ё`,
  'ß'.repeat(101),
  '😀'.repeat(201),
];
const DECIMALS = [
  '0',
  '1',
  '-1',
  '0.1',
  '0.10',
  '-0.1',
  '12.5',
  '12.50',
  '012.5',
  '-12.5',
  '9',
  '10',
  '9007199254740993',
  '-0',
  '9'.repeat(130),
  `-${'9'.repeat(129)}.5`,
  `1${'0'.repeat(120)}`,
  `0.${'0'.repeat(120)}1`,
  '1.0000000000000000001',
];
const INTEGERS = [0, 1, -1, 9, 10, 2 ** 53 - 1, 1 - 2 ** 53];
const DURATIONS = ['PT1H', 'PT60M', 'P1W', 'P7D', 'P1D', 'PT24H', 'PT0S', '-PT1H', 'P1Y', 'P12M', 'PT0.5S', 'P0D'];
const TIMES = ['00:00', '00:00:00', '09:15:00', '09:15:00.5', '23:59:59.999', '09:15:01'];
export const INSTANTS = [
  '0001-01-01T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
  '2026-11-21T09:15:00.000Z',
  '2026-11-14T09:15:00.000Z',
  '2026-11-21T12:15:00.0000009+03:00',
  '2026-11-21T09:15:00.001Z',
  '2026-11-21T10:15:00+01:00',
  '2024-02-29T23:59:59Z',
];

/** So few that two draws are often equal, or equal after folding. */
const NEAR = ['Ёлка', 'елка', 'ЁЛКА', 'е\u0308лка', 'a😀', 'a\ue000', '$me', 'x'.repeat(200), `${'x'.repeat(200)}Ё`];

export const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NEAR) },
  fc.constantFrom(...TEXTS),
  fc.tuple(fc.constantFrom(...TEXTS), fc.constantFrom(...TEXTS)).map(([a, b]) => a + b),
  fc.string({ unit: 'grapheme', maxLength: 4 }).filter((s) => !s.includes('\0')),
);
export const part = fc.oneof(
  text,
  fc.tuple(text, fc.nat(5), fc.nat(5)).map(([s, a, b]) => [...s].slice(Math.min(a, b), Math.max(a, b)).join('')),
);
export const id = fc.constantFrom(...IDS);
const DATES = ['0001-01-01', '9999-12-31', '2024-02-29', '2026-11-21', '2026-11-20', '2026-11-14'];
export const shift = fc.constantFrom('', '-P7D', '+PT4H', '-PT0.001S', '+P1M', '+P1000Y');

/** The smallest rich text with the given plain text. */
function document(content: string): unknown {
  return { type: 'doc', content: [{ type: 'text', text: content }] };
}

/** Values as a caller writes them; `stored` converts them to their stored form. */
export const given: Record<DataType, fc.Arbitrary<unknown>> = {
  string: text,
  text,
  'rich-text': text.map(document),
  integer: fc.oneof(fc.constantFrom(...INTEGERS), fc.maxSafeInteger()),
  decimal: fc.oneof(fc.constantFrom(...DECIMALS), fc.constantFrom(0, 1, -1, 0.1, 12.5, 1e21, 1e-7)),
  boolean: fc.boolean(),
  date: fc.constantFrom(...DATES),
  datetime: fc.constantFrom(...INSTANTS),
  duration: fc.constantFrom(...DURATIONS),
  enum: fc.constantFrom('p1', 'p2', 'P1', 'p10'),
  reference: id,
  user: id,
  group: id,
  'org-unit': id,
  service: id,
  url: text,
  email: text,
  phone: text,
  time: fc.constantFrom(...TIMES),
  json: fc.jsonValue({ maxDepth: 2 }).filter((value) => value !== null && !JSON.stringify(value).includes('\\u0000')),
};

export function stored(dataType: DataType, value: unknown): unknown {
  if (dataType === 'decimal') return canonicalDecimal(value);
  if (dataType === 'datetime') return canonicalInstant(value);
  if (dataType === 'time') return canonicalTime(value);
  if (dataType === 'duration') return canonicalDuration(value);
  return typeof value === 'string' ? nfc(value) : value;
}

export function foldedCopy(dataType: DataType, value: unknown): string | undefined {
  if (!isFolded(dataType)) return undefined;
  return fold(
    dataType === 'rich-text' ? (value as { content: [{ text: string }] }).content[0].text : (value as string),
  );
}

export interface Shape {
  dataType: DataType;
  multiple: boolean;
}

/** The facts of a record with the given values, each of the given shape, and its derived columns. */
export function factsOf(given: Map<string, Shape & { value: unknown }>, system: SystemFacts): RecordFacts {
  const values: Record<string, unknown> = {};
  const folded: Record<string, unknown> = system.title === null ? {} : { $title: fold(system.title) };
  for (const [code, { dataType, multiple, value }] of given) {
    const list = (multiple ? (value as unknown[]) : [value]).map((one) => stored(dataType, one));
    const copies = list.map((one) => foldedCopy(dataType, one));
    values[code] = multiple ? list : list[0];
    if (copies[0] !== undefined) folded[code] = multiple ? copies : copies[0];
  }
  return { values, folded, system };
}

/** System fields that cannot be confused with a field value. */
export const PLAIN: SystemFacts = {
  id: uuid(1),
  number: null,
  title: null,
  typeId: uuid(1),
  typeCode: 'incident',
  state: 'ACTIVE',
  workflowState: null,
  workflowCategory: null,
  revision: 1,
  createdAt: VARIABLES.now,
  createdBy: null,
  updatedAt: VARIABLES.now,
  updatedBy: null,
};

/** Edge cases of each type, for testing every pair. */
export const EDGES = new Map<DataType, readonly unknown[]>([
  ['string', [...TEXTS, ...NEAR]],
  ['rich-text', TEXTS.map((content) => document(content))],
  ['integer', INTEGERS],
  ['decimal', DECIMALS],
  ['date', DATES],
  ['datetime', INSTANTS],
  ['time', TIMES],
  ['duration', DURATIONS],
]);

/** A value as written in configuration, where `$` starts a variable. */
export const escaped = (value: unknown): unknown =>
  typeof value === 'string' && value.startsWith('$') ? `$${value}` : value;
