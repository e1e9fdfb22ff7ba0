/** Reads the text of a `tsvector` as PostgreSQL writes it, for example `'paper':2A,7 'print':1A`. Pure. */

/**
 * Lexeme → the zones of its occurrences by position. An occurrence without a letter is in zone D.
 *
 * @throws Error for a text that PostgreSQL does not write
 */
export function readVector(text: string): Map<string, string> {
  const lexemes = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    const start = ++at;
    let quoted = false;
    while (text[at] !== "'" || text[at + 1] === "'") {
      if (at >= text.length) throw new Error('a lexeme without end');
      quoted ||= text[at] === "'" || text[at] === '\\';
      // A quote or a backslash is written twice.
      at += text[at] === "'" || text[at] === '\\' ? 2 : 1;
    }
    const raw = text.slice(start, at);
    const lexeme = quoted ? raw.replaceAll("''", "'").replaceAll('\\\\', '\\') : raw;
    const end = text.indexOf(' ', at);
    const places = text.slice(at + 1, end < 0 ? text.length : end);
    lexemes.set(lexeme, zonesOf(places));
    at = end < 0 ? text.length : end + 1;
  }
  return lexemes;
}

/** @param places for example `:2A,7` */
function zonesOf(places: string): string {
  let zones = '';
  for (let at = 1; at <= places.length; at++) {
    if (at < places.length && places[at] !== ',') continue;
    const last = places[at - 1] as string;
    zones += last >= 'A' ? last : 'D';
  }
  // A lexeme without positions counts like one occurrence in zone D.
  return zones === '' ? 'D' : zones;
}
