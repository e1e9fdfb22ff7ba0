import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Fault, isFault } from './fault.ts';
import { ExactNumber } from './exact-number.ts';
import { canonicalJson, deepEqualJson, escapePointer, fingerprint, parseStrictJson, pointer } from './json.ts';
import { processorMs } from '../../test/support/processor-time.ts';

function refusal(input: Uint8Array | string, limits = {}): string {
  try {
    parseStrictJson(input, limits);
  } catch (error) {
    assert.ok(isFault(error, 'INVALID_JSON'), String(error));
    return error.message;
  }
  return assert.fail(`accepted: ${String(input).slice(0, 80)}`);
}

describe('parseStrictJson', () => {
  it('agrees with JSON.parse', () => {
    for (const text of [
      '{}',
      '[]',
      'null',
      ' "a" ',
      '0',
      '-0',
      '1.10',
      '0.1',
      '1e3',
      '1E+2',
      '{"a":[1,{"b":"\\u0041"}]}',
      '"😀"',
      '"\\ud83d\\ude00"',
      '"\\\\u0000"',
      '{"":1}',
      '[1,2,[]]\n',
    ]) {
      assert.deepEqual(parseStrictJson(text), JSON.parse(text), text);
      assert.deepEqual(parseStrictJson(Buffer.from(text)), JSON.parse(text), text);
    }
  });

  it('parses only the bytes of a view into a larger buffer', () => {
    const all = Buffer.from('xx{"a":1}yy');
    assert.deepEqual(parseStrictJson(new Uint8Array(all.buffer, all.byteOffset + 2, 7)), { a: 1 });
  });

  const refused: [name: string, input: string | Buffer, message: RegExp][] = [
    ['nothing', '', /line 1, column 1: the text ends before the JSON is complete/],
    ['blanks', '  \n ', /line 2, column 2: the text ends before the JSON is complete/],
    ['a bare word', 'nul', /a value is expected/],
    ['NaN', '[NaN]', /column 2: a value or ] is expected/],
    ['a trailing comma', '{"a":1,\n}', /line 2, column 1: a key in double quotes is expected/],
    ['a trailing comma in an array', '[1,]', /a value is expected/],
    ['single quotes', "{'a':1}", /a key in double quotes or }/],
    ['a missing colon', '{"a" 1}', /a colon is expected/],
    ['a missing comma', '[1 2]', /column 4: a comma or the closing bracket/],
    ['the wrong bracket', '[1}', /a comma or the closing bracket/],
    ['an unclosed array', '[1', /ends before the JSON/],
    ['an unclosed string', '["abc', /column 2: a string is not closed/],
    ['a leading zero', '[01]', /a comma or the closing bracket/],
    ['a comment', '{} // x', /after the end of the JSON/],
    ['trailing garbage', '{"a":1}x', /column 8: there is text after the end of the JSON/],
    ['two documents', '{}{}', /after the end of the JSON/],
    ['a byte order mark', Buffer.from('\ufeff{}'), /byte order mark/],
    ['a byte order mark in text', '\ufeff{}', /byte order mark/],
    ['a control character', '"a\u0001"', /column 3: a control character/],
    ['a line break in a string', '"a\nb"', /control character/],
    ['an unknown escape', '"\\x41"', /unknown escape sequence/],
    ['a short escape', '"\\u12"', /unknown escape sequence/],
    ['U+0000', '"a\\u0000"', /column 3: a string contains U\+0000/],
    ['raw U+0000', '"a\u0000"', /control character/],
    ['U+0000 in a key', '{"\\u0000":1}', /U\+0000/],
    ['a lone high surrogate', '"\\ud800"', /surrogate/],
    ['a lone high surrogate before another escape', '"\\ud800\\u0041"', /surrogate/],
    ['two high surrogates', '"\\ud83d\\ud83d"', /surrogate/],
    ['a lone low surrogate', '"\\uDE00"', /surrogate/],
    ['a lone surrogate in a key', '{"\\ud800":1}', /surrogate/],
    ['a lone surrogate in decoded text', '{"a":"\ud800"}', /column 7: a string contains an unpaired/],
    [
      'a surrogate in UTF-8 bytes',
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      /column 2: the text is not valid UTF-8/,
    ],
    ['invalid UTF-8', Buffer.from([0x22, 0x61, 0xff, 0x22]), /column 3: the text is not valid UTF-8/],
    ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), /not valid UTF-8/],
    ['cut UTF-8', Buffer.from([0x22, 0xd0]), /not valid UTF-8/],
    ['Latin-1', Buffer.from('"Gr\u00fc\u00dfe"', 'latin1'), /not valid UTF-8/],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), /Invalid JSON/],
    ['a key twice', '{"a":1,"b":2,"a":3}', /column 14: an object contains this key twice/],
    ['a key twice, once escaped', '{"a":1,"\\u0061":2}', /twice/],
    ['a key twice deep inside', '[{"x":[{"k":1,\n"k":1}]}]', /line 2, column 1: an object contains this key twice/],
    ['an empty key twice', '{"":1,"":2}', /twice/],
    ['__proto__', '{"__proto__":{}}', /column 2: the keys __proto__/],
    ['__proto__ deep inside', '{"a":[{"b":1,"__proto__" : null}]}', /column 14: the keys/],
    ['an escaped __proto__', '{"\\u005f_proto__":{}}', /the keys __proto__/],
    ['constructor', '{"constructor":1}', /the keys/],
    ['prototype', '{"a":{"prototype":1}}', /the keys/],
    ['a broken number', '1e', /after the end of the JSON/],
    ['a lone minus', '[-]', /a value or ] is expected/],
  ];
  for (const [name, input, message] of refused) {
    it(`rejects ${name} and reports the position`, () => assert.match(refusal(input), message));
  }

  it('keeps numbers that a double holds', () => {
    for (const text of [
      '9007199254740991',
      '-9007199254740991',
      '9007199254740992',
      '1.7976931348623157e308',
      '5e-324',
      '0.30000000000000004',
      '100000000000000000000',
      '1.50e0',
      '0e99',
      '0.000',
      '-0.0',
      '123456789012345000e-3',
    ]) {
      assert.equal(parseStrictJson(text), Number(text), text);
    }
  });

  it('accepts reserved names as values and as parts of keys', () => {
    const text = '{"a":"__proto__","__proto":1,"constructors":2,"xprototype":3,"b":["constructor"]}';
    assert.deepEqual(parseStrictJson(text), JSON.parse(text));
  });

  it('limits the nesting exactly', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    assert.ok(Array.isArray(parseStrictJson(nested(64))));
    assert.match(refusal(nested(65)), /column 65: the nesting is deeper than 64 levels/);
    assert.match(refusal('{"a":'.repeat(65) + '1' + '}'.repeat(65)), /nesting/);
    assert.match(refusal('[[[]]]', { maxDepth: 2 }), /deeper than 2/);
    assert.ok(parseStrictJson(`[${'"[[[",'.repeat(100)}[]]`));
  });

  it('limits the number of values', () => {
    assert.deepEqual(parseStrictJson('[1,2,3]', { maxValues: 4 }), [1, 2, 3]);
    assert.match(refusal('[1,2,3,4]', { maxValues: 4 }), /more than 4 values/);
    assert.match(refusal('{"a":1,"b":2}', { maxValues: 4 }), /more than 4 values/);
  });

  // Naive parsing takes 0.6 to 2.2 s. The limit leaves room for a busy machine.
  const size = 10 * 1024 * 1024;
  const bombs: [name: string, make: () => string][] = [
    ['nested arrays', () => '['.repeat(size)],
    ['nested objects', () => '{"a":'.repeat(size / 5)],
    ['empty arrays', () => `[${'[],'.repeat(size / 3 - 1)}[]]`],
    ['700,000 keys', () => `{${Array.from({ length: 700_000 }, (_, index) => `"key${index}":1`).join(',')}}`],
    [
      'keys up to the limit, the last a duplicate',
      () => `{${Array.from({ length: 66_000 }, (_, index) => `"k${index}":1`).join(',')},"k1":1}`,
    ],
    ['open quotes', () => '"" '.repeat(size / 3)],
  ];
  for (const [name, make] of bombs) {
    it(`rejects 10 MiB of ${name}`, () => {
      refusal(Buffer.from(make()));
    });
  }

  it('parses 10 MiB of digits as one number', () => {
    let parsed: unknown;
    const took = processorMs(() => {
      parsed = parseStrictJson(Buffer.from(`[${'1'.repeat(size - 2)}]`));
    });
    const [number] = parsed as [ExactNumber];
    assert.ok(number instanceof ExactNumber && number.exponent === size - 3);
    assert.ok(took < 5000, `took ${took} ms`);
  });

  it('parses a string of 10 MiB quickly, with and without escapes', () => {
    for (const part of ['QUJD', 'Я', '\\n', '\\u0041', `${'x'.repeat(100)}\\n`]) {
      const bytes = Buffer.from(`{"a":"${part.repeat(Math.floor(size / Buffer.byteLength(part)) - 4)}"}`);
      const took = processorMs(() => {
        parseStrictJson(bytes);
      });
      // Far above the normal duration, far below that of anything worse than linear.
      assert.ok(took < 5000, `${part.slice(-6)} took ${took} ms`);
    }
  });

  it('agrees with JSON.parse on every valid document', () => {
    const unsafe = /^(?:__proto__|constructor|prototype)$/;
    const key = fc
      .string({ unit: 'binary', maxLength: 12 })
      .filter((text) => !unsafe.test(text) && !text.includes('\0'));
    const leaf = fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
    );
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.constantFrom(0, 1, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        assert.deepEqual(parseStrictJson(Buffer.from(text)), JSON.parse(text));
        assert.deepEqual(parseStrictJson(text), JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('throws only INVALID_JSON, and only if JSON.parse throws or a documented rule is broken', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '\\u',
      'd800',
      '0',
      '1',
      '-',
      '.',
      'e',
      'true',
      'null',
      ' ',
      '\n',
      '"a"',
      '"a":',
      'я',
      '\u0000',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece, { maxLength: 14 }).map((parts) => parts.join('')),
          fc.uint8Array({ maxLength: 12 }),
        ),
        (input) => {
          let parsed: unknown;
          try {
            parsed = parseStrictJson(input);
          } catch (error) {
            assert.ok(error instanceof Fault && error.code === 'INVALID_JSON', String(error));
            assert.doesNotMatch(error.message, /cannot be read/);
            return;
          }
          assert.deepEqual(parsed, JSON.parse(typeof input === 'string' ? input : Buffer.from(input).toString()));
        },
      ),
      { numRuns: 5000 },
    );
  });
});

describe('canonicalJson and fingerprint', () => {
  it('sorts keys at every depth and writes no whitespace', () => {
    assert.equal(
      canonicalJson({ b: [{ d: 1, c: null }, 'x'], a: { z: true, y: 1.5 } }),
      '{"a":{"y":1.5,"z":true},"b":[{"c":null,"d":1},"x"]}',
    );
    assert.equal(canonicalJson([undefined, Number.NaN, -0]), '[null,null,0]');
    assert.equal(canonicalJson({ a: undefined, 10: 1, 9: 2 }), '{"10":1,"9":2}');
    assert.equal(canonicalJson('"'), '"\\""');
  });

  it('does not depend on the order of keys', () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, shuffled(member)]),
      );
    };
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium' }), (value) => {
        const other = shuffled(value);
        assert.equal(canonicalJson(other), canonicalJson(value));
        assert.ok(deepEqualJson(value, other));
        assert.ok(deepEqualJson(value, JSON.parse(canonicalJson(value))));
        assert.ok(fingerprint(other).equals(fingerprint(value)));
      }),
    );
  });

  it('is a SHA-256 of the canonical text', () => {
    assert.deepEqual(fingerprint({ b: 1, a: 2 }), createHash('sha256').update('{"a":2,"b":1}').digest());
  });

  it('rejects excessive depth with a fault instead of a stack overflow', () => {
    let deep: unknown = [];
    for (let index = 0; index < 100_000; index++) deep = [deep];
    assert.throws(
      () => canonicalJson(deep),
      (error) => isFault(error, 'INVALID_JSON'),
    );
    assert.throws(
      () => deepEqualJson(deep, [deep]),
      (error) => isFault(error, 'INVALID_JSON'),
    );
  });
});

describe('deepEqualJson', () => {
  it('distinguishes JSON values', () => {
    assert.ok(deepEqualJson({ a: [1, { b: null }] }, { a: [1, { b: null }] }));
    const different: [unknown, unknown][] = [
      [1, '1'],
      [0, false],
      [null, undefined],
      [[], {}],
      [
        [1, 2],
        [2, 1],
      ],
      [{ a: 1 }, { a: 1, b: 1 }],
      [{ a: undefined }, { b: 1 }],
      [{}, null],
      [{ toString: 1 }, { valueOf: 1 }],
      [[1], [1, 2]],
    ];
    for (const [a, b] of different) {
      assert.ok(!deepEqualJson(a, b) && !deepEqualJson(b, a), JSON.stringify([a, b]));
    }
  });

  it('agrees with the canonical text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) =>
        assert.equal(deepEqualJson(a, b), canonicalJson(a) === canonicalJson(b)),
      ),
    );
  });
});

describe('pointer', () => {
  it('escapes as defined by RFC 6901', () => {
    assert.equal(pointer(), '');
    assert.equal(pointer('values', 'a/b~c', 0), '/values/a~1b~0c/0');
    assert.equal(pointer(''), '/');
    assert.equal(escapePointer('~1'), '~01');
  });
});
