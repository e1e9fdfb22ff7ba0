/**
 * Reads the elements of a JSON array of objects as a stream. Memory holds one element and one chunk, regardless of the size of the
 * text. Each element is parsed as strictly as other external JSON (`json.ts`).
 */
import { type Fault, faultAt, isFault } from './fault.ts';
import { parseStrictJson } from './json.ts';

/** Maximum length of an element, in characters. */
const LONGEST = 8 * 1024 * 1024;

export interface JsonRow {
  value: Readonly<Record<string, unknown>>;
  /** Length of its text, in characters. */
  size: number;
}

function malformed(line: number, column: number, reason: string): Fault {
  return faultAt('INVALID_REQUEST', '/content', 'MALFORMED_JSON', { line, column, cause: reason });
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
    if (this.#length > LONGEST) throw malformed(this.#from.line, this.#from.column, 'this element is too long.');
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

const EXPECTED: Readonly<Record<State, string>> = {
  start: 'an array of objects that begins with [ is expected here.',
  first: 'an object or ] is expected here.',
  element: 'an object is expected here.',
  inside: 'the text ends inside an object.',
  next: 'a comma or ] is expected here.',
  end: 'there is text after the end of the array.',
};

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Converts the position of an error in an element to the position in the whole text. */
function relocated(error: unknown, line: number, column: number): unknown {
  if (!isFault(error, 'INVALID_JSON')) return error;
  const found = /line (\d+), column (\d+): (.*)$/s.exec(error.message);
  if (found === null) return malformed(line, column, error.message);
  const [, inLine = '1', inColumn = '1', reason = ''] = found;
  const first = inLine === '1';
  return malformed(line + Number(inLine) - 1, Number(inColumn) + (first ? column - 1 : 0), reason);
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
