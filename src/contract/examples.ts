/**
 * Worked examples of operations for the OpenAPI documents, kept in `openapi/examples`. They are recorded from a running service
 * (`npm run openapi:examples`), and a test makes the same calls again.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One successful call. */
export interface Example {
  params?: Record<string, string>;
  query?: Record<string, string | number | boolean>;
  /** Absent where the call has none. */
  body?: unknown;
  /** `data` of the answer, or all of it where the answer is raw. Absent where the content is binary. */
  answer?: unknown;
  /** Of a raw answer. */
  mediaType?: string;
}

/** By id of the operation. */
export type Examples = Readonly<Record<string, Example>>;

const FOLDER = path.resolve(import.meta.dirname, '../../openapi/examples');

/** Reads the recorded examples; there is a file for each group of operations. */
export function readExamples(folder = FOLDER): Examples {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return Object.assign(
    {},
    ...names.map((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Examples),
  ) as Examples;
}
