/** Merges segments into one and leaves out deleted documents. Pure. */
import { type Columns, ColumnWriter } from './columns.ts';
import { compareBytes, DictionaryWriter } from './dictionary.ts';
import { type Bits, MAX_DOCUMENTS } from './document-set.ts';
import { Patterns, postingOf, PostingWriter } from './postings.ts';
import { compareDocuments, Segment, type SegmentParts } from './segment.ts';

/** A segment with the documents that are deleted in it. */
export interface Living {
  segment: Segment;
  deleted: Bits;
  /** Number of documents that are not deleted. */
  alive: number;
}

/** In the new order no document: it is deleted. */
const GONE = 65_535;
/** Number of lexemes between two interruptions. */
const AT_ONCE = 2000;
/** Segments of similar size are merged when there are this many of them. */
const FANOUT = 4;

/**
 * Segments that should be merged now, oldest first; null if none should. Each document is merged about once per power of
 * `FANOUT`, so that there are few segments and few merges. A segment whose documents are mostly deleted is written again.
 */
export function segmentsToMerge(all: readonly Living[]): Living[] | null {
  const wasted = all.find(({ segment, alive }) => 2 * alive < segment.count);
  if (wasted !== undefined) return [wasted];
  const bySize = new Map<number, Living[]>();
  for (const living of all) {
    const level = Math.floor(Math.log(Math.max(1, living.alive)) / Math.log(FANOUT));
    bySize.set(level, [...(bySize.get(level) ?? []), living]);
  }
  for (const [, alike] of [...bySize].sort(([a], [b]) => a - b)) {
    if (alike.length < FANOUT) continue;
    const chosen: Living[] = [];
    let sum = 0;
    for (const living of alike.sort((a, b) => a.alive - b.alive)) {
      if (sum + living.alive > MAX_DOCUMENTS) break;
      chosen.push(living);
      sum += living.alive;
    }
    if (chosen.length > 1) return chosen;
  }
  return null;
}

/**
 * Merges in short steps, so that a thread can answer questions between them. What is deleted after the start is not left out.
 *
 * @param given together at most 65,535 documents that are not deleted
 */
export function* mergeSegments(given: readonly Living[]): Generator<undefined, Segment> {
  const order = newOrder(given);
  const renumbered = given.map(({ segment }) => new Uint16Array(segment.count).fill(GONE));
  for (const [doc, place] of order.entries()) {
    (renumbered[Math.floor(place / 65_536)] as Uint16Array)[place % 65_536] = doc;
  }
  yield;
  const from = <T>(pick: (parts: SegmentParts, doc: number) => T): T[] =>
    Array.from(order, (place) => pick((given[Math.floor(place / 65_536)] as Living).segment.parts, place % 65_536));
  const ids = new Uint8Array(16 * order.length);
  for (const [doc, place] of order.entries()) {
    ids.set((given[Math.floor(place / 65_536)] as Living).segment.idBytes(place % 65_536), 16 * doc);
  }
  const columns = mergedColumns(given, renumbered, order.length);
  yield;
  const words = yield* mergedWords(given, renumbered);
  return new Segment({
    ids,
    updatedAt: Float64Array.from(from((parts, doc) => parts.updatedAt[doc] as number)),
    profileIds: Int32Array.from(from((parts, doc) => parts.profileIds[doc] as number)),
    sizes: Uint32Array.from(from((parts, doc) => parts.sizes[doc] as number)),
    versions: Uint32Array.from(from((parts, doc) => [...parts.versions.subarray(2 * doc, 2 * doc + 2)]).flat()),
    ...words,
    columns,
  });
}

/** The documents that are left, oldest first: the index of the segment times 65,536 plus the document. */
function newOrder(given: readonly Living[]): Uint32Array {
  const order: number[] = [];
  for (const [index, { segment, deleted }] of given.entries()) {
    for (let doc = 0; doc < segment.count; doc++) if (!deleted.has(doc)) order.push(index * 65_536 + doc);
  }
  if (order.length > MAX_DOCUMENTS) throw new Error('too many documents for a segment');
  const segmentAt = (place: number): Segment => (given[Math.floor(place / 65_536)] as Living).segment;
  return Uint32Array.from(order).sort((a, b) => compareDocuments(segmentAt(a), a % 65_536, segmentAt(b), b % 65_536));
}

function mergedColumns(given: readonly Living[], renumbered: readonly Uint16Array[], count: number): Columns {
  const writers = new Map<string, ColumnWriter>();
  for (const [index, { segment }] of given.entries()) {
    const docs = renumbered[index] as Uint16Array;
    for (const [name, { numbers, values }] of segment.parts.columns) {
      let writer = writers.get(name);
      if (writer === undefined) {
        writer = new ColumnWriter(count);
        writers.set(name, writer);
      }
      // Values of deleted documents are left out.
      const known = new Uint16Array(values.length + 1);
      for (const [doc, number] of numbers.entries()) {
        const to = docs[doc] as number;
        if (number === 0 || to === GONE) continue;
        known[number] ||= writer.number(values[number - 1] as NonNullable<(typeof values)[number]>);
        writer.setNumber(to, known[number] as number);
      }
    }
  }
  return new Map([...writers].map(([name, writer]) => [name, writer.finish()]));
}

function* mergedWords(
  given: readonly Living[],
  renumbered: readonly Uint16Array[],
): Generator<undefined, Pick<SegmentParts, 'dictionary' | 'postings'>> {
  const { patterns, numbers, total } = mergedPatterns(given, renumbered);
  const dictionary = new DictionaryWriter();
  const postings = new PostingWriter(total, patterns);
  const next = given.map(() => 0);
  const sources = given.map(({ segment }) => segment.parts);
  for (let done = 0; ; done++) {
    if (done % AT_ONCE === 0) yield;
    let least: Uint8Array | undefined;
    let holding: number[] = [];
    for (const [index, { dictionary: own }] of sources.entries()) {
      const at = next[index] as number;
      if (at >= own.size) continue;
      const lexeme = own.bytesOf(at);
      const compared = least === undefined ? -1 : compareBytes(lexeme, least);
      if (compared < 0) [least, holding] = [lexeme, [index]];
      else if (compared === 0) holding.push(index);
    }
    if (least === undefined) break;
    const found: number[] = [];
    for (const index of holding) {
      const { starts, docs } = (sources[index] as SegmentParts).postings.arrays;
      const lexeme = next[index] as number;
      next[index] = lexeme + 1;
      for (let at = starts[lexeme] as number; at < (starts[lexeme + 1] as number); at++) {
        const doc = (renumbered[index] as Uint16Array)[docs[at] as number] as number;
        if (doc === GONE) continue;
        const pattern = (sources[index] as SegmentParts).postings.patternAt(at);
        found.push(postingOf(doc, (numbers[index] as Uint16Array)[pattern] as number));
      }
    }
    if (found.length === 0) continue;
    dictionary.add(least);
    postings.add(Float64Array.from(found).sort());
  }
  return { dictionary: dictionary.finish(), postings: postings.finish() };
}

/** The patterns of all segments, and for each segment the new numbers of its patterns. */
function mergedPatterns(
  given: readonly Living[],
  renumbered: readonly Uint16Array[],
): { patterns: Patterns; numbers: Uint16Array[]; total: number } {
  const counts = new Map<string, number>();
  let total = 0;
  for (const [index, { segment }] of given.entries()) {
    const { postings } = segment.parts;
    const { docs, patterns } = postings.arrays;
    const uses = new Float64Array(patterns.length);
    for (const [at, doc] of docs.entries()) {
      if ((renumbered[index] as Uint16Array)[doc] === GONE) continue;
      (uses[postings.patternAt(at)] as number)++;
      total++;
    }
    for (const [number, pattern] of patterns.entries()) {
      const used = uses[number] as number;
      if (used > 0) counts.set(pattern, (counts.get(pattern) ?? 0) + used);
    }
  }
  const patterns = new Patterns(counts);
  const numbers = given.map(({ segment }) =>
    Uint16Array.from(segment.parts.postings.arrays.patterns, (pattern) => patterns.of(pattern)),
  );
  return { patterns, numbers, total };
}
