import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type pg from 'pg';
import sql, { join, raw, type Sql } from 'sql-template-tag';
import { DATA_TYPES } from '../../lib/data-types/index.ts';
import {
  evaluate,
  type FieldResolver,
  type FilterField,
  OPERATORS,
  operatorFits,
  parseCondition,
  type RecordFacts,
  resolverOf,
  type TypedCondition,
  type TypedField,
} from '../../lib/filter.ts';
import { anyOfConditions } from '../../lib/filter-merge.ts';
import { type CompileEnvironment, compileCondition } from './filter-sql.ts';
import { differs, type Row, type Scenario, scenario } from '../../../test/support/filter-sql-arbitraries.ts';
import { EDGES, escaped, factsOf, PLAIN, uuid, VARIABLES } from '../../../test/support/filter-sql-edges.ts';
import { COLUMNS, ENVIRONMENT, openTestbed, type Testbed } from '../../../test/support/filter-sql-testbed.ts';

const RUNS = 150;

/** Visibility rules in memory and in SQL; the third is NULL on some rows. */
const VISIBLE: [(facts: RecordFacts) => boolean, Sql | null][] = [
  [() => true, null],
  [(facts) => facts.system.revision % 2 === 0, sql`o.revision % 2 = 0`],
  [(facts) => facts.system.createdBy === uuid(1), sql`o.created_by = ${uuid(1)}::uuid`],
  [() => false, sql`false`],
];

function typed(conditions: readonly unknown[], resolve: FieldResolver): TypedCondition[] {
  return conditions.map((input) => parseCondition(input, { resolve, variables: 'allowed' }));
}

/** `place` keeps the order. No column is unique, so ids may repeat like other values. */
async function store(client: pg.Client, rows: readonly Row[]): Promise<void> {
  const records = rows.map(({ facts: { values, folded, system }, version, stateId }, place) => ({
    place,
    id: system.id,
    type_id: system.typeId,
    type_version: version,
    number: system.number,
    title: system.title,
    revision: system.revision,
    state: system.state,
    workflow_state_id: stateId,
    values,
    folded,
    created_at: system.createdAt,
    created_by: system.createdBy,
    updated_at: system.updatedAt,
    updated_by: system.updatedBy,
  }));
  await client.query('TRUNCATE objects');
  await client.query(`INSERT INTO objects SELECT * FROM jsonb_to_recordset($1) AS r (${COLUMNS})`, [
    JSON.stringify(records),
  ]);
}

/** Evaluates the conditions in SQL: for each row, the result of each condition. */
async function ask(
  client: pg.Client,
  conditions: readonly TypedCondition[],
  environment: CompileEnvironment,
): Promise<unknown[][]> {
  const answers = conditions.map(
    (condition, index) => sql`${compileCondition(condition, environment)} AS ${raw(`c${index}`)}`,
  );
  const { text, values } = sql`SELECT ${join(answers)} FROM objects o ORDER BY o.place`;
  return (await client.query({ text, values, rowMode: 'array' })).rows;
}

describe('conditions in SQL', () => {
  let bed: Testbed;
  let client: pg.Client;

  before(async () => {
    bed = await openTestbed();
    client = bed.client;
  });

  after(() => bed?.close());

  test('match exactly the records that match in memory, and are never NULL', async (t) => {
    const seed = Number(process.env['FC_SEED'] ?? randomInt(2 ** 31));
    t.diagnostic(`seed ${seed} (FC_SEED repeats it)`);
    let cases = 0;
    let held = 0;

    const agree = async (drawn: Scenario): Promise<void> => {
      const conditions = typed(drawn.conditions, resolverOf(drawn.of));
      const rule = (code: string): (typeof VISIBLE)[number] => {
        const place = drawn.of.findIndex((field) => field.code === code);
        return VISIBLE[drawn.visibility[place < 0 ? 7 + (code.length % 13) : place] ?? 0] as (typeof VISIBLE)[number];
      };
      await store(client, drawn.rows);
      // The last one is the merged form of all of them, as for a user with many roles.
      const rows = await ask(client, [...conditions, anyOfConditions(conditions)], {
        ...ENVIRONMENT,
        variables: drawn.variables,
        mismatch: (field: TypedField) =>
          drawn.of.some((one) => one.code === field.code && differs(one)) ? sql`o.type_version = 1` : null,
        whereReadable: (code: string) => rule(code)[1],
      });
      for (const [place, { facts }] of drawn.rows.entries()) {
        for (const [index, condition] of conditions.entries()) {
          const memory = evaluate(condition, facts, drawn.variables, (code) => rule(code)[0](facts));
          cases++;
          if (memory) held++;
          const answer = rows[place]?.[index];
          if (answer === memory) continue;
          assert.fail(JSON.stringify({ memory, sql: answer, condition: drawn.conditions[index], facts, of: drawn.of }));
        }
        const one = conditions.some((condition) =>
          evaluate(condition, facts, drawn.variables, (code) => rule(code)[0](facts)),
        );
        assert.equal(rows[place]?.at(-1), one, JSON.stringify({ merged: drawn.conditions, facts, of: drawn.of }));
      }
    };

    await fc.assert(fc.asyncProperty(scenario, agree), { seed, numRuns: RUNS });
    t.diagnostic(`${cases} cases, ${held} held`);
    assert.ok(cases >= 10_000);
    assert.ok(held > cases / 10 && held < (cases * 9) / 10, 'the cases must not be all alike');
  });

  for (const multiple of [false, true]) {
    test(`agree with the in-memory evaluation on every pair of edge values, ${multiple ? 'in lists' : 'single'}`, async () => {
      for (const [dataType, edges] of EDGES) {
        const field: FilterField = { code: 'f', kind: 'value', dataType, multiple };
        const rows = edges.map((edge): Row => {
          const value = multiple ? [edge] : edge;
          return { facts: factsOf(new Map([['f', { dataType, multiple, value }]]), PLAIN), version: 1, stateId: null };
        });
        const inputs = OPERATORS.filter((operator) => operatorFits(operator, dataType)).flatMap((operator): object[] =>
          operator === 'is-empty'
            ? [{ field: 'f', operator }]
            : (EDGES.get(dataType === 'rich-text' ? 'string' : dataType) ?? []).map((edge, index, all) => ({
                field: 'f',
                operator,
                value:
                  operator === 'in' || operator === 'range'
                    ? [escaped(edge), escaped(all[(index + 1) % all.length])]
                    : escaped(edge),
              })),
        );
        const conditions = typed(inputs, resolverOf([field]));
        await store(client, rows);
        const answers = await ask(client, conditions, ENVIRONMENT);
        for (const [place, { facts }] of rows.entries()) {
          for (const [index, condition] of conditions.entries()) {
            const said = JSON.stringify({ dataType, condition: inputs[index], values: facts.values });
            assert.equal(answers[place]?.[index], evaluate(condition, facts, VARIABLES), said);
          }
        }
      }
    });
  }

  test('raise no error and are never NULL for any stored JSON, even without type versions', async () => {
    const digits = '9'.repeat(140_000);
    const junk = [
      null,
      true,
      5,
      -1.5,
      1e300,
      '',
      'x',
      digits,
      `0.${digits}`,
      '1e5',
      '٣',
      '-',
      'NaN',
      'Infinity',
      '0x10',
    ];
    const lists = [[], [null], [[1]], [{}], {}, { a: 1 }, junk, ['0001-01-01'], 'p1', '2026-11-21', { length: 1 }];
    const rows = [...junk, ...lists].map((value): Row => {
      return {
        facts: { values: { f: value }, folded: { f: value, $title: value }, system: PLAIN },
        version: 1,
        stateId: null,
      };
    });
    const value = new Map<string, unknown>([
      ['integer', 5],
      ['decimal', '12.5'],
      ['boolean', true],
      ['date', '2026-11-21'],
      ['datetime', VARIABLES.now],
      ['time', '09:15'],
      ['duration', 'PT1H'],
      ...['reference', 'user', 'group', 'org-unit', 'service'].map((type): [string, string] => [type, uuid(1)]),
    ]);
    await store(client, rows);
    for (const dataType of DATA_TYPES) {
      for (const multiple of [false, true]) {
        const one = value.get(dataType) ?? 'x';
        const inputs = OPERATORS.filter((operator) => operatorFits(operator, dataType)).map((operator) => {
          const given = operator === 'in' || operator === 'range' ? [one, one] : operator === 'is-empty' ? true : one;
          return { field: 'f', operator, value: given };
        });
        const conditions = typed(inputs, resolverOf([{ code: 'f', kind: 'value', dataType, multiple }]));
        const answers = await ask(client, conditions, ENVIRONMENT);
        assert.ok(
          answers.flat().every((answer) => typeof answer === 'boolean'),
          `${dataType} ${multiple}`,
        );
      }
    }
  });
});
