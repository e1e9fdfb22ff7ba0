/**
 * The index in memory: the newest state of every document, in segments. Changes are applied in any order and any number of
 * times. Pure.
 */
import { Bits } from './document-set.ts';
import { type Living, mergeSegments, segmentsToMerge } from './merge.ts';
import { buildSegment, bytesOfId, type IndexedDocument, type Segment } from './segment.ts';
import type { Found } from './walk.ts';

export class MemoryIndex {
  #segments: Living[] = [];
  #merging: { given: readonly Living[]; steps: Generator<undefined, Segment> } | undefined;

  /** Every document that is not deleted, in segments. Callers do not change them. */
  get segments(): readonly Living[] {
    return this.#segments;
  }

  get documents(): number {
    return this.#segments.reduce((sum, { alive }) => sum + alive, 0);
  }

  /** Memory in bytes. */
  get bytes(): number {
    return this.#segments.reduce((sum, { segment, deleted }) => sum + segment.bytes + deleted.words.byteLength, 0);
  }

  /**
   * Replaces documents by their current state.
   *
   * @param changed at most 65,535, with different ids
   * @param gone ids of documents that no longer exist
   */
  apply(changed: readonly IndexedDocument[], gone: readonly string[] = []): void {
    for (const id of [...gone, ...changed.map((document) => document.id)]) this.#delete(bytesOfId(id));
    if (changed.length > 0) this.add(buildSegment(changed));
    else this.#dropEmpty();
  }

  /** Adds a segment whose documents are not in the index. */
  add(segment: Segment): void {
    this.#segments.push({ segment, deleted: new Bits(segment.count), alive: segment.count });
    this.#dropEmpty();
  }

  /** The document with the id. */
  find(id: string): Found | undefined {
    return this.#locate(bytesOfId(id));
  }

  /** Deletes all documents that are not among these. */
  keepOnly(kept: ReadonlyMap<Segment, Bits>): void {
    for (const living of this.#segments) {
      const { segment, deleted } = living;
      for (let doc = 0; doc < segment.count; doc++) if (kept.get(segment)?.has(doc) !== true) deleted.add(doc);
      living.alive = segment.count - deleted.count();
    }
    this.#dropEmpty();
  }

  #delete(id: Uint8Array): void {
    const found = this.#locate(id);
    if (found === undefined) return;
    found.living.deleted.add(found.doc);
    found.living.alive--;
  }

  #locate(id: Uint8Array): (Found & { living: Living }) | undefined {
    for (const living of this.#segments) {
      const { segment, deleted } = living;
      const doc = segment.find(id);
      if (doc >= 0 && !deleted.has(doc)) return { living, segment, doc };
    }
    return undefined;
  }

  #dropEmpty(): void {
    this.#segments = this.#segments.filter(({ alive }) => alive > 0);
  }

  /** Merges segments for a short time. @returns whether more is to be merged */
  mergeStep(): boolean {
    if (this.#merging === undefined) {
      const given = segmentsToMerge(this.#segments);
      if (given === null) return false;
      // What is deleted from here on is marked in the given segments and in the merged one, when that is ready.
      const copies = given.map(({ segment, deleted, alive }) => ({
        segment,
        deleted: copyOf(deleted, segment),
        alive,
      }));
      this.#merging = { given, steps: mergeSegments(copies) };
    }
    const step = this.#merging.steps.next();
    if (step.done === true) {
      this.#replace(this.#merging.given, step.value);
      this.#merging = undefined;
    }
    return true;
  }

  #replace(given: readonly Living[], segment: Segment): void {
    const deleted = new Bits(segment.count);
    let alive = segment.count;
    for (let doc = 0; doc < segment.count; doc++) {
      const id = segment.idBytes(doc);
      if (given.some((living) => isAlive(living, id))) continue;
      deleted.add(doc);
      alive--;
    }
    this.#segments = this.#segments.filter((living) => !given.includes(living));
    this.#segments.push({ segment, deleted, alive });
    this.#dropEmpty();
  }
}

function isAlive({ segment, deleted }: Living, id: Uint8Array): boolean {
  const doc = segment.find(id);
  return doc >= 0 && !deleted.has(doc);
}

function copyOf(bits: Bits, { count }: Segment): Bits {
  const copy = new Bits(count);
  copy.words.set(bits.words);
  return copy;
}
