import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DATA_TYPES, type DataType } from '../../lib/data-types/index.ts';
import type { FieldConstraints, FieldDefinition } from './registry.ts';
import { field, OPTIONS, UUID } from '../../../test/support/field-values.ts';
import { convertValue, incompatibilities } from './value-compatibility.ts';
import { checkValue } from './values.ts';

const some = (dataType: DataType): FieldConstraints => (dataType === 'enum' ? OPTIONS : {});

describe('compatibility', () => {
  const reasonsOf = (older: FieldDefinition[], newer: FieldDefinition[]): string[] => {
    return incompatibilities(older, newer).map(({ message }) => message);
  };
  const change = (dataType: DataType, from: object, to: object, multiple = false): string[] =>
    reasonsOf(
      [field(dataType, from as FieldConstraints, { multiple })],
      [field(dataType, to as FieldConstraints, { multiple })],
    );

  it('accepts changes that cannot invalidate stored values', () => {
    const before = field('string', { maxLength: 10 });
    for (const after of [
      before,
      {
        ...before,
        name: { 'en-US': 'Other' },
        description: 'D',
        default: 'x',
        readOnly: true,
        search: { text: true, filter: true, facet: true },
      },
    ]) {
      assert.deepEqual(reasonsOf([before], [after]), []);
    }
    assert.deepEqual(reasonsOf([{ ...before, required: true }], [before]), []);
    assert.deepEqual(reasonsOf([before], [field('text', {}, { code: 'new' }), before]), []);
  });

  it('detects changes that can', () => {
    const before = field('string');
    assert.deepEqual(reasonsOf([before], []), ['f: the field is gone']);
    assert.deepEqual(reasonsOf([before], [before, field('text', {}, { code: 'new', required: true })]), [
      'new: the field is new and required',
    ]);
    assert.deepEqual(reasonsOf([], [field('text', {}, { required: true, default: 'x' })]), [
      'f: the field is new and required',
    ]);
    assert.deepEqual(reasonsOf([before], [{ ...before, required: true }]), ['f: the field became required']);
    assert.deepEqual(reasonsOf([before], [field('text')]), ['f: the data type changed from string to text']);
    assert.deepEqual(reasonsOf([before], [{ ...before, multiple: true }]), ['f: the field became multiple']);
    assert.deepEqual(reasonsOf([{ ...before, multiple: true }], [before]), ['f: the field is no longer multiple']);
  });

  const wider: [DataType, object, object][] = [
    ['string', { maxLength: 5 }, { maxLength: 6 }],
    ['string', { maxLength: 5 }, {}],
    ['string', {}, { maxLength: 1000 }],
    ['string', { minLength: 2 }, { minLength: 1 }],
    ['string', { pattern: 'a' }, {}],
    ['integer', { min: 1, max: 5 }, { min: 0, max: 6 }],
    ['decimal', { min: '0.10' }, { min: 0.1 }],
    ['decimal', { scale: 2 }, {}],
    ['datetime', { max: '2026-01-01T00:00:00Z' }, { max: '2026-01-01T03:00:00+03:00' }],
    ['time', { min: '09:00' }, { min: '09:00:00' }],
    [
      'enum',
      OPTIONS,
      {
        options: [
          { code: 'p3', name: '' },
          { code: 'p2', name: 'B' },
          { code: 'p1', name: 'A' },
        ],
      },
    ],
    ['reference', { types: ['a'] }, { types: ['b', 'a'] }],
    ['reference', { types: ['a'] }, {}],
  ];
  for (const [dataType, from, to] of wider) {
    it(`accepts ${dataType} from ${JSON.stringify(from)} to ${JSON.stringify(to)}`, () =>
      assert.deepEqual(change(dataType, from, to), []));
  }

  const narrower: [reason: string, DataType, object, object][] = [
    ['maxLength is lower', 'string', {}, { maxLength: 999 }],
    ['maxLength is lower', 'text', { maxLength: 5 }, { maxLength: 4 }],
    ['maxLength is lower', 'string', { maxLength: 2000 }, {}],
    ['minLength is higher', 'string', {}, { minLength: 1 }],
    ['the pattern changed', 'string', {}, { pattern: 'a' }],
    ['the pattern changed', 'string', { pattern: 'a' }, { pattern: 'a|b' }],
    ['min is higher', 'integer', { min: 1 }, { min: 2 }],
    ['min is higher', 'integer', {}, { min: -5 }],
    ['max is lower', 'decimal', { max: '0.2' }, { max: '0.19999999999999999999' }],
    ['max is lower', 'date', {}, { max: '9999-12-31' }],
    ['max is lower', 'datetime', { max: '2026-01-01T00:00:00Z' }, { max: '2026-01-01T00:00:00+03:00' }],
    ['scale is lower', 'decimal', {}, { scale: 2 }],
    ['the option p2 is gone', 'enum', OPTIONS, { options: [{ code: 'p1', name: '' }] }],
    ['fewer record types are allowed', 'reference', {}, { types: ['a'] }],
    ['fewer record types are allowed', 'reference', { types: ['a', 'b'] }, { types: ['a', 'c'] }],
  ];
  for (const [reason, dataType, from, to] of narrower) {
    it(`rejects ${dataType} from ${JSON.stringify(from)} to ${JSON.stringify(to)}`, () =>
      assert.deepEqual(change(dataType, from, to), [`f: ${reason}`]));
  }

  it('compares limits on the length of lists', () => {
    assert.deepEqual(change('string', {}, { maxItems: 99 }, true), ['f: maxItems is lower']);
    assert.deepEqual(change('string', { maxItems: 2 }, { maxItems: 100 }, true), []);
    assert.deepEqual(change('string', { maxItems: 2 }, {}, true), []);
  });

  it('never accepts a change that invalidates a stored value', () => {
    const length = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined });
    const bound = fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined });
    const given = (object: object): FieldConstraints =>
      Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
    const text = fc
      .record({ minLength: length, maxLength: length })
      .map((constraints) => field('string', given(constraints)));
    const number = fc
      .record({ min: bound, max: bound, scale: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }) })
      .map((constraints) => field('decimal', given(constraints)));
    const pair = fc.oneof(
      fc.tuple(text, text, fc.string({ maxLength: 5 })),
      fc.tuple(
        number,
        number,
        fc.integer({ min: -300, max: 300 }).map((cents) => cents / 100),
      ),
    );
    fc.assert(
      fc.property(pair, ([older, newer, input]) => {
        const stored = checkValue(older, input, '');
        if (!stored.ok || incompatibilities([older], [newer]).length > 0) return;
        assert.ok(checkValue(newer, stored.stored, '').ok);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('convertValue', () => {
  const to = (dataType: DataType, more: Partial<FieldDefinition> = {}): FieldDefinition =>
    field(dataType, some(dataType), more);
  const words = (...lines: string[]): object => ({
    type: 'doc',
    content: lines.map((text) => ({
      type: 'paragraph',
      ...(text === '' ? {} : { content: [{ type: 'text', text }] }),
    })),
  });

  const converted: [DataType, unknown, DataType, unknown][] = [
    ['string', 'a', 'text', 'a'],
    ['text', 'a', 'string', 'a'],
    ['string', '12', 'integer', 12],
    ['string', '12.50', 'decimal', '12.5'],
    ['integer', 12, 'decimal', '12'],
    ['decimal', '12', 'integer', 12],
    ['integer', 12, 'string', '12'],
    ['boolean', true, 'string', 'true'],
    ['string', 'false', 'boolean', false],
    ['date', '2026-11-21', 'string', '2026-11-21'],
    ['string', '2026-11-21', 'date', '2026-11-21'],
    ['string', '2026-11-21T12:15:00+03:00', 'datetime', '2026-11-21T09:15:00.000Z'],
    ['string', 'p1', 'enum', 'p1'],
    ['enum', 'p1', 'string', 'p1'],
    ['string', 'https://a.org', 'url', 'https://a.org'],
    ['user', UUID, 'string', UUID],
    ['text', 'a\n\nb', 'rich-text', words('a', '', 'b')],
    ['rich-text', words('a', '', 'b'), 'text', 'a\n\nb'],
    ['rich-text', words('a'), 'string', 'a'],
    ['text', '<b>x</b>', 'rich-text', words('<b>x</b>')],
    ['string', 'a', 'json', 'a'],
    ['integer', 5, 'json', 5],
    ['json', 5, 'integer', 5],
    ['json', words('a'), 'rich-text', words('a')],
    ['reference', UUID, 'reference', UUID],
    ['text', '   ', 'rich-text', null],
  ];
  for (const [from, value, dataType, expected] of converted) {
    it(`converts ${from} ${JSON.stringify(value).slice(0, 40)} to ${dataType}`, () =>
      assert.deepEqual(convertValue(to(from), to(dataType), value), { ok: true, stored: expected }));
  }

  const refused: [DataType, unknown, DataType, RegExp][] = [
    ['string', 'x', 'integer', /not an integer/],
    ['string', '12.5', 'integer', /not an integer/],
    ['decimal', '12.5', 'integer', /not an integer/],
    ['string', '9007199254740993', 'integer', /between/],
    ['string', 'yes', 'boolean', /true or false/],
    ['text', 'a\nb', 'string', /one line/],
    ['string', 'p9', 'enum', /option/],
    ['date', '2026-11-21', 'datetime', /does not convert/],
    ['datetime', '2026-11-21T09:15:00.000Z', 'date', /does not convert/],
    ['boolean', true, 'integer', /does not convert/],
    ['string', UUID, 'user', /does not convert/],
    ['user', UUID, 'group', /does not convert/],
    ['reference', UUID, 'service', /does not convert/],
    ['json', UUID, 'user', /does not convert/],
    ['json', '<b>x</b>', 'rich-text', /does not convert/],
    ['json', { a: 1 }, 'string', /text/],
    [
      'rich-text',
      { type: 'doc', content: [{ type: 'heading', attrs: { level: 1 }, content: [{ type: 'text', text: 'a' }] }] },
      'text',
      /more than plain/,
    ],
    [
      'rich-text',
      {
        type: 'doc',
        content: [{ type: 'paragraph', content: [{ type: 'text', marks: [{ type: 'bold' }], text: 'a' }] }],
      },
      'text',
      /more than plain/,
    ],
    ['rich-text', words('a'), 'integer', /does not convert/],
  ];
  for (const [from, value, dataType, reason] of refused) {
    it(`does not convert ${from} ${JSON.stringify(value).slice(0, 40)} to ${dataType}`, () => {
      const result = convertValue(to(from), to(dataType), value);
      assert.ok(!result.ok, JSON.stringify(result));
      assert.match(result.reason, reason);
    });
  }

  it('converts single values to lists and lists of one to single values', () => {
    const many: Partial<FieldDefinition> = { multiple: true };
    assert.deepEqual(convertValue(to('string'), to('string', many), 'a'), { ok: true, stored: ['a'] });
    assert.deepEqual(convertValue(to('string', many), to('integer', many), ['1', '2']), { ok: true, stored: [1, 2] });
    assert.deepEqual(convertValue(to('string', many), to('string'), ['a']), { ok: true, stored: 'a' });
    assert.deepEqual(convertValue(to('string', many), to('json'), ['a', 'b']), { ok: true, stored: ['a', 'b'] });
    assert.deepEqual(convertValue(to('json'), to('string', many), ['a', 'b']), { ok: true, stored: ['a', 'b'] });
    assert.ok(!convertValue(to('string', many), to('string'), ['a', 'b']).ok);
    assert.ok(!convertValue(to('string', many), to('decimal', many), ['1', '1.0']).ok);
    assert.ok(!convertValue(to('string', many), field('string', { maxItems: 1 }, many), ['a', 'b']).ok);
  });

  it('uses the default for an absent required value', () => {
    const required = to('string', { required: true, default: 'd' });
    assert.deepEqual(convertValue(undefined, required, undefined), { ok: true, stored: 'd' });
    assert.deepEqual(convertValue(to('string'), required, null), { ok: true, stored: 'd' });
    assert.deepEqual(convertValue(undefined, to('string', { default: 'd' }), undefined), { ok: true, stored: null });
    assert.ok(!convertValue(undefined, to('string', { required: true }), undefined).ok);
  });

  it('returns valid values only', () => {
    const types = fc.constantFrom(...DATA_TYPES);
    const value = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(UUID),
      fc.constant('p1'),
      fc.constant(words('a', 'b')),
      fc.constant('2026-11-21'),
      fc.constant('PT1H'),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(types, types, value, (from, dataType, input) => {
        const before = checkValue(to(from), input, '');
        if (!before.ok) return;
        const result = convertValue(to(from), to(dataType), before.stored);
        if (!result.ok) return;
        assert.deepEqual(checkValue(to(dataType), result.stored, ''), { ok: true, stored: result.stored, images: [] });
        if (from === dataType) assert.deepEqual(result.stored, before.stored);
      }),
      { numRuns: 5000 },
    );
  });
});
