import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  evaluate,
  type RecordFacts,
  type SystemFacts,
  type TypedCondition,
  type Variables,
} from '../../../lib/filter.ts';
import { makeAnalysis } from '../../../lib/words.ts';
import { fieldTokenOf, type Operand } from '../indexing/lexemes.ts';
import { withRights } from '../filter.ts';
import { allOf, anyOf, type Reading, type RecordRule, type Word, type Words } from '../query.ts';
import { scoreOf, type ZoneWeights } from '../ranking.ts';
import { termsOf, wordOf } from '../terms.ts';
import { MemoryIndex } from './memory-index.ts';
import type { MemoryScope as Scope } from './messages.ts';
import { MemorySearch } from './search.ts';
import type { IndexedDocument } from './segment.ts';
import { ALL_BUT_TITLE, rankOfOperands, rankOfPattern, rankOfWord, TITLE_ONLY } from './zones.ts';

const ANALYSIS = makeAnalysis();
const [INCIDENT, PROBLEM] = ['00000000-0000-7000-8000-0000000000aa', '00000000-0000-7000-8000-0000000000bb'];
const NOBODY: Variables = {
  me: 'me',
  groups: [],
  orgUnit: null,
  orgUnits: [],
  now: '2026-11-23T04:00:00.000Z',
  today: '2026-11-23',
};
const WORDS = 'printer print printing paper paperless broken принтер'.split(' ');
const ZONES = [0.5, 0.5, 0.5, 1] as const;

const equals = (code: string, value: string): TypedCondition => ({
  field: { code, kind: 'value', dataType: 'enum', multiple: false },
  operator: 'equals',
  value: { literal: value },
});
const RULES: (TypedCondition | null)[] = [
  null,
  equals('kind', 'open'),
  { logic: 'OR', conditions: [equals('kind', 'shut'), equals('region', 'north')] },
  {
    field: { code: 'createdBy', kind: 'system', dataType: 'user', multiple: false },
    operator: 'equals',
    value: { variable: 'me' },
  },
  {
    field: { code: 'createdAt', kind: 'system', dataType: 'datetime', multiple: false },
    operator: 'before',
    value: { variable: 'now' },
  },
];
const rule: fc.Arbitrary<RecordRule> = fc
  .tuple(fc.option(fc.constantFrom(...RULES), { nil: undefined }), fc.constantFrom(...RULES))
  .map(([first, second]) => {
    return new Map([...(first === undefined ? [] : [[INCIDENT, first] as const]), [PROBLEM, second] as const] as [
      string,
      TypedCondition | null,
    ][]);
  });

const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 6 });
const document = fc
  .record({
    n: fc.nat(25),
    updatedAt: fc.nat(9),
    profileId: fc.constantFrom(1, 2),
    title: text,
    hidden: text,
    type: fc.constantFrom(INCIDENT, PROBLEM),
    state: fc.constantFrom('ACTIVE', 'ACTIVE', 'ARCHIVED'),
    kind: fc.constantFrom('open', 'shut', null),
    region: fc.constantFrom('north', null),
    createdBy: fc.constantFrom('me', 'you'),
    createdAt: fc.constantFrom('2026-11-22T00:00:00.000Z', '2026-11-24T00:00:00.000Z'),
  })
  .map(({ n, updatedAt, profileId, title, hidden, type, ...others }): IndexedDocument => {
    const lexemes = new Map<string, string>();
    const add = (words: readonly string[], token: string, zone: string): void => {
      for (const { lexeme, positions } of ANALYSIS.indexLexemes(words.join(' '))) {
        lexemes.set(token + lexeme, zone.repeat(positions.length));
      }
    };
    add(title, '', 'A');
    add(hidden, fieldTokenOf('secret'), 'B');
    const { kind, region, ...system } = others;
    const values = new Map<string, { value: unknown }>(
      Object.entries(system).map(([name, value]) => [`$${name}`, { value }]),
    );
    values.set('$typeId', { value: type }).set('$typeVersion', { value: 1 });
    if (kind !== null) values.set('kind', { value: kind });
    if (region !== null) values.set('region', { value: region });
    const id = `000000${n.toString(16).padStart(2, '0')}-0000-7000-8000-00000000000a`;
    return { id, updatedAt, profileId, versions: [1, 1], size: title.length, lexemes, values };
  });

const scope: fc.Arbitrary<Scope> = fc.record({
  state: fc.constantFrom('ACTIVE' as const, 'ARCHIVED' as const),
  workflowStateIds: fc.constant(null),
  rights: rule,
  typeIds: fc.constant([INCIDENT, PROBLEM]),
  free: fc.constant(['']),
  order: fc.constant('updated_at' as const),
  indexed: fc.constant(false),
  classes: fc.tuple(rule.map((of) => ({ fieldTokens: [fieldTokenOf('secret')], rule: of }))),
  trusted: fc.constantFrom(
    null,
    { profileIds: new Set([1]), typeIds: new Set<string>() },
    { profileIds: new Set([1]), typeIds: new Set([PROBLEM]) },
  ),
  filter: fc.constantFrom(
    null,
    new Map([
      [INCIDENT, equals('region', 'north')],
      [PROBLEM, null],
    ] as [string, TypedCondition | null][]),
  ),
  environment: fc.constant({
    names: { typeCodes: new Map(), states: new Map(), mismatched: new Map() },
    variables: NOBODY,
  }),
  version: fc.constant(1),
  variablesKey: fc.constant('nobody'),
});

function admits(one: IndexedDocument, of: RecordRule): boolean {
  const condition = of.get(one.values.get('$typeId')?.value as string);
  if (condition === undefined || condition === null) return condition === null;
  const values: Record<string, unknown> = {};
  const system: Record<string, unknown> = {};
  for (const [name, { value }] of one.values) {
    if (name.startsWith('$')) system[name.slice(1)] = value;
    else values[name] = value;
  }
  const facts: RecordFacts = { values, folded: {}, system: system as unknown as SystemFacts };
  return evaluate(condition, facts, NOBODY);
}

const zonesOf = (one: IndexedDocument, { lexeme, prefix }: Operand): string[] =>
  [...one.lexemes]
    .filter(([own]) => (prefix ? own.startsWith(lexeme) : own === lexeme))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, zones]) => zones);

/** The word, on what the caller may read of the document. */
function partsOf(one: IndexedDocument, { free, classes }: Word, of: Scope): Reading[] {
  return [free, ...classes.filter((_, index) => admits(one, of.classes[index]?.rule ?? new Map()))];
}

function rankOf(one: IndexedDocument, query: Word, of: Scope, weights: ZoneWeights = ZONES): number {
  const ranked = (operands: readonly Operand[], count: number): number => {
    let sum = 0;
    for (const operand of operands)
      for (const zones of zonesOf(one, operand)) sum = Math.fround(sum + rankOfPattern(zones, weights));
    return rankOfOperands(sum, operands.length, count);
  };
  return partsOf(one, query, of).reduce((sum, { exact, like }) => {
    return sum + rankOfWord(ranked(exact.operands, exact.count), ranked(like.operands, like.count));
  }, 0);
}

const state = fc.record({
  documents: fc.array(fc.uniqueArray(document, { selector: ({ id }) => id, maxLength: 8 }), { maxLength: 8 }),
  scope,
  q: fc
    .array(fc.constantFrom(...WORDS, 'pri', 'pa', 'unknown'), { minLength: 1, maxLength: 3 })
    .map((words) => words.join(' ')),
  all: fc.boolean(),
  limit: fc.integer({ min: 1, max: 6 }),
  offset: fc.nat(3),
});

/** A word of every document that has one. */
const ANY: Words = { kind: 'number', operand: { lexeme: 'a', prefix: true } };

describe('Answers of the index in memory', () => {
  test('are those of a scan of what the caller may read', () => {
    fc.assert(
      fc.property(state, ({ documents, scope: of, q, all, limit, offset }) => {
        const index = new MemoryIndex();
        const present = new Map<string, IndexedDocument>();
        for (const changed of documents) {
          index.apply(changed);
          index.mergeStep();
          for (const one of changed) present.set(one.id, one);
        }
        const search = new MemorySearch(index);
        const queries = termsOf(ANALYSIS, q).map((term) =>
          wordOf(term, { free: [''], classes: [{ fieldTokens: [fieldTokenOf('secret')] }] }),
        );
        const sorted = [...present.values()].sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1));
        const isTrusted = ({ profileId, values }: IndexedDocument): boolean =>
          of.trusted === null ||
          of.trusted.profileIds.has(profileId) ||
          of.trusted.typeIds.has(values.get('$typeId')?.value as string);
        const holds = (one: IndexedDocument, query: Word): boolean =>
          partsOf(one, query, of).some(({ matched }) => matched.some((operand) => zonesOf(one, operand).length > 0));
        const isIn = (one: IndexedDocument, wanted: string): boolean =>
          one.values.get('$state')?.value === wanted && admits(one, of.rights) && isTrusted(one);
        const right = sorted.filter(
          (one) =>
            isIn(one, of.state) &&
            (of.filter === null || admits(one, of.filter)) &&
            (all ? queries.every((query) => holds(one, query)) : queries.some((query) => holds(one, query))),
        );
        const except = right.slice(0, 1).map(({ id }) => id);
        const page = right.filter(({ id }) => !except.includes(id)).slice(offset, offset + limit);
        const words = all ? allOf(queries) : anyOf(queries);
        // The second time, the sets of documents are known.
        for (const _ of [1, 2]) {
          const found = search.find(of, [words], { limit, offset, except });
          assert.deepEqual(
            found.map(({ segment, doc }) => segment.id(doc)),
            page.map(({ id }) => id),
          );
          const weights = queries.map((_query, at) => at + 0.5);
          assert.deepEqual(
            [...search.ranks(of, found, { words: queries, weights, zones: ZONES, b: 0.2 })],
            page.map((one) => queries.reduce((sum, query, at) => sum + (at + 0.5) * rankOf(one, query, of), 0)),
          );
          const ranking = { words: queries, weights, zones: ZONES, b: 0.2 };
          const asked = { words, titled: words, counted: 9, few: 0, ranking, ranked: 5, page: { offset, limit } };
          const titled = search.byIds([...except]);
          const best = search.best(of, search.find(of, [words], { limit: 9, offset: 0, except: [] }), titled, asked);
          const others = right
            .slice(0, 9)
            .filter(({ id }) => !except.includes(id))
            .slice(0, 5 - except.length);
          const average = Math.max(1, others.reduce((sum, { size }) => sum + size, 0) / Math.max(1, others.length));
          const scored = others.map((one) => {
            const rank = queries.reduce((sum, query, at) => sum + (at + 0.5) * rankOf(one, query, of), 0);
            return { id: one.id, score: others.length === 1 ? 1 : scoreOf(rank, one.size, average, 0.2) };
          });
          assert.deepEqual(
            best.found.map(({ segment, doc }, at) => ({ id: segment.id(doc), score: best.scores[at] })),
            scored
              .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
              .slice(Math.max(0, offset - except.length), Math.max(0, offset + limit - except.length)),
          );
          const { title, rest } = search.occurrences(of, found, queries);
          for (const [ranks, zones] of [[title, TITLE_ONLY] as const, [rest, ALL_BUT_TITLE] as const]) {
            assert.deepEqual(
              [...ranks],
              page.flatMap((one) => queries.map((query) => rankOf(one, query, of, zones))),
            );
          }
        }
        const inScope = sorted.filter(
          (one) => isIn(one, of.state) && (of.filter === null || admits(one, of.filter)) && !except.includes(one.id),
        );
        const steps = queries.map((query) => inScope.filter((one) => holds(one, query)));
        assert.deepEqual(
          search.find(of, queries, { limit, offset: 0, except }).map(({ segment, doc }) => segment.id(doc)),
          [...new Set(steps.flat())].slice(0, limit).map(({ id }) => id),
        );
        const sampled = sorted.filter((one) => isIn(one, 'ACTIVE')).slice(0, 5);
        assert.deepEqual(search.sample(of, queries, 5), {
          records: sampled.length,
          holding: queries.map((query) => sampled.filter((one) => holds(one, query)).length),
          average: sampled.reduce((sum, { size }) => sum + size, 0) / Math.max(1, sampled.length),
        });
      }),
      { numRuns: 120 },
    );
  });

  test('follow the time if rights depend on it', () => {
    const index = new MemoryIndex();
    const values = new Map([
      ['$typeId', { value: INCIDENT }],
      ['$state', { value: 'ACTIVE' }],
      ['$createdAt', { value: '2026-11-22T00:00:00.000Z' }],
    ]);
    const id = '00000000-0000-7000-8000-000000000001';
    index.apply([
      { id, updatedAt: 1, profileId: 1, versions: [1, 1], size: 1, lexemes: new Map([['a', 'A']]), values },
    ]);
    const search = new MemorySearch(index);
    const at = (now: string): number => {
      const [of] = fc.sample(scope, 1) as [Scope];
      const environment = { ...of.environment, variables: { ...NOBODY, now } };
      const rights = new Map([[INCIDENT, RULES[4] ?? null]]);
      const asks: Scope = {
        ...of,
        state: 'ACTIVE',
        rights,
        classes: [],
        trusted: null,
        filter: null,
        environment,
      };
      return search.find(asks, [ANY], { limit: 9, offset: 0, except: [] }).length;
    };
    assert.deepEqual([at('2026-11-21T00:00:00.000Z'), at('2026-11-23T00:00:00.000Z')], [0, 1]);
  });

  test('keep the documents of one caller, one rule and one configuration apart from those of others', () => {
    const index = new MemoryIndex();
    const values = new Map([
      ['$typeId', { value: INCIDENT }],
      ['$state', { value: 'ACTIVE' }],
      ['$createdBy', { value: 'me' }],
      ['kind', { value: 'open' }],
    ]);
    const id = '00000000-0000-7000-8000-000000000001';
    index.apply([
      { id, updatedAt: 1, profileId: 1, versions: [1, 1], size: 1, lexemes: new Map([['a', 'A']]), values },
    ]);
    const search = new MemorySearch(index);
    const [of] = fc.sample(scope, 1) as [Scope];
    const plain: Scope = { ...of, state: 'ACTIVE', classes: [], trusted: null, filter: null };
    const count = (asks: Scope): number => search.find(asks, [ANY], { limit: 9, offset: 0, except: [] }).length;
    const own = new Map([[INCIDENT, RULES[3] ?? null]]);
    const by = (me: string): Scope => {
      const environment = { ...of.environment, variables: { ...NOBODY, me } };
      return { ...plain, rights: own, environment, variablesKey: me };
    };
    assert.deepEqual([count(by('me')), count(by('you')), count(by('me'))], [1, 0, 1]);
    const only = (condition: TypedCondition): Scope => ({ ...plain, rights: new Map([[INCIDENT, condition]]) });
    assert.deepEqual([count(only(equals('kind', 'open'))), count(only(equals('kind', 'shut')))], [1, 0]);
    const renamed: TypedCondition = {
      field: { code: 'typeCode', kind: 'system', dataType: 'enum', multiple: false },
      operator: 'equals',
      value: { literal: 'incident' },
    };
    const named = (code: string, version: number): Scope => {
      const names = { ...of.environment.names, typeCodes: new Map([[INCIDENT, code]]) };
      return { ...only(renamed), version, environment: { ...of.environment, names } };
    };
    assert.deepEqual([count(named('incident', 1)), count(named('problem', 2))], [1, 0]);
  });

  test('are given only if the index has the values', () => {
    const of = fc.sample(scope, 1)[0] as Scope;
    const rights = new Map([[INCIDENT, equals('kind', 'open')]]);
    const asks: Scope = { ...of, state: 'ACTIVE', rights, classes: [], filter: null };
    const search = new MemorySearch(new MemoryIndex());
    assert.deepEqual(search.missingColumns(asks, new Set(['kind'])), []);
    assert.deepEqual(search.missingColumns(asks, new Set(['region'])), ['kind']);
    const filter = new Map([[INCIDENT, equals('region', 'north')]]);
    assert.deepEqual(search.missingColumns({ ...asks, filter }, new Set(['kind'])), ['region']);
    // The right to read a field of the filter hangs on another field.
    const limited = withRights(equals('region', 'north'), () => equals('hush', 'no')) ?? null;
    const asked = { ...asks, filter: new Map([[INCIDENT, limited]]) };
    assert.deepEqual(search.missingColumns(asked, new Set(['kind', 'region'])), ['hush']);
    assert.deepEqual(search.missingColumns(asked, new Set(['kind', 'region', 'hush'])), []);
  });
});
