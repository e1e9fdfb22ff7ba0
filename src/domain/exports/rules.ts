/** The file formats of exports; pure. */
import { guardCell, writeCsv } from '../../lib/csv.ts';
import { cellOf, needsGuard, type RecordType } from '../metadata/index.ts';
import type { ObjectAnswer } from '../objects/index.ts';

/** Maximum size of a file in bytes. */
export const MAX_BYTES = 16 * 1024 * 1024;

type Fields = RecordType['newest']['fields'];
type Field = Fields extends ReadonlyMap<string, infer F> ? F : never;

/** A file format: the text before, between and after the records. */
export interface FileFormat {
  mediaType: string;
  extension: string;
  head: string;
  separator: string;
  tail: string;
  record(object: ObjectAnswer): string;
}

const SYSTEM_COLUMNS: readonly [string, (object: ObjectAnswer) => string][] = [
  ['id', ({ id }) => id],
  ['number', ({ number }) => number ?? ''],
  ['revision', ({ revision }) => String(revision)],
  ['state', ({ state }) => state],
  ['workflowState', ({ workflowState }) => workflowState?.code ?? ''],
  ['createdAt', ({ createdAt }) => createdAt],
  ['updatedAt', ({ updatedAt }) => updatedAt],
];

function cell(field: Field, stored: unknown): string {
  const text = cellOf(field, stored);
  return needsGuard(field, text) ? guardCell(text) : text;
}

/** The system columns, then one column for each field, by code. */
export function csvFormat(fields: readonly Field[]): FileFormat {
  const names = [...SYSTEM_COLUMNS.map(([name]) => name), ...fields.map(({ code }) => code)];
  return {
    mediaType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    head: writeCsv([names]),
    separator: '',
    tail: '',
    record: (object) =>
      writeCsv([
        [
          ...SYSTEM_COLUMNS.map(([, of]) => of(object)),
          ...fields.map((field) =>
            Object.hasOwn(object.values, field.code) ? cell(field, object.values[field.code]) : '',
          ),
        ],
      ]),
  };
}

/** An array of records as `GET /objects/{objectId}` returns them. */
export const JSON_FORMAT: FileFormat = {
  mediaType: 'application/json; charset=utf-8',
  extension: 'json',
  head: '[',
  separator: ',\n',
  tail: ']\n',
  record: (object) => JSON.stringify(object),
};

/** Builds a file record by record, up to the maximum size. */
export class FileWriter {
  readonly #format: FileFormat;
  #bytes: number;
  #empty = true;

  constructor(format: FileFormat) {
    this.#format = format;
    this.#bytes = Buffer.byteLength(format.head) + Buffer.byteLength(format.tail);
  }

  /** The next part of the file; undefined if the record would make it too large. */
  add(object: ObjectAnswer): string | undefined {
    const text = (this.#empty ? '' : this.#format.separator) + this.#format.record(object);
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > MAX_BYTES) return undefined;
    this.#bytes += bytes;
    this.#empty = false;
    return text;
  }
}
