import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decimalOf, ExactNumber, exactNumber, withoutExact } from './exact-number.ts';
import { canonicalJson, deepEqualJson, fingerprint, parseStoredJson, parseStrictJson } from './json.ts';
import { valueAt } from './mapping.ts';

const digits = (most: number) => fc.stringMatching(new RegExp(`^(?:0|[1-9][0-9]{0,${most}})$`));

/** JSON numbers of every form; most of them are not represented exactly by a double. */
const numbers = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits(40),
    fc.option(fc.stringMatching(/^[0-9]{1,40}$/), { nil: undefined }),
    fc.option(fc.integer({ min: -1000, max: 1000 }), { nil: undefined }),
  )
  .map(([sign, whole, fraction, exponent]) => {
    const point = fraction === undefined ? '' : `.${fraction}`;
    return `${sign}${whole}${point}${exponent === undefined ? '' : `e${exponent}`}`;
  });

/** The number as an integer and a power of ten, without trailing zeros. */
function valueOf(text: string): [bigint, number] {
  const [mantissa = '', power = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  let value = BigInt(`${whole}${fraction}`);
  let exponent = Number(power) - fraction.length;
  if (value === 0n) return [0n, 0];
  while (value % 10n === 0n) [value, exponent] = [value / 10n, exponent + 1];
  return [value, exponent];
}

describe('numbers that a double cannot hold', () => {
  it('keep their exact value at any position, with one text for equal numbers', () => {
    fc.assert(
      fc.property(
        numbers,
        fc.constantFrom('N', '[N,1]', '{"a":{"b":[true,N]},"c":"1700000000123456789"}'),
        (text, form) => {
          const source = form.replace('N', text);
          const parsed = parseStrictJson(source);
          const written = JSON.stringify(parsed);
          const [number = ''] = /-?[0-9][0-9.]*(?:e[+-]?[0-9]+)?/.exec(written) ?? [];
          assert.deepEqual(valueOf(number), valueOf(text), written);
          assert.ok(deepEqualJson(parseStoredJson(written), parsed));
          assert.equal(canonicalJson(parsed), canonicalJson(parseStrictJson(written)));
          assert.deepEqual(fingerprint(parsed), fingerprint(parseStoredJson(written)));
          assert.equal(JSON.stringify(parseStrictJson(written)), written, 'the text is canonical');
        },
      ),
      { numRuns: 500 },
    );
  });

  it('are doubles if a double holds them', () => {
    for (const text of ['0', '-0', '1.10', '1e300', '9007199254740991', '0.1', '5e-324', `1.${'0'.repeat(2000)}`]) {
      assert.equal(typeof exactNumber(text), 'number', text);
      assert.equal(typeof parseStrictJson(text), 'number', text);
    }
    for (const text of ['9007199254740993', '0.12345678901234567', '1e400', '-1e-400', '1700000000123456789']) {
      assert.ok(exactNumber(text) instanceof ExactNumber, text);
      assert.ok((parseStrictJson(`[${text}]`) as unknown[])[0] instanceof ExactNumber, text);
    }
    assert.equal(String(exactNumber('1e99999999999999999999')), '1e99999999999999999999');
  });

  it('compare by value, however they are written', () => {
    const equal = (a: string, b: string): boolean => deepEqualJson(parseStrictJson(a), parseStrictJson(b));
    assert.ok(equal('17000000001234567890', '1700000000123456789e1'));
    assert.ok(equal('[1e400]', '[10E+399]'));
    assert.ok(!equal('1700000000123456789', '1700000000123456788'));
    assert.ok(!equal('1700000000123456789', '"1700000000123456789"'));
    assert.ok(!equal('1700000000123456789', '{}'));
    assert.ok(!equal('{}', '1700000000123456789'));
  });

  it('have no properties that a path could address', () => {
    const body = parseStrictJson('{"a":1700000000123456789}');
    for (const path of ['a.text', 'a.#text', 'a.source', 'a.toJSON', 'a.constructor']) {
      assert.equal(valueAt(body, path), undefined, path);
    }
  });

  it('are replaced by NaN for checks that know plain JSON only', () => {
    const body = parseStrictJson('{"a":[1,1700000000123456789],"b":{"c":1e400},"d":{"e":1}}') as { d: object };
    const plain = withoutExact(body) as { d: object };
    assert.deepEqual(plain, { a: [1, Number.NaN], b: { c: Number.NaN }, d: { e: 1 } });
    assert.equal(plain.d, body.d, 'what holds none is the same');
    assert.ok((body as unknown as { a: unknown[] }).a[1] instanceof ExactNumber, 'the value itself stays as it is');
  });

  it('are decimals if those have at most 130 digits', () => {
    assert.equal(decimalOf(exactNumber('1700000000.1234567890')), '1700000000.123456789');
    assert.equal(decimalOf(exactNumber('-17000000001234567e-20')), '-0.00017000000001234567');
    assert.equal(decimalOf(exactNumber('1e400')), undefined);
    assert.equal(decimalOf(exactNumber('1.5')), '1.5');
  });
});
