/**
 * Values of fields that grants and filters compare, by document. Each distinct value is kept once; a document has its number
 * (0: empty). A condition is therefore evaluated once for each distinct value. Pure.
 */

/** A stored value as conditions see it. */
export interface ColumnValue {
  value: unknown;
  /** The case-folded copy of a text; absent for system fields and for values without text. */
  folded?: unknown;
}

export interface Column {
  /** By document; 0 if it has no value, otherwise the index of the value plus 1. */
  numbers: Uint16Array;
  values: readonly ColumnValue[];
}

/** Column name → column. A column without any value is left out. */
export type Columns = ReadonlyMap<string, Column>;

export function valueAt(columns: Columns, name: string, doc: number): ColumnValue | undefined {
  const column = columns.get(name);
  return column === undefined ? undefined : column.values[(column.numbers[doc] as number) - 1];
}

export class ColumnWriter {
  readonly #numbers: Uint16Array;
  readonly #values: ColumnValue[] = [];
  /** The value as JSON → its number. */
  readonly #known = new Map<string, number>();

  constructor(documents: number) {
    this.#numbers = new Uint16Array(documents);
  }

  set(doc: number, value: ColumnValue): void {
    this.#numbers[doc] = this.number(value);
  }

  setNumber(doc: number, number: number): void {
    this.#numbers[doc] = number;
  }

  number(value: ColumnValue): number {
    const key = JSON.stringify([value.value, value.folded]);
    let number = this.#known.get(key);
    if (number === undefined) {
      number = this.#values.push(value);
      this.#known.set(key, number);
    }
    return number;
  }

  finish(): Column {
    return { numbers: this.#numbers, values: this.#values };
  }
}

/** An estimate: a value takes about two bytes for each character of its JSON, and its object. */
export function bytesOfColumns(columns: Columns): number {
  let bytes = 0;
  for (const { numbers, values } of columns.values()) {
    bytes += numbers.byteLength;
    for (const value of values) bytes += 64 + 2 * JSON.stringify(value).length;
  }
  return bytes;
}
