/**
 * Segments as files in one folder, so that a start does not read every record. A file is complete when it has its name. Which
 * documents of it are deleted is not kept: the reader of files compares their documents with the records (`restore.ts`).
 */
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { newId } from '../../../platform/clock.ts';
import type { Segment } from './segment.ts';
import { segmentFromBytes, segmentToBytes } from './segment-file.ts';

/** Smaller segments are soon merged, and quickly read from the database. */
const LEAST_DOCUMENTS = 2000;
const NAME = /^[0-9a-f-]{36}\.segment$/;

/** One process uses a folder at a time. */
export class SegmentFiles {
  readonly #folder: string;
  readonly #least: number;
  /** Segments of which there is a file. */
  readonly #names = new Map<Segment, string>();

  constructor(folder: string, least = LEAST_DOCUMENTS) {
    this.#folder = folder;
    this.#least = least;
  }

  /**
   * Reads all segments that were built for `builtFor`. Other files are deleted: unfinished and damaged ones too. A folder that
   * cannot be read has none.
   *
   * @param builtFor identifies the storage of the records and the columns
   */
  async *read(builtFor: string): AsyncGenerator<Segment> {
    this.#names.clear();
    const names = await readdir(this.#folder).catch((): string[] => []);
    for (const name of names.sort()) {
      const file = path.join(this.#folder, name);
      const bytes = NAME.test(name) ? await readFile(file).catch(() => null) : null;
      const segment = bytes === null ? null : segmentFromBytes(bytes, builtFor);
      if (segment === null) {
        await rm(file, { force: true, recursive: true }).catch(() => {});
        continue;
      }
      this.#names.set(segment, name);
      yield segment;
    }
  }

  /** Writes the segments that have no file, then deletes the files of others. */
  async write(segments: readonly Segment[], builtFor: string): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const segment of segments) {
      if (segment.count < this.#least || this.#names.has(segment)) continue;
      const name = `${newId()}.segment`;
      await this.#writeWhole(name, segmentToBytes(segment, builtFor));
      this.#names.set(segment, name);
    }
    for (const [segment, name] of this.#names) {
      if (segments.includes(segment)) continue;
      this.#names.delete(segment);
      await rm(path.join(this.#folder, name), { force: true });
    }
  }

  async #writeWhole(name: string, bytes: Uint8Array): Promise<void> {
    const target = path.join(this.#folder, name);
    const unfinished = `${target}.new`;
    const file = await open(unfinished, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, target);
  }
}
