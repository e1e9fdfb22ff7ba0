import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { DATA_TYPES, type DataType, type IdOf, type Referent } from '../../lib/data-types/index.ts';
import { parseStrictJson } from '../../lib/json.ts';
import type { FieldConstraints } from './registry.ts';
import { field, OPTIONS, problem, stored, UUID } from '../../../test/support/field-values.ts';
import { checkValue, checkValues, foldedCopy, idsIn, idsOf, plainText, sameValue } from './values.ts';

describe('checkValue', () => {
  it('treats null and absent values as empty for every data type', () => {
    for (const dataType of DATA_TYPES) {
      for (const multiple of [false, true]) {
        assert.equal(stored(field(dataType, {}, { multiple }), null), null);
        assert.equal(stored(field(dataType, {}, { multiple }), undefined), null);
      }
    }
  });

  it('rejects json that is nested too deeply without recursion', () => {
    let deep: unknown = [];
    for (let index = 1; index < 63; index++) deep = [deep];
    const call = { payload: deep };
    assert.deepEqual(parseStrictJson(JSON.stringify(call)), call, 'a value that is a member of a body can be as deep');
    assert.throws(() => parseStrictJson(JSON.stringify([call])), /nesting is deeper than 64 levels/);
    assert.deepEqual(stored(field('json'), deep), deep);
    assert.equal(problem(field('json'), [deep]), 'TOO_DEEP');
    for (let index = 0; index < 100_000; index++) deep = [deep];
    assert.equal(problem(field('json'), deep), 'TOO_DEEP');
  });

  it('keeps lists in order and enforces uniqueness and length', () => {
    const list = field('string', { maxItems: 3 }, { multiple: true });
    assert.deepEqual(stored(list, ['b', 'a', 'e\u0301']), ['b', 'a', 'é']);
    assert.equal(stored(list, []), null);
    assert.equal(problem(list, 'a'), 'WRONG_TYPE');
    assert.equal(problem(list, { 0: 'a', length: 1 }), 'WRONG_TYPE');
    assert.equal(problem(list, ['a', 'b', 'c', 'd']), 'TOO_MANY');
    assert.equal(problem(list, ['é', 'e\u0301']), 'NOT_UNIQUE');
    assert.equal(problem(list, ['']), 'EMPTY_ELEMENT');
    assert.equal(problem(list, [null]), 'WRONG_TYPE');
    assert.equal(problem(list, [['a']]), 'WRONG_TYPE');
    assert.equal(problem(field('decimal', {}, { multiple: true }), ['1.0', 1]), 'NOT_UNIQUE');
    assert.equal(problem(field('user', {}, { multiple: true }), [UUID, UUID.toUpperCase()]), 'NOT_UNIQUE');
    const many = Array.from({ length: 101 }, (_, index) => index);
    assert.equal(problem(field('integer', {}, { multiple: true }), many), 'TOO_MANY');
    assert.deepEqual(stored(field('integer', {}, { multiple: true }), many.slice(1)), many.slice(1));
  });

  it('reports each invalid element', () => {
    const checked = checkValue(field('integer', {}, { multiple: true }), [1, 'x', 2, null], '/changes/a~1b');
    assert.ok(!checked.ok);
    assert.deepEqual(
      checked.problems.map(({ path }) => path),
      ['/changes/a~1b/1', '/changes/a~1b/3'],
    );
  });

  it('is idempotent and never throws', () => {
    const some = (dataType: DataType): FieldConstraints => (dataType === 'enum' ? OPTIONS : {});
    const fields = DATA_TYPES.flatMap((dataType) =>
      [false, true].map((multiple) => field(dataType, some(dataType), { multiple })),
    );
    const near = fc.oneof(
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc.stringMatching(/^-?[0-9]{1,40}(\.[0-9]{1,40})?$/),
      fc.stringMatching(/^P[0-9]{1,3}DT[0-9]{1,4}[HMS]$/),
      fc.stringMatching(/^[0-2][0-9]:[0-5][0-9](:[0-5][0-9])?$/),
      fc.uuid().map((id) => id.toUpperCase()),
      fc.webUrl(),
      fc.emailAddress(),
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }).map((text) => text.normalize('NFD')),
      fc.double(),
      fc.integer(),
    );
    const value = fc.oneof(near, fc.uniqueArray(near, { maxLength: 3 }), fc.anything({ withBigInt: false }));
    fc.assert(
      fc.property(fc.constantFrom(...fields), value, (of, input) => {
        const first = checkValue(of, input, '/v');
        if (!first.ok) return assert.ok(first.problems.length > 0);
        const second = checkValue(of, first.stored, '/v');
        assert.ok(second.ok);
        assert.deepEqual(second.stored, first.stored);
        if (first.stored !== null) assert.ok(sameValue(JSON.parse(JSON.stringify(first.stored)), first.stored));
      }),
      { numRuns: 10_000 },
    );
  });
});

describe('checkValues', () => {
  const fields = [
    field('string', {}, { code: 'title', required: true }),
    field('enum', OPTIONS, { code: 'priority', required: true, default: 'p2' }),
    field('integer', {}, { code: 'count' }),
    field('text', {}, { code: 'note', default: 'none' }),
  ];

  it('uses defaults for absent keys of a new record, never for null', () => {
    assert.deepEqual(checkValues(fields, { title: 'T', note: null }, { whole: true }), {
      ok: true,
      values: { title: 'T', priority: 'p2' },
      cleared: ['note'],
      images: [],
    });
    assert.deepEqual(checkValues(fields, { title: 'T' }, { whole: true }), {
      ok: true,
      values: { title: 'T', priority: 'p2', note: 'none' },
      cleared: [],
      images: [],
    });
  });

  it('reports all problems at once', () => {
    const checked = checkValues(fields, { priority: null, count: '1', secret: 1, 'a/b': 2 }, { whole: true });
    assert.ok(!checked.ok);
    assert.deepEqual(
      checked.problems.map(({ path, code }) => [path, code]),
      [
        ['/values/priority', 'REQUIRED'],
        ['/values/count', 'WRONG_TYPE'],
        ['/values/secret', 'UNKNOWN_FIELD'],
        ['/values/a~1b', 'UNKNOWN_FIELD'],
        ['/values/title', 'REQUIRED'],
      ],
    );
  });

  it('validates only the changed values of a change', () => {
    assert.deepEqual(checkValues(fields, { count: null, note: '' }, { at: '/changes', whole: false }), {
      ok: true,
      values: {},
      cleared: ['count', 'note'],
      images: [],
    });
    for (const value of [null, '']) {
      const checked = checkValues(fields, { title: value }, { at: '/changes', whole: false });
      assert.ok(!checked.ok);
      assert.deepEqual(
        checked.problems.map(({ path, code }) => [path, code]),
        [['/changes/title', 'REQUIRED']],
      );
    }
  });

  it('ignores names of Object.prototype', () => {
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const checked = checkValues(fields, JSON.parse(`{"title":"T","${key}":1}`), { whole: false });
      assert.ok(!checked.ok && checked.problems[0]?.code === 'UNKNOWN_FIELD', key);
    }
    const odd = field('integer', {}, { code: 'toString' });
    assert.deepEqual(checkValues([odd], {}, { whole: true }), { ok: true, values: {}, cleared: [], images: [] });
    assert.deepEqual(checkValues([{ ...odd, required: true }], {}, { whole: true }).ok, false);
    assert.deepEqual(idsIn([field('user', {}, { code: 'constructor' })], {}), []);
    assert.deepEqual(foldedCopy([field('string', {}, { code: 'toString' })], {}), {});
  });
});

describe('data derived from stored values', () => {
  const doc = {
    type: 'doc',
    content: [
      { type: 'paragraph', content: [{ type: 'text', text: 'Ёлка' }] },
      { type: 'paragraph', content: [{ type: 'text', text: 'два' }] },
    ],
  };

  it('contains folded text of text fields', () => {
    const fields = [
      field('string', {}, { code: 'a' }),
      field('url', {}, { code: 'b', multiple: true }),
      field('rich-text', {}, { code: 'c' }),
      field('enum', {}, { code: 'd' }),
      field('text', {}, { code: 'e' }),
    ];
    assert.deepEqual(foldedCopy(fields, { a: 'ПРИВЁТ Straße', b: ['https://A.org'], c: doc, d: 'p1' }), {
      a: 'привет strasse',
      b: ['https://a.org'],
      c: 'елка\nдва',
    });
  });

  it('contains the referenced ids', () => {
    const fields = [
      field('reference', { types: ['asset'] }, { code: 'a', multiple: true }),
      field('user', {}, { code: 'b' }),
      field('group', {}, { code: 'c' }),
      field('string', {}, { code: 'd' }),
    ];
    const named = idsIn(fields, { a: [UUID], b: UUID, d: UUID });
    assert.deepEqual(named, [
      { code: 'a', refersTo: 'records', ids: [UUID], types: ['asset'] },
      { code: 'b', refersTo: 'users', ids: [UUID] },
    ]);
    assert.deepEqual(
      ['records', 'users', 'groups'].map((kind) => idsOf(named, kind as Referent)),
      [[UUID], [UUID], []],
    );
    // Fails to compile if ids of different kinds can be mixed.
    const mixed: IdOf<'users'> extends IdOf<'groups'> ? true : false = false;
    assert.equal(mixed, false);
  });

  it('contains values as text', () => {
    assert.equal(plainText(field('string', {}, { multiple: true }), ['a', 'b']), 'a; b');
    assert.equal(plainText(field('integer'), 5), '5');
    assert.equal(plainText(field('boolean'), false), 'false');
    assert.equal(plainText(field('rich-text'), doc), 'Ёлка\nдва');
    assert.equal(plainText(field('json'), { a: [1] }), '{"a":[1]}');
    assert.equal(plainText(field('string'), undefined), '');
  });

  it('compares values, with absent as null', () => {
    assert.ok(sameValue(undefined, null));
    assert.ok(sameValue({ a: 1, b: [2] }, { b: [2], a: 1 }));
    assert.ok(!sameValue(['a', 'b'], ['b', 'a']));
    assert.ok(!sameValue('1', 1));
  });
});

test('covers every data type of the specification', () => {
  const text = readFileSync(new URL('../../../docs/spec/records.md', import.meta.url), 'utf8');
  const rows =
    text
      .split('## Data types')[1]
      ?.split('\n## ')[0]
      ?.match(/^\| `.*$/gm) ?? [];
  const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1]));
  assert.deepEqual(named.sort(), [...DATA_TYPES].sort());
});
