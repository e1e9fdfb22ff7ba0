import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Found, mapRow, type MappingItem, parseMapping, valueAt } from './mapping.ts';
import { problemAt } from './problem.ts';
import type { Lookup } from './transforms.ts';

const item = (source: string, target: string, transform: string[] = [], precedence = 100): MappingItem => ({
  source,
  target,
  transform,
  precedence,
});

const NOTHING: Found = () => 'none';

function mapped(items: MappingItem[], row: Record<string, unknown>, found = NOTHING) {
  return mapRow(parseMapping(items), (source) => valueAt(row, source), found);
}

/** The result of the transforms, or the code of the problem. */
function made(value: unknown, ...transform: string[]): unknown {
  const { values, problems } = mapped([item('x', 't', transform)], { x: value });
  return problems[0]?.code ?? values['t'];
}

describe('transforms', () => {
  const cases: [transform: string, value: unknown, expected: unknown][] = [
    ['trim', '  a b ', 'a b'],
    ['trim', 5, '5'],
    ['trim', '   ', null],
    ['lower', 'ЁЖ-Ab', 'ёж-ab'],
    ['upper', 'ёж-Ab', 'ЁЖ-AB'],
    ['upper', { a: 1 }, 'WRONG_TYPE'],
    ['integer', ' -12 ', -12],
    ['integer', '+7', 7],
    ['integer', 7, 7],
    ['integer', '7.0', 'NOT_AN_INTEGER'],
    ['integer', '1e3', 'NOT_AN_INTEGER'],
    ['integer', ' ', null],
    ['decimal', '1,5', '1.5'],
    ['decimal', '-0,125', '-0.125'],
    ['decimal', '1 234 567,80', '1234567.8'],
    ['decimal', '1\u00A0234.5', '1234.5'],
    ['decimal', '1,234', 'NOT_A_DECIMAL'],
    ['decimal', '1.234', '1.234'],
    ['decimal', '1,234,567', 'NOT_A_DECIMAL'],
    ['decimal', 2.5, '2.5'],
    ['decimal', '.5', 'NOT_A_DECIMAL'],
    ['boolean', 'Да', true],
    ['boolean', 'no', false],
    ['boolean', '1', true],
    ['boolean', 0, false],
    ['boolean', true, true],
    ['boolean', 'maybe', 'NOT_A_BOOLEAN'],
    ['date:DD.MM.YYYY', '21.11.2026', '2026-11-21'],
    ['date:D/M/YY', '1/2/26', '2026-02-01'],
    ['date:D/M/YY', '1/2/71', '1971-02-01'],
    ['date:YYYYMMDD', '20260229', 'NOT_A_DATE'],
    ['date:YYYYMMDD', '20240229', '2024-02-29'],
    ['date:MMM D, YYYY', 'Nov 21, 2026', '2026-11-21'],
    ['date:D MMMM YYYY', '21  November 2026', '2026-11-21'],
    ['date:YYYY-MM-DD', '2026-11-21T10:00', 'NOT_A_DATE'],
    ['date:DD.MM.YYYY HH:mm', '21.11.2026 10:15', '2026-11-21'],
    ['datetime:YYYY-MM-DD HH:mm', '2026-11-21 10:15', '2026-11-21T10:15:00.000Z'],
    ['datetime:YYYY-MM-DD HH:mm@Europe/Moscow', '2026-11-21 10:15', '2026-11-21T07:15:00.000Z'],
    ['datetime:D/M/YYYY H:mm@America/New_York', '9/7/2026 4:05', '2026-07-09T08:05:00.000Z'],
    ['datetime:MM/DD/YYYY hh:mm A', '11/21/2026 12:30 am', '2026-11-21T00:30:00.000Z'],
    ['datetime:MM/DD/YYYY hh:mm A', '11/21/2026 01:30 PM', '2026-11-21T13:30:00.000Z'],
    ['datetime:MM/DD/YYYY hh:mm A', '11/21/2026 13:30 PM', 'NOT_A_DATETIME'],
    ['datetime:YYYY-MM-DD[T]HH:mm:ss.SSSZ@Europe/Moscow', '2026-11-21T10:15:00.5+0530', '2026-11-21T04:45:00.500Z'],
    ['datetime:YYYY-MM-DDTHH:mm:ssZ', '2026-11-21T10:15:00Z', '2026-11-21T10:15:00.000Z'],
    ['datetime:YYYY-MM-DD', '2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['datetime:YYYY-MM-DD HH:mm', '2026-11-21 24:15', 'NOT_A_DATETIME'],
    // A local time that a clock change skips or repeats.
    ['datetime:YYYY-MM-DD HH:mm@Europe/Berlin', '2026-03-29 02:30', '2026-03-29T01:30:00.000Z'],
    ['datetime:YYYY-MM-DD HH:mm@Europe/Berlin', '2026-10-25 02:30', '2026-10-25T00:30:00.000Z'],
    ['split:;', 'a; b;;c', ['a', 'b', 'c']],
    ['split:, ', 'a, b', ['a', 'b']],
    ['split:;', ' ; ', null],
    ['map:{"1":"p1","":"p3","yes":null,"n":{"a":1}}', '1', 'p1'],
    ['map:{"1":"p1"}', 1, 'p1'],
    ['map:{"":"p3"}', '', 'p3'],
    ['map:{"yes":null}', 'yes', null],
    ['map:{"n":{"a":1}}', 'n', { a: 1 }],
    ['map:{"1":"p1"}', '2', '2'],
    ['map:{"1":"p1"}', 'toString', 'toString'],
    ['map:{"__proto__":"p1"}', '__proto__', 'p1'],
    ['default:x', '', 'x'],
    ['default:x', null, 'x'],
    ['default:x', [], 'x'],
    ['default:x', 'y', 'y'],
    ['default:x', 0, 0],
  ];
  for (const [transform, value, expected] of cases) {
    it(`${transform} of ${JSON.stringify(value)}`, () => assert.deepEqual(made(value, transform), expected));
  }

  it('are applied in order, to each element of a list', () => {
    assert.deepEqual(made(' 1;2 ', 'trim', 'split:;', 'integer'), [1, 2]);
    assert.deepEqual(made('a, B', 'split:,', 'upper', 'map:{"B":"b"}'), ['A', 'b']);
    assert.equal(made('  ', 'trim', 'default:x'), 'x');
    assert.deepEqual(made(['1', 'x'], 'integer'), 'NOT_AN_INTEGER');
  });

  it('report target and column of an unusable value, not the value', () => {
    const { values, problems } = mapped([item('Col "A"', 't', ['integer']), item('b', 'u')], {
      'Col "A"': 'hush',
      b: 1,
    });
    assert.deepEqual(values, { u: 1 });
    assert.deepEqual(problems, [problemAt('/values/t', 'SOURCE_NOT_INTEGER', { source: 'Col "A"' })]);
  });
});

describe('precedence', () => {
  const items = [item('c', 't', [], 300), item('a', 't', ['trim'], 1), item('b', 't', [], 2)];

  it('uses the non-empty source with the lowest number', () => {
    assert.deepEqual(mapped(items, { a: 'A', b: 'B', c: 'C' }).values, { t: 'A' });
    assert.deepEqual(mapped(items, { a: '', b: 'B', c: 'C' }).values, { t: 'B' });
    assert.deepEqual(mapped(items, { a: '  ', b: null, c: 'C' }).values, { t: 'C' });
    assert.deepEqual(mapped(items, { c: 0 }).values, { t: 0 });
  });

  it('keeps the order of the mapping among equals', () => {
    assert.deepEqual(mapped([item('b', 't'), item('a', 't')], { a: 'A', b: 'B' }).values, { t: 'B' });
  });

  it('yields null if all sources are empty, and nothing if they are absent', () => {
    assert.deepEqual(mapped(items, { b: '' }).values, { t: null });
    assert.deepEqual(mapped(items, { d: 'D' }).values, {});
  });

  it('uses a default last', () => {
    const defaulted = [item('a', 't', ['default:x'], 1), item('b', 't', [], 2)];
    assert.deepEqual(mapped(defaulted, { a: '', b: 'B' }).values, { t: 'B' });
    assert.deepEqual(mapped(defaulted, { a: '', b: '' }).values, { t: 'x' });
    assert.deepEqual(mapped(defaulted, {}).values, { t: 'x' });
  });
});

describe('look-ups', () => {
  const items = [
    item('who', 'assignee', ['user:login']),
    item('assets', 'assets', ['split:;', 'lookup:asset.serial']),
    item('title', 'title'),
  ];

  it('declare what they look up, then use the result', () => {
    const row = { who: ' bob ', assets: 'A1; A2', title: 'x' };
    const first = mapped(items, row, () => undefined);
    assert.deepEqual(first.wanted, [
      { kind: 'user', type: '', field: 'login', text: 'bob' },
      { kind: 'object', type: 'asset', field: 'serial', text: 'A1' },
      { kind: 'object', type: 'asset', field: 'serial', text: 'A2' },
    ] satisfies Lookup[]);
    const second = mapped(items, row, ({ text }) => ({ id: `id of ${text}` }));
    assert.deepEqual(second.wanted, []);
    assert.deepEqual(second.values, { assignee: 'id of bob', assets: ['id of A1', 'id of A2'], title: 'x' });
  });

  it('fail if nothing or more than one match is found', () => {
    const { problems, values } = mapped(items, { who: 'x', assets: 'y', title: 't' }, ({ kind }) =>
      kind === 'user' ? 'none' : 'many',
    );
    assert.deepEqual(
      problems.map(({ path, code }) => [path, code]),
      [
        ['/values/assignee', 'LOOKUP_NOT_FOUND'],
        ['/values/assets', 'LOOKUP_AMBIGUOUS'],
      ],
    );
    assert.deepEqual(values, { title: 't' });
  });

  it('skip empty values', () => {
    const { wanted, values } = mapped(items, { who: '', assets: ' ', title: 't' }, () => undefined);
    assert.deepEqual([wanted, values], [[], { assignee: null, assets: null, title: 't' }]);
  });
});

it('a source is the property of that name, or else a dotted path of own properties', () => {
  const body = { 'a.b': 1, a: { b: 2, list: [{ name: 'x' }] }, constructor: undefined };
  assert.equal(valueAt(body, 'a.b'), 1);
  assert.deepEqual(valueAt(body, 'a'), body.a);
  assert.equal(valueAt(body, 'a.list.0.name'), 'x');
  for (const path of [
    'a.list.-1',
    'a.list.length',
    'a.constructor',
    '__proto__',
    'toString',
    'a.b.c',
    '',
    'a.list.00',
  ]) {
    assert.equal(valueAt(body, path), undefined, path);
  }
});
