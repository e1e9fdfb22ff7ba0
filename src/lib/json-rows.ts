/**
 * Reads the elements of a JSON array of objects as a stream. Memory holds one element and one chunk, regardless of the size of the
 * text. Each element is parsed as strictly as other external JSON (`json.ts`).
 */
import { type Fault, faultAt } from './fault.ts';
import { parseStrictJson } from './json.ts';
import { JsonFault } from './json-error.ts';
import { type Phrase } from './problem.ts';

/** Maximum length of an element, in characters. */
const LONGEST = 8 * 1024 * 1024;

export interface JsonRow {
  value: Readonly<Record<string, unknown>>;
  /** Length of its text, in characters. */
  size: number;
}

function malformed(line: number, column: number, cause: Phrase): Fault {
  return faultAt('INVALID_REQUEST', '/content', 'MALFORMED_JSON', { line, column, cause });
}

type State = 'start' | 'first' | 'element' | 'inside' | 'next' | 'end';

/** Splits the array into the texts of its elements. */
class Splitter {
  #state: State = 'start';
  #depth = 0;
  #quoted = false;
  #escaped = false;
  #parts: string[] = [];
  #length = 0;
  #line = 1;
  #column = 1;
  /** Start position of the current element. */
  #from = { line: 1, column: 1 };

  *push(chunk: string): Generator<{ text: string; line: number; column: number }> {
    let begin = this.#state === 'inside' ? 0 : -1;
    for (let at = 0; at < chunk.length; at++) {
      const code = chunk.charCodeAt(at);
      if (this.#state === 'inside') {
        if (this.#inside(code)) {
          this.#parts.push(chunk.slice(begin, at + 1));
          yield { text: this.#parts.join(''), ...this.#from };
          this.#parts = [];
          this.#length = 0;
          this.#state = 'next';
          begin = -1;
        }
      } else if (!isBlank(code) && this.#outside(code)) begin = at;
      if (code === 0x0a) {
        this.#line++;
        this.#column = 1;
      } else this.#column++;
    }
    if (begin === -1) return;
    this.#parts.push(chunk.slice(begin));
    this.#length += chunk.length - begin;
    if (this.#length > LONGEST)
      throw malformed(this.#from.line, this.#from.column, { phrase: 'JSON_ELEMENT_TOO_LONG' });
  }

  /** Consumes a character between elements. Returns whether an element begins. */
  #outside(code: number): boolean {
    if (this.#state === 'start' && code === 0x5b) this.#state = 'first';
    else if ((this.#state === 'first' || this.#state === 'next') && code === 0x5d) this.#state = 'end';
    else if (this.#state === 'next' && code === 0x2c) this.#state = 'element';
    else if ((this.#state === 'first' || this.#state === 'element') && code === 0x7b) {
      this.#state = 'inside';
      this.#depth = 1;
      this.#from = { line: this.#line, column: this.#column };
      return true;
    } else throw malformed(this.#line, this.#column, EXPECTED[this.#state]);
    return false;
  }

  /** Consumes a character of an element. Returns whether the element ends with it. */
  #inside(code: number): boolean {
    if (this.#quoted) {
      if (this.#escaped) this.#escaped = false;
      else if (code === 0x5c) this.#escaped = true;
      else if (code === 0x22) this.#quoted = false;
      return false;
    }
    if (code === 0x22) this.#quoted = true;
    else if (code === 0x7b || code === 0x5b) this.#depth++;
    else if (code === 0x7d || code === 0x5d) return --this.#depth === 0;
    return false;
  }

  end(): void {
    if (this.#state !== 'end') throw malformed(this.#line, this.#column, EXPECTED[this.#state]);
  }
}

const EXPECTED: Readonly<Record<State, Phrase>> = {
  start: { phrase: 'JSON_ARRAY' },
  first: { phrase: 'JSON_OBJECT_OR_END' },
  element: { phrase: 'JSON_OBJECT' },
  inside: { phrase: 'JSON_OBJECT_OPEN' },
  next: { phrase: 'JSON_COMMA_OR_ARRAY_END' },
  end: { phrase: 'JSON_TEXT_AFTER_ARRAY' },
};

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Converts the position of an error in an element to the position in the whole text. */
function relocated(error: unknown, line: number, column: number): unknown {
  if (!(error instanceof JsonFault)) return error;
  const { place } = error;
  return malformed(line + place.line - 1, place.column + (place.line === 1 ? column - 1 : 0), place.cause);
}

/** Strict parsing of the text of an element. @throws Fault INVALID_JSON */
export type ParseElement = (text: string) => Promise<unknown>;

/** Yields the elements of the array. @throws Fault INVALID_REQUEST with line and column of the malformed part */
export async function* readJsonRows(
  source: AsyncIterable<string>,
  parse: ParseElement = async (text) => parseStrictJson(text),
): AsyncGenerator<JsonRow> {
  const splitter = new Splitter();
  let first = true;
  for await (const chunk of source) {
    const text = first && chunk.startsWith('\uFEFF') ? chunk.slice(1) : chunk;
    if (chunk !== '') first = false;
    for (const element of splitter.push(text)) {
      try {
        yield { value: (await parse(element.text)) as JsonRow['value'], size: element.text.length };
      } catch (error) {
        throw relocated(error, element.line, element.column);
      }
    }
  }
  splitter.end();
}
