/**
 * One normal form of text, and one way to ignore case (configuration, section 4).
 *
 * Folding happens here and nowhere else: the service stores folded copies and SQL compares those bytewise, because
 * `lower()`, `ILIKE` and collations answer differently from server to server. Everything stored in a `folded` column
 * must have come out of `fold`.
 */

/** `text` in Unicode normal form C, the form in which all text is stored and compared. */
export function nfc(text: string): string {
  return text.normalize('NFC');
}

/** Whether PostgreSQL can store `text` unchanged: no U+0000 and no half of a surrogate pair. */
export function isWellFormedText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

/**
 * More combining marks in a row than any writing has. To bring marks into order takes time that grows with the square of
 * their number, so text from outside with such a run is refused before it is normalised or folded.
 */
export function hasLongMarkRun(text: string): boolean {
  return /\p{M}{65}/u.test(text);
}

/** ASCII and Russian letters: in form C as they stand, each with one lower-case form that folds to itself. */
const PLAIN = /^[\0-\x7f\u0401\u0410-\u044f\u0451]*$/;

/**
 * The form in which two texts are equal when they differ by case, by Unicode composition or by `ё` against `е` alone.
 * Full case folding of Unicode (`ß` is `ss`, both sigmas are one, dotless `ı` stays apart from `i`); idempotent.
 * Accents stay. Do not fold pieces and join them: composition looks over seams.
 */
export function fold(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase().replaceAll('ё', 'е');
  return withoutYo(nfc(caseFold(nfc(text))));
}

/** Lower, upper, lower reaches every member of a case class; what comes out differs from the standard in `ı` alone. */
function caseFold(text: string): string {
  if (text.includes('ı')) return text.split('ı').map(caseFold).join('ı');
  // toLowerCase writes a sigma at the end of a word in another form, which would make `fold` depend on the neighbours.
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Expects text that is case folded and in form C. */
function withoutYo(text: string): string {
  if (!text.includes('\u0308')) return text.includes('ё') ? nfc(text.replaceAll('ё', 'е')) : text;
  // A loose diaeresis could compose with the very `е` that is left behind, so it is taken away in the decomposed form,
  // wherever it stands among the marks of that letter.
  return nfc(text.normalize('NFD').replace(/е\p{M}+/gu, (letter) => letter.replaceAll('\u0308', '')));
}
