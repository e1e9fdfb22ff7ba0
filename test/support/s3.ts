/** An S3 server for tests, its credentials in the environment of the process. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The used part of an untyped server. */
interface S3Server {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}
const require = createRequire(import.meta.url);
const S3rver = require('@20minutes/s3rver') as new (options: Record<string, unknown>) => S3Server;

export interface TestS3 {
  /** In the form of a query parameter. */
  endpoint: string;
  /** Puts other bytes into the place of what the bucket `docket` has under the key. */
  spoil(key: string, bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** A server of its own folder with the bucket `docket`, its credentials in the environment. */
export async function s3Server(options: Record<string, unknown>): Promise<TestS3> {
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-s3-'));
  const server = new S3rver({
    directory: folder,
    address: '127.0.0.1',
    port: 0,
    silent: true,
    configureBuckets: [{ name: 'docket' }],
    ...options,
  });
  const { port } = await server.run();
  const restore = setCredentials();
  return {
    endpoint: encodeURIComponent(`http://127.0.0.1:${port}`),
    spoil: (key, bytes) => writeFile(path.join(folder, 'docket', `${key}._S3rver_object`), bytes),
    close: async () => {
      restore();
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Sets the server's credentials where the SDK reads them. @returns a function that restores the previous ones */
export function setCredentials(): () => void {
  const variables = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}
