/** The index in memory against the statements, on the same records, rights, filters and questions. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { startTestApp, type TestApp } from '../../../../test/support/app.ts';
import { bundle } from '../../../../test/support/small-configuration.ts';
import {
  queryOf,
  SEARCH_ROLES,
  SEARCH_TYPES,
  SEARCHERS,
  type Searcher,
  type SearchFixture,
  startSearchFixture,
  STATISTICS,
} from '../../../../test/support/search-fixture.ts';
import { isFault } from '../../../lib/fault.ts';
import { makeSearchParts } from '../index.ts';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import { systemClock } from '../../../platform/clock.ts';
import { Authenticator } from '../../access/index.ts';
import { accessOf } from '../access.ts';
import { areIndexed, filterableTypes, readFilter, ruleOfFilters, type TypedFilter, typeFilter } from '../filter.ts';
import { profileView } from '../indexing/profile.ts';
import { beginRebuild, stepRebuild } from '../indexing/rebuild.ts';
import type { Scope, SearchBackend, Words } from '../query.ts';
import { rankPlan } from '../ranking.ts';
import { Statements } from '../sql/backend.ts';
import { exactNumbers, numbered, numbersOf, termsOf, titleOf, wordOf } from '../terms.ts';
import { type Attempts, IndexInMemory } from './backend.ts';
import { databaseSource, SYSTEM_COLUMN_NAMES } from './store.ts';
import { SegmentFiles } from './files.ts';
import { MemoryFollower } from './follower.ts';
import type { RecordSource } from './record-source.ts';
import { MemoryServer } from './server.ts';
import { duringTransaction } from '../../../../test/support/database.ts';

const WORDS = 'printer print printing paper paperless broken принтер принтера tck000003 5'.split(' ');
const CODES = ['kind', 'region', 'score', 'price', 'day', 'tags', 'secret', 'hush', 'title'];
const MAX_BYTES = 1e9;
const QUESTIONS = 300;
const SEARCHES = 100;
/** Records that each of three writers creates, changes and archives. */
const WRITES = 12;

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
type Shape = number | { kind: 'all' | 'any'; parts: Shape[] };
const leafShape: fc.Arbitrary<Shape> = fc.nat(7);
const groupOf = (part: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> =>
  fc.record({ kind: fc.constantFrom('all' as const, 'any' as const), parts: fc.array(part, { maxLength: 3 }) });
const shapes = fc.oneof(leafShape, groupOf(leafShape), groupOf(fc.oneof(leafShape, groupOf(leafShape))));
const question = fc.record({
  who: fc.constantFrom(...SEARCHERS.filter((name) => name !== 'stranger')),
  q: fc
    .array(fc.constantFrom(...WORDS, 'pri', 'pa', 'б', 'TCK00'), { minLength: 1, maxLength: 3 })
    .map((words) => words.join(' ')),
  /** The tree of the words: its leaves are numbers of words, whole titles and record numbers. */
  shape: shapes,
  filter: fc.option(filter),
  limit: fc.integer({ min: 1, max: 30 }),
  offset: fc.constantFrom(0, 0, 3),
  tier: fc.constantFrom('all' as const, 'any' as const, 'near' as const),
  /** Up to this number of matches, the best ones are not ranked. */
  few: fc.constantFrom(0, 5, 100),
});

type Question = typeof question extends fc.Arbitrary<infer T> ? T : never;

describe('The index in memory and the statements', () => {
  let world: SearchFixture;
  let authenticator: Authenticator;
  const ids: string[] = [];
  const userIds = new Map<string, string>();
  const parts = makeSearchParts();
  let follower: MemoryFollower;
  let server: MemoryServer;
  before(async () => {
    world = await startSearchFixture();
    authenticator = new Authenticator({ db: world.app.db, versions: world.app.app.versions, clock: systemClock });
    const users = await world.app.db.query<{ login: string; id: string }>({
      text: 'SELECT login, id FROM users',
      values: [],
    });
    for (const { login, id } of users) userIds.set(login, id);
    for (const given of fc.sample(values, 60)) ids.push(await world.make(given));
    await world.make({ name: 'printer paper', score: '5' }, 'asset');
    const columns = [...SYSTEM_COLUMN_NAMES, ...CODES];
    follower = new MemoryFollower(databaseSource(world.app.db), { bytes: MAX_BYTES }, columns);
    while (await follower.loadStep());
    server = new MemoryServer(follower);
  });
  after(() => world.close());

  const as = async <T>(who: Searcher, run: (ctx: ReadContext) => Promise<T>): Promise<T> => {
    const { work, system } = world.app.app;
    const actor = (await authenticator.actorOf(userIds.get(who) ?? '')) ?? assert.fail();
    return await work.read({ ...system(), actor }, run);
  };

  let asked = 0;
  /** All answers of both back ends to one question. */
  const both = async (ctx: ReadContext, given: Question): Promise<[unknown, unknown] | null> => {
    const { q, limit, offset, tier, few } = given;
    const access = (await accessOf(ctx, parts.upToDate)) ?? assert.fail();
    let filters: TypedFilter[] | null = null;
    try {
      const text = JSON.stringify(given.filter);
      if (given.filter !== null) filters = typeFilter(readFilter(text), filterableTypes(ctx), 'query.filter');
    } catch (error) {
      // The caller may not read a field of the filter.
      assert.ok(isFault(error) && error.code === 'INVALID_FILTER');
      return null;
    }
    const filter = filters === null ? null : ruleOfFilters(ctx, filters);
    const indexed = areIndexed(ctx, access.rights, filter);
    const among = { state: 'ACTIVE', workflowStateIds: null, filter, order: 'updated_at', indexed } as const;
    const scope: Scope = { ...access, ...among };
    const terms = termsOf(parts.analysis, q);
    const numbers = numbersOf(parts.analysis, q, ctx.config.get(profileView).numberings);
    const leaves: Words[] = [...terms.map((term) => wordOf(term, access, tier)), titleOf(q, access)];
    if (numbers !== null)
      leaves.push(numbered(numbers, access), numbered({ ...exactNumbers(numbers), rest: [] }, access));
    const treeOf = (shape: Shape): Words =>
      typeof shape === 'number'
        ? (leaves[shape % leaves.length] ?? assert.fail())
        : { kind: shape.kind, parts: shape.parts.map(treeOf) };
    const words = treeOf(given.shape);
    const ranked = terms.map((term) => wordOf(term, access, tier));
    const ranking = { words: ranked, ...rankPlan(terms.map((term) => ({ ...term, share: 0.01 }))) };
    const statistics = STATISTICS[asked++ % STATISTICS.length] ?? assert.fail();
    const index = new IndexInMemory({ ask: (question) => server.answer(structuredClone(question)) }, ctx, scope);
    const answersOf = async (by: Attempts<SearchBackend>): Promise<unknown> => {
      const ids = (await by.find(words, { limit, offset, except: [] })) ?? assert.fail('no answer');
      const except = ids.slice(0, 1);
      const most = { counted: 30, ranked: 20, few, ranking, page: { offset, limit } };
      const best = (await by.best({ words, titled: leaves.at(-1) ?? assert.fail(), ...most })) ?? assert.fail();
      const steps = (await by.findInSteps(leaves, limit, except, ranking)) ?? assert.fail();
      const ranks = (await by.ranks(ids, ranking)) ?? assert.fail();
      const loaded = ranked.length === 0 ? [] : ((await by.rerankHits(ids, ranked, true)) ?? assert.fail());
      return {
        ids,
        behind: await by.find(words, { limit, offset, except }),
        // Only the index says how often few matches contain the words.
        best: best.kind === 'few' ? best.ids : best,
        steps: steps.map(({ id }) => id),
        ranks: [...ranks].sort((a, b) => (a.id < b.id ? -1 : 1)),
        loaded: loaded
          .map((hit) => ({ ...hit, titleTf: Array.from(hit.titleTf), restTf: Array.from(hit.restTf) }))
          .sort((a, b) => (a.id < b.id ? -1 : 1)),
        sample: { ...(await by.sample(ranked, 20)), kind: undefined },
      };
    };
    return [await answersOf(index), await answersOf(new Statements(ctx, scope, statistics))];
  };

  test('give equal matches, orders, ranks and word frequencies, while records change', async () => {
    const changes = fc.sample(values, QUESTIONS);
    let compared = 0;
    for (const [at, given] of fc.sample(question, QUESTIONS).entries()) {
      if (at % 5 === 0) {
        const id = ids[(at * 7) % ids.length] as string;
        const { revision } = await world.ok('chief', 'GET', `/objects/${id}`);
        await world.ok('chief', 'PATCH', `/objects/${id}`, { expectedRevision: revision, changes: changes[at] });
      }
      assert.ok(await follower.catchUp(), 'the index is ready');
      follower.index.mergeStep();
      const answers = await as(given.who, (ctx) => both(ctx, given));
      if (answers === null) continue;
      compared++;
      assert.deepEqual(answers[0], answers[1], JSON.stringify(given));
    }
    assert.ok(compared > QUESTIONS / 3, `only ${compared} questions could be compared`);
  });

  test('give equal answers to searches, in two services on one database', async () => {
    const other = await startTestApp({ on: world.app, searchMemory: MAX_BYTES });
    try {
      const memory = other.app.searchMemory ?? assert.fail();
      while (memory.state.state !== 'ready') await sleep(20);
      const asked = fc.sample(question, SEARCHES);
      for (const [at, { who, q, filter: given, limit, offset }] of asked.entries()) {
        if (at % 3 === 0) await world.make(fc.sample(values, 1)[0] ?? {});
        const page = { page: 1 + (offset % 2), pageSize: 1 + (limit % 5) };
        const query = queryOf({
          q: `${q} ${at % 7 === 0 ? 'printre' : ''}`,
          ...page,
          ...(given === null ? {} : { filter: given }),
        });
        const [one, two] = await Promise.all(
          [world.app, other].map((app) => app.request('GET', `/api/v1/search?${query}`, { key: world.keys[who] })),
        );
        assert.deepEqual(two?.body.data, one?.body.data, `${who} ${decodeURIComponent(query)}`);
      }
      const { index, statement } = memory.answers;
      assert.ok(index > SEARCHES && statement < SEARCHES / 10, `${index} answers, ${statement} left to statements`);
    } finally {
      await other.close();
    }
  });

  test('find acknowledged changes with the next request, in every process', async () => {
    const others = await Promise.all([1, 2].map(() => startTestApp({ on: world.app, searchMemory: MAX_BYTES })));
    try {
      for (const { app } of others) while (app.searchMemory?.state.state !== 'ready') await sleep(20);
      const key = world.keys.chief;
      const hits = async (app: TestApp, q: string): Promise<number> =>
        (await app.request('GET', `/api/v1/search?${queryOf({ q })}`, { key })).body.data.total;
      const write = async (writer: number): Promise<void> => {
        for (let at = 0; at < WRITES; at++) {
          const [first, second] = [`w${writer}x${at}a`, `w${writer}x${at}b`];
          const id = await world.make({ title: first });
          assert.deepEqual(await Promise.all(others.map((app) => hits(app, first))), [1, 1]);
          const body = { expectedRevision: 1, changes: { title: second } };
          await others[writer % 2]?.request('PATCH', `/api/v1/objects/${id}`, { key, body });
          const both = others.flatMap((app) => [hits(app, second), hits(app, first)]);
          assert.deepEqual(await Promise.all(both), [1, 0, 1, 0]);
          await world.ok('chief', 'DELETE', `/objects/${id}`, { expectedRevision: 2 });
          assert.deepEqual(await Promise.all(others.map((app) => hits(app, second))), [0, 0]);
        }
      };
      await Promise.all([0, 1, 2].map(write));
      const { index, statement } = others[0]?.app.searchMemory?.answers ?? assert.fail();
      assert.ok(index > 10 * statement, `${index} answers, ${statement} left to statements`);
    } finally {
      await Promise.all(others.map((app) => app.close()));
    }
  });

  test('follow a change of rights in the middle of questions', async () => {
    const other = await startTestApp({ on: world.app, searchMemory: MAX_BYTES });
    try {
      while (other.app.searchMemory?.state.state !== 'ready') await sleep(20);
      await world.make({ title: 'plain', kind: 'open', secret: 'zanzibar' });
      const key = world.keys.agent;
      const seen = { before: [] as number[], after: [] as number[] };
      let course: keyof typeof seen = 'before';
      const filter = { field: 'secret', operator: 'equals', value: 'zanzibar' };
      let isOver = false;
      const ask = async (): Promise<void> => {
        while (!isOver) {
          const began = course;
          const { body } = await other.request('GET', `/api/v1/search?${queryOf({ q: 'zanzibar' })}`, { key });
          seen[began].push(body.data.total);
        }
      };
      const asking = [ask(), ask(), ask()];
      await sleep(100);
      const hidden = SEARCH_ROLES.replace('plain, secret], write: []', 'plain], write: []');
      assert.notEqual(hidden, SEARCH_ROLES);
      await world.app.apply(bundle(SEARCH_TYPES + hidden));
      await other.app.versions.refresh();
      course = 'after';
      await sleep(300);
      isOver = true;
      await Promise.all(asking);
      assert.equal(seen.before[0], 1);
      assert.deepEqual([...new Set(seen.after)], [0]);
      const refused = await other.request('GET', `/api/v1/search?${queryOf({ q: 'plain', filter })}`, { key });
      assert.equal(refused.body.error?.code, 'INVALID_FILTER');
    } finally {
      await other.close();
      await world.app.apply(bundle(SEARCH_TYPES + SEARCH_ROLES));
    }
  });

  test('find a change of another transaction that commits late, and forget archived records', async () => {
    const at = (id: string): boolean =>
      follower.index.segments.some(({ segment, deleted }) => {
        const doc = segment.find(Buffer.from(id.replaceAll('-', ''), 'hex'));
        return doc >= 0 && !deleted.has(doc);
      });
    let late = '';
    await duringTransaction(world.app.db, async (client) => {
      // This transaction has an id, and commits after the two that follow.
      await client.query('SELECT pg_current_xact_id()');
      late = await world.make({ title: 'between' });
      assert.ok(await follower.catchUp());
      await client.query(`UPDATE search_records SET words = words || '''late'':1A' WHERE id = $1`, [late]);
      await client.query(
        `INSERT INTO journal (id, at, type, object_id, via, hash) SELECT gen_random_uuid(), now(), 'ObjectUpdated', $1, 'api', ''`,
        [late],
      );
      await client.query('COMMIT');
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

  test('read a row again that was built again without a change of its record', async () => {
    const { work, system } = world.app.app;
    const [id = ''] = ids;
    const plant = `UPDATE search_records SET words = 'planted:1A' WHERE id = $1`;
    await world.app.db.query({ text: plant, values: [id] });
    const again = new MemoryFollower(databaseSource(world.app.db), { bytes: MAX_BYTES }, SYSTEM_COLUMN_NAMES);
    while (await again.loadStep());
    const isPlanted = (): boolean => {
      const { segment, doc } = again.index.find(id) ?? assert.fail();
      const [from, to] = segment.parts.dictionary.range('planted', false);
      return segment.parts.postings.has(doc, from, to);
    };
    assert.ok(isPlanted());
    await work.write(system(), (ctx) => beginRebuild(ctx));
    for (let isDone = false; !isDone; ) {
      const step = await work.write(system(), (ctx) => stepRebuild(ctx, parts));
      isDone = step.kind !== 'done' || step.data?.finished !== false;
    }
    assert.ok(await again.catchUp());
    assert.ok(!isPlanted());
  });

  test('start from files with what changed since, in any way', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'docket-segments-'));
    let loaded = 0;
    const start = async (): Promise<MemoryFollower> => {
      const source = databaseSource(world.app.db);
      const counting: RecordSource = {
        ...source,
        load: async (...given) => {
          loaded++;
          return await source.load(...given);
        },
      };
      const files = new SegmentFiles(folder, 1);
      const made = new MemoryFollower(counting, { bytes: MAX_BYTES, files }, [...SYSTEM_COLUMN_NAMES, ...CODES]);
      while (await made.loadStep());
      await made.save();
      return made;
    };
    const contents = ({ index }: MemoryFollower): unknown =>
      index.segments
        .flatMap(({ segment, deleted }) =>
          [...segment.parts.sizes].flatMap((size, doc) =>
            deleted.has(doc)
              ? []
              : [{ id: segment.id(doc), size, versions: segment.parts.versions.slice(2 * doc, 2 * doc + 2) }],
          ),
        )
        .sort((a, b) => (a.id < b.id ? -1 : 1));
    try {
      const first = await start();
      const once = loaded;
      assert.deepEqual(contents(await start()), contents(first));
      const [, changed = '', archived = '', written = ''] = ids;
      const revisionOf = async (id: string): Promise<number> =>
        (await world.ok('chief', 'GET', `/objects/${id}`)).revision;
      const change = { expectedRevision: await revisionOf(changed), changes: { title: 'since then' } };
      await world.ok('chief', 'PATCH', `/objects/${changed}`, change);
      await world.ok('chief', 'DELETE', `/objects/${archived}`, { expectedRevision: await revisionOf(archived) });
      await world.app.db.query({ text: 'UPDATE search_records SET size = size + 1 WHERE id = $1', values: [written] });
      await world.make({ title: 'new since then' });
      const restored = await start();
      assert.equal(loaded, once, 'nothing was loaded as a whole again');
      await rm(folder, { recursive: true, force: true });
      assert.deepEqual(contents(restored), contents(await start()));
      assert.equal(loaded, 2 * once);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
