/**
 * Finds the position of the error in an invalid JSON text. It only runs on rejected texts, so it need not be fast. It must be
 * linear, because a rejected text can be as long as any other.
 */
import { Fault } from './fault.ts';

/** INVALID_JSON with line and column (both from 1, columns in UTF-16 units) of an offset into text or its UTF-8 bytes. */
export function jsonFault(source: Buffer | string, offset: number, reason: string): Fault {
  const before = typeof source === 'string' ? source.slice(0, offset) : source.toString('utf8', 0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let at = before.indexOf('\n'); at >= 0; at = before.indexOf('\n', at + 1)) line++;
  return new Fault('INVALID_JSON', `Invalid JSON at line ${line}, column ${before.length - lineStart + 1}: ${reason}.`);
}

/** A fault that names the first position where `text` is not JSON or repeats a key. */
export function locateJsonError(text: string): Fault {
  const error = new Grammar(text).findJsonError();
  return jsonFault(text, error?.offset ?? 0, error?.reason ?? 'the text cannot be parsed');
}

interface JsonError {
  offset: number;
  reason: string;
}

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma or end';

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const BLANKS = /[ \t\n\r]*/y;
const WORDS: ReadonlyMap<string, string> = new Map([
  ['t', 'true'],
  ['f', 'false'],
  ['n', 'null'],
]);
const WORDING: Readonly<Record<Expected, string>> = {
  value: 'a value is expected here',
  'value or ]': 'a value or ] is expected here',
  key: 'a key in double quotes is expected here',
  'key or }': 'a key in double quotes or } is expected here',
  colon: 'a colon is expected here',
  'comma or end': 'a comma or the closing bracket is expected here',
};

/** A non-recursive checker of the JSON grammar. It only stores the keys of the open objects. */
class Grammar {
  readonly #text: string;
  /** One entry per open bracket: the keys of an object so far, or null for an array. */
  readonly #open: (Set<string> | null)[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  findJsonError(): JsonError | undefined {
    let expected: Expected = 'value';
    for (;;) {
      this.#at = this.#match(BLANKS) ?? this.#at;
      if (expected === 'comma or end' && this.#open.length === 0) {
        return this.#at < this.#text.length ? this.#error('there is text after the end of the JSON') : undefined;
      }
      if (this.#at >= this.#text.length) return this.#error('the text ends before the JSON is complete');
      const next = this.#step(expected);
      if (typeof next !== 'string') return next;
      expected = next;
    }
  }

  #error(reason: string, offset = this.#at): JsonError {
    return { offset, reason };
  }

  /** End of the match of a sticky expression at the current position, if it matches. */
  #match(expression: RegExp): number | undefined {
    expression.lastIndex = this.#at;
    return expression.test(this.#text) ? expression.lastIndex : undefined;
  }

  #step(expected: Expected): Expected | JsonError {
    const character = this.#text[this.#at] as string;
    switch (expected) {
      case 'colon':
        if (character !== ':') return this.#error(WORDING[expected]);
        this.#at++;
        return 'value';
      case 'comma or end':
        return this.#separator(character);
      case 'key':
      case 'key or }':
        if (character === '"') return this.#key();
        if (character === '}' && expected === 'key or }') return this.#close();
        return this.#error(WORDING[expected]);
      default:
        if (character === ']' && expected === 'value or ]') return this.#close();
        return this.#value(character, expected);
    }
  }

  #close(): Expected {
    this.#open.pop();
    this.#at++;
    return 'comma or end';
  }

  #separator(character: string): Expected | JsonError {
    const object = this.#open.at(-1) !== null;
    if (character === (object ? '}' : ']')) return this.#close();
    if (character !== ',') return this.#error(WORDING['comma or end']);
    this.#at++;
    return object ? 'key' : 'value';
  }

  #key(): Expected | JsonError {
    const start = this.#at;
    const error = this.#string();
    if (error !== undefined) return error;
    const key: string = JSON.parse(this.#text.slice(start, this.#at));
    const keys = this.#open.at(-1);
    if (keys?.has(key)) return this.#error('an object contains this key twice', start);
    keys?.add(key);
    return 'colon';
  }

  #value(character: string, expected: Expected): Expected | JsonError {
    if (character === '{' || character === '[') {
      this.#open.push(character === '{' ? new Set() : null);
      this.#at++;
      return character === '{' ? 'key or }' : 'value or ]';
    }
    if (character === '"') return this.#string() ?? 'comma or end';
    const word = WORDS.get(character);
    const end = word === undefined ? this.#match(NUMBER) : this.#at + word.length;
    if (end === undefined || (word !== undefined && !this.#text.startsWith(word, this.#at))) {
      return this.#error(WORDING[expected]);
    }
    this.#at = end;
    return 'comma or end';
  }

  /** Moves past the string that starts at the current position. */
  #string(): JsonError | undefined {
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x22) {
        this.#at = at + 1;
        return undefined;
      }
      if (code < 0x20) return this.#error('a control character in a string must be escaped', at);
      if (code !== 0x5c) continue;
      const escape = this.#text[at + 1];
      if (escape === undefined || !'"\\/bfnrtu'.includes(escape))
        return this.#error('unknown escape sequence in a string', at);
      if (escape === 'u' && !/^[0-9a-fA-F]{4}$/.test(this.#text.slice(at + 2, at + 6))) {
        return this.#error('unknown escape sequence in a string', at);
      }
      at++;
    }
    return this.#error('a string is not closed');
  }
}
