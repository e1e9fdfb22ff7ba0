/**
 * The backup file: a tar archive compressed with zstd, made of parts of a few MiB. Every part carries its SHA-256. A manifest
 * of all parts follows them, and the last entry contains the SHA-256 of the manifest. One pass over the file therefore detects
 * truncated, altered, missing and added parts, with the memory of a few parts.
 *
 *   docket-backup.json    header: format, schema, tables, sequences
 *   tables/NAME/000001…   rows of a table, as COPY writes them
 *   files/SHA256/000001…  content of a file
 *   manifest/000001…      one line per preceding entry: SHA-256, size, name
 *   end.json              counts, and the SHA-256 of the manifest
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { extract, type Header, type Pack, pack } from 'tar-stream';
import { newId } from '../clock.ts';

/** Size of a part, in bytes. Backup and restore need the memory of a few parts. */
export const PART_BYTES = 2 * 1024 * 1024;
const HEAD = 'docket-backup.json';
const END = 'end.json';
const DIGEST = 'DOCKET.sha256';
/** Maximum size of the header with its lists of tables and sequences, in bytes. */
const MAX_HEAD = 16 * 1024 * 1024;

/** The file is not a backup, incomplete or altered; the message says which. */
export class ArchiveError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ArchiveError';
  }
}

export interface ArchiveEntry {
  /** `docket-backup.json`, `tables/NAME/NUMBER` or `files/SHA256/NUMBER`. */
  name: string;
  bytes: Buffer;
}

export interface ArchiveEnd {
  entries: number;
  /** Number of rows by table. */
  rows: Record<string, number>;
  files: number;
  fileBytes: number;
  manifest: string;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function manifestLine(name: string, bytes: Uint8Array, digest: string): string {
  return `${digest} ${bytes.byteLength} ${name}\n`;
}

/**
 * Writes the archive under a temporary name and renames it once it is complete and synced to disk. Never overwrites an existing
 * file.
 */
export class ArchiveWriter {
  readonly #file: string;
  readonly #draft: string;
  readonly #handle: FileHandle;
  readonly #pack: Pack = pack();
  readonly #written: Promise<void>;
  readonly #hash: Hash = createHash('sha256');
  #lines = '';
  #lists = 0;
  #entries = 0;

  private constructor(file: string, draft: string, handle: FileHandle) {
    this.#file = file;
    this.#draft = draft;
    this.#handle = handle;
    const squeeze = createZstdCompress({
      params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
    });
    this.#written = pipeline(this.#pack, squeeze, handle.createWriteStream({ flush: true }));
    // The next write or `finish` reports the error. An earlier failure must not end the process as an unhandled rejection.
    this.#written.catch(() => {});
  }

  /** @throws Error if the file exists or cannot be created */
  static async create(file: string): Promise<ArchiveWriter> {
    const draft = path.join(path.dirname(file), `.${path.basename(file)}.${newId()}`);
    return new ArchiveWriter(file, draft, await open(draft, 'wx', 0o600));
  }

  async #put(name: string, bytes: Buffer): Promise<string> {
    const digest = sha256(bytes);
    const header = { name, size: bytes.length, mode: 0o600, pax: { [DIGEST]: digest } };
    const put = new Promise<void>((resolve, reject) => {
      this.#pack.entry(header, bytes, (error) => {
        if (error === undefined || error === null) resolve();
        else reject(error);
      });
    });
    // If the disk is full, the pipeline fails, and the archive would wait for its reader for ever.
    await Promise.race([put, this.#written.then(() => Promise.reject(new Error('the archive ended early')))]);
    return digest;
  }

  /** Adds one part of at most `PART_BYTES`. Resolves when the next part may be added. */
  async add(name: string, bytes: Buffer): Promise<void> {
    this.#lines += manifestLine(name, bytes, await this.#put(name, bytes));
    this.#entries++;
    if (this.#lines.length > PART_BYTES - 1024) await this.#list();
  }

  async #list(): Promise<void> {
    const bytes = Buffer.from(this.#lines);
    this.#lines = '';
    this.#hash.update(bytes);
    this.#lists++;
    await this.#put(`manifest/${partNumber(this.#lists)}`, bytes);
  }

  async addHead(head: object): Promise<void> {
    await this.add(HEAD, Buffer.from(JSON.stringify(head, null, 1)));
  }

  /** Completes the file and gives it its name. @throws Error if a file with that name exists, which stays unchanged */
  async finish(counts: Pick<ArchiveEnd, 'rows' | 'files' | 'fileBytes'>): Promise<void> {
    await this.#list();
    const end: ArchiveEnd = { entries: this.#entries, ...counts, manifest: this.#hash.digest('hex') };
    await this.#put(END, Buffer.from(JSON.stringify(end)));
    this.#pack.finalize();
    await this.#written;
    await link(this.#draft, this.#file).catch((error: { code?: string }) => {
      if (error.code === 'EEXIST') throw new Error(`${this.#file} is there already; nothing was written over it.`);
      throw error;
    });
    await rm(this.#draft);
    const folder = await open(path.dirname(path.resolve(this.#file)), 'r');
    await folder.sync().finally(() => folder.close());
  }

  /** Deletes an incomplete file that will not be finished. */
  async abandon(): Promise<void> {
    this.#pack.destroy();
    await this.#written.catch(() => {});
    await this.#handle.close().catch(() => {});
    await rm(this.#draft, { force: true });
  }
}

export function partNumber(number: number): string {
  return String(number).padStart(6, '0');
}

interface Check {
  file: string;
  hash: Hash;
  listed: Hash;
  entries: number;
}

/** The digest that a part carries. @throws ArchiveError if it does not match the content */
function digestOf(check: Check, header: Header, bytes: Buffer): string {
  const pax = (header.pax ?? {}) as Record<string, string>;
  const digest = sha256(bytes);
  if (pax[DIGEST] === digest) return digest;
  throw new ArchiveError(`${check.file} was altered or damaged: ${header.name} is not what was written there.`);
}

async function wholeOf(stream: AsyncIterable<unknown>, header: Header, file: string): Promise<Buffer> {
  const most = header.name === HEAD ? MAX_HEAD : PART_BYTES;
  if ((header.size ?? 0) > most) throw new ArchiveError(`${file} is no backup of Docket: ${header.name} is too long.`);
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function endOf(check: Check, bytes: Buffer): ArchiveEnd {
  const end = JSON.parse(bytes.toString('utf8')) as ArchiveEnd;
  const [made, listed] = [check.hash.digest('hex'), check.listed.digest('hex')];
  if (end.entries !== check.entries || end.manifest !== made || end.manifest !== listed) {
    throw new ArchiveError(`${check.file} was altered: its parts are not those that its list names.`);
  }
  return end;
}

/**
 * Reads the file from the beginning and passes on each part in the order written. Each part is verified before it is passed on.
 * Whether the file is complete is only known at the end.
 *
 * @throws ArchiveError with a sentence that describes the problem
 */
export async function readArchive(file: string, take: (part: ArchiveEntry) => Promise<void>): Promise<ArchiveEnd> {
  const check: Check = { file, hash: createHash('sha256'), listed: createHash('sha256'), entries: 0 };
  const source = extract();
  const fed = pipeline(createReadStream(file), createZstdDecompress(), source);
  fed.catch(() => {});
  let end: ArchiveEnd | undefined;
  try {
    for await (const entry of source) {
      const { header } = entry;
      const bytes = await wholeOf(entry, header, file);
      if (end !== undefined) throw new ArchiveError(`${file} was altered: it has data after its end.`);
      if (check.entries === 0 && header.name !== HEAD) throw notBackup(file);
      const digest = digestOf(check, header, bytes);
      if (header.name === END) end = endOf(check, bytes);
      else if (header.name.startsWith('manifest/')) check.listed.update(bytes);
      else {
        check.entries++;
        check.hash.update(manifestLine(header.name, bytes, digest));
        await take({ name: header.name, bytes });
      }
    }
    await fed;
  } catch (error) {
    source.destroy();
    throw reasonOf(error, check);
  }
  if (end === undefined) throw cutShort(file);
  return end;
}

function notBackup(file: string): ArchiveError {
  return new ArchiveError(`${file} is no backup of Docket.`);
}

function cutShort(file: string): ArchiveError {
  return new ArchiveError(`${file} is not whole: it was cut short. Take another copy of it, or another backup.`);
}

function reasonOf(error: unknown, { file, entries }: Check): unknown {
  if (error instanceof ArchiveError || !(error instanceof Error)) return error;
  const { code = '' } = error as { code?: string };
  const ofFile = code.startsWith('ZSTD_') || code.startsWith('Z_') || code.startsWith('ERR_STREAM_PREMATURE');
  const ofTar = /tar header|Unexpected end of data|end of file/i.test(error.message);
  if (/Unexpected end of data|end of file/i.test(error.message)) return cutShort(file);
  if (!ofFile && !ofTar) return error;
  return entries === 0 ? notBackup(file) : new ArchiveError(`${file} was altered or damaged; it cannot be read on.`);
}

/** The header of the file; reads no further. @throws ArchiveError */
export async function readHead(file: string): Promise<unknown> {
  const found = Symbol('found');
  let head: unknown;
  try {
    await readArchive(file, async (part) => {
      head = JSON.parse(part.bytes.toString('utf8'));
      throw found;
    });
  } catch (error) {
    if (error !== found) throw error;
  }
  return head;
}
