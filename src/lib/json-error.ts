/**
 * Finds the position of the error in an invalid JSON text. It only runs on rejected texts, so it need not be fast. It must be
 * linear, because a rejected text can be as long as any other.
 */
import { Fault } from './fault.ts';
import { type Phrase, phraseText } from './problem.ts';

/** Where a JSON text is malformed, and why. Lines and columns count from 1, columns in UTF-16 units. */
export interface JsonPlace {
  line: number;
  column: number;
  cause: Phrase;
}

/** INVALID_JSON, with the place for callers that report it in their own terms. */
export class JsonFault extends Fault {
  readonly place: JsonPlace;

  constructor(place: JsonPlace) {
    super('INVALID_JSON', `Invalid JSON at line ${place.line}, column ${place.column}: ${phraseText(place.cause)}.`);
    this.place = place;
  }
}

/** The fault at an offset into text or its UTF-8 bytes. */
export function jsonFault(source: Buffer | string, offset: number, cause: Phrase): JsonFault {
  const before = typeof source === 'string' ? source.slice(0, offset) : source.toString('utf8', 0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let at = before.indexOf('\n'); at >= 0; at = before.indexOf('\n', at + 1)) line++;
  return new JsonFault({ line, column: before.length - lineStart + 1, cause });
}

/** A fault that names the first position where `text` is not JSON or repeats a key. */
export function locateJsonError(text: string): Fault {
  const error = new Grammar(text).findJsonError();
  return jsonFault(text, error?.offset ?? 0, error?.cause ?? { phrase: 'UNPARSABLE' });
}

interface JsonError {
  offset: number;
  cause: Phrase;
}

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | 'colon' | 'comma or end';

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const BLANKS = /[ \t\n\r]*/y;
const WORDS: ReadonlyMap<string, string> = new Map([
  ['t', 'true'],
  ['f', 'false'],
  ['n', 'null'],
]);
const CAUSES: Readonly<Record<Expected, Phrase>> = {
  value: { phrase: 'JSON_VALUE' },
  'value or ]': { phrase: 'JSON_VALUE_OR_END' },
  key: { phrase: 'JSON_KEY' },
  'key or }': { phrase: 'JSON_KEY_OR_END' },
  colon: { phrase: 'JSON_COLON' },
  'comma or end': { phrase: 'JSON_COMMA_OR_END' },
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
        return this.#at < this.#text.length ? this.#error({ phrase: 'JSON_TEXT_AFTER_END' }) : undefined;
      }
      if (this.#at >= this.#text.length) return this.#error({ phrase: 'JSON_INCOMPLETE' });
      const next = this.#step(expected);
      if (typeof next !== 'string') return next;
      expected = next;
    }
  }

  #error(cause: Phrase, offset = this.#at): JsonError {
    return { offset, cause };
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
        if (character !== ':') return this.#error(CAUSES[expected]);
        this.#at++;
        return 'value';
      case 'comma or end':
        return this.#separator(character);
      case 'key':
      case 'key or }':
        if (character === '"') return this.#key();
        if (character === '}' && expected === 'key or }') return this.#close();
        return this.#error(CAUSES[expected]);
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
    if (character !== ',') return this.#error(CAUSES['comma or end']);
    this.#at++;
    return object ? 'key' : 'value';
  }

  #key(): Expected | JsonError {
    const start = this.#at;
    const error = this.#string();
    if (error !== undefined) return error;
    const key: string = JSON.parse(this.#text.slice(start, this.#at));
    const keys = this.#open.at(-1);
    if (keys?.has(key)) return this.#error({ phrase: 'JSON_KEY_TWICE' }, start);
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
      return this.#error(CAUSES[expected]);
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
      if (code < 0x20) return this.#error({ phrase: 'JSON_CONTROL_CHARACTER' }, at);
      if (code !== 0x5c) continue;
      const escape = this.#text[at + 1];
      if (escape === undefined || !'"\\/bfnrtu'.includes(escape)) return this.#error({ phrase: 'JSON_ESCAPE' }, at);
      if (escape === 'u' && !/^[0-9a-fA-F]{4}$/.test(this.#text.slice(at + 2, at + 6))) {
        return this.#error({ phrase: 'JSON_ESCAPE' }, at);
      }
      at++;
    }
    return this.#error({ phrase: 'JSON_STRING_OPEN' });
  }
}
