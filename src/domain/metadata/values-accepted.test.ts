import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DATA_TYPES, type DataType } from '../../lib/data-types/index.ts';
import type { FieldConstraints } from './registry.ts';
import { field, OPTIONS, stored, UUID } from '../../../test/support/field-values.ts';

/** Input and stored form; a single element means that they are equal. */
const ACCEPTED: [DataType, FieldConstraints, ([unknown, unknown] | [unknown])[]][] = [
  [
    'string',
    {},
    [
      ['Printer'],
      [' blanks '],
      ['tab\there'],
      ['e\u0301', 'é'],
      ['Ёлка'],
      ['😀'.repeat(1000)],
      ['x'.repeat(1000)],
      ['', null],
      ['\ufffd'],
      ['‮RTL'],
      ['a'.repeat(999) + 'e\u0301', `${'a'.repeat(999)}é`],
      ['null'],
      ['z\u0335\u0321\u031b\u0300'.normalize('NFC')],
    ],
  ],
  ['string', { minLength: 2, maxLength: 3, pattern: '[a-zА-я😀]+' }, [['ab'], ['Жук'], ['😀😀😀']]],
  ['string', { maxLength: 4000 }, [['x'.repeat(4000)]]],
  ['text', {}, [['line\r\nline\n\u2028'], ['x'.repeat(100_000)], ['', null], ['  ']]],
  [
    'url',
    {},
    [
      ['https://example.org'],
      ['http://localhost:8080/a?b=c#d'],
      ['HTTPS://EXAMPLE.org/%20'],
      ['https://пример.рф/путь'],
      ['https://example.org/a@b'],
      ['http://[::1]/'],
      ['http://10.0.0.1'],
    ],
  ],
  [
    'email',
    {},
    [['a.b+c@example.org'], ["o'neil@x.co"], ['иван@пример.рф'], ['UPPER@Example.ORG'], ['a@xn--e1afmkfd.xn--p1ai']],
  ],
  [
    'phone',
    {},
    [
      ['+7 (495) 123-45-67'],
      ['112'],
      ['8.800.555.35.35'],
      ['+1/212/5550100'],
      ['+49 30 123456 ext. 12'],
      ['123x45'],
      ['+7 495 1234567 доб. 17'],
      ['(02) 1234'],
    ],
  ],
  ['integer', {}, [[0], [-5], [-0, 0], [9007199254740991], [-9007199254740991], [1e3]]],
  ['integer', { min: -1, max: 10 }, [[-1], [10]]],
  [
    'decimal',
    {},
    [
      ['12.50', '12.5'],
      ['-0.00', '0'],
      ['007', '7'],
      [12.5, '12.5'],
      [5, '5'],
      [0.1, '0.1'],
      [1e21, '1000000000000000000000'],
      ['9'.repeat(130)],
    ],
  ],
  ['decimal', { scale: 2, min: '-1.5', max: 100 }, [['1.25'], ['1.2500', '1.25'], ['-1.5'], ['100.00', '100']]],
  ['boolean', {}, [[true], [false]]],
  ['date', {}, [['2026-11-21'], ['0001-01-01'], ['9999-12-31'], ['2024-02-29'], ['2000-02-29']]],
  ['date', { min: '2026-01-01', max: '2026-12-31' }, [['2026-01-01'], ['2026-12-31']]],
  [
    'datetime',
    {},
    [
      ['2026-11-21T09:15:00.000Z'],
      ['2026-11-21T12:15:00+03:00', '2026-11-21T09:15:00.000Z'],
      ['2026-11-21t09:15:00z', '2026-11-21T09:15:00.000Z'],
      ['2026-01-01T01:30:00.5+05:30', '2025-12-31T20:00:00.500Z'],
      ['2026-11-21T09:15:00.123999Z', '2026-11-21T09:15:00.123Z'],
      ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
      ['9999-12-31T23:59:59.999Z'],
    ],
  ],
  ['datetime', { min: '2026-01-01T03:00:00+03:00' }, [['2026-01-01T00:00:00.000Z']]],
  ['time', {}, [['09:30', '09:30:00'], ['23:59:59'], ['00:00:00']]],
  ['time', { min: '09:00', max: '18:00' }, [['09:00:00'], ['18:00', '18:00:00']]],
  [
    'duration',
    {},
    [
      ['PT4H'],
      ['PT90M', 'PT1H30M'],
      ['P1W', 'P7D'],
      ['PT36H'],
      ['P1Y2M3DT4H5M6S'],
      ['PT0S'],
      ['P0D', 'PT0S'],
      ['PT1.50S', 'PT1.5S'],
    ],
  ],
  ['enum', OPTIONS, [['p1'], ['p2']]],
  ['reference', { types: ['asset'] }, [[UUID], [UUID.toUpperCase(), UUID]]],
  ['user', {}, [[UUID]]],
  ['group', {}, [[UUID]]],
  ['org-unit', {}, [[UUID]]],
  ['service', {}, [[UUID]]],
  [
    'json',
    {},
    [
      [{ a: [1, 'x', null, { b: false }] }],
      [[]],
      [{}],
      [''],
      [0],
      [false],
      [{ text: 'e\u0301' }],
      ['x'.repeat(65_534)],
    ],
  ],
  [
    'rich-text',
    {},
    [
      [{ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Hi' }] }] }],
      [{ type: 'doc', content: [{ type: 'paragraph' }] }, null],
      ['', null],
    ],
  ],
];

describe('checkValue of valid values', () => {
  for (const [dataType, constraints, cases] of ACCEPTED) {
    it(`accepts ${dataType} ${JSON.stringify(constraints).slice(0, 40)}`, () => {
      for (const [input, expected] of cases.map((entry) => (entry.length === 1 ? [entry[0], entry[0]] : entry))) {
        assert.deepEqual(stored(field(dataType, constraints), input), expected);
      }
    });
  }

  it('covers every data type', () => {
    assert.deepEqual([...new Set(ACCEPTED.map(([dataType]) => dataType))].sort(), [...DATA_TYPES].sort());
  });
});
