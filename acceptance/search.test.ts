/** Search, over HTTP only. Rules by number: `COVERAGE.md`. */
import assert from 'node:assert/strict';
import { after, describe } from 'node:test';
import { type Answer, before, it, problemsOf, Fixture } from './service.ts';

let fixture: Fixture;
let helper: string;

function accepted(answer: Answer, status = 200): any {
  assert.equal(answer.status, status, answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
  return answer.body.data;
}

function refused(answer: Answer, code: string, places: string[]): void {
  assert.equal(answer.status, 400, answer.text.slice(0, 400));
  assert.equal(answer.body.error.code, code);
  assert.deepEqual(
    answer.body.error.details.map((detail: { path: string }) => detail.path),
    places,
  );
}

const search = (query: Record<string, string>, key = fixture.key): Promise<Answer> =>
  fixture.api('GET', `/search?${new URLSearchParams(query)}`, { key });
const subjects = async (query: Record<string, string>, key = fixture.key): Promise<string[]> =>
  accepted(await search(query, key)).results.map((result: { title: string | null }) => result.title);
const make = async (subject: string, urgency = 'low', open = true): Promise<string> => {
  const body = { typeDefinitionId: 'ticket', values: { subject, urgency, open } };
  return accepted(await fixture.api('POST', '/objects', { body }), 201).id;
};

describe('search', () => {
  before(async () => {
    fixture = await Fixture.start();
    helper = await fixture.keyOf('helper');
  });
  after(() => fixture?.stop());

  it('finds a new record at once by stems, letters and prefixes (S-now, S-words)', async () => {
    await make('Принтеры на третьем этаже, ещё тёплые');
    for (const q of ['принтер', 'ПРИНТЕРОВ', 'еще теплые', 'прин']) {
      assert.deepEqual(await subjects({ q }), ['Принтеры на третьем этаже, ещё тёплые'], q);
    }
    assert.deepEqual(await subjects({ q: 'сканер' }), []);
  });

  it('pages with totals and facets (S-2, S-3, S-4)', async () => {
    for (let n = 1; n <= 7; n++) await make(`Walrus ${n}`, n > 5 ? 'high' : 'low');
    const first = accepted(await search({ q: 'walrus', pageSize: '3' }));
    assert.deepEqual(
      [first.results.length, first.hasMore, first.total, first.totalExact, first.totalPages],
      [3, true, 7, true, 3],
    );
    const seen = new Set<string>();
    for (const page of ['1', '2', '3']) {
      for (const { id } of accepted(await search({ q: 'walrus', pageSize: '3', page })).results) seen.add(id);
    }
    assert.equal(seen.size, 7);
    assert.equal(first.facets.typeCode[0].count, 3);
  });

  it('reports what it cannot search (S-1, S-6)', async () => {
    refused(await search({ q: 'x' }), 'QUERY_TOO_SHORT', ['query.q']);
    refused(await search({ q: 'walrus', kinds: 'everything' }), 'INVALID_REQUEST', ['query.kinds']);
    const filter = JSON.stringify({ logic: 'AND', conditions: [{ field: 'nothing', operator: 'equals', value: 1 }] });
    const answer = await search({ filter });
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'INVALID_FILTER']);
    assert.match(answer.body.error.details[0].path, /conditions\/0/);
  });

  it('finds, counts and shows only what the caller may read (S-leak)', async () => {
    await make('Pangolin open');
    await make('Pangolin shut', 'low', false);
    assert.equal(accepted(await search({ q: 'pangolin' })).total, 2);
    const theirs = accepted(await search({ q: 'pangolin' }, helper));
    assert.deepEqual([theirs.total, theirs.results.map(({ title }: any) => title)], [1, ['Pangolin open']]);
  });
});
