/** Header fields of a message, in the order in which they were received: the newest `Received` is the first one. */
import { nfc } from '../../lib/text.ts';

export interface Header {
  /** In lower case. */
  name: string;
  /** Without folding: one line. */
  value: string;
}

/** Maximum number of message ids that are read from one field. Real threads have fewer; the rest is ignored. */
const MAX_IDS = 200;
/** Maximum length of a line that is read. Longer ones are cut. */
const LONGEST_VALUE = 20_000;

export class Headers {
  readonly list: readonly Header[];

  constructor(list: readonly Header[]) {
    this.list = list;
  }

  /** Reads raw fields, each `Name: value` and possibly folded over several lines. Lines without a name are left out. */
  static ofLines(lines: readonly string[]): Headers {
    const list: Header[] = [];
    for (const line of lines) {
      const colon = line.indexOf(':');
      if (colon <= 0) continue;
      const value = line
        .slice(colon + 1, colon + 1 + LONGEST_VALUE)
        .replace(/\r?\n/g, '')
        .trim();
      list.push({ name: line.slice(0, colon).trim().toLowerCase(), value });
    }
    return new Headers(list);
  }

  /** The value of the first field of this name. */
  first(name: string): string | undefined {
    return this.list.find((header) => header.name === name)?.value;
  }

  all(name: string): string[] {
    return this.list.filter((header) => header.name === name).map(({ value }) => value);
  }

  count(name: string): number {
    return this.all(name).length;
  }

  has(name: string): boolean {
    return this.first(name) !== undefined;
  }
}

/** The message ids of a field, without angle brackets, in their order. */
export function messageIds(value: string | undefined): string[] {
  if (value === undefined) return [];
  const found: string[] = [];
  for (const [, id] of value.matchAll(/<([^<>\s]{1,900})>/g)) {
    found.push(id as string);
    if (found.length === MAX_IDS) break;
  }
  return found;
}

/** An address in the form in which two addresses are compared. */
export function addressKey(address: string): string {
  return nfc(address.trim()).toLowerCase();
}

/** The part of an address after the last `@`, in lower case. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}
