/**
 * A segment of the index: up to 65,535 documents in the order of their last update. It never changes; what is deleted is marked
 * outside. Pure.
 */
import { type Columns, bytesOfColumns, ColumnWriter, type ColumnValue } from './columns.ts';
import { compareBytes, type Dictionary, DictionaryWriter, encoded } from './dictionary.ts';
import { MAX_DOCUMENTS } from './document-set.ts';
import { Patterns, postingOf, type Postings, PostingWriter } from './postings.ts';

/** Which state of a record a document was read from. */
export interface StoredVersion {
  id: string;
  /** Milliseconds since 1970. */
  updatedAt: number;
  profileId: number;
  /** Number of words, for the length normalisation. */
  size: number;
  /** The versions (`rowVersion`) of the row of the record and of the row of its words. */
  versions: readonly [record: number, words: number];
}

/** A record as it is indexed. */
export interface IndexedDocument extends StoredVersion {
  /** Lexeme → the zones of its occurrences by position, for example `ABB`. */
  lexemes: ReadonlyMap<string, string>;
  /** Column name → value; empty values are left out. */
  values: ReadonlyMap<string, ColumnValue>;
}

export interface SegmentParts {
  /** 16 bytes for each document. */
  ids: Uint8Array;
  updatedAt: Float64Array;
  profileIds: Int32Array;
  sizes: Uint32Array;
  /** Two for each document. */
  versions: Uint32Array;
  dictionary: Dictionary;
  postings: Postings;
  columns: Columns;
}

const ID_BYTES = 16;
/** Number of characters of an id. */
export const ID_LENGTH = 36;
const DIGITS = Buffer.from('0123456789abcdef');
const DASH = 45;

export function bytesOfId(id: string): Uint8Array {
  return Uint8Array.from(Buffer.from(id.replaceAll('-', ''), 'hex'));
}

export class Segment {
  readonly parts: SegmentParts;
  /** The documents by id. */
  readonly #byId: Uint16Array;
  #bytes: number | undefined;

  constructor(parts: SegmentParts) {
    this.parts = parts;
    this.#byId = Uint16Array.from({ length: parts.updatedAt.length }, (_, doc) => doc).sort((a, b) =>
      compareBytes(this.idBytes(a), this.idBytes(b)),
    );
  }

  get count(): number {
    return this.parts.updatedAt.length;
  }

  idBytes(doc: number): Uint8Array {
    return this.parts.ids.subarray(ID_BYTES * doc, ID_BYTES * (doc + 1));
  }

  id(doc: number): string {
    const text = Buffer.allocUnsafe(ID_LENGTH);
    this.writeId(doc, text, 0);
    return text.toString('latin1');
  }

  /** Writes the id as text of `ID_LENGTH` bytes. */
  writeId(doc: number, target: Uint8Array, offset: number): void {
    const { ids } = this.parts;
    let to = offset;
    for (let at = 0; at < ID_BYTES; at++) {
      if (at === 4 || at === 6 || at === 8 || at === 10) target[to++] = DASH;
      const byte = ids[ID_BYTES * doc + at] as number;
      target[to++] = DIGITS[byte >>> 4] as number;
      target[to++] = DIGITS[byte & 15] as number;
    }
  }

  /** The document with the id, or -1. */
  find(id: Uint8Array): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const doc = this.#byId[middle] as number;
      const compared = this.#compareId(doc, id);
      if (compared === 0) return doc;
      if (compared < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  /** Like `compareBytes`, without a view for each step of a search. */
  #compareId(doc: number, id: Uint8Array): number {
    const { ids } = this.parts;
    for (let at = 0; at < ID_BYTES; at++) {
      const difference = (ids[ID_BYTES * doc + at] as number) - (id[at] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** Memory in bytes. */
  get bytes(): number {
    if (this.#bytes === undefined) {
      const { dictionary, postings, columns } = this.parts;
      const words = dictionary.bytes.byteLength + dictionary.starts.byteLength + postings.bytes;
      this.#bytes = this.count * (ID_BYTES + 8 + 4 + 4 + 8 + 2) + words + bytesOfColumns(columns);
    }
    return this.#bytes;
  }
}

/** The order of documents: by last update, then by id. Negative if `a` is older. */
export function compareDocuments(a: Segment, docOfA: number, b: Segment, docOfB: number): number {
  const difference = (a.parts.updatedAt[docOfA] as number) - (b.parts.updatedAt[docOfB] as number);
  return difference !== 0 ? difference : compareBytes(a.idBytes(docOfA), b.idBytes(docOfB));
}

/** @param documents at most 65,535, with different ids */
export function buildSegment(documents: readonly IndexedDocument[]): Segment {
  if (documents.length > MAX_DOCUMENTS) throw new Error('too many documents for a segment');
  const sorted = [...documents].sort((a, b) => a.updatedAt - b.updatedAt || (a.id < b.id ? -1 : 1));
  const ids = new Uint8Array(ID_BYTES * sorted.length);
  for (const [doc, { id }] of sorted.entries()) ids.set(bytesOfId(id), ID_BYTES * doc);
  return new Segment({
    ids,
    updatedAt: Float64Array.from(sorted, ({ updatedAt }) => updatedAt),
    profileIds: Int32Array.from(sorted, ({ profileId }) => profileId),
    sizes: Uint32Array.from(sorted, ({ size }) => size),
    versions: Uint32Array.from(sorted.flatMap(({ versions }) => versions)),
    ...wordsOf(sorted),
    columns: columnsOf(sorted),
  });
}

function wordsOf(documents: readonly IndexedDocument[]): Pick<SegmentParts, 'dictionary' | 'postings'> {
  const counts = new Map<string, number>();
  let total = 0;
  for (const { lexemes } of documents) {
    total += lexemes.size;
    for (const zones of lexemes.values()) counts.set(zones, (counts.get(zones) ?? 0) + 1);
  }
  const patterns = new Patterns(counts);
  const held = new Map<string, number[]>();
  for (const [doc, { lexemes }] of documents.entries()) {
    for (const [lexeme, zones] of lexemes) {
      const posting = postingOf(doc, patterns.of(zones));
      const known = held.get(lexeme);
      if (known === undefined) held.set(lexeme, [posting]);
      else known.push(posting);
    }
  }
  const dictionary = new DictionaryWriter();
  const postings = new PostingWriter(total, patterns);
  const sorted = [...held].map(([lexeme, list]) => ({ bytes: encoded(lexeme), list }));
  for (const { bytes, list } of sorted.sort((a, b) => compareBytes(a.bytes, b.bytes))) {
    dictionary.add(bytes);
    postings.add(list);
  }
  return { dictionary: dictionary.finish(), postings: postings.finish() };
}

function columnsOf(documents: readonly IndexedDocument[]): Columns {
  const writers = new Map<string, ColumnWriter>();
  for (const [doc, { values }] of documents.entries()) {
    for (const [name, value] of values) {
      let writer = writers.get(name);
      if (writer === undefined) {
        writer = new ColumnWriter(documents.length);
        writers.set(name, writer);
      }
      writer.set(doc, value);
    }
  }
  return new Map([...writers].map(([name, writer]) => [name, writer.finish()]));
}
