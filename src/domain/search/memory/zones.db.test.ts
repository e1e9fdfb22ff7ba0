import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type pg from 'pg';
import { openTestbed, type Testbed } from '../../../../test/support/filter-sql-testbed.ts';
import { anyOperand, type Operand } from '../indexing/lexemes.ts';
import { buildSegment } from './segment.ts';
import { emptySums, rankedWord, SegmentRanks } from './word-ranks.ts';

const LEXEMES = ['a', 'ab', 'abc', 'b', 'при', 'принтер', '\u0001secret\u0001a', '😀', '\ue000'];
const ID = '00000000-0000-7000-8000-000000000001';
const WEIGHTS = [
  [0.5, 0.5, 0.5, 1],
  [0, 0, 0, 1],
  [1, 1, 1, 0],
  [0.1, 0.3, 0.7, 0.9],
] as const;

const lexemes = fc
  .dictionary(fc.constantFrom(...LEXEMES), fc.stringMatching(/^[ABCD]{1,14}$/), { minKeys: 1, maxKeys: 8 })
  .map((of) => new Map(Object.entries(of)));
const operands = fc.uniqueArray(fc.record({ lexeme: fc.constantFrom(...LEXEMES, 'p', 'п'), prefix: fc.boolean() }), {
  selector: ({ lexeme }) => lexeme,
  minLength: 1,
  maxLength: 4,
});

function vectorOf(words: ReadonlyMap<string, string>): string {
  const places = (zones: string): string => [...zones].map((zone, at) => `${at + 1}${zone}`).join(',');
  return [...words].map(([lexeme, zones]) => `'${lexeme}':${places(zones)}`).join(' ');
}

/** The rank with which the index in memory counts these operands. */
function rankInMemory(
  words: ReadonlyMap<string, string>,
  of: readonly Operand[],
  weights: (typeof WEIGHTS)[number],
): number {
  const segment = buildSegment([
    { id: ID, updatedAt: 1, profileId: 1, versions: [1, 1], size: 1, lexemes: words, values: new Map() },
  ]);
  const free = { exact: { operands: of, count: 1 }, like: { operands: [], count: 0 }, matched: of };
  const one = new SegmentRanks(segment, [0], [], emptySums());
  return one.ranks(rankedWord({ kind: 'word', free, classes: [] }), weights)[0] as number;
}

describe('Ranks of the index in memory', () => {
  let testbed: Testbed;
  let client: pg.Client;
  before(async () => {
    testbed = await openTestbed();
    client = testbed.client;
  });
  after(() => testbed.close());

  test('are those of ts_rank, to the last digit', async () => {
    const cases = fc.sample(fc.tuple(lexemes, operands, fc.constantFrom(...WEIGHTS)), 2000);
    const { rows } = await client.query<{ rank: number; held: boolean }>(
      `SELECT ts_rank(w::real[], v::tsvector, q::tsquery)::float8 AS rank, v::tsvector @@ q::tsquery AS held
      FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS c (w, v, q, place) ORDER BY place`,
      [
        cases.map(([, , weights]) => `{${weights.join()}}`),
        cases.map(([words]) => vectorOf(words)),
        cases.map(([, of]) => anyOperand(of)),
      ],
    );
    for (const [at, [words, of, weights]] of cases.entries()) {
      const { rank, held } = rows[at] as { rank: number; held: boolean };
      const mine = rankInMemory(words, of, weights);
      assert.equal(mine, rank, `${vectorOf(words)} by ${anyOperand(of)} with ${weights.join()}`);
      if (!held) assert.equal(mine, 0);
    }
  });
});
