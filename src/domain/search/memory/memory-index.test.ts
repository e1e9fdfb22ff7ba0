import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Bits, DocumentSet } from './document-set.ts';
import { MemoryIndex } from './memory-index.ts';
import { type Living, mergeSegments, segmentsToMerge } from './merge.ts';
import { buildSegment, type IndexedDocument, type Segment } from './segment.ts';
import { segmentFromBytes, segmentToBytes } from './segment-file.ts';
import { matchesOf } from './walk.ts';
import { documentsWith, type DocumentTest } from './words.ts';
import type { Operand } from '../indexing/lexemes.ts';
import type { Reading, Words } from '../query.ts';

const idOf = (n: number): string => `${n.toString(16).padStart(8, '0')}-0000-7000-8000-00000000000a`;

const LEXEMES = [
  'a',
  'ab',
  'abc',
  'b',
  'принтер',
  'при',
  '\u0001secret\u0001a',
  '\u0001secret\u0001ab',
  '\u0002tck1',
  '😀',
  '\ue000',
];
const lexeme = fc.constantFrom(...LEXEMES);
const zones = fc.stringMatching(/^[ABCD]{1,5}$/);

const document = fc.record({
  id: fc.nat(12).map(idOf),
  updatedAt: fc.nat(5).map((n) => 1_700_000_000_000 + n),
  profileId: fc.constantFrom(-7, 3),
  versions: fc.tuple(fc.nat(9), fc.constantFrom(1, 4_294_967_295)),
  size: fc.nat(100),
  lexemes: fc.dictionary(lexeme, zones, { maxKeys: 6 }).map((of) => new Map(Object.entries(of))),
  values: fc
    .dictionary(fc.constantFrom('kind', 'region'), fc.constantFrom('x', 'y', 7, ['x', 'y']))
    .map((of) => new Map(Object.entries(of).map(([name, value]) => [name, { value }] as const))),
});

const operand = fc.record({
  lexeme: fc.oneof(lexeme, fc.constantFrom('', 'п', '\u0001secret\u0001', 'z')),
  prefix: fc.boolean(),
});
const NONE = { operands: [], count: 0 };
const reading = (matched: readonly Operand[]): Reading => ({ exact: NONE, like: NONE, matched });
const readings = fc.array(operand, { maxLength: 3 }).map(reading);
const leaf: fc.Arbitrary<Words> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('word' as const, 'title' as const),
    free: readings,
    classes: fc.oneof(fc.constant([]), fc.tuple(readings, readings)),
  }),
  fc.record({ kind: fc.constant('number' as const), operand }),
);
const group = (part: fc.Arbitrary<Words>): fc.Arbitrary<Words> =>
  fc.record({ kind: fc.constantFrom('all' as const, 'any' as const), parts: fc.array(part, { maxLength: 3 }) });
const question = fc.oneof(leaf, group(leaf), group(group(leaf)));

/** The n-th document of a test that counts them. */
const numbered = (n: number, lexemes: Map<string, string>): IndexedDocument => ({
  id: idOf(n),
  updatedAt: n,
  profileId: 1,
  versions: [1, 1],
  size: n,
  lexemes,
  values: new Map(),
});

/** Whether the document has the words, as the statement would say. The second class may be used on no document. */
function satisfies(one: IndexedDocument, words: Words): boolean {
  const holds = (operands: readonly Operand[]): boolean =>
    operands.some(({ lexeme: wanted, prefix }) =>
      [...one.lexemes.keys()].some((own) => (prefix ? own.startsWith(wanted) : own === wanted)),
    );
  switch (words.kind) {
    case 'all':
      return words.parts.length > 0 && words.parts.every((part) => satisfies(one, part));
    case 'any':
      return words.parts.some((part) => satisfies(one, part));
    case 'number':
      return holds([words.operand]);
    default:
      return holds(words.free.matched) || (one.size % 2 === 0 && holds(words.classes[0]?.matched ?? []));
  }
}

type Step = { change: IndexedDocument[]; gone: string[] } | { mergeSteps: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      change: fc.uniqueArray(document, { selector: ({ id }) => id, maxLength: 4 }),
      gone: fc.array(fc.nat(12).map(idOf), { maxLength: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ mergeSteps: fc.nat(6) }) },
);

function played(steps: readonly Step[]): { index: MemoryIndex; expected: Map<string, IndexedDocument> } {
  const index = new MemoryIndex();
  const expected = new Map<string, IndexedDocument>();
  for (const one of steps) {
    if ('mergeSteps' in one) {
      for (let n = 0; n < one.mergeSteps; n++) index.mergeStep();
      continue;
    }
    index.apply(one.change, one.gone);
    for (const id of one.gone) expected.delete(id);
    for (const changed of one.change) expected.set(changed.id, changed);
  }
  return { index, expected };
}

function mergedOf(given: readonly Living[]): Segment {
  const steps = mergeSegments(given);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const QUESTION = (words: Words | null, { listed }: { listed: boolean }): Parameters<typeof matchesOf>[1] => ({
  words,
  on: ({ count, parts }) => {
    const even: DocumentTest = (doc) => (parts.sizes[doc] as number) % 2 === 0;
    const visible: DocumentTest = (doc) => parts.sizes[doc] !== 13;
    const few = listed ? Uint16Array.from(Array.from({ length: count }, (_, doc) => doc).filter(visible)) : null;
    return { visible, few, classes: [even] };
  },
});

describe('The index in memory', () => {
  test('finds what a scan finds, in the same order, after any changes and merges', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30, size: 'max' }),
        fc.array(question, { maxLength: 5 }),
        (steps, questions) => {
          const { index, expected } = played(steps);
          assert.equal(index.documents, expected.size);
          const sorted = [...expected.values()].sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1));
          for (const wanted of [null, ...questions]) {
            const right = sorted.filter((one) => one.size !== 13 && (wanted === null || satisfies(one, wanted)));
            for (const listed of [false, true]) {
              const found = [...matchesOf(index.segments, QUESTION(wanted, { listed }))];
              assert.deepEqual(
                found.map(({ segment, doc }) => segment.id(doc)),
                right.map(({ id }) => id),
              );
            }
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test('keeps words, zones and values through merges and files', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
        const { index, expected } = played(steps);
        for (const { segment, deleted } of index.segments) {
          const read = segmentFromBytes(segmentToBytes(segment, 'for'), 'for');
          assert.ok(read !== null);
          for (const one of [segment, read]) {
            const { dictionary, postings, columns, sizes, profileIds, updatedAt, versions } = one.parts;
            const { starts, docs, patterns } = postings.arrays;
            const words = new Map<number, Map<string, string>>();
            for (let at = 0; at < dictionary.size; at++) {
              for (let posting = starts[at] as number; posting < (starts[at + 1] as number); posting++) {
                const doc = docs[posting] as number;
                const known = words.get(doc) ?? new Map<string, string>();
                words.set(doc, known.set(dictionary.lexeme(at), patterns[postings.patternAt(posting)] as string));
              }
            }
            for (let doc = 0; doc < one.count; doc++) {
              if (deleted.has(doc)) continue;
              const right = expected.get(one.id(doc)) as IndexedDocument;
              assert.deepEqual(new Map([...(words.get(doc) ?? [])].sort()), new Map([...right.lexemes].sort()));
              const values = [...columns].flatMap(([name, column]) => {
                const value = column.values[(column.numbers[doc] as number) - 1];
                return value === undefined ? [] : [[name, value.value] as const];
              });
              assert.deepEqual(
                new Map(values.sort()),
                new Map([...right.values].map(([name, { value }]) => [name, value] as const).sort()),
              );
              assert.deepEqual(
                [sizes[doc], profileIds[doc], updatedAt[doc], [...versions.subarray(2 * doc, 2 * doc + 2)]],
                [right.size, right.profileId, right.updatedAt, [...right.versions]],
              );
            }
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test('looks up few documents in the words of a question, and finds what reading all postings finds', () => {
    const lexemesOf = (n: number) =>
      new Map(LEXEMES.flatMap((lexeme, index) => (n % (index + 2) === 0 ? [[lexeme, 'B'] as const] : [])));
    const given = Array.from({ length: 500 }, (_, n) => numbered(n, lexemesOf(n)));
    const segment = buildSegment(given);
    const classes: DocumentTest[] = [(doc) => doc % 3 === 0];
    fc.assert(
      fc.property(question, fc.uniqueArray(fc.nat(499), { maxLength: 3 }), (wanted, docs) => {
        const few = Uint16Array.from(docs).sort();
        const all = documentsWith(segment, wanted, classes);
        const some = documentsWith(segment, wanted, classes, few);
        assert.deepEqual(
          few.filter((doc) => some.has(doc)),
          few.filter((doc) => all.has(doc)),
        );
      }),
      { numRuns: 300 },
    );
  });

  test('leaves few segments after merging, and none with mostly deleted documents', () => {
    const index = new MemoryIndex();
    for (let n = 0; n < 300; n++) {
      index.apply([{ ...numbered(n, new Map([['a', 'B']])), id: idOf(n % 100) }]);
      while (index.mergeStep());
    }
    assert.equal(index.documents, 100);
    assert.equal(segmentsToMerge(index.segments), null);
    assert.ok(index.segments.length <= 12, `${index.segments.length} segments`);
    const held = index.segments.reduce((sum, { segment }) => sum + segment.count, 0);
    assert.ok(held <= 200, `${held} documents are held`);
  });

  test('looks up the documents of a rare word in the postings of a common one, after a merge too', () => {
    const lexemesOf = (n: number) =>
      new Map([...(n % 3 === 0 ? [['common', 'B'] as const] : []), ...(n % 200 === 9 ? [['rare', 'B'] as const] : [])]);
    const given = Array.from({ length: 1000 }, (_, n) => numbered(n, lexemesOf(n)));
    const leafOf = (lexeme: string): Words => ({ kind: 'number', operand: { lexeme, prefix: false } });
    const both: Words = { kind: 'all', parts: [leafOf('common'), leafOf('rare')] };
    const segments = [0, 1].map((odd) => buildSegment(given.filter((_, n) => n % 2 === odd)));
    const merged = mergedOf(segments.map((segment) => ({ segment, deleted: new Bits(500), alive: 500 })));
    const right = given
      .filter(({ lexemes }) => lexemes.size === 2)
      .map(({ size }) => size)
      .reverse();
    assert.deepEqual(right, [609, 9]);
    assert.deepEqual([...documentsWith(merged, both, []).backwards()], right);
  });

  test('has more patterns of zones than fit into eight bits', () => {
    const patternOf = (n: number): string =>
      [...n.toString(4).padStart(5, '0')].map((digit) => 'ABCD'[Number(digit)]).join('');
    const given = Array.from({ length: 1000 }, (_, n) => numbered(n, new Map([['a', patternOf(n)]])));
    const segments = [buildSegment(given.slice(0, 500)), buildSegment(given.slice(500))];
    const { postings } = mergedOf(segments.map((segment) => ({ segment, deleted: new Bits(500), alive: 500 }))).parts;
    for (let n = 0; n < 1000; n++) assert.equal(postings.arrays.patterns[postings.patternAt(n)], patternOf(n));
  });
});

describe('A file of a segment', () => {
  const bytes = segmentToBytes(
    buildSegment([
      {
        id: idOf(1),
        updatedAt: 5,
        profileId: 1,
        versions: [1, 1] as const,
        size: 2,
        lexemes: new Map([['a', 'AB']]),
        values: new Map(),
      },
    ]),
    'for',
  );

  test('is not read if it is cut off or changed at any place, or was built for something else', () => {
    for (let length = 0; length < bytes.length; length++) {
      assert.equal(segmentFromBytes(bytes.subarray(0, length), 'for'), null);
      const changed = Buffer.from(bytes);
      (changed[length] as number) ^= 1;
      assert.equal(segmentFromBytes(changed, 'for'), null);
    }
    assert.equal(segmentFromBytes(Buffer.concat([bytes, bytes]), 'for'), null);
    assert.equal(segmentFromBytes(bytes, 'others'), null);
    assert.ok(segmentFromBytes(bytes, 'for') !== null);
  });
});

describe('A set of documents', () => {
  test('has what was added, sparse or dense', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 700 }), fc.array(fc.nat(699)), (size, given) => {
        const docs = new Set(given.filter((doc) => doc < size));
        const bits = new Bits(size);
        for (const doc of docs) bits.add(doc);
        assert.deepEqual(
          [...bits.backwards()],
          [...docs].sort((a, b) => b - a),
        );
        assert.equal(bits.count(), docs.size);
        const set = new DocumentSet(bits);
        for (let doc = 0; doc < size; doc++) assert.equal(set.has(doc), docs.has(doc));
      }),
    );
  });
});
