/** Fills an index from files, and brings it to the state of the records. */
import { Bits } from './document-set.ts';
import type { SegmentFiles } from './files.ts';
import type { RecordSource } from './record-source.ts';
import type { MemoryIndex } from './memory-index.ts';
import { bytesOfId, type Segment, type StoredVersion } from './segment.ts';

const COMPARED_AT_ONCE = 20_000;
const READ_AT_ONCE = 1000;

/**
 * Works in steps. Every record is compared, because a file does not tell what changed after it was written: a document is kept if
 * it was read from the row versions that are there now.
 *
 * @param index empty
 * @returns false if there are no files, and nothing was done
 */
export async function* restore(
  index: MemoryIndex,
  source: RecordSource,
  columns: ReadonlySet<string>,
  files: SegmentFiles,
  builtFor: string,
): AsyncGenerator<undefined, boolean> {
  for await (const segment of files.read(builtFor)) {
    index.add(segment);
    yield;
  }
  if (index.documents === 0) return false;
  const kept = new Map(index.segments.map(({ segment }) => [segment, new Bits(segment.count)]));
  const changed: string[] = [];
  for (let after: string | null = null; ; ) {
    const stored: StoredVersion[] = await source.versions(after, COMPARED_AT_ONCE);
    for (const one of stored) if (!keep(kept, one)) changed.push(one.id);
    yield;
    after = stored.at(-1)?.id ?? null;
    if (stored.length < COMPARED_AT_ONCE) break;
  }
  index.keepOnly(kept);
  for (let at = 0; at < changed.length; at += READ_AT_ONCE) {
    index.apply(await source.read(columns, changed.slice(at, at + READ_AT_ONCE)));
    yield;
  }
  return true;
}

/** Keeps one document that is equal to what is stored. @returns whether there is one */
function keep(kept: ReadonlyMap<Segment, Bits>, stored: StoredVersion): boolean {
  const id = bytesOfId(stored.id);
  for (const [segment, bits] of kept) {
    const doc = segment.find(id);
    if (doc < 0 || !isSame(segment, doc, stored)) continue;
    bits.add(doc);
    return true;
  }
  return false;
}

function isSame({ parts }: Segment, doc: number, { updatedAt, profileId, size, versions }: StoredVersion): boolean {
  const [record, words] = versions;
  return (
    parts.versions[2 * doc] === record &&
    parts.versions[2 * doc + 1] === words &&
    parts.updatedAt[doc] === updatedAt &&
    parts.profileIds[doc] === profileId &&
    parts.sizes[doc] === size
  );
}
