import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { watchAnswers } from '../../../test/support/response-check.ts';
import { type Searcher, type SearchFixture, startSearchFixture } from '../../../test/support/search-fixture.ts';

describe('search by filters', () => {
  let world: SearchFixture;
  let problems: string[];
  let ids: Record<string, string>;
  before(async () => {
    world = await startSearchFixture();
    problems = watchAnswers(world.app);
    ids = {
      a: await world.make({
        title: 'Alpha',
        kind: 'open',
        region: 'north',
        score: 1,
        price: '1.50',
        day: '2026-01-01',
        tags: ['x', 'y'],
        secret: 's1',
        hush: 'h1',
      }),
      b: await world.make({ title: 'Beta', kind: 'shut', region: 'north', score: 5, day: '2026-02-01', secret: 's2' }),
      c: await world.make({
        title: 'Gamma',
        kind: 'open',
        region: 'south',
        score: 9,
        price: '10',
        tags: ['y'],
        hush: 'h2',
      }),
      d: await world.make({ name: 'Alphabet', score: '5' }, 'asset'),
    };
  });
  after(async () => {
    await world.close();
    assert.deepEqual(problems, []);
  });

  const found = async (who: Searcher, filter: unknown, q?: string): Promise<string> => {
    const { status, body } = await world.search(who, { filter, ...(q === undefined ? {} : { q }) });
    assert.equal(status, 200, JSON.stringify(body));
    const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
    assert.equal(body.data.total, body.data.results.length);
    return body.data.results.map((result: { id: string }) => names.get(result.id)).join('');
  };

  it('accepts every operator, last updated first', async () => {
    const cases: [unknown, string][] = [
      [{ field: 'title', operator: 'equals', value: 'Beta' }, 'b'],
      [{ field: 'title', operator: 'not-equals', value: 'Beta' }, 'dca'],
      [{ field: 'title', operator: 'contains', value: 'PHA' }, 'da'],
      [{ field: 'title', operator: 'starts-with', value: 'alph' }, 'da'],
      [{ field: 'kind', operator: 'in', value: ['open', 'shut'] }, 'cba'],
      [{ field: 'price', operator: 'is-empty' }, 'b'],
      [{ field: 'price', operator: 'is-empty', value: false }, 'ca'],
      [{ field: 'day', operator: 'before', value: '2026-02-01' }, 'a'],
      [{ field: 'day', operator: 'after', value: '2026-01-01' }, 'b'],
      [{ field: 'price', operator: 'range', value: ['1.5', '9.99'] }, 'a'],
      [{ field: 'tags', operator: 'equals', value: 'y' }, 'ca'],
      [{ field: 'tags', operator: 'not-equals', value: 'x' }, 'cb'],
      [{ field: 'typeCode', operator: 'equals', value: 'asset' }, 'd'],
      [{ field: 'workflowState', operator: 'equals', value: 'new' }, 'cba'],
      [{ field: 'workflowCategory', operator: 'not-equals', value: 'open' }, 'd'],
      [{ field: 'number', operator: 'starts-with', value: 'tck' }, 'cba'],
      [{ field: 'state', operator: 'equals', value: 'ARCHIVED' }, ''],
      [{ field: 'revision', operator: 'range', value: [1, 1] }, 'dcba'],
      [{ field: 'createdAt', operator: 'before', value: '2026-01-01T00:00:00Z' }, ''],
      [
        {
          logic: 'OR',
          conditions: [
            { field: 'title', operator: 'equals', value: 'Beta' },
            { field: 'score', operator: 'equals', value: 9 },
          ],
        },
        'cb',
      ],
      [
        {
          logic: 'AND',
          conditions: [
            { field: 'region', operator: 'equals', value: 'north' },
            {
              logic: 'OR',
              conditions: [
                { field: 'kind', operator: 'equals', value: 'shut' },
                { field: 'tags', operator: 'contains', value: 'X' },
              ],
            },
          ],
        },
        'ba',
      ],
    ];
    for (const [filter, expected] of cases)
      assert.equal(await found('chief', filter), expected, JSON.stringify(filter));
  });

  it('combines a filter and words', async () => {
    assert.equal(await found('chief', { field: 'kind', operator: 'equals', value: 'open' }, 'alpha'), 'a');
    assert.equal(await found('chief', { field: 'kind', operator: 'equals', value: 'shut' }, 'alpha'), '');
  });

  it('evaluates each type by its own field if fields with one code have different shapes', async () => {
    assert.equal(await found('chief', { field: 'score', operator: 'equals', value: 5 }), 'b');
    assert.equal(await found('chief', { field: 'score', operator: 'equals', value: '5' }), 'd');
    assert.equal(await found('chief', { field: 'score', operator: 'is-empty', value: false }), 'dcba');
    assert.equal(await found('chief', { field: 'score', operator: 'after', value: 4 }), 'cb');
  });

  it('makes conditions on a hidden field false where it is hidden', async () => {
    for (const operator of ['is-empty', 'not-equals'] as const) {
      const filter = { field: 'secret', operator, value: operator === 'is-empty' ? true : 'none' };
      // Readable only on open records: of these, `a` has a value and `c` has none.
      assert.equal(await found('agent', filter), operator === 'is-empty' ? 'c' : 'ca');
    }
    assert.equal(await found('agent', { field: 'secret', operator: 'starts-with', value: 's' }), 'a');
    assert.equal(await found('north', { field: 'title', operator: 'not-equals', value: '' }), 'ba');
  });

  it('gives the same error for hidden, unknown and unfilterable fields', async () => {
    const words = async (field: string): Promise<unknown> => {
      const filter = {
        logic: 'AND',
        conditions: [
          { field: 'title', operator: 'contains', value: 'a' },
          { field, operator: 'equals', value: 'x' },
        ],
      };
      const { status, body } = await world.search('agent', { filter });
      return { status, error: body.error };
    };
    const unknown = await words('nowhere');
    assert.deepEqual(unknown, {
      status: 400,
      error: {
        code: 'INVALID_FILTER',
        message: 'The filter is invalid. Correct each problem in details.',
        details: [
          {
            path: 'query.filter/conditions/1/field',
            code: 'UNKNOWN_FIELD',
            message: (unknown as any).error.details[0].message,
          },
        ],
      },
    });
    for (const field of ['hush', 'plain', 'body', 'constructor', '__proto__', 'x y'])
      assert.deepEqual(await words(field), unknown, field);
  });

  it('rejects invalid filters with the path of each problem', async () => {
    const refused = async (filter: unknown, path: string): Promise<void> => {
      const { status, body } = await world.search('chief', { filter });
      assert.equal(status, 400, JSON.stringify(filter));
      assert.equal(body.error.code, 'INVALID_FILTER');
      assert.equal(body.error.details[0].path, path, JSON.stringify(body.error));
    };
    const leaf = { field: 'title', operator: 'equals', value: 'x' };
    let deep: unknown = leaf;
    for (let level = 0; level < 6; level++) deep = { logic: 'AND', conditions: [deep] };
    await refused('{', 'query.filter');
    await refused('[]', 'query.filter');
    await refused('null', 'query.filter');
    await refused('{"field":"title","field":"kind"}', 'query.filter');
    await refused('{"__proto__":{"field":"title"}}', 'query.filter');
    await refused({ logic: 'AND', conditions: [] }, 'query.filter/conditions');
    await refused({ logic: 'XOR', conditions: [leaf] }, 'query.filter/logic');
    await refused({ logic: 'AND', conditions: Array.from({ length: 21 }, () => leaf) }, 'query.filter/conditions');
    await refused(deep, 'query.filter/conditions/0/conditions/0/conditions/0/conditions/0/conditions/0');
    await refused({ ...leaf, operator: 'like' }, 'query.filter/operator');
    await refused({ ...leaf, operator: 'before' }, 'query.filter/operator');
    await refused({ ...leaf, value: 5 }, 'query.filter/value');
    await refused({ ...leaf, extra: 1 }, 'query.filter/extra');
    await refused({ field: 'kind', operator: 'equals', value: 'none' }, 'query.filter/value');
    await refused({ field: 'kind', operator: 'in', value: [] }, 'query.filter/value');
    await refused({ field: 'day', operator: 'range', value: ['2026-01-01'] }, 'query.filter/value');
    await refused({ field: 'updatedBy', operator: 'equals', value: '$me' }, 'query.filter/value');
    for (const kinds of ['comment', 'object,comment', 'user']) {
      const { status, body } = await world.search('chief', { filter: leaf, kinds });
      assert.equal(status, 400);
      assert.deepEqual([body.error.code, body.error.details[0].path], ['INVALID_REQUEST', 'query.filter']);
    }
  });

  it('counts facets over the readable hits of the page', async () => {
    const facets = async (who: Searcher): Promise<any> =>
      (await world.search(who, { filter: { field: 'region', operator: 'equals', value: 'north' } })).body.data.facets;
    assert.deepEqual(await facets('chief'), {
      kind: [{ value: 'object', count: 2 }],
      typeCode: [{ value: 'ticket', count: 2 }],
      state: [{ value: 'ACTIVE', count: 2 }],
      workflowState: [{ value: 'new', count: 2 }],
      region: [{ value: 'north', count: 2 }],
      secret: [
        { value: 's1', count: 1 },
        { value: 's2', count: 1 },
      ],
      hush: [{ value: 'h1', count: 1 }],
      tags: [
        { value: 'x', count: 1 },
        { value: 'y', count: 1 },
      ],
    });
    assert.deepEqual((await facets('agent')).secret, [{ value: 's1', count: 1 }]);
    assert.deepEqual(Object.keys(await facets('north')).sort(), [
      'kind',
      'region',
      'state',
      'tags',
      'typeCode',
      'workflowState',
    ]);
  });
});
