/** The documents that a question matches, last updated first. Pure. */
import type { Words } from '../query.ts';
import { documentsWith, type DocumentTest, type LocatedWords } from './words.ts';
import type { Living } from './merge.ts';
import { compareDocuments, type Segment } from './segment.ts';

/** What a question asks of a segment. */
export interface SegmentQuestion {
  /** Rights, state and filter. */
  visible: DocumentTest;
  /** The documents that the rights admit, in ascending order, if they are few; null otherwise. */
  few: Uint16Array | null;
  /** For each class of field tokens, the documents on which it may be read. */
  classes: readonly DocumentTest[];
  /** Shared by the steps of one question. */
  known?: LocatedWords;
}

export interface MatchQuestion {
  /** Null for all visible documents. */
  words: Words | null;
  on(segment: Segment): SegmentQuestion;
}

/** A document of the index. */
export interface Found {
  segment: Segment;
  doc: number;
}

/** Matches in order. Segments are searched only when their newest document is reached, so a caller may stop at any time. */
export function* matchesOf(segments: readonly Living[], question: MatchQuestion): Generator<Found> {
  // The one with the newest document last, where it is taken from.
  const waiting = [...segments].sort((a, b) =>
    compareDocuments(a.segment, a.segment.count - 1, b.segment, b.segment.count - 1),
  );
  const heads: (Found & { rest: Iterator<number> })[] = [];
  for (;;) {
    let best = newest(heads);
    for (let next = waiting.at(-1); next !== undefined && isNewer(next, best); next = waiting.at(-1)) {
      waiting.pop();
      const rest = matchesIn(next, question);
      const first = rest.next();
      if (first.done !== true) heads.push({ segment: next.segment, doc: first.value, rest });
      best = newest(heads);
    }
    if (best === undefined) return;
    yield { segment: best.segment, doc: best.doc };
    const next = best.rest.next();
    if (next.done === true) heads.splice(heads.indexOf(best), 1);
    else best.doc = next.value;
  }
}

function newest<T extends Found>(heads: readonly T[]): T | undefined {
  let best: T | undefined;
  for (const head of heads) {
    if (best === undefined || compareDocuments(head.segment, head.doc, best.segment, best.doc) > 0) best = head;
  }
  return best;
}

/** Whether the segment may hold a document that comes before `best`. */
function isNewer({ segment }: Living, best: Found | undefined): boolean {
  return best === undefined || compareDocuments(segment, segment.count - 1, best.segment, best.doc) > 0;
}

function* matchesIn({ segment, deleted }: Living, { words, on }: MatchQuestion): Generator<number> {
  const { visible, few, classes, known } = on(segment);
  const candidates =
    words === null ? downwards(segment, few) : documentsWith(segment, words, classes, few, known).backwards();
  for (const doc of candidates) if (!deleted.has(doc) && visible(doc)) yield doc;
}

/** All documents of the segment, or the few, highest first. */
function* downwards({ count }: Segment, few: Uint16Array | null): Generator<number> {
  for (let at = (few?.length ?? count) - 1; at >= 0; at--) yield few === null ? at : (few[at] as number);
}
