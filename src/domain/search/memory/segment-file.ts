/**
 * A segment as bytes, to be kept in a file. A checksum detects files that are incomplete or were changed.
 *
 * Layout: a mark, the checksum (SHA-256) of the rest, the length of a header, the header as JSON, then the arrays one after
 * another, each aligned to 8 bytes. Numbers have the byte order of the machine, which the mark shows. Pure.
 */
import { hash } from 'node:crypto';
import type { Column, ColumnValue } from './columns.ts';
import { Dictionary } from './dictionary.ts';
import { Postings } from './postings.ts';
import { Segment } from './segment.ts';

/** Increment this with every change of the layout. */
const VERSION = 2;
const MARK_BYTES = 8;
const CHECKSUM_BYTES = 32;
const START = MARK_BYTES + CHECKSUM_BYTES;

const ARRAYS = {
  ids: Uint8Array,
  updatedAt: Float64Array,
  profileIds: Int32Array,
  sizes: Uint32Array,
  versions: Uint32Array,
  lexemes: Uint8Array,
  lexemeStarts: Uint32Array,
  postingStarts: Uint32Array,
  postingDocs: Uint16Array,
  postingZones: Uint8Array,
  rareAt: Uint32Array,
  rareZones: Uint16Array,
} as const;
type ArrayName = keyof typeof ARRAYS;

type Arrays = { [Name in ArrayName]: (typeof ARRAYS)[Name]['prototype'] };

interface Header {
  lengths: Record<ArrayName, number>;
  patterns: readonly string[];
  columns: [name: string, values: readonly ColumnValue[]][];
  /** The configuration and analysis that the segment was built for. */
  builtFor: string;
}

const aligned = (offset: number): number => (offset + 7) & ~7;

function mark(): Buffer {
  const bytes = Buffer.alloc(MARK_BYTES);
  bytes.write('DKS1', 'latin1');
  // In the byte order of the machine.
  bytes.set(new Uint8Array(Uint32Array.of(VERSION).buffer), 4);
  return bytes;
}

/** @param builtFor identifies the configuration and the analysis; a segment for others is not read */
export function segmentToBytes({ parts }: Segment, builtFor: string): Buffer {
  const { dictionary, columns } = parts;
  const postings = parts.postings.arrays;
  const arrays: Arrays = {
    ids: parts.ids,
    updatedAt: parts.updatedAt,
    profileIds: parts.profileIds,
    sizes: parts.sizes,
    versions: parts.versions,
    lexemes: dictionary.bytes,
    lexemeStarts: dictionary.starts,
    postingStarts: postings.starts,
    postingDocs: postings.docs,
    postingZones: postings.zones,
    rareAt: postings.rareAt,
    rareZones: postings.rareZones,
  };
  const all: [string, Arrays[ArrayName]][] = Object.entries(arrays);
  const lengths = Object.fromEntries(all.map(([name, array]) => [name, array.length]));
  const header: Header = {
    lengths: lengths as Header['lengths'],
    patterns: postings.patterns,
    columns: [...columns].map(([name, { values }]) => [name, values]),
    builtFor,
  };
  const text = Buffer.from(JSON.stringify(header));
  const chunks: Uint8Array[] = [];
  let length = START;
  const add = (bytes: Uint8Array): void => {
    chunks.push(bytes, new Uint8Array(aligned(length + bytes.length) - length - bytes.length));
    length = aligned(length + bytes.length);
  };
  add(Uint8Array.from(new Uint8Array(Uint32Array.of(text.length).buffer)));
  add(text);
  for (const array of [...all.map(([, one]) => one), ...[...columns.values()].map(({ numbers }) => numbers)]) {
    add(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  }
  const rest = Buffer.concat(chunks);
  return Buffer.concat([mark(), hash('sha256', rest, 'buffer'), rest]);
}

/** Null if the bytes are not a whole segment that was built for `builtFor`. */
export function segmentFromBytes(bytes: Uint8Array, builtFor: string): Segment | null {
  // A copy of its own is aligned, whatever it was read into.
  const own = Buffer.from(new Uint8Array(bytes).buffer);
  if (own.length < START + 8 || !own.subarray(0, MARK_BYTES).equals(mark())) return null;
  if (!hash('sha256', own.subarray(START), 'buffer').equals(own.subarray(MARK_BYTES, START))) return null;
  const [textLength = 0] = new Uint32Array(own.buffer, START, 1);
  let offset = START + 8;
  const header = JSON.parse(own.subarray(offset, offset + textLength).toString()) as Header;
  if (header.builtFor !== builtFor) return null;
  offset = aligned(offset + textLength);
  const read = <T>(
    kind: new (buffer: ArrayBuffer, at: number, length: number) => T,
    width: number,
    length: number,
  ): T => {
    const array = new kind(own.buffer as ArrayBuffer, offset, length);
    offset = aligned(offset + width * length);
    return array;
  };
  const found: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(ARRAYS)) {
    found[name] = read<unknown>(kind, kind.BYTES_PER_ELEMENT, header.lengths[name as ArrayName]);
  }
  const arrays = found as unknown as Arrays;
  const count = arrays.updatedAt.length;
  const columns = new Map<string, Column>();
  for (const [name, values] of header.columns) columns.set(name, { numbers: read(Uint16Array, 2, count), values });
  return new Segment({
    ids: arrays.ids,
    updatedAt: arrays.updatedAt,
    profileIds: arrays.profileIds,
    sizes: arrays.sizes,
    versions: arrays.versions,
    dictionary: new Dictionary(arrays.lexemes, arrays.lexemeStarts),
    postings: new Postings({
      starts: arrays.postingStarts,
      docs: arrays.postingDocs,
      zones: arrays.postingZones,
      rareAt: arrays.rareAt,
      rareZones: arrays.rareZones,
      patterns: header.patterns,
    }),
    columns,
  });
}
