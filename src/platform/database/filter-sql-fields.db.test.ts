import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import sql, { raw } from 'sql-template-tag';
import { DATA_TYPES, type DataType } from '../../lib/data-types/index.ts';
import { type Operator, operatorFits, parseCondition, resolverOf } from '../../lib/filter.ts';
import { fold } from '../../lib/text.ts';
import { compileCondition, type FieldIndex, fieldIndex } from './filter-sql.ts';
import { uuid } from '../../../test/support/filter-sql-edges.ts';
import { ENVIRONMENT, openTestbed, type Testbed } from '../../../test/support/filter-sql-testbed.ts';

const TYPE = uuid(1);

interface Plan {
  'Node Type': string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: Plan[];
}

function nodes(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

/** The operators that an index of this shape must support. */
function served(dataType: DataType, multiple: boolean): Operator[] {
  const operators: readonly Operator[] = multiple
    ? ['equals', 'in']
    : ['equals', 'in', 'before', 'after', 'range', 'starts-with'];
  return operators.filter((operator) => operatorFits(operator, dataType));
}

const SAMPLES = new Map<DataType, unknown>([
  ['enum', 'p1'],
  ['integer', 777],
  ['decimal', '12.5'],
  ['boolean', true],
  ['date', '2026-11-21'],
  ['datetime', '2026-11-21T09:15:00.000Z'],
  ['duration', 'PT1H'],
  ['time', '09:15'],
]);

function sample(dataType: DataType): unknown {
  return (
    SAMPLES.get(dataType) ??
    (['reference', 'user', 'group', 'org-unit', 'service'].includes(dataType) ? uuid(2) : 'Ёлка')
  );
}

describe('indexes of filterable fields', () => {
  let bed: Testbed;
  let client: pg.Client;

  before(async () => {
    bed = await openTestbed();
    client = bed.client;
    // Values of every kind under one code, too long for an index unless truncated: creating the index must not fail.
    const long = JSON.stringify({
      f: Array.from({ length: 40_000 }, (_, n) => String.fromCharCode(0x400 + ((n * 7919) % 200))).join(''),
    });
    await client.query(`
      INSERT INTO objects (place, id, type_id, type_version, revision, state, "values", folded, created_at, updated_at)
      SELECT n, gen_random_uuid(), '${TYPE}', 1, 1, 'ACTIVE', v, v, now(), now() - n * interval '1 minute'
      FROM generate_series(1, 3000) AS n, LATERAL (SELECT CASE n % 6
        WHEN 0 THEN jsonb_build_object('f', n) WHEN 1 THEN jsonb_build_object('f', 'v' || n % 50)
        WHEN 2 THEN jsonb_build_object('f', jsonb_build_array('a' || n, n)) WHEN 3 THEN '{}'
        WHEN 4 THEN jsonb_build_object('f', jsonb_build_object('type', 'doc', 'n', n))
        ELSE jsonb_build_object('f', n::text || '.5') END AS v) AS made`);
    await client.query(
      `INSERT INTO objects (place, id, type_id, type_version, revision, state, "values", folded, created_at, updated_at)
       VALUES (0, gen_random_uuid(), '${TYPE}', 1, 1, 'ACTIVE', $1, $1, now(), now())`,
      [long],
    );
    await client.query('ANALYZE objects; SET enable_seqscan = off');
  });

  after(() => bed?.close());

  for (const dataType of DATA_TYPES) {
    for (const multiple of [false, true]) {
      test(`${dataType}${multiple ? ', multiple' : ''}`, async () => {
        const index = fieldIndex(TYPE, { code: 'f', dataType, multiple });
        const operators = served(dataType, multiple);
        if (index === null) {
          assert.deepEqual(operators, []);
          return;
        }
        await client.query(index.sql);
        try {
          for (const operator of operators) await uses(index, dataType, multiple, operator);
        } finally {
          await client.query(`DROP INDEX ${index.name}`);
        }
      });
    }
  }

  async function uses(index: FieldIndex, dataType: DataType, multiple: boolean, operator: Operator): Promise<void> {
    const one = sample(dataType);
    const condition = parseCondition(
      { field: 'f', operator, value: operator === 'in' || operator === 'range' ? [one, one] : one },
      { resolve: resolverOf([{ code: 'f', kind: 'value', dataType, multiple }]), variables: 'refused' },
    );
    const predicate = compileCondition(condition, ENVIRONMENT);
    const expression =
      /^CREATE INDEX CONCURRENTLY \w+ ON objects (?:USING gin )?\((.*?)(?: jsonb_path_ops|, updated_at DESC, id DESC)\) WHERE/.exec(
        index.sql,
      )?.[1];
    assert.ok(
      expression !== undefined && predicate.text.replaceAll('o.', '').includes(expression),
      'not the same expression',
    );

    const { text, values } = sql`EXPLAIN (FORMAT JSON) SELECT o.id FROM objects o
      WHERE o.type_id = ${raw(`'${TYPE}'`)} AND o.state = 'ACTIVE' AND ${predicate}
      ORDER BY o.updated_at DESC, o.id DESC LIMIT 25`;
    // A page for one value must be read in the order of the index, so other plans are disabled.
    const ordered = operator === 'equals' && !multiple;
    await client.query(`SET enable_bitmapscan = ${!ordered}; SET enable_sort = ${!ordered}`);
    const answer = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({ text, values });
    const plan = nodes(answer.rows[0]?.['QUERY PLAN'][0].Plan as Plan);
    const scan = plan.find((node) => node['Index Name'] === index.name);
    const compared = String(multiple ? one : fold(String(one)));
    assert.ok(
      scan?.['Index Cond']?.toLowerCase().includes(compared.toLowerCase()),
      `${operator}: ${JSON.stringify(plan)}`,
    );
    if (ordered) assert.ok(!plan.some((node) => node['Node Type'].includes('Sort')));
  }

  test('names derive from the type, the field and its shape', () => {
    const name = (type: string, code: string, dataType: DataType, multiple = false): string | undefined =>
      fieldIndex(type, { code, dataType, multiple })?.name;
    const names = [
      name(TYPE, 'f', 'enum'),
      name(TYPE, 'g', 'enum'),
      name(uuid(2), 'f', 'enum'),
      name(TYPE, 'f', 'string'),
      name(TYPE, 'f', 'integer'),
      name(TYPE, 'f', 'enum', true),
      name(TYPE, 'x'.repeat(63), 'enum'),
    ];
    assert.equal(new Set(names).size, names.length);
    for (const one of names) assert.match(one ?? '', /^[a-z_0-9]{1,63}$/);
    assert.equal(name(TYPE, 'f', 'enum'), names[0]);
  });

  test('contain only field codes and ids in their text', () => {
    for (const code of ["f'", 'f"', '', '_f', '1f', 'f-g', 'ф', 'x'.repeat(64), 'f\n', '$title', '__proto__']) {
      assert.throws(() => fieldIndex(TYPE, { code, dataType: 'enum', multiple: false }), code);
    }
    assert.throws(() => fieldIndex("' OR true --", { code: 'f', dataType: 'enum', multiple: false }));
  });
});
