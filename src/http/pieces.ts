/** Large answers as JSON in pieces, so that neither building nor sending one keeps the event loop from other requests. */
import { Turns } from '../lib/turns.ts';

/** About how many characters an answer may have to be written at once. */
const LARGE = 500_000;
/** What an object or a list costs beside what is in it, in characters. */
const NODE = 16;

/** Whether the JSON of the value has more than so many characters; looks at no more of it than is needed to say so. */
function exceeds(value: unknown, most: number): boolean {
  let left = most;
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined && left >= 0; next = open.pop()) {
    left -= typeof next === 'string' ? next.length : NODE;
    if (typeof next !== 'object' || next === null) continue;
    const members = Array.isArray(next) ? next : Object.values(next);
    if (members.length * NODE > left) return true;
    for (const member of members) open.push(member ?? null);
  }
  return left < 0;
}

/** Whether the answer should be sent in pieces. */
export function isLarge(data: unknown): boolean {
  return typeof data === 'object' && exceeds(data, LARGE);
}

/** The text of `JSON.stringify` in pieces, each of one member that is not large; a long text is a piece of its own. */
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

/** Pieces of about this many characters are sent together. */
const SENT = 65_536;

/** The pieces between what stands before and behind them, with turns for other requests. */
export async function* inPieces(head: string, data: unknown, tail: string): AsyncGenerator<Buffer> {
  const turns = new Turns();
  let text = head;
  for (const piece of jsonPieces(data)) {
    text += piece;
    if (text.length < SENT) continue;
    yield Buffer.from(text);
    text = '';
    await turns.next();
  }
  yield Buffer.from(text + tail);
}
