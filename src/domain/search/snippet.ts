/** The piece of a text in which hits stand, as HTML-escaped text with the hits in `<mark>`. Pure. */
import type { Analysis } from '../../lib/words.ts';

/** Letters of a snippet, and how many of them before the first hit. */
const LENGTH = 240;
const BEFORE = 60;
/** Of a very long text only the beginning is looked through. */
const MOST_LOOKED_AT = 50_000;

export interface Wanted {
  lexemes: ReadonlySet<string>;
  /** Folded beginnings of words. */
  beginnings: readonly string[];
}

interface Span {
  start: number;
  end: number;
}

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

/** Where hits stand, in order, without overlaps. */
export function hitsIn(analysis: Analysis, text: string, wanted: Wanted): Span[] {
  const spans: Span[] = [];
  for (const { start, end, lexemes } of analysis.tokens(text.slice(0, MOST_LOOKED_AT))) {
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

/** The stretch of the text that holds most hits, cut at words. */
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

/** The beginning of the word at or behind the place. */
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

/** Never between the halves of a surrogate pair. */
function whole(text: string, place: number): number {
  const unit = text.charCodeAt(place);
  return unit >= 0xdc00 && unit <= 0xdfff ? place + 1 : place;
}
