/** Stores heads of the audit chain in a bucket: one small object per write, named by its newest head. */
import type { S3Client } from '@aws-sdk/client-s3';
import { connectS3, type S3Place, s3Place, type Sdk } from './s3-client.ts';

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
