import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { guardCell, unguardCell } from '../../lib/csv.ts';
import type { DataType } from '../../lib/data-types/index.ts';
import type { FieldDefinition } from './registry.ts';
import { cellOf, checkValue, needsGuard, valueOfCell } from './values.ts';
import { field, OPTIONS, UUID } from '../../../test/support/field-values.ts';

const many = (of: FieldDefinition): FieldDefinition => ({ ...of, multiple: true });

const text = fc.string({
  unit: fc.constantFrom('a', ';', '"', "'", '=', '-', '+', ' ', ',', 'я', '\t'),
  minLength: 1,
  maxLength: 8,
});

/** The value after a round trip through JSON, which has no negative zero. */
const asStored = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** API values of every data type. */
const WIRE: readonly [DataType, fc.Arbitrary<unknown>][] = [
  ['string', text],
  ['text', fc.tuple(text, text).map((parts) => parts.join('\r\n'))],
  ['integer', fc.maxSafeInteger()],
  ['decimal', fc.tuple(fc.integer(), fc.nat(999)).map((parts) => parts.join('.'))],
  ['boolean', fc.boolean()],
  ['date', fc.constantFrom('2026-11-21', '0001-01-01')],
  ['datetime', fc.constantFrom('2026-11-21T09:15:00.000Z', '2026-11-21T09:15:00+03:00')],
  ['duration', fc.constantFrom('PT4H', '-P1D', 'P1DT30M')],
  ['time', fc.constantFrom('09:15', '23:59:59')],
  ['enum', fc.constantFrom('p1', 'p2')],
  ['json', fc.oneof(fc.jsonValue().map(asStored), fc.constantFrom(-5, '=x', 'null', '', 'a;b', '"', true))],
  [
    'rich-text',
    text.map((said) => ({ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: said }] }] })),
  ],
  ['url', fc.constantFrom('https://example.org/?a=1;b="2"', 'http://x.test/')],
  ['email', fc.constantFrom('a@example.org', '=a@example.org', "'+b@example.org")],
  ['phone', fc.constantFrom('+7 495 123-45-67', '112')],
  ['user', fc.constant(UUID)],
  ['reference', fc.constant(UUID)],
];

const fieldOf = (dataType: DataType): FieldDefinition => field(dataType, dataType === 'enum' ? OPTIONS : {});

function requireRoundTrip(of: FieldDefinition, wire: unknown): void {
  const checked = checkValue(of, wire, '/values/f');
  // Some generated inputs are invalid. Other tests cover those.
  if (!checked.ok) return;
  const plain = cellOf(of, checked.stored);
  const written = needsGuard(of, plain) ? guardCell(plain) : plain;
  if (!/^-?[0-9.]+$/.test(written)) assert.doesNotMatch(written, /^[=+\-@\t\r]/);
  const again = checkValue(of, valueOfCell(of, unguardCell(written)), '/values/f');
  assert.deepEqual(again, { ok: true, stored: checked.stored, images: [] }, `${of.dataType} ${written}`);
}

describe('cells', () => {
  for (const [dataType, wire] of WIRE) {
    it(`round-trip stored values: ${dataType}`, () => {
      fc.assert(fc.property(wire, (value) => requireRoundTrip(fieldOf(dataType), value)));
      if (dataType === 'rich-text') return;
      const list = fc.uniqueArray(wire, {
        maxLength: 4,
        comparator: (a, b) => JSON.stringify(a) === JSON.stringify(b),
      });
      fc.assert(fc.property(list, (value) => requireRoundTrip(many(fieldOf(dataType)), value)));
    });
  }

  it('accept common spellings', () => {
    const cases: [FieldDefinition, string, unknown][] = [
      [field('string'), '', null],
      [field('integer'), ' 5 ', 5],
      [field('integer'), '+5', 5],
      [field('integer'), '5.0', '5.0'],
      [field('integer'), 'five', 'five'],
      [field('boolean'), 'TRUE', true],
      [field('boolean'), 'yes', 'yes'],
      [field('json'), '{"a":[1]}', { a: [1] }],
      [field('json'), 'free text', 'free text'],
      [field('rich-text'), '<p>x</p>', '<p>x</p>'],
      [many(field('string')), 'a; b;c ;; ', ['a', 'b', 'c']],
      [many(field('string')), '"a; b"; "say ""x"""', ['a; b', 'say "x"']],
      [many(field('string')), '"not closed; b', ['"not closed', 'b']],
      [many(field('integer')), '1; -2;x', [1, -2, 'x']],
    ];
    for (const [of, cell, value] of cases) assert.deepEqual(valueOfCell(of, cell), value, cell);
  });

  it('start with a sign only if they are plain numbers', () => {
    assert.equal(needsGuard(field('integer'), '-5'), false);
    assert.equal(needsGuard(field('decimal'), '-5.25'), false);
    assert.equal(needsGuard(field('string'), '-5'), true);
    assert.equal(needsGuard(many(field('integer')), '-5; 3'), true);
    assert.equal(needsGuard(field('duration'), '-P1D'), true);
  });
});
