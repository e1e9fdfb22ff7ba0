/** Messages with 8-bit text in a charset that they do not name. Mail programs, scanners and scripts of old systems send them. */
import { isUtf8 } from 'node:buffer';

const NEWLINE = 0x0a;
/** Letters of the single-byte charsets below. */
const FIRST_LETTER = 0xc0;
/** Letters from here on are the small ones of Windows-1251, and the capital ones of KOI8-R. */
const UPPER_HALF = 0xe0;

/** Charsets named in the message, in lower case, in their order. */
export function namedCharsets(raw: Buffer): string[] {
  const names = raw.toString('latin1').matchAll(/\bcharset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/gi);
  return [...new Set(Array.from(names, ([, name]) => (name as string).toLowerCase()))];
}

/** Whether text in this charset is valid UTF-8. */
export function isUnicode(charset: string): boolean {
  return /^(?:utf-?8|(?:us-)?ascii)$/.test(charset);
}

/**
 * The bytes with each line that is not UTF-8 converted to it.
 *
 * @param charset of those lines; without one, or with one that is not known, it is guessed
 */
export function toUtf8(raw: Buffer, charset?: string): Buffer {
  if (isUtf8(raw)) return raw;
  const lines = linesOf(raw);
  const others = lines.filter((line) => !isUtf8(line));
  const decoder = decoderFor(charset) ?? new TextDecoder(guessed(others));
  return Buffer.concat(lines.map((line) => (isUtf8(line) ? line : Buffer.from(decoder.decode(withoutRawWords(line))))));
}

/** Encoded words (RFC 2047) name the charset of the bytes in them, which must not be converted: they are escaped. */
function withoutRawWords(line: Buffer): Buffer {
  if (!line.includes('=?')) return line;
  const escape = (char: string): string => `=${char.charCodeAt(0).toString(16).toUpperCase()}`;
  const text = line
    .toString('latin1')
    .replace(/=\?[\w-]{1,40}\?q\?[^?\s]{1,500}\?=/gi, (word) => word.replace(/[\u0080-\u00ff]/g, escape));
  return Buffer.from(text, 'latin1');
}

function linesOf(raw: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < raw.length; ) {
    const end = raw.indexOf(NEWLINE, start);
    const next = end === -1 ? raw.length : end + 1;
    lines.push(raw.subarray(start, next));
    start = next;
  }
  return lines;
}

function decoderFor(charset: string | undefined): TextDecoder | undefined {
  if (charset === undefined || isUnicode(charset)) return undefined;
  try {
    return new TextDecoder(charset);
  } catch {
    return undefined;
  }
}

/** Cyrillic words are runs of letters above ASCII; of Western words, single letters are. Most letters of a text are small. */
function guessed(lines: readonly Buffer[]): 'windows-1251' | 'koi8-r' | 'windows-1252' {
  let [letters, followed, upperHalf] = [0, 0, 0];
  for (const line of lines) {
    for (const [at, byte] of line.entries()) {
      if (byte < FIRST_LETTER) continue;
      letters++;
      if (byte >= UPPER_HALF) upperHalf++;
      if ((line[at + 1] ?? 0) >= FIRST_LETTER) followed++;
    }
  }
  if (followed * 2 <= letters) return 'windows-1252';
  return upperHalf * 2 >= letters ? 'windows-1251' : 'koi8-r';
}
