/** The client of an S3-compatible store, with the limits that the service keeps. */
import type * as ClientS3 from '@aws-sdk/client-s3';
import type { S3Client } from '@aws-sdk/client-s3';

export type Sdk = typeof ClientS3;

const CONNECT_MS = 3000;
/** Silence of the store that ends a request. */
const SILENCE_MS = 10_000;
const TRIES = 3;

export interface S3Place {
  bucket: string;
  /** Where the store answers; null: that of the region at AWS. */
  endpoint: string | null;
  /** Folder in the bucket, without slashes around it; empty for none. */
  prefix: string;
}

/** What a setting `s3://BUCKET/FOLDER?endpoint=URL` names. */
export function s3Place(url: string): S3Place {
  const { hostname, pathname, searchParams } = new URL(url);
  const prefix = decodeURIComponent(pathname).replaceAll(/^\/+|\/+$/g, '');
  return { bucket: hostname, endpoint: searchParams.get('endpoint'), prefix };
}

/** The SDK takes longer to load than the rest of the service, so that only who needs it loads it. */
export async function connectS3(endpoint: string | null): Promise<{ sdk: Sdk; client: S3Client }> {
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: true, region: () => regionOr(sdk, 'us-east-1') }),
    maxAttempts: TRIES,
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: SILENCE_MS, throwOnRequestTimeout: true },
    // Checksums in trailers are unknown to many stores that are not Amazon's; the signature covers the content anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return { sdk, client };
}

/** The region that the SDK finds by itself; stores elsewhere than at AWS mostly have none, but a request must name one. */
async function regionOr(sdk: Sdk, otherwise: string): Promise<string> {
  try {
    return await new sdk.S3Client({}).config.region();
  } catch {
    return otherwise;
  }
}
