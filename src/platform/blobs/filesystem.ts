/**
 * Stores blobs as files. A file is written under a temporary name, synced and renamed, and its folder synced, before any row
 * refers to it.
 */
import { constants } from 'node:fs';
import {
  type FileHandle,
  mkdir,
  open,
  opendir,
  readFile,
  rename,
  stat,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { newId, systemClock } from '../clock.ts';
import { BlobDamaged, BlobMissing, type BlobStore, CheckedContent, checkedBytes, isBlobKey } from './store.ts';

const PORTION = 500;
const PROBE = 'docket';
/** Where files are written before they have their name; what a crash left here is removed with the old. */
const INCOMING = 'incoming';

export class FileBlobs implements BlobStore {
  readonly #root: string;
  /** Folder → promise that it is created and synced. */
  readonly #folders = new Map<string, Promise<void>>();

  constructor(root: string) {
    this.#root = root;
  }

  #path(sha256: string): string {
    if (!isBlobKey(sha256)) throw new Error('a blob key is a SHA-256 in lower-case hex');
    return path.join(this.#root, sha256.slice(0, 2), sha256);
  }

  async put(sha256: string, bytes: Uint8Array): Promise<void> {
    const target = this.#path(sha256);
    const folder = path.dirname(target);
    await this.#ready(folder);
    try {
      if (!(await this.#refresh(target, bytes))) await this.#write(target, bytes);
      // Also for existing content: the process that wrote it may not have synced it yet.
      await syncFolder(folder);
    } catch (error) {
      // The folder may be gone, as with a disk that was exchanged: the next attempt makes it again.
      this.#folders.delete(folder);
      throw error;
    }
  }

  async #ready(folder: string): Promise<void> {
    const make = async (): Promise<void> => {
      const made = await mkdir(this.#root, { recursive: true, mode: 0o700 });
      if (made !== undefined) await syncFolder(path.dirname(made));
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await mkdir(path.join(this.#root, INCOMING), { recursive: true, mode: 0o700 });
      await syncFolder(this.#root);
    };
    const ready = this.#folders.get(folder) ?? make();
    this.#folders.set(folder, ready);
    try {
      await ready;
    } catch (error) {
      this.#folders.delete(folder);
      throw error;
    }
  }

  async #write(target: string, bytes: Uint8Array): Promise<void> {
    const temporary = path.join(this.#root, INCOMING, newId());
    try {
      const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
      try {
        await file.writeFile(bytes);
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(temporary, target);
    } catch (error) {
      await unlink(temporary).catch(() => {});
      throw error;
    }
  }

  // Gives existing content a new modification time, so that the sweeper does not remove it meanwhile. Damaged content is not
  // kept, so that uploading it again repairs it.
  async #refresh(target: string, bytes: Uint8Array): Promise<boolean> {
    const known = await stat(target).catch(() => undefined);
    if (known?.size !== bytes.byteLength) return false;
    const stored = await readFile(target).catch(() => undefined);
    if (stored?.equals(bytes) !== true) return false;
    const now = systemClock.now() / 1000;
    await utimes(target, now, now);
    return true;
  }

  async read(sha256: string): Promise<Readable> {
    const file = await this.#open(sha256);
    return pipeline(file.createReadStream(), new CheckedContent(sha256), () => {});
  }

  /** Reads the whole file at once without a stream: most files are small, and a stream would cost more than the read. */
  async bytes(sha256: string, size: number): Promise<Buffer> {
    const file = await this.#open(sha256);
    try {
      // Not from the shared buffer pool, since a slow client may keep it for long. One extra byte detects a file that is too
      // long.
      const bytes = Buffer.allocUnsafeSlow(size + 1);
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      if (filled > size) throw new BlobDamaged(sha256);
      return await checkedBytes(sha256, bytes.subarray(0, filled));
    } finally {
      await file.close();
    }
  }

  async #open(sha256: string): Promise<FileHandle> {
    try {
      return await open(this.#path(sha256), 'r');
    } catch (error) {
      if ((error as { code?: string }).code === 'ENOENT') throw new BlobMissing(sha256);
      throw error;
    }
  }

  async remove(sha256: string): Promise<void> {
    await unlink(this.#path(sha256)).catch((error: { code?: string }) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }

  async *list(olderThanMs: number, now: number): AsyncIterable<string[]> {
    let portion: string[] = [];
    for await (const file of this.#files()) {
      const known = await stat(file).catch(() => undefined);
      if (known === undefined || now - known.mtimeMs < olderThanMs) continue;
      const name = path.basename(file);
      if (isBlobKey(name)) portion.push(name);
      else if (path.basename(path.dirname(file)) === INCOMING) await unlink(file).catch(() => {});
      if (portion.length === PORTION) {
        yield portion;
        portion = [];
      }
    }
    if (portion.length > 0) yield portion;
  }

  async *#files(): AsyncIterable<string> {
    if ((await stat(this.#root).catch(() => undefined)) === undefined) return;
    for await (const folder of await opendir(this.#root)) {
      if (!folder.isDirectory()) continue;
      for await (const file of await opendir(path.join(this.#root, folder.name))) {
        yield path.join(this.#root, folder.name, file.name);
      }
    }
  }

  async check(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    const probe = path.join(this.#root, `.probe-${newId()}`);
    try {
      // With content: on a full disk an empty file can still be made.
      await writeFile(probe, PROBE, { flag: 'wx', mode: 0o600, flush: true });
      if ((await readFile(probe, 'utf8')) !== PROBE) throw new Error(`${probe} holds other content than was written`);
    } finally {
      await unlink(probe).catch(() => {});
    }
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
