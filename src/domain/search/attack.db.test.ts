import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { withoutCorrelation } from '../../../test/support/small-configuration.ts';
import {
  queryOf,
  type Searcher,
  type SearchFixture,
  startSearchFixture,
} from '../../../test/support/search-fixture.ts';

/**
 * Property test of search leaks: for each part of a hidden value and each kind of question, the right guess and a wrong one
 * must get the same answer.
 */
describe('an attacker who searches for hidden values', () => {
  let world: SearchFixture;
  /** Answers from the index in memory. */
  let second: TestApp;
  // Letters that occur in no text that the attacker may read; similarity to letters of readable titles is no secret.
  const SECRET = 'mxqvzjkwg';
  const NOWHERE = 'fdilurybf';
  before(async () => {
    world = await startSearchFixture();
    second = await startTestApp({ on: world.app, searchMemory: 100_000_000 });
    while (second.app.searchMemory?.state.state !== 'ready') await sleep(20);
    // The readable part of the two records is equal; only one of them contains the secret in a hidden field.
    for (const hush of [SECRET, 'blank']) {
      const values = { title: 'Spot case', kind: 'shut', region: 'south', score: 4, secret: `${hush} word`, hush };
      const id = await world.make(values);
      await world.ok('chief', 'POST', `/objects/${id}/comments`, { body: `about ${hush}`, visibility: 'internal' });
    }
    for (let index = 0; index < 5; index++)
      await world.make({ title: `Note case ${index}`, kind: 'open', region: 'north' });
  });
  after(async () => {
    assert.ok((second.app.searchMemory?.answers.index ?? 0) > 100);
    await second.close();
    await world.close();
  });

  const ask = async (who: Searcher, query: Record<string, unknown>): Promise<string> => {
    const path = `/search?${queryOf(query)}`;
    const [one, two] = await Promise.all([
      world.call(who, 'GET', path),
      second.request('GET', `/api/v1${path}`, { key: world.keys[who] }),
    ]);
    assert.equal(withoutCorrelation(two), withoutCorrelation(one));
    return withoutCorrelation(one);
  };
  /** Parts of the secret, each with a wrong guess of the same length: its prefixes and substrings. */
  function* guesses(): Generator<[string, string]> {
    for (let length = 1; length <= SECRET.length; length++) {
      for (const start of length < 4 ? [0, 4] : [0]) {
        yield [SECRET.slice(start, start + length), NOWHERE.slice(start, start + length)];
      }
    }
  }
  const leaf = (field: string, operator: string, value: unknown): object => ({ field, operator, value });
  const OPERATORS = ['equals', 'not-equals', 'contains', 'starts-with'] as const;

  it('gets equal answers for any operator, negation or nesting', async () => {
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
          // The text of an error may depend on the question, but never on the value.
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

  it('gets equal answers for words, prefixes, typos, kinds, totals, facets and order', async () => {
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
    // A user who may read the secret finds it.
    const seen = JSON.parse(await ask('chief', { q: SECRET, kinds: 'object,comment' })).body.data;
    assert.deepEqual([seen.total, seen.facets.secret.length], [2, 1]);
    assert.equal(JSON.parse(await ask('chief', { q: 'mxqvzjkwx' })).body.data.total, 1);
  });
});
