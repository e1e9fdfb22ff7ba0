/** Creates clients of S3-compatible stores with the service's limits. */
import type * as ClientS3 from '@aws-sdk/client-s3';
import type { S3Client } from '@aws-sdk/client-s3';

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
