/** S3-compatible stores: blobs (each put is atomic) and heads of the audit chain. */
import type { S3Client } from '@aws-sdk/client-s3';
import { pipeline, type Readable } from 'node:stream';
import { newId } from '../clock.ts';
import { BlobDamaged, BlobMissing, type BlobStore, CheckedContent, checkedBytes, isBlobKey } from './store.ts';
import type * as ClientS3 from '@aws-sdk/client-s3';

export interface S3Options {
  bucket: string;
  /** URL of the store; null for AWS in the configured region. */
  endpoint: string | null;
  /** Folder in the bucket, without leading or trailing slashes; empty for none. */
  prefix?: string;
}

/**
 * Time limit of a removal including retries. The sweeper keeps a transaction open during it, which may idle for at most 15 s.
 */
const REMOVE_MS = 10_000;
const PROBE = 'docket';

export class S3Blobs implements BlobStore {
  readonly #bucket: string;
  readonly #endpoint: string | null;
  readonly #prefix: string;
  #opened: Promise<{ sdk: Sdk; client: S3Client }> | undefined;
  /** Unique to this process: two processes that probe must not remove each other's object. */
  readonly #probe: string;

  constructor({ bucket, endpoint, prefix = '' }: S3Options) {
    this.#bucket = bucket;
    this.#endpoint = endpoint;
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    this.#probe = `${this.#prefix}.probe-${newId()}`;
  }

  /** A store from a setting `s3://BUCKET/FOLDER?endpoint=URL`. */
  static at(url: string): S3Blobs {
    return new S3Blobs(s3Place(url));
  }

  #open(): Promise<{ sdk: Sdk; client: S3Client }> {
    this.#opened ??= connectS3(this.#endpoint);
    return this.#opened;
  }

  #key(sha256: string): string {
    if (!isBlobKey(sha256)) throw new Error('a blob key is a SHA-256 in lower-case hex');
    return this.#prefix + sha256;
  }

  /** Always uploads: the sweeper could remove existing content after a check for it. */
  async put(sha256: string, bytes: Uint8Array): Promise<void> {
    const { sdk, client } = await this.#open();
    const input = { Bucket: this.#bucket, Key: this.#key(sha256), Body: bytes, ContentLength: bytes.byteLength };
    await client.send(new sdk.PutObjectCommand(input));
  }

  async read(sha256: string): Promise<Readable> {
    return pipeline(await this.#get(sha256), new CheckedContent(sha256), () => {});
  }

  async bytes(sha256: string, size: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of (await this.#get(sha256)) as AsyncIterable<Buffer>) {
      length += chunk.length;
      // Content longer than expected must not fill the memory.
      if (length > size) throw new BlobDamaged(sha256);
      chunks.push(chunk);
    }
    return await checkedBytes(sha256, Buffer.concat(chunks));
  }

  async #get(sha256: string): Promise<Readable> {
    const { sdk, client } = await this.#open();
    try {
      const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket: this.#bucket, Key: this.#key(sha256) }));
      return Body as Readable;
    } catch (error) {
      if (error instanceof sdk.NoSuchKey) throw new BlobMissing(sha256);
      throw error;
    }
  }

  async remove(sha256: string): Promise<void> {
    const { sdk, client } = await this.#open();
    const input = { Bucket: this.#bucket, Key: this.#key(sha256) };
    await client.send(new sdk.DeleteObjectCommand(input), { abortSignal: AbortSignal.timeout(REMOVE_MS) });
  }

  async *list(olderThanMs: number, now: number): AsyncIterable<string[]> {
    const { sdk, client } = await this.#open();
    let ContinuationToken: string | undefined;
    do {
      const page = await client.send(
        new sdk.ListObjectsV2Command({
          Bucket: this.#bucket,
          Prefix: this.#prefix,
          ...(ContinuationToken && { ContinuationToken }),
        }),
      );
      const keys = (page.Contents ?? []).flatMap(({ Key = '', LastModified }) => {
        const name = Key.slice(this.#prefix.length);
        const old = LastModified !== undefined && now - LastModified.getTime() >= olderThanMs;
        return old && isBlobKey(name) ? [name] : [];
      });
      if (keys.length > 0) yield keys;
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }

  /**
   * Writes, reads and removes a small object below the store's own prefix: just what files need. It does not ask for the
   * bucket itself, which an account with no more rights than these may not.
   */
  async check(): Promise<void> {
    const { sdk, client } = await this.#open();
    const probe = { Bucket: this.#bucket, Key: this.#probe };
    const steps = {
      PutObject: () => client.send(new sdk.PutObjectCommand({ ...probe, Body: PROBE, ContentLength: PROBE.length })),
      GetObject: async () => {
        const { Body } = await client.send(new sdk.GetObjectCommand(probe));
        if ((await Body?.transformToString()) !== PROBE)
          throw new Error('it gave back other content than it was given');
      },
      DeleteObject: () => client.send(new sdk.DeleteObjectCommand(probe)),
    };
    for (const [operation, step] of Object.entries(steps)) {
      try {
        await step();
      } catch (error) {
        throw new Error(`${operation} of s3://${probe.Bucket}/${probe.Key}: ${reasonOf(error)}`, { cause: error });
      }
    }
  }
}

/** The store's own code and status (`AccessDenied, 403`), or what the connection said. */
function reasonOf(error: unknown): string {
  const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  return status === undefined ? message || name : `${name}, ${status}`;
}

export type Sdk = typeof ClientS3;

const CONNECT_MS = 3000;
/** Inactivity of the store after which a request is aborted, in milliseconds. */
const SILENCE_MS = 10_000;
const TRIES = 3;

export interface S3Place {
  bucket: string;
  /** URL of the store; null for AWS in the configured region. */
  endpoint: string | null;
  /** Folder in the bucket, without leading or trailing slashes; empty for none. */
  prefix: string;
}

/** Parses a setting `s3://BUCKET/FOLDER?endpoint=URL`. */
export function s3Place(url: string): S3Place {
  const { hostname, pathname, searchParams } = new URL(url);
  const prefix = decodeURIComponent(pathname).replaceAll(/^\/+|\/+$/g, '');
  return { bucket: hostname, endpoint: searchParams.get('endpoint'), prefix };
}

/** Loads the SDK dynamically, since loading it takes longer than loading the rest of the service. */
export async function connectS3(endpoint: string | null): Promise<{ sdk: Sdk; client: S3Client }> {
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true, region: () => regionOr(sdk, 'us-east-1') }),
    maxAttempts: TRIES,
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: SILENCE_MS, throwOnRequestTimeout: true },
    // Many S3-compatible stores do not support checksums in trailers. The signature covers the content anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return { sdk, client };
}

/** The region that the SDK detects. Most stores other than AWS have no region, but a request must name one. */
async function regionOr(sdk: Sdk, otherwise: string): Promise<string> {
  try {
    return await new sdk.S3Client({}).config.region();
  } catch {
    return otherwise;
  }
}

export class S3Heads {
  readonly #place: S3Place;
  readonly #opened: Promise<{ sdk: Sdk; client: S3Client }>;

  constructor(url: string) {
    this.#place = s3Place(url);
    this.#opened = connectS3(this.#place.endpoint);
    // The first use reports the error.
    this.#opened.catch(() => {});
  }

  #folder(): string {
    return this.#place.prefix === '' ? '' : `${this.#place.prefix}/`;
  }

  /** Object lock requires a checksum. */
  async put(newest: number, text: string): Promise<void> {
    const { sdk, client } = await this.#opened;
    const Key = `${this.#folder()}head-${String(newest).padStart(15, '0')}`;
    const Body = Buffer.from(text);
    await client.send(
      new sdk.PutObjectCommand({
        Bucket: this.#place.bucket,
        Key,
        Body,
        ContentLength: Body.length,
        ContentType: 'text/plain',
        ChecksumAlgorithm: 'SHA256',
      }),
    );
  }

  /** The texts of the newest objects, at most `most`. */
  async newest(most: number): Promise<string[]> {
    const { sdk, client } = await this.#opened;
    const Bucket = this.#place.bucket;
    let keys: string[] = [];
    let ContinuationToken: string | undefined;
    do {
      const input = { Bucket, Prefix: `${this.#folder()}head-`, ...(ContinuationToken && { ContinuationToken }) };
      const page = await client.send(new sdk.ListObjectsV2Command(input));
      keys = [...keys, ...(page.Contents ?? []).flatMap(({ Key }) => Key ?? [])].slice(-most);
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    const texts: string[] = [];
    for (const Key of keys) {
      const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key }));
      texts.push((await Body?.transformToString()) ?? '');
    }
    return texts;
  }
}
