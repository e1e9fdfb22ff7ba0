/** The part of a text with the hits, as HTML-escaped text with the hits in `<mark>`. Pure. */
import type { Analysis } from '../../lib/words.ts';

/** Length of a snippet in letters, and how many of them precede the first hit. */
const LENGTH = 240;
const BEFORE = 60;
/** Only the beginning of a very long text is searched. */
const MAX_LOOKED_AT = 50_000;

export interface Wanted {
  lexemes: ReadonlySet<string>;
  /** Folded prefixes of words. */
  beginnings: readonly string[];
  /** First letters of both, as UTF-16 units. */
  firsts: ReadonlySet<number>;
  /** The first two letters of both, as returned by `startOf`. */
  starts: ReadonlySet<number>;
}

/** Prepares the wanted lexemes and prefixes for `hitsIn`. */
export function makeWanted(lexemes: ReadonlySet<string>, beginnings: readonly string[]): Wanted {
  const all = [...lexemes, ...beginnings];
  return {
    lexemes,
    beginnings,
    firsts: new Set(all.map((word) => word.charCodeAt(0))),
    starts: new Set(all.map((word) => startOf(word.charCodeAt(0), word.length > 1 ? word.charCodeAt(1) : 0))),
  };
}

/** Two letters as one number. A stem may have `i` where the word has `y`; otherwise their first two letters are equal. */
function startOf(first: number, second: number): number {
  return first * 0x1_0000 + (second === SMALL_Y ? SMALL_I : second);
}

/** UTF-16 offsets. */
interface Span {
  start: number;
  end: number;
}

/** The space character. Control characters below it also separate words. */
const BLANK = 0x20;
const SMALL_I = 0x69;
const SMALL_Y = 0x79;
/** The scripts that occur in a stretch. */
const LATIN = 1;
const CYRILLIC = 2;
const DIGIT = 4;
const OTHER = 8;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ESCAPES.get(char) ?? char);
}

/** The positions of hits, in order, without overlaps. */
export function hitsIn(analysis: Analysis, text: string, wanted: Wanted): Span[] {
  const spans: Span[] = [];
  const examined = Math.min(text.length, MAX_LOOKED_AT);
  let from = 0;
  // No word contains a space, so most stretches between spaces can be skipped without analysis.
  for (let at = 0; at <= examined; at++) {
    if (at < examined && text.charCodeAt(at) > BLANK) continue;
    if (at > from && mayHold(text, from, at, wanted)) {
      for (const span of hitsBetween(analysis, text.slice(from, at), wanted)) {
        spans.push({ start: from + span.start, end: from + span.end });
      }
    }
    from = at + 1;
  }
  return spans;
}

/**
 * Whether a lexeme of the stretch can start with the first letters of a wanted one. False positives are rare. In purely Latin
 * or purely Cyrillic text, a lexeme starts with the letters of its word or of a part of it: after a non-letter, or at a capital
 * letter.
 */
function mayHold(text: string, from: number, to: number, { firsts, starts }: Wanted): boolean {
  let kinds = 0;
  let afterLetter = false;
  let found = false;
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    const kind = kindOf(unit);
    if (kind === OTHER) return true;
    kinds |= kind;
    const small = smallOf(unit);
    if ((!afterLetter || small !== unit || kind === DIGIT) && firsts.has(small)) {
      // After any other character, the word may continue with any of the following letters.
      const next = at + 1 < to ? text.charCodeAt(at + 1) : 0;
      found ||= kindOf(next) !== kind || kind === DIGIT || starts.has(startOf(small, smallOf(next)));
      found ||= starts.has(startOf(small, 0));
    }
    afterLetter = kind === LATIN || kind === CYRILLIC;
  }
  // Beside Latin letters or digits, Cyrillic letters may replace similar ones.
  return found || ((kinds & CYRILLIC) !== 0 && (kinds & (LATIN | DIGIT)) !== 0);
}

function kindOf(unit: number): number {
  if (unit < 0x80) {
    if (unit >= 0x30 && unit <= 0x39) return DIGIT;
    return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) ? LATIN : 0;
  }
  return (unit >= 0x410 && unit <= 0x44f) || unit === 0x401 || unit === 0x451 ? CYRILLIC : OTHER;
}

/** The lower-case letter; `ё` becomes `е`. */
function smallOf(unit: number): number {
  if (unit >= 0x41 && unit <= 0x5a) return unit + 0x20;
  if (unit >= 0x410 && unit <= 0x42f) return unit + 0x20;
  return unit === 0x401 || unit === 0x451 ? 0x435 : unit;
}

function hitsBetween(analysis: Analysis, stretch: string, wanted: Wanted): readonly Span[] {
  const spans: Span[] = [];
  for (const { start, end, lexemes } of analysis.tokens(stretch)) {
    const hit = lexemes.some(
      (lexeme) => wanted.lexemes.has(lexeme) || wanted.beginnings.some((beginning) => lexeme.startsWith(beginning)),
    );
    if (!hit) continue;
    const last = spans.at(-1);
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
    else spans.push({ start, end });
  }
  return spans;
}

/** The part of the text with the most hits, cut at word boundaries. */
export function snippetOf(text: string, hits: readonly Span[]): string {
  let best = 0;
  let most = 0;
  for (const [index, { start }] of hits.entries()) {
    const within = hits.filter((hit) => hit.start >= start && hit.end <= start + LENGTH - BEFORE).length;
    if (within > most) {
      most = within;
      best = index;
    }
    if (index > 200) break;
  }
  const from = cutBefore(text, Math.max(0, (hits[best]?.start ?? 0) - BEFORE));
  const to = cutAfter(text, Math.min(text.length, from + LENGTH));
  let html = from > 0 ? '…' : '';
  let at = from;
  for (const { start, end } of hits) {
    if (start < from || end > to) continue;
    html += `${escapeHtml(text.slice(at, start))}<mark>${escapeHtml(text.slice(start, end))}</mark>`;
    at = end;
  }
  html += escapeHtml(text.slice(at, to));
  return (to < text.length ? `${html}…` : html).replace(/\s+/g, ' ').trim();
}

/** The beginning of the word at or after the position. */
function cutBefore(text: string, place: number): number {
  if (place === 0) return 0;
  const space = text.slice(place, place + BEFORE / 2).search(/\s/);
  return whole(text, space === -1 ? place : place + space + 1);
}

function cutAfter(text: string, place: number): number {
  if (place >= text.length) return text.length;
  const space = text.slice(place, place + BEFORE / 2).search(/\s/);
  return whole(text, space === -1 ? place : place + space);
}

/** Never splits a surrogate pair. */
function whole(text: string, place: number): number {
  const unit = text.charCodeAt(place);
  return unit >= 0xdc00 && unit <= 0xdfff ? place + 1 : place;
}
