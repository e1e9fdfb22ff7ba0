import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalDecimal, compareDecimals, decimalScale, doubleHolds } from './decimal.ts';

describe('canonicalDecimal', () => {
  const cases: [unknown, string | undefined][] = [
    ['12.50', '12.5'],
    ['12.00', '12'],
    ['0', '0'],
    ['-0', '0'],
    ['-0.000', '0'],
    ['007', '7'],
    ['-00.10', '-0.1'],
    ['100', '100'],
    [12.5, '12.5'],
    [-0, '0'],
    [0.1, '0.1'],
    [1e21, '1000000000000000000000'],
    [1.5e-7, '0.00000015'],
    [-2.5e-10, '-0.00000000025'],
    [1.2345e22, '12345000000000000000000'],
    [9007199254740991, '9007199254740991'],
    ['9'.repeat(130), '9'.repeat(130)],
    [`1.${'0'.repeat(500)}`, '1'],
    ['9'.repeat(131), undefined],
    ['9'.repeat(100_000), undefined],
    [1e200, undefined],
    [1e-200, undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    ['', undefined],
    [' 1', undefined],
    ['1 ', undefined],
    ['1\n', undefined],
    ['+1', undefined],
    ['1e3', undefined],
    ['.5', undefined],
    ['5.', undefined],
    ['1,5', undefined],
    ['0x10', undefined],
    ['--1', undefined],
    ['-', undefined],
    ['١', undefined],
    [true, undefined],
    [null, undefined],
    [undefined, undefined],
    [['1'], undefined],
    [{}, undefined],
    [10n, undefined],
  ];
  for (const [value, expected] of cases) {
    it(`of ${String(typeof value === 'string' ? value.slice(0, 30) : value)} is ${String(expected).slice(0, 30)}`, () =>
      assert.equal(canonicalDecimal(value), expected));
  }

  it('is idempotent and preserves the number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e60, max: 1e60 }), (value) => {
        const text = canonicalDecimal(value);
        if (text === undefined) return;
        assert.equal(canonicalDecimal(text), text);
        assert.equal(Number(text), value === 0 ? 0 : value);
      }),
    );
  });
});

describe('compareDecimals', () => {
  it('orders exactly', () => {
    const ascending = [
      '-100.5',
      '-100',
      '-20',
      '-3.25',
      '-3.2',
      '-0.01',
      '0',
      '0.009',
      '0.01',
      '0.1',
      '0.11',
      '3',
      '3.2',
      '20',
      '100',
      '9007199254740992',
      '9007199254740993',
      `1${'0'.repeat(40)}`,
    ];
    for (const [left, a] of ascending.entries()) {
      for (const [right, b] of ascending.entries()) {
        assert.equal(Math.sign(compareDecimals(a, b)), Math.sign(left - right), `${a} ${b}`);
      }
    }
  });

  it('agrees with integers of any length', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), (a, b) =>
        assert.equal(Math.sign(compareDecimals(String(a), String(b))), a < b ? -1 : a > b ? 1 : 0),
      ),
    );
  });
});

describe('decimalScale', () => {
  it('counts the digits after the point', () => {
    assert.deepEqual(['0', '-12', '0.5', '-1.25'].map(decimalScale), [0, 0, 1, 2]);
  });
});

describe('doubleHolds', () => {
  it('is true for decimals that a double represents as written', () => {
    for (const text of [
      '0',
      '-0',
      '0.0',
      '1.10',
      '0.1',
      '1e3',
      '1E+3',
      '10e-1',
      '9007199254740991',
      '9007199254740992',
      '5e-324',
      '1.7976931348623157e308',
      '0.30000000000000004',
      '0e999999999999',
      '1000000000000000000000000',
    ]) {
      assert.ok(doubleHolds(text), text);
    }
    for (const text of [
      '9007199254740993',
      '0.1000000000000000055',
      '1e400',
      '-1e400',
      '1e-400',
      '1.7976931348623158e308',
      '0.30000000000000004000000001',
      '4e-324',
    ]) {
      assert.ok(!doubleHolds(text), text);
    }
  });

  it('is true for every printed double and every decimal of 15 digits', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) =>
        assert.ok(doubleHolds(String(value)) && doubleHolds(value.toExponential())),
      ),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 999_999_999_999_999 }),
        fc.integer({ min: -200, max: 200 }),
        (digits, power) => assert.ok(doubleHolds(`${digits}e${power}`)),
      ),
    );
  });
});
