import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DataType } from './data-types/index.ts';
import { evaluate, parseCondition, type RecordFacts, resolverOf, type SystemFacts, type Variables } from './filter.ts';
import { fold } from './text.ts';

const id = (n: number): string => `0000000${n}-0000-7000-8000-000000000000`;

const VARIABLES: Variables = {
  me: id(1),
  groups: [id(2), id(3)],
  orgUnit: id(4),
  orgUnits: [id(4), id(5)],
  now: '2026-03-31T10:00:00.000Z',
  today: '2026-03-31',
};

const SYSTEM: SystemFacts = {
  id: id(9),
  number: 'INC0000042',
  title: 'Ёлка',
  typeId: id(8),
  typeCode: 'incident',
  state: 'ACTIVE',
  workflowState: 'new',
  workflowCategory: 'open',
  revision: 3,
  createdAt: '2026-03-30T10:00:00.000Z',
  createdBy: id(1),
  updatedAt: '2026-03-31T10:00:00.000Z',
  updatedBy: null,
};

interface Given {
  dataType?: DataType;
  multiple?: boolean;
  value?: unknown;
  folded?: unknown;
  variables?: Partial<Variables>;
  visible?: boolean;
  mismatched?: boolean;
}

/** Evaluates `{field: 'f', operator, value}` on a record with the given field `f`; without `value`, the field is empty. */
function holds(given: Given, operator: string, value?: unknown): boolean {
  const { dataType = 'string', multiple = false } = given;
  const condition = parseCondition(
    { field: 'f', operator, ...(value === undefined ? {} : { value }) },
    { resolve: resolverOf([{ code: 'f', kind: 'value', dataType, multiple }]), variables: 'allowed' },
  );
  const copy =
    given.folded ?? (Array.isArray(given.value) ? given.value.map(String).map(fold) : fold(String(given.value)));
  const record: RecordFacts = {
    values: given.value === undefined ? {} : { f: given.value },
    folded: given.value === undefined ? {} : { f: copy },
    system: SYSTEM,
    mismatched: () => given.mismatched === true,
  };
  return evaluate(condition, record, { ...VARIABLES, ...given.variables }, () => given.visible !== false);
}

/** Evaluates a condition on system fields. */
function system(condition: unknown, facts: Partial<SystemFacts> = {}): boolean {
  const typed = parseCondition(condition, { resolve: resolverOf([]), variables: 'allowed' });
  return evaluate(typed, { values: {}, folded: {}, system: { ...SYSTEM, ...facts } }, VARIABLES);
}

const EVERY: [string, unknown, DataType][] = [
  ['equals', 'x', 'string'],
  ['not-equals', 'x', 'string'],
  ['in', ['x'], 'string'],
  ['contains', 'x', 'string'],
  ['starts-with', 'x', 'string'],
  ['before', 5, 'integer'],
  ['after', 5, 'integer'],
  ['range', [1, 5], 'integer'],
  ['is-empty', true, 'string'],
  ['is-empty', false, 'string'],
];

describe('empty, hidden and mismatched values', () => {
  test('an empty value satisfies is-empty and not-equals only', () => {
    for (const multiple of [false, true]) {
      for (const [operator, value, dataType] of EVERY) {
        const expected = operator === 'not-equals' || (operator === 'is-empty' && value === true);
        assert.equal(holds({ dataType, multiple }, operator, value), expected, operator);
      }
      assert.equal(holds({ multiple }, 'is-empty'), true);
    }
  });

  test('no condition holds on a hidden field or on one of another shape', () => {
    for (const [operator, value, dataType] of EVERY) {
      for (const stored of [undefined, 'y']) {
        assert.equal(holds({ dataType, value: stored, visible: false }, operator, value), false, operator);
        assert.equal(holds({ dataType, value: stored, mismatched: true }, operator, value), false, operator);
      }
    }
  });

  test('system fields are hidden in the same way and have no other shape', () => {
    const typed = parseCondition(
      { field: 'title', operator: 'not-equals', value: 'x' },
      { resolve: resolverOf([]), variables: 'refused' },
    );
    const record = { values: {}, folded: {}, system: SYSTEM, mismatched: () => true };
    assert.equal(evaluate(typed, record, VARIABLES), true);
    assert.equal(
      evaluate(typed, record, VARIABLES, (code) => code !== 'title'),
      false,
    );
  });

  test('a code that is a property of every object has no value', () => {
    const resolve = resolverOf([{ code: 'constructor', kind: 'value', dataType: 'json', multiple: false }]);
    const typed = parseCondition({ field: 'constructor', operator: 'is-empty' }, { resolve, variables: 'refused' });
    assert.equal(evaluate(typed, { values: {}, folded: {}, system: SYSTEM }, VARIABLES), true);
  });
});

describe('operators', () => {
  test('equals, not-equals and in compare exactly, after NFC', () => {
    assert.equal(holds({ value: 'Ёлка' }, 'equals', 'Е\u0308лка'), true);
    assert.equal(holds({ value: 'Ёлка' }, 'equals', 'ёлка'), false);
    assert.equal(holds({ value: 'Ёлка' }, 'not-equals', 'ёлка'), true);
    assert.equal(holds({ value: 'Ёлка' }, 'not-equals', 'Ёлка'), false);
    assert.equal(holds({ value: 'Ёлка' }, 'in', ['x', 'Ёлка']), true);
  });

  test('contains and starts-with ignore case and ё, and have no wildcards', () => {
    assert.equal(holds({ value: 'На ЁЛКЕ 100%' }, 'contains', 'елке'), true);
    assert.equal(holds({ value: 'На ЁЛКЕ 100%' }, 'contains', '0%'), true);
    assert.equal(holds({ value: 'На ЁЛКЕ 100%' }, 'contains', '%е'), false);
    assert.equal(holds({ value: 'На ЁЛКЕ' }, 'starts-with', 'НА Е'), true);
    assert.equal(holds({ value: 'На ЁЛКЕ' }, 'starts-with', '_а'), false);
    assert.equal(holds({ value: 'Straße' }, 'contains', 'SS'), true);
    assert.equal(
      holds({ dataType: 'rich-text', value: { type: 'doc' }, folded: 'привет мир' }, 'contains', 'МИР'),
      true,
    );
  });

  test('before and after are strict, range includes both bounds', () => {
    const value = 5;
    assert.equal(holds({ dataType: 'integer', value }, 'before', 5), false);
    assert.equal(holds({ dataType: 'integer', value }, 'after', 5), false);
    assert.equal(holds({ dataType: 'integer', value }, 'before', 6), true);
    assert.equal(holds({ dataType: 'integer', value }, 'range', [5, 5]), true);
    assert.equal(holds({ dataType: 'integer', value }, 'range', [6, 4]), false);
  });

  test('decimals compare as exact numbers', () => {
    assert.equal(holds({ dataType: 'decimal', value: '10' }, 'after', '9'), true);
    assert.equal(holds({ dataType: 'decimal', value: '-10' }, 'before', '-9.99'), true);
    assert.equal(holds({ dataType: 'decimal', value: '9007199254740993' }, 'after', '9007199254740992'), true);
    assert.equal(holds({ dataType: 'decimal', value: '12.5' }, 'equals', '012.50'), true);
    assert.equal(holds({ dataType: 'decimal', value: '12.5' }, 'equals', 12.5), true);
  });

  test('dates and instants compare chronologically', () => {
    const value = '2026-03-31T10:00:00.000Z';
    assert.equal(holds({ dataType: 'datetime', value }, 'equals', '2026-03-31T13:00:00+03:00'), true);
    assert.equal(holds({ dataType: 'datetime', value }, 'before', '2026-03-31T12:00:00+01:00'), true);
    assert.equal(holds({ dataType: 'date', value: '0999-12-31' }, 'before', '2026-01-01'), true);
    assert.equal(holds({ dataType: 'time', value: '09:15:00.500' }, 'before', '09:15:01'), true);
  });

  test('one matching element suffices on a multiple field, and not-equals negates equals', () => {
    const many = { multiple: true, value: ['Первый', 'Второй'] };
    assert.equal(holds(many, 'equals', 'Второй'), true);
    assert.equal(holds(many, 'not-equals', 'Второй'), false);
    assert.equal(holds(many, 'not-equals', 'Третий'), true);
    assert.equal(holds(many, 'contains', 'ТОР'), true);
    assert.equal(holds(many, 'starts-with', 'вто'), true);
    assert.equal(holds(many, 'in', ['x', 'Первый']), true);
    const numbers: Given = { dataType: 'integer', multiple: true, value: [1, 9] };
    assert.equal(holds(numbers, 'after', 8), true);
    assert.equal(holds(numbers, 'range', [2, 8]), false);
  });

  test('groups', () => {
    const yes = { field: 'state', operator: 'equals', value: 'ACTIVE' };
    const no = { field: 'state', operator: 'equals', value: 'ARCHIVED' };
    assert.equal(system({ logic: 'AND', conditions: [yes, no] }), false);
    assert.equal(system({ logic: 'OR', conditions: [no, yes] }), true);
    assert.equal(system({ logic: 'AND', conditions: [yes, { logic: 'OR', conditions: [no, yes] }] }), true);
  });
});

test('system fields', () => {
  const cases: [string, string, unknown][] = [
    ['id', 'equals', id(9)],
    ['number', 'starts-with', 'inc00'],
    ['title', 'contains', 'ЕЛК'],
    ['typeId', 'in', [id(8)]],
    ['typeCode', 'equals', 'incident'],
    ['state', 'not-equals', 'ARCHIVED'],
    ['workflowState', 'in', ['new', 'closed']],
    ['workflowCategory', 'equals', 'open'],
    ['revision', 'range', [3, 4]],
    ['createdAt', 'before', '$now'],
    ['createdBy', 'equals', '$me'],
    ['updatedAt', 'equals', '$now'],
    ['updatedBy', 'is-empty', true],
  ];
  for (const [field, operator, value] of cases) assert.equal(system({ field, operator, value }), true, field);
  assert.equal(system({ field: 'workflowState', operator: 'equals', value: 'new' }, { workflowState: null }), false);
  assert.equal(system({ field: 'number', operator: 'not-equals', value: 'x' }, { number: null }), true);
});

describe('variables', () => {
  const user: Given = { dataType: 'user', value: id(1) };
  const unit: Given = { dataType: 'org-unit', value: id(4) };

  test('refer to the acting user', () => {
    assert.equal(holds(user, 'equals', '$me'), true);
    assert.equal(holds({ ...user, variables: { me: id(2) } }, 'equals', '$me'), false);
    assert.equal(holds(user, 'in', [id(7), '$me']), true);
    assert.equal(holds({ dataType: 'group', value: id(3) }, 'in', '$myGroups'), true);
    assert.equal(holds({ dataType: 'group', value: id(4) }, 'in', '$myGroups'), false);
    assert.equal(holds({ dataType: 'group', multiple: true, value: [id(7), id(2)] }, 'in', '$myGroups'), true);
    assert.equal(holds({ dataType: 'org-unit', value: id(5) }, 'in', '$myOrgUnits'), true);
  });

  test('without a value make their condition false', () => {
    const none = { variables: { orgUnit: null, orgUnits: [], groups: [] } };
    assert.equal(holds(unit, 'equals', '$myOrgUnit'), true);
    for (const given of [
      { ...unit, ...none },
      { dataType: 'org-unit' as const, ...none },
    ]) {
      assert.equal(holds(given, 'equals', '$myOrgUnit'), false);
      assert.equal(holds(given, 'not-equals', '$myOrgUnit'), false);
      assert.equal(holds(given, 'in', '$myOrgUnits'), false);
    }
    assert.equal(holds({ ...unit, ...none }, 'in', ['$myOrgUnit', id(4)]), true);
  });

  test('of time use the UTC calendar', () => {
    const at = (value: string): Given => ({ dataType: 'datetime', value });
    assert.equal(holds(at('2026-03-24T10:00:00.000Z'), 'equals', '$now-P7D'), true);
    assert.equal(holds(at('2026-03-31T14:00:00.000Z'), 'equals', '$now+PT4H'), true);
    assert.equal(holds(at('2026-02-28T10:00:00.000Z'), 'equals', '$now-P1M'), true);
    assert.equal(holds(at('2026-03-31T09:59:59.999Z'), 'equals', '$now-PT0.001S'), true);
    assert.equal(holds({ dataType: 'date', value: '2026-04-30' }, 'equals', '$today+P1M'), true);
    assert.equal(holds({ dataType: 'date', value: '3026-03-31' }, 'equals', '$today+P1000Y'), true);
  });
});
