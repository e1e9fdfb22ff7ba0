import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DATA_TYPES, type DataType } from './data-types/index.ts';
import { Fault, type FaultDetail } from './fault.ts';
import {
  type FilterField,
  fieldsOf,
  OPERATORS,
  operatorFits,
  parseCondition,
  resolverOf,
  SYSTEM_FIELDS,
  type TypedCondition,
  variablesOf,
} from './filter.ts';
import { problemAt } from './problem.ts';

const USER = '0190a0b0-0000-7000-8000-00000000000A';

/** One field of each data type, named after it; `many-…` are multiple. */
const FIELDS: FilterField[] = DATA_TYPES.flatMap((dataType) => {
  const field: FilterField = { code: dataType.replaceAll('-', '_'), kind: 'value', dataType, multiple: false };
  if (dataType === 'enum') field.options = new Set(['p1', 'p2', '$p']);
  return [field, { ...field, code: `many_${field.code}`, multiple: true }];
});
const resolve = resolverOf(FIELDS);

function parse(input: unknown, variables: 'allowed' | 'refused' = 'refused', base = ''): TypedCondition {
  return parseCondition(input, { resolve, variables, base });
}

function problems(input: unknown, variables: 'allowed' | 'refused' = 'refused', base = ''): FaultDetail[] {
  try {
    parse(input, variables, base);
  } catch (error) {
    assert.ok(error instanceof Fault && error.code === 'INVALID_FILTER' && Array.isArray(error.details));
    assert.ok(error.details.length > 0);
    return error.details;
  }
  return [];
}

/** `path code` of every problem. */
function said(input: unknown, variables: 'allowed' | 'refused' = 'refused', base = ''): string[] {
  return problems(input, variables, base).map((problem) => `${problem.path} ${problem.code}`);
}

/** The operand of a condition with this value, in typed form. */
function operandOf(field: string, value: unknown, variables: 'allowed' | 'refused' = 'refused'): unknown {
  const typed = parse({ field, operator: 'equals', value }, variables);
  assert.ok('operator' in typed && typed.operator === 'equals');
  return typed.value;
}

const leaf = { field: 'integer', operator: 'equals', value: 1 };
const group = (conditions: unknown, logic: unknown = 'AND'): unknown => ({ logic, conditions });
const nested = (depth: number): unknown => (depth === 0 ? leaf : group([nested(depth - 1)]));

describe('the shape of a condition', () => {
  test('rejects values that are not objects', () => {
    for (const input of [undefined, null, 5, 'x', true, [], [leaf]]) assert.deepEqual(said(input), [' INVALID_TYPE']);
    assert.deepEqual(said(group([leaf, null, 'x'])), ['/conditions/1 INVALID_TYPE', '/conditions/2 INVALID_TYPE']);
  });

  test('rejects missing properties', () => {
    assert.deepEqual(said({}), ['/field REQUIRED', '/operator REQUIRED']);
    assert.deepEqual(said({ field: 'integer', operator: 'equals' }), ['/value REQUIRED']);
    assert.deepEqual(said({ logic: 'AND' }), ['/conditions REQUIRED']);
    assert.deepEqual(said({ conditions: [leaf] }), ['/logic REQUIRED']);
  });

  test('rejects unknown properties, including those of the other shape and of prototypes', () => {
    assert.deepEqual(said({ ...leaf, Value: 1 }), ['/Value UNKNOWN_PROPERTY']);
    assert.deepEqual(said({ ...leaf, 'a/b~c': 1 }), ['/a~1b~0c UNKNOWN_PROPERTY']);
    assert.deepEqual(said({ ...(group([leaf]) as object), field: 'integer' }), ['/field UNKNOWN_PROPERTY']);
    assert.deepEqual(said(JSON.parse(`{"__proto__": 1, "field": "integer", "operator": "is-empty"}`)), [
      '/__proto__ UNKNOWN_PROPERTY',
    ]);
    assert.deepEqual(said(Object.create(leaf)), ['/field REQUIRED', '/operator REQUIRED']);
  });

  test('rejects logic and conditions of the wrong type', () => {
    for (const logic of ['and', 'NOT', 5, null]) assert.deepEqual(said(group([leaf], logic)), ['/logic INVALID_VALUE']);
    for (const list of [{}, 'x', 5, null]) assert.deepEqual(said(group(list)), ['/conditions INVALID_TYPE']);
    assert.deepEqual(said(group([])), ['/conditions EMPTY']);
  });

  test('prefixes paths with the base path', () => {
    assert.deepEqual(said(group([group([{ ...leaf, value: 'x' }])]), 'refused', '/filters/condition'), [
      '/filters/condition/conditions/0/conditions/0/value INVALID_VALUE',
    ]);
    assert.deepEqual(said(null, 'refused', 'query.filter'), ['query.filter INVALID_TYPE']);
  });

  test('reports all problems at once', () => {
    const wrong = group(
      [{ field: 'nope', operator: 'like', value: 1 }, group([]), { ...leaf, value: '1', x: 1 }],
      'XOR',
    );
    assert.deepEqual(said(wrong), [
      '/logic INVALID_VALUE',
      '/conditions/0/field UNKNOWN_FIELD',
      '/conditions/0/operator UNKNOWN_OPERATOR',
      '/conditions/1/conditions EMPTY',
      '/conditions/2/x UNKNOWN_PROPERTY',
      '/conditions/2/value INVALID_VALUE',
    ]);
  });
});

describe('limits', () => {
  test('allows 20 conditions in a group, a nested group counting as one', () => {
    const twenty = Array.from({ length: 19 }, () => leaf);
    assert.deepEqual(said(group([...twenty, group([leaf])])), []);
    assert.deepEqual(said(group([...twenty, leaf, group([leaf])])), ['/conditions TOO_MANY']);
  });

  test('allows 5 levels of groups, a single condition needing none', () => {
    assert.deepEqual(said(nested(0)), []);
    assert.deepEqual(said(nested(5)), []);
    assert.deepEqual(said(nested(6)), [`${'/conditions/0'.repeat(5)} TOO_DEEP`]);
    assert.deepEqual(said(nested(60)), [`${'/conditions/0'.repeat(5)} TOO_DEEP`]);
  });

  test('allows 100 conditions in all', () => {
    const hundred = Array.from({ length: 5 }, () => group(Array.from({ length: 20 }, () => leaf)));
    assert.deepEqual(said(group(hundred)), []);
    assert.deepEqual(said(group([...hundred, leaf, leaf])), ['/conditions/5 TOO_MANY']);
  });

  test('allows 1 to 200 values of in', () => {
    const values = (length: number): unknown => ({
      field: 'integer',
      operator: 'in',
      value: Array.from({ length }, () => 1),
    });
    assert.deepEqual(said(values(200)), []);
    assert.deepEqual(said(values(201)), ['/value TOO_MANY']);
    assert.deepEqual(said(values(0)), ['/value EMPTY']);
  });

  test('caps the number of reported problems', () => {
    const keys = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 1]));
    assert.equal(said(keys).length, 100);
    const twenty = (item: unknown): unknown => group(Array.from({ length: 20 }, () => item));
    assert.equal(said(twenty(twenty(twenty(twenty(group([])))))).length, 100);
  });
});

describe('fields and operators', () => {
  test('an unknown field gets the same message regardless of its name and of other problems', () => {
    const codes = ['secret', '__proto__', 'constructor', 'toString', '', 'a'.repeat(5000), "x'; DROP TABLE objects --"];
    const answers = codes.map((field) => problems({ field, operator: 'before', value: {} }));
    for (const answer of answers) {
      assert.deepEqual(answer, [problemAt('/field', 'CONDITION_FIELD_UNKNOWN')]);
    }
    assert.deepEqual(said({ field: 'secret', operator: 'equals' }), ['/field UNKNOWN_FIELD', '/value REQUIRED']);
    assert.deepEqual(said({ field: 5, operator: 'is-empty' }), ['/field INVALID_TYPE']);
  });

  test('rejects unknown operators', () => {
    for (const operator of ['=', 'EQUALS', 'constructor', '__proto__', 5, null, ['equals']]) {
      assert.deepEqual(said({ field: 'integer', operator, value: 1 }), ['/operator UNKNOWN_OPERATOR']);
    }
  });

  test('allows for each data type the operators of the table', () => {
    const table: Record<string, string> = {
      string: 'equals not-equals in contains starts-with is-empty',
      text: 'equals not-equals in contains starts-with is-empty',
      url: 'equals not-equals in contains starts-with is-empty',
      email: 'equals not-equals in contains starts-with is-empty',
      phone: 'equals not-equals in contains starts-with is-empty',
      'rich-text': 'contains starts-with is-empty',
      integer: 'equals not-equals in before after range is-empty',
      decimal: 'equals not-equals in before after range is-empty',
      date: 'equals not-equals in before after range is-empty',
      datetime: 'equals not-equals in before after range is-empty',
      time: 'equals not-equals in before after range is-empty',
      json: 'is-empty',
    };
    for (const dataType of DATA_TYPES) {
      const fitting = OPERATORS.filter((operator) => operatorFits(operator, dataType)).join(' ');
      assert.equal(fitting, table[dataType] ?? 'equals not-equals in is-empty', dataType);
      for (const operator of OPERATORS.filter((one) => !operatorFits(one, dataType))) {
        for (const field of [dataType.replaceAll('-', '_'), `many_${dataType.replaceAll('-', '_')}`]) {
          assert.deepEqual(said({ field, operator, value: 'x' }), ['/operator OPERATOR_NOT_ALLOWED']);
        }
      }
    }
  });

  test('system fields work, and a field named title takes precedence', () => {
    assert.equal(SYSTEM_FIELDS.size, 13);
    for (const code of SYSTEM_FIELDS.keys()) assert.deepEqual(said({ field: code, operator: 'is-empty' }), []);
    assert.deepEqual(said({ field: 'number', operator: 'contains', value: 'inc' }), []);
    assert.deepEqual(said({ field: 'revision', operator: 'range', value: [1, 2] }), []);
    assert.deepEqual(said({ field: 'state', operator: 'equals', value: 'active' }), ['/value UNKNOWN_OPTION']);
    assert.deepEqual(said({ field: 'workflowCategory', operator: 'equals', value: 'closed' }), [
      '/value UNKNOWN_OPTION',
    ]);
    const own = resolverOf([{ code: 'title', kind: 'value', dataType: 'integer', multiple: false }]);
    assert.equal(own('title')?.kind, 'value');
    assert.equal(resolve('title')?.kind, 'system');
    assert.equal(own('id')?.kind, 'system');
  });
});

describe('values', () => {
  const wrong: Partial<Record<DataType, unknown[]>> = {
    string: [5, true, null, {}, [], ['x'], 'a\u0000', '\ud800', '\u0301'.repeat(65)],
    integer: ['1', 1.5, 2 ** 53, true, null, [1], {}],
    decimal: ['', '1e3', '.5', '5.', '+5', ' 5', '0x1', 'NaN', '1_000', true, null, '9'.repeat(131)],
    boolean: ['true', 0, 1, null],
    date: ['2026-02-30', '2026-2-3', '0000-01-01', '2026-11-21T00:00:00Z', '+002026-11-21', 20261121, null],
    datetime: [
      '2026-11-21',
      '2026-11-21T09:15:00',
      '2026-11-21T25:00:00Z',
      '9999-12-31T23:59:59-01:00',
      'now',
      0,
      null,
    ],
    time: ['24:00', '9:15', '09:60', '09:15:60', '09:15:00Z', 915],
    duration: ['P', 'PT', '1h', 'P1.5D', 'pt1h', 3600],
    enum: ['p9', 'P1', 'name', 1, ''],
    user: ['petrova', 'x', `${USER}0`, 5, null],
  };

  test('of the wrong type are rejected at every position', () => {
    for (const [dataType, values] of Object.entries(wrong)) {
      const code = dataType === 'enum' ? /INVALID_VALUE|UNKNOWN_OPTION/ : /INVALID_VALUE/;
      for (const value of values) {
        for (const field of [dataType, `many_${dataType}`]) {
          const first = said({ field, operator: 'equals', value });
          assert.equal(first.length, 1, `${dataType} ${JSON.stringify(value)}`);
          assert.match(first[0] ?? '', code);
          assert.match(said({ field, operator: 'in', value: [value] })[0] ?? '', /^\/value\/0 /);
        }
      }
    }
  });

  test('are stored in canonical form', () => {
    const forms: [string, unknown, unknown][] = [
      ['string', 'е\u0308', 'ё'],
      ['string', '$me', '$me'],
      ['integer', -0, 0],
      ['decimal', '-007.500', '-7.5'],
      ['decimal', '-0.0', '0'],
      ['decimal', 1e-7, '0.0000001'],
      ['datetime', '2026-11-21T12:15:00.1239+03:00', '2026-11-21T09:15:00.123Z'],
      ['time', '09:15', '09:15:00'],
      ['duration', 'PT60M', 'PT1H'],
      ['user', USER, USER.toLowerCase()],
      ['id', USER, USER.toLowerCase()],
      ['many_integer', 1, 1],
    ];
    for (const [field, value, literal] of forms) assert.deepEqual(operandOf(field, value), { literal });
  });

  test('of contains and starts-with are folded text', () => {
    for (const operator of ['contains', 'starts-with']) {
      for (const field of ['string', 'rich_text', 'many_url', 'number', 'title']) {
        const typed = parse({ field, operator, value: field === 'number' ? 'INC' : 'ЁЖ' });
        assert.deepEqual(
          { ...typed, field: null },
          { field: null, operator, value: field === 'number' ? 'inc' : 'еж' },
        );
        assert.deepEqual(said({ field, operator, value: 5 }), ['/value INVALID_VALUE']);
        assert.deepEqual(said({ field, operator, value: ['x'] }), ['/value INVALID_VALUE']);
        assert.deepEqual(said({ field, operator, value: '\u0000' }), ['/value INVALID_VALUE']);
      }
    }
  });

  test('of in, range and is-empty have their own shape', () => {
    assert.deepEqual(said({ field: 'integer', operator: 'in', value: 1 }), ['/value INVALID_VALUE']);
    assert.deepEqual(said({ field: 'integer', operator: 'in', value: [1, '2', null] }), [
      '/value/1 INVALID_VALUE',
      '/value/2 INVALID_VALUE',
    ]);
    for (const value of [1, [], [1], [1, 2, 3], { 0: 1, 1: 2, length: 2 }]) {
      assert.deepEqual(said({ field: 'integer', operator: 'range', value }), ['/value INVALID_VALUE']);
    }
    assert.deepEqual(said({ field: 'integer', operator: 'range', value: ['1', null] }), [
      '/value/0 INVALID_VALUE',
      '/value/1 INVALID_VALUE',
    ]);
    assert.deepEqual(said({ field: 'integer', operator: 'range', value: [2, 1] }), []);
    for (const value of ['true', 1, null, []]) {
      assert.deepEqual(said({ field: 'json', operator: 'is-empty', value }), ['/value INVALID_VALUE']);
    }
    for (const [input, value] of [
      [{}, true],
      [{ value: true }, true],
      [{ value: false }, false],
    ] as const) {
      const typed = parse({ field: 'json', operator: 'is-empty', ...input });
      assert.ok('operator' in typed && typed.operator === 'is-empty' && typed.value === value);
    }
  });
});

describe('variables', () => {
  test('remain symbolic', () => {
    assert.deepEqual(operandOf('user', '$me', 'allowed'), { variable: 'me' });
    assert.deepEqual(operandOf('createdBy', '$me', 'allowed'), { variable: 'me' });
    assert.deepEqual(operandOf('org_unit', '$myOrgUnit', 'allowed'), { variable: 'myOrgUnit' });
    assert.deepEqual(operandOf('date', '$today', 'allowed'), { variable: 'today' });
    assert.deepEqual(operandOf('date', '$today-P1W', 'allowed'), { variable: 'today', shift: '-P7D' });
    assert.deepEqual(operandOf('datetime', '$now-P7D', 'allowed'), { variable: 'now', shift: '-P7D' });
    assert.deepEqual(operandOf('updatedAt', '$now+PT4H', 'allowed'), { variable: 'now', shift: 'PT4H' });
    for (const value of ['$myGroups', ['$myGroups', USER]]) {
      assert.deepEqual(said({ field: 'group', operator: 'in', value }, 'allowed'), []);
    }
    assert.deepEqual(said({ field: 'many_org_unit', operator: 'in', value: '$myOrgUnits' }, 'allowed'), []);
    assert.deepEqual(said({ field: 'datetime', operator: 'range', value: ['$now-P7D', '$now'] }, 'allowed'), []);
  });

  test('must be known', () => {
    const unknown = ['$', '$x', '$ME', '$me ', '$me+P1D', '$now+', '$now+x', '$now+-P1D', '$now P1D', '$today+PT1H'];
    for (const value of [...unknown, '$now+P1001Y', '$now+PT999999999H', '$constructor', '$myGroups-P1D']) {
      const field = value.startsWith('$today') ? 'date' : 'datetime';
      assert.deepEqual(said({ field, operator: 'equals', value }, 'allowed'), ['/value UNKNOWN_VARIABLE'], value);
    }
  });

  test('must fit the field and the operator', () => {
    for (const [field, operator, value] of [
      ['group', 'equals', '$me'],
      ['id', 'equals', '$me'],
      ['string', 'equals', '$me'],
      ['string', 'contains', '$now'],
      ['date', 'before', '$now'],
      ['datetime', 'before', '$today'],
      ['group', 'equals', '$myGroups'],
      ['org_unit', 'not-equals', '$myOrgUnits'],
      ['user', 'in', '$myGroups'],
    ]) {
      assert.deepEqual(
        said({ field, operator, value }, 'allowed'),
        ['/value VARIABLE_NOT_ALLOWED'],
        `${field} ${value}`,
      );
    }
    assert.deepEqual(said({ field: 'user', operator: 'in', value: '$me' }, 'allowed'), ['/value INVALID_VALUE']);
    assert.deepEqual(said({ field: 'user', operator: 'in', value: ['$me', '$now'] }, 'allowed'), [
      '/value/1 VARIABLE_NOT_ALLOWED',
    ]);
  });

  test('a doubled dollar sign escapes one', () => {
    assert.deepEqual(operandOf('string', '$$me', 'allowed'), { literal: '$me' });
    assert.deepEqual(operandOf('string', '$$', 'allowed'), { literal: '$' });
    assert.deepEqual(operandOf('string', '$$$', 'allowed'), { literal: '$$' });
    assert.deepEqual(operandOf('string', 'a$$', 'allowed'), { literal: 'a$$' });
    assert.deepEqual(operandOf('enum', '$$p', 'allowed'), { literal: '$p' });
  });

  test('are plain text in inbound calls', () => {
    assert.deepEqual(operandOf('string', '$me'), { literal: '$me' });
    assert.deepEqual(operandOf('string', '$$me'), { literal: '$$me' });
    assert.deepEqual(said({ field: 'user', operator: 'equals', value: '$me' }), ['/value INVALID_VALUE']);
    assert.deepEqual(said({ field: 'group', operator: 'in', value: '$myGroups' }), ['/value INVALID_VALUE']);
  });
});

test('lists the fields and variables of a condition', () => {
  const condition = parse(
    group([
      { field: 'title', operator: 'contains', value: '$$me' },
      group(
        [
          { field: 'user', operator: 'equals', value: '$me' },
          { field: 'user', operator: 'is-empty' },
        ],
        'OR',
      ),
      { field: 'group', operator: 'in', value: [USER, '$myGroups'] },
      { field: 'createdAt', operator: 'range', value: ['$now-P7D', '2026-11-21T00:00:00Z'] },
    ]),
    'allowed',
  );
  assert.deepEqual(
    fieldsOf(condition).map((field) => `${field.kind} ${field.code}`),
    ['system title', 'value user', 'value group', 'system createdAt'],
  );
  assert.deepEqual([...variablesOf(condition)], ['me', 'myGroups', 'now']);
  assert.deepEqual(JSON.parse(JSON.stringify(condition)), condition);
});
