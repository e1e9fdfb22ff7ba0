/** The index in memory against the statements, on the same records, rights, filters and questions. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import {
  SEARCHERS,
  type Searcher,
  type SearchFixture,
  startSearchFixture,
} from '../../../../test/harness/search-fixture.ts';
import { isFault } from '../../../lib/fault.ts';
import { searchParts } from '../../../modules.ts';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import { systemClock } from '../../../platform/clock.ts';
import { Authenticator } from '../../access/index.ts';
import { filterableTypes } from '../filterable.ts';
import { readFilter, type TypedFilter, typeFilter } from '../filter.ts';
import { profileView } from '../index-profile.ts';
import { matchOf } from '../matches.ts';
import { scopeOf } from '../memory-scope.ts';
import { needAll, needAny, needExactNumbers, needNumbers } from '../needs.ts';
import { rankPlan } from '../ranking.ts';
import { accessFilterFor } from '../sources.ts';
import { findMatches } from '../store-match.ts';
import { filterPredicate } from '../store-filter.ts';
import { columnNames, databaseSource } from '../store-memory.ts';
import { rankOf, sampleTerms } from '../store-score.ts';
import { allOf, anyOf, numbered } from '../store-text-predicate.ts';
import { numbersOf, termQuery, termsOf } from '../terms.ts';
import { MemoryFollower } from './follower.ts';
import { MemorySearch } from './search.ts';

const WORDS = 'printer print printing paper paperless broken принтер принтера tck000003 5'.split(' ');
const CODES = ['kind', 'region', 'score', 'price', 'day', 'tags', 'secret', 'hush', 'title'];
const MOST_BYTES = 1e9;
const QUESTIONS = 500;

const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
const optional = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined });
const values = fc.record({
  title: text,
  body: optional(text),
  secret: optional(text),
  hush: optional(text),
  kind: fc.constantFrom('open', 'shut'),
  region: optional(fc.constantFrom('north', 'south')),
  score: optional(fc.nat(4)),
  tags: optional(fc.uniqueArray(fc.constantFrom('paper', 'red', 'blue'), { minLength: 1, maxLength: 3 })),
});

const leaf = fc.constantFrom(
  { field: 'kind', operator: 'equals', value: 'open' },
  { field: 'region', operator: 'is-empty', value: true },
  { field: 'score', operator: 'range', value: [1, 3] },
  { field: 'tags', operator: 'in', value: ['red', 'blue'] },
  { field: 'secret', operator: 'contains', value: 'print' },
  { field: 'secret', operator: 'not-equals', value: 'paper' },
  { field: 'workflowCategory', operator: 'equals', value: 'open' },
  { field: 'typeCode', operator: 'equals', value: 'ticket' },
);
const filter = fc.oneof(
  leaf,
  fc.record({ logic: fc.constantFrom('AND', 'OR'), conditions: fc.array(leaf, { minLength: 1, maxLength: 3 }) }),
);
const question = fc.record({
  who: fc.constantFrom(...SEARCHERS.filter((name) => name !== 'stranger')),
  q: fc
    .array(fc.constantFrom(...WORDS, 'pri', 'pa', 'б', 'TCK00'), { minLength: 1, maxLength: 3 })
    .map((words) => words.join(' ')),
  kind: fc.constantFrom('all' as const, 'any' as const, 'numbers' as const, 'exact' as const),
  filter: fc.option(filter),
  limit: fc.integer({ min: 1, max: 30 }),
  offset: fc.constantFrom(0, 0, 3),
  loosely: fc.boolean(),
});

type Question = typeof question extends fc.Arbitrary<infer T> ? T : never;

describe('The index in memory and the statements', () => {
  let world: SearchFixture;
  let authenticator: Authenticator;
  const ids: string[] = [];
  const parts = searchParts();
  let follower: MemoryFollower;
  const search = (): MemorySearch => new MemorySearch(follower.index, columnNames(CODES));
  before(async () => {
    world = await startSearchFixture();
    authenticator = new Authenticator({ db: world.app.db, versions: world.app.app.versions, clock: systemClock });
    for (const given of fc.sample(values, 60)) ids.push(await world.make(given));
    await world.make({ name: 'printer paper', score: '5' }, 'asset');
    follower = new MemoryFollower(databaseSource(world.app.db, CODES), { bytes: MOST_BYTES });
    while (await follower.loadStep());
  });
  after(() => world.close());

  const as = async <T>(who: Searcher, run: (ctx: ReadContext) => Promise<T>): Promise<T> => {
    const { work, system } = world.app.app;
    const { id } = await world.ok(who, 'GET', '/me');
    const actor = (await authenticator.actorOf(id)) ?? assert.fail();
    return await work.read({ ...system(), actor }, run);
  };

  /** Both answers to one question: ids and ranks. */
  const both = async (ctx: ReadContext, given: Question): Promise<[unknown, unknown] | null> => {
    const { q, kind, limit, offset, loosely } = given;
    const accessFilter = (await accessFilterFor(ctx, parts)) ?? assert.fail();
    let filters: TypedFilter[] | null = null;
    try {
      const asked = JSON.stringify(given.filter);
      if (given.filter !== null) filters = typeFilter(readFilter(asked), filterableTypes(ctx), 'query.filter');
    } catch (error) {
      // The caller may not read a field of the filter.
      assert.ok(isFault(error) && error.code === 'INVALID_FILTER');
      return null;
    }
    const scope = scopeOf(ctx, accessFilter, { state: 'ACTIVE', workflowStateIds: null, filters });
    const predicate = filters === null ? null : filterPredicate(ctx, filters);
    if (filters !== null && predicate === null) {
      assert.equal(scope, null, 'neither can match');
      return null;
    }
    assert.ok(scope !== null && search().canAnswer(scope));
    const terms = termsOf(parts.analysis, q);
    const queries = terms.map((term) => termQuery(term, accessFilter, loosely));
    const numbers = numbersOf(parts.analysis, q, ctx.config.get(profileView).prefixes);
    if ((kind === 'numbers' || kind === 'exact') && numbers === null) return null;
    const [words, need] =
      kind === 'numbers' && numbers !== null
        ? [numbered(numbers, accessFilter), needNumbers(numbers, accessFilter)]
        : kind === 'exact' && numbers !== null
          ? [{ query: numbers.exact, exact: null }, needExactNumbers(numbers)]
          : kind === 'all'
            ? [allOf(queries, accessFilter), needAll(queries)]
            : [anyOf(queries, accessFilter), needAny(queries)];
    const base = { state: 'ACTIVE' as const, workflowStateIds: null, filter: predicate, order: 'updated_at' as const };
    const match = await matchOf({ ctx, statistics: parts.statistics, accessFilter, base }, words, 0);
    const plan = rankPlan(
      terms.map(({ count, last, required }) => ({ share: 0.01, count, last, required })),
      'all',
    );
    const ranked = match.words === null ? null : { ...match.words, rank: rankOf(queries, plan, accessFilter) };
    const right = await findMatches(ctx, { ...match, words: ranked }, limit, offset);
    const found = search().find(scope, need, { limit, offset, except: new Set() });
    const ranks = search().ranks(scope, found, { words: queries, ...plan });
    const mine = found.map(({ segment, doc }, at) => ({
      id: segment.id(doc),
      rank: ranks[at],
      size: segment.parts.sizes[doc],
    }));
    const holding = queries.map((query) => needAny([query]));
    return [
      { found: mine, sample: search().sample(scope, holding, 20) },
      {
        found: right.map(({ id, rank, size }) => ({ id, rank, size })),
        sample: await sampleTerms(ctx, accessFilter, queries, 20),
      },
    ];
  };

  test('give equal matches, orders, ranks and word frequencies, while records change', async () => {
    const changes = fc.sample(values, QUESTIONS);
    for (const [at, given] of fc.sample(question, QUESTIONS).entries()) {
      if (at % 5 === 0) {
        const id = ids[(at * 7) % ids.length] as string;
        const { revision } = await world.ok('chief', 'GET', `/objects/${id}`);
        await world.ok('chief', 'PATCH', `/objects/${id}`, { expectedRevision: revision, changes: changes[at] });
      }
      assert.ok(await follower.catchUp(), 'the index is ready');
      follower.index.mergeStep();
      const answers = await as(given.who, (ctx) => both(ctx, given));
      if (answers !== null) assert.deepEqual(answers[0], answers[1], JSON.stringify(given));
    }
  });

  test('find a change of another transaction that commits late, and forget archived records', async () => {
    const at = (id: string): boolean =>
      follower.index.segments.some(({ segment, deleted }) => {
        const doc = segment.find(Buffer.from(id.replaceAll('-', ''), 'hex'));
        return doc >= 0 && !deleted.has(doc);
      });
    let late = '';
    await world.app.db.transaction('BEGIN', async (tx) => {
      // This transaction has an id, and commits after the two that follow.
      await tx.query({ text: 'SELECT pg_current_xact_id()', values: [] });
      late = await world.make({ title: 'between' });
      assert.ok(await follower.catchUp());
      await tx.query({
        text: `UPDATE search_records SET words = words || '''late'':1A' WHERE id = $1`,
        values: [late],
      });
      await tx.query({
        text: `INSERT INTO journal (id, at, type, object_id, via, hash) SELECT gen_random_uuid(), now(), 'ObjectUpdated', $1, 'api', ''`,
        values: [late],
      });
    });
    assert.ok(await follower.catchUp());
    const words = follower.index.segments.flatMap(({ segment }) => segment.parts.dictionary.range('late', false));
    assert.ok(
      words.some((from, index) => index % 2 === 0 && from < (words[index + 1] as number)),
      'the late change is seen',
    );
    const { revision } = await world.ok('chief', 'GET', `/objects/${late}`);
    await world.ok('chief', 'DELETE', `/objects/${late}`, { expectedRevision: revision });
    assert.ok(at(late));
    await follower.catchUp();
    assert.ok(!at(late));
  });
});
