/**
 * Examples of operations for the OpenAPI documents, stored in `openapi/examples`. They are recorded from a running service
 * (`npm run openapi:examples`), and a test repeats the calls.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One successful call. */
export interface Example {
  params?: Record<string, string>;
  query?: Record<string, string | number | boolean>;
  /** Absent if the call has no body. */
  body?: unknown;
  /** `data` of the response, or the whole response if it is raw. Absent if the content is binary. */
  answer?: unknown;
  /** Media type of a raw response. */
  mediaType?: string;
}

/** Operation id → example. */
export type Examples = Readonly<Record<string, Example>>;

const FOLDER = path.resolve(import.meta.dirname, '../../openapi/examples');

/** Reads the recorded examples. There is one file per group of operations. */
export function readExamples(folder = FOLDER): Examples {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return Object.assign(
    {},
    ...names.map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Examples),
  ) as Examples;
}
