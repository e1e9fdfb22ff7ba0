import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withoutCorrelation } from '../../../test/harness/small-configuration.ts';
import {
  queryOf,
  type Searcher,
  type SearchFixture,
  startSearchFixture,
} from '../../../test/harness/search-fixture.ts';

/**
 * Somebody tries to find a hidden value by asking: for each letter of it, in each way that a question can be put, which of two
 * questions is answered otherwise. An attacker who does better than guessing must see a difference somewhere; so none may be seen.
 */
describe('an attacker who asks for hidden values', () => {
  let world: SearchFixture;
  // Letters that stand in no text which the attacker may read: likeness of letters in titles is no secret.
  const SECRET = 'mxqvzjkwg';
  const NOWHERE = 'fdilurybf';
  before(async () => {
    world = await startSearchFixture();
    // What the attacker may read is the same in all; what they may not read is the secret, in one of two records.
    for (const hush of [SECRET, 'blank']) {
      const values = { title: 'Spot case', kind: 'shut', region: 'south', score: 4, secret: `${hush} word`, hush };
      const id = await world.make(values);
      await world.ok('chief', 'POST', `/objects/${id}/comments`, { body: `about ${hush}`, visibility: 'internal' });
    }
    for (let index = 0; index < 5; index++)
      await world.make({ title: `Note case ${index}`, kind: 'open', region: 'north' });
  });
  after(async () => {
    await world.close();
  });

  const ask = async (who: Searcher, query: Record<string, unknown>): Promise<string> => {
    const answer = await world.call(who, 'GET', `/search?${queryOf(query)}`);
    return withoutCorrelation(answer);
  };
  /** Parts of the secret, beside parts that are as long and stand nowhere: its beginning letter by letter, and pieces of it. */
  function* guesses(): Generator<[string, string]> {
    for (let length = 1; length <= SECRET.length; length++) {
      for (const start of length < 4 ? [0, 4] : [0]) {
        yield [SECRET.slice(start, start + length), NOWHERE.slice(start, start + length)];
      }
    }
  }
  const leaf = (field: string, operator: string, value: unknown): object => ({ field, operator, value });
  const OPERATORS = ['equals', 'not-equals', 'contains', 'starts-with'] as const;

  it('sees no difference by any operator, negation or nesting', async () => {
    let asked = 0;
    for (const [right, wrong] of guesses()) {
      for (const field of ['secret', 'hush'] as const) {
        const forms = OPERATORS.map(
          (operator) =>
            (value: string): object =>
              leaf(field, operator, value),
        );
        forms.push(
          (value) => leaf(field, 'in', [value, 'none']),
          (value) => ({ logic: 'OR', conditions: [leaf(field, 'not-equals', value), leaf('score', 'equals', 4)] }),
          (value) => ({
            logic: 'AND',
            conditions: [
              leaf('title', 'contains', 'case'),
              { logic: 'OR', conditions: [leaf(field, 'contains', value), leaf('kind', 'equals', 'shut')] },
            ],
          }),
        );
        for (const form of forms) {
          asked++;
          // The very words of a refusal may tell of the question, never of the value.
          const [a, b] = [await ask('agent', { filter: form(right) }), await ask('agent', { filter: form(wrong) })];
          assert.equal(a, b, JSON.stringify(form(right)));
        }
      }
    }
    assert.ok(asked > 150);
    const empty = [true, false].map((value) => ask('agent', { filter: leaf('secret', 'is-empty', value) }));
    const counts = (await Promise.all(empty)).map((text) =>
      JSON.parse(text).body.data.results.map((hit: any) => hit.title),
    );
    assert.ok(
      counts.flat().every((title) => title.startsWith('Note')),
      'only where the field may be read',
    );
  });

  it('sees no difference by words, beginnings, slips, kinds, totals, facets and order', async () => {
    const likes = (word: string): string[] => [
      word,
      `${word} case`,
      `case ${word}`,
      `${word}x`,
      word.slice(0, -1) || 'q',
    ];
    for (const [right, wrong] of guesses()) {
      if (right.length < 2) continue;
      for (const [index, q] of likes(right).entries()) {
        for (const kinds of ['object', 'comment', 'object,comment']) {
          const [a, b] = [await ask('agent', { q, kinds }), await ask('agent', { q: likes(wrong)[index], kinds })];
          if ([...q].filter((letter) => /\w/.test(letter)).length < 2) continue;
          assert.equal(a, b, `${q} in ${kinds}`);
        }
      }
    }
    // That there is something to be found is seen by whoever may see it.
    const seen = JSON.parse(await ask('chief', { q: SECRET, kinds: 'object,comment' })).body.data;
    assert.deepEqual([seen.total, seen.facets.secret.length], [2, 1]);
    assert.equal(JSON.parse(await ask('chief', { q: 'mxqvzjkwx' })).body.data.total, 1);
  });
});
