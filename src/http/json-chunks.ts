/** Serializes large answers to JSON in chunks, so that other requests can run in between. */
import type { ListInWindows } from '../contract/operation.ts';
import { JsonText } from '../lib/json.ts';
import { Yielder } from '../lib/yielding.ts';

/** Answers above about this many characters are serialized in chunks. */
const LARGE = 500_000;
/** Estimated characters of an object or array itself, and of scalars other than strings. */
const NODE = 16;

/** What is left of `budget` characters after the JSON of the value. Stops as soon as nothing is left. */
function spare(value: unknown, budget: number): number {
  if (typeof value === 'string') return budget - value.length;
  let left = budget - NODE;
  if (typeof value !== 'object' || value === null) return left;
  if (Array.isArray(value)) {
    for (const member of value) if ((left = spare(member, left)) < 0) break;
    return left;
  }
  // Answers have no inherited members, and this makes no list of the members.
  for (const name in value) if ((left = spare((value as Record<string, unknown>)[name], left)) < 0) break;
  return left;
}

/** True if the JSON of the value has more than `most` characters. */
function exceeds(value: unknown, most: number): boolean {
  return spare(value, most) < 0;
}

/** True if the answer should be sent in chunks. Text is sent as it is. */
export function isLarge(data: unknown): boolean {
  return typeof data === 'object' && !(data instanceof JsonText) && exceeds(data, LARGE);
}

/** Yields the text of `JSON.stringify` in chunks. Each holds one member that is not large; a long string is one chunk. */
function* jsonPieces(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || !exceeds(value, LARGE / 4)) {
    yield JSON.stringify(value) ?? 'null';
    return;
  }
  let before = '';
  if (Array.isArray(value)) {
    for (const member of value) {
      yield `${before === '' ? '[' : ','}`;
      before = ',';
      yield* jsonPieces(member);
    }
    yield before === '' ? '[]' : ']';
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${before === '' ? '{' : ','}${JSON.stringify(key)}:`;
    before = ',';
    yield* jsonPieces(member);
  }
  yield before === '' ? '{}' : '}';
}

/** Chunks are combined to about this many characters. */
const SENT = 65_536;

/** The JSON between `head` and `tail` in chunks. Yields to other requests between them. */
export async function* inPieces(head: string, data: unknown, tail: string): AsyncGenerator<Buffer> {
  const yielder = new Yielder();
  let text = head;
  for (const piece of jsonPieces(data)) {
    text += piece;
    if (text.length < SENT) continue;
    yield Buffer.from(text);
    text = '';
    await yielder.next();
  }
  yield Buffer.from(text + tail);
}

/** The JSON of a list between `head` and `tail` in chunks. A window is read when the reader has taken the one before. */
export async function* windowPieces(head: string, list: ListInWindows, tail: () => string): AsyncGenerator<Buffer> {
  const yielder = new Yielder();
  let text = `${head}[`;
  let isFirst = true;
  for await (const rows of inOrder(list)) {
    for (const row of rows) {
      text += `${isFirst ? '' : ','}${JSON.stringify(row)}`;
      isFirst = false;
      if (text.length < SENT) continue;
      yield Buffer.from(text);
      text = '';
      await yielder.next();
    }
  }
  yield Buffer.from(`${text}]${tail()}`);
}

async function* inOrder({ first, rest }: ListInWindows): AsyncGenerator<readonly unknown[]> {
  yield first;
  yield* rest;
}
