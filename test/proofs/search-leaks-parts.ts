/**
 * Two databases after the same writes at the same times that differ only in values that a caller may not read. All responses to
 * that caller must be equal byte for byte. On one of them the index in memory answers, on the other the statements do: so this
 * also compares both.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Clock } from '../../src/platform/clock.ts';
import type { TestOptions } from '../support/app.ts';
import { type SearchFixture, type Searcher, queryOf, startSearchFixture } from '../support/search-fixture.ts';

/** Words that occur in visible texts. */
const SHOWN = [
  'printer',
  'printers',
  'принтер',
  'ёлка',
  'network',
  'jquery.ui',
  'RFC-2616',
  '0042',
  'running',
  'ноутбук',
  'café',
  '网络',
  'broken',
  'of',
  'the',
];
/** Words of which those in hidden values are made; some are the same. */
const HIDDEN = [
  'printer',
  'salary',
  'зарплата',
  'layoff',
  'network',
  'prjnter',
  'networks',
  '0042',
  'secretive',
  'broken',
  'zzz',
];

/** A separate generator: both sides must get the same visible data. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function text(deal: (below: number) => number, words: readonly string[], most: number): string {
  return Array.from({ length: 1 + deal(most) }, () => words[deal(words.length)]).join(' ');
}

const MEMORY = 100_000_000;

/** Who must not notice. */
export type LeakSide = 'agent' | 'north';

/** Whether `who` may read the field of a record of that kind and region. */
function reads(who: LeakSide, field: string, kind: string, region: string): boolean {
  if (who === 'agent') return field === 'secret' ? kind === 'open' : field !== 'hush';
  return region === 'north' && ['title', 'body', 'kind', 'region', 'tags'].includes(field);
}

interface World {
  world: SearchFixture;
  /** Id → its common name on both sides. */
  names: Map<string, string>;
}

/** `hidden`: seed of the values that `who` may not read; all other values depend on `seed` only. */
async function makeWorld(
  who: LeakSide,
  records: number,
  seed: number,
  hidden: number,
  options: Pick<TestOptions, 'searchMemory'>,
): Promise<World> {
  let now = Date.parse('2026-11-21T09:00:00.000Z');
  const clock: Clock = { now: () => now };
  const fixture = await startSearchFixture({ clock, ...options });
  const names = new Map<string, string>();
  const deal = random(seed);
  const dealHidden = random(hidden);
  const values = (kind: string, region: string): Record<string, unknown> => {
    const pick = <T>(field: string, of: (deal: (below: number) => number, words: readonly string[]) => T): T => {
      const shown = of(deal, SHOWN);
      // Dealt in any case, so that what follows is the same.
      const other = of(dealHidden, HIDDEN);
      return reads(who, field, kind, region) ? shown : other;
    };
    const some = <T>(
      field: string,
      of: (deal: (below: number) => number, words: readonly string[]) => T,
    ): Record<string, T> => {
      const value = pick(field, (cut, words) => (cut(3) === 0 ? null : of(cut, words)));
      return value === null ? {} : { [field]: value };
    };
    return {
      kind,
      region,
      title: pick('title', (cut, words) => text(cut, words, 4)),
      ...some('body', (cut, words) => text(cut, words, 40)),
      ...some('score', (cut) => cut(10)),
      ...some('price', (cut) => `${cut(100)}.5`),
      ...some('day', (cut) => `2026-0${1 + cut(9)}-01`),
      ...some('tags', (cut, words) => [...new Set([text(cut, words, 1), text(cut, words, 1)])]),
      ...some('secret', (cut, words) => text(cut, words, 3)),
      ...some('hush', (cut, words) => text(cut, words, 3)),
      ...some('plain', (cut, words) => text(cut, words, 3)),
    };
  };
  const [{ id: definitionId }] = await fixture.ok('chief', 'GET', '/relation-definitions');
  const ids: string[] = [];
  for (let index = 0; index < records; index++) {
    now += 1000;
    const id = `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`;
    const kind = deal(2) === 0 ? 'open' : 'shut';
    const region = deal(2) === 0 ? 'north' : 'south';
    await fixture.ok('chief', 'POST', '/objects', {
      typeDefinitionId: 'ticket',
      objectId: id,
      values: values(kind, region),
    });
    ids.push(id);
    names.set(id, `record ${index}`);
    if (deal(3) === 0) {
      now += 1000;
      const internal = deal(2) === 0;
      const [body, other] = [text(deal, SHOWN, 6), text(dealHidden, HIDDEN, 6)];
      const hiddenHere = internal || (who === 'north' && region !== 'north');
      const visibility = internal ? 'internal' : 'public';
      const made = await fixture.ok('chief', 'POST', `/objects/${id}/comments`, {
        body: hiddenHere ? other : body,
        visibility,
      });
      names.set(made.id, `comment ${index}`);
    }
    if (deal(4) === 0) {
      now += 1000;
      const target = ids[deal(ids.length)] as string;
      const { revision, values: old } = await fixture.ok('chief', 'GET', `/objects/${target}`);
      const { title, body = null, secret = null, hush = null, score = null } = values(old.kind, old.region);
      // At least the score changes on both sides, so that the revisions are equal.
      const changes = { title, body, secret, hush, score, plain: `changed ${now}` };
      await fixture.ok('chief', 'PATCH', `/objects/${target}`, { expectedRevision: revision, changes });
    }
    if (deal(3) === 0 && ids.length > 1) {
      now += 1000;
      const targetObjectId = ids[deal(ids.length - 1)];
      await fixture.ok('chief', 'POST', `/objects/${id}/relations`, { definitionId, targetObjectId });
    }
    if (index % 17 === 5) {
      now += 1000;
      const { revision } = await fixture.ok('chief', 'GET', `/objects/${id}`);
      await fixture.ok('chief', 'DELETE', `/objects/${id}`, { expectedRevision: revision });
      ids.pop();
    }
  }
  for (const section of ['types', 'workflows', 'users']) {
    const { body } = await fixture.app.request('GET', `/api/admin/v1/config/${section}`, {
      key: await adminKey(fixture),
    });
    for (const { id, code } of body.data) names.set(id, `${section} ${code}`);
  }
  const [first] = ids;
  const { workflowState } = await fixture.ok('chief', 'GET', `/objects/${first}`);
  names.set(workflowState.id, 'state new');
  return { world: fixture, names };
}

async function adminKey(fixture: SearchFixture): Promise<string> {
  return (await fixture.app.createKey({ login: 'chief', scopes: ['admin:manage'] })).key;
}

const word = fc.oneof(
  fc.constantFrom(...SHOWN, ...HIDDEN),
  fc.constantFrom(...SHOWN, ...HIDDEN).map((one) => one.slice(0, 3)),
  fc.constantFrom('prnter', 'netwrok', 'salarry', 'зарплатв', 'ноутбкк', 'TCK000007', 'tck00001', 'TCK'),
);
const q = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
const field = fc.constantFrom(
  'title',
  'kind',
  'region',
  'score',
  'price',
  'day',
  'tags',
  'secret',
  'hush',
  'plain',
  'body',
  'number',
  'typeCode',
  'workflowState',
  'updatedAt',
  'revision',
  'nothing',
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  word,
  fc.constantFrom('open', 'shut', 'north', 'south', 'ticket', 'new', '5.5', '2026-03-01', '2026-11-21T09:01:00Z'),
  fc.integer({ min: 0, max: 9 }),
);
const leaf = fc.oneof(
  fc.record({
    field,
    operator: fc.constantFrom('equals', 'not-equals', 'contains', 'starts-with', 'before', 'after'),
    value,
  }),
  fc.record({ field, operator: fc.constant('is-empty'), value: fc.boolean() }),
  fc.record({ field, operator: fc.constant('in'), value: fc.array(value, { minLength: 1, maxLength: 3 }) }),
  fc.record({ field, operator: fc.constant('range'), value: fc.tuple(value, value) }),
);
const group = (of: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.record({ logic: fc.constantFrom('AND', 'OR'), conditions: fc.array(of, { minLength: 1, maxLength: 3 }) });
const filter = fc.oneof(leaf, leaf, group(fc.oneof(leaf, group(leaf))));
const page = fc.record({ page: fc.integer({ min: 1, max: 4 }), pageSize: fc.constantFrom(1, 5, 25, 100) });
const kinds = fc.constantFrom(
  {},
  {},
  {},
  { kinds: 'comment' },
  { kinds: 'object,comment' },
  { kinds: 'comment,object,service' },
);

/** Paths that ask. */
const question: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(q, kinds, page).map(([words, of, at]) => `/search?${queryOf({ q: words, ...of, ...at })}`),
  fc.tuple(filter, page).map(([condition, at]) => `/search?${queryOf({ filter: condition as object, ...at })}`),
  fc
    .tuple(q, filter, page)
    .map(([words, condition, at]) => `/search?${queryOf({ q: words, filter: condition as object, ...at })}`),
  fc
    .tuple(q, page, fc.constantFrom({}, { state: 'ARCHIVED' }, { state: 'new' }, { typeId: 'ticket' }))
    .map(([words, at, of]) => `/objects?${queryOf({ q: words, ...at, ...of })}`),
);

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** The answer with the names of things in place of their ids. */
async function ask({ world: fixture, names }: World, who: Searcher, path: string): Promise<string> {
  const { status, body } = await fixture.call(who, 'GET', path);
  const { meta: _, ...rest } = body;
  return `${status} ${JSON.stringify(rest).replace(UUID, (id) => names.get(id) ?? id)}`;
}

export interface LeakSideOptions {
  who: LeakSide;
  records: number;
  queries: number;
  seed: number;
}

/** @throws the first request with differing responses, and both responses */
export async function compareSides({ who, records, queries, seed }: LeakSideOptions): Promise<void> {
  const made = await Promise.allSettled([
    makeWorld(who, records, seed, 1, { searchMemory: MEMORY }),
    makeWorld(who, records, seed, 2, {}),
  ]);
  const worlds = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  try {
    const [left, right] = worlds;
    const failed = made.find((one) => one.status === 'rejected');
    if (failed !== undefined || left === undefined || right === undefined) throw failed?.reason;
    // That the comparison can fail at all: who reads everything sees the difference.
    const [a, b] = await Promise.all([left, right].map((one) => ask(one, 'chief', '/search?q=salary&pageSize=100')));
    assert.notEqual(a, b);
    let hits = 0;
    await fc.assert(
      fc.asyncProperty(question, async (path) => {
        const [mine, theirs] = await Promise.all([ask(left, who, path), ask(right, who, path)]);
        if (mine.startsWith('200') && mine.includes('"id"')) hits++;
        assert.equal(mine, theirs, decodeURIComponent(path));
      }),
      { numRuns: queries, seed, endOnFailure: true },
    );
    assert.ok(hits > queries / 5, `only ${hits} of ${queries} questions found anything`);
    const answered = left.world.app.app.searchMemory?.answers.index ?? 0;
    assert.ok(answered > queries / 3, `the index in memory answered only ${answered} times`);
  } finally {
    await Promise.all(worlds.map(({ world: fixture }) => fixture.close()));
  }
}
