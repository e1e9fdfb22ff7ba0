/**
 * Text normalisation and case folding (docs/spec/search.md#condition-language).
 *
 * All folding happens here: the service stores folded copies and SQL compares them bytewise, because `lower()`, `ILIKE` and
 * collations differ between servers. Everything stored in a `folded` column must come from `fold`.
 */

/** ASCII and Russian letters: already in form C and KC, without marks, each with a single lower-case form that folds to itself. */
const PLAIN = /^[\0-\x7f\u0401\u0410-\u044f\u0451]*$/;

/** Whether the text has only ASCII characters and Russian letters. Most texts do, and need no normalisation. */
export function isPlainText(text: string): boolean {
  return PLAIN.test(text);
}

/**
 * `text` in Unicode normal form C, in which all text is stored and compared. A text with a long run of combining marks is
 * returned as it is (`hasLongMarkRun`).
 */
export function nfc(text: string): string {
  return isPlainText(text) || hasLongMarkRun(text) ? text : text.normalize('NFC');
}

/** Whether PostgreSQL can store `text` unchanged: no U+0000 and no lone surrogates. */
export function isWellFormedText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

/** The longest run of combining marks, in code points, that is normalised. */
const LONGEST_RUN = 64;

/**
 * Whether the text has more consecutive combining marks than any script uses. Normalisation sorts such a run in quadratic time,
 * so text from outside that contains one is rejected, and never normalised or folded.
 */
export function hasLongMarkRun(text: string): boolean {
  if (text.length <= LONGEST_RUN || isPlainText(text)) return false;
  // Each longer run contains a multiple of this offset. A search for it would start again at each mark of shorter runs.
  const run = /(?<=(\p{M}{0,64}))\p{M}{1,65}/uy;
  for (let at = LONGEST_RUN; at < text.length; at += LONGEST_RUN) {
    run.lastIndex = at;
    const [after = '', before = ''] = run.exec(text) ?? [];
    if (before.length + after.length > LONGEST_RUN && /\p{M}{65}/u.test(before + after)) return true;
  }
  return false;
}

/**
 * Texts have the same folded form if they differ only by case, Unicode composition or `ё` versus `е`. Uses full Unicode case
 * folding (`ß` is `ss`, both sigmas are equal, dotless `ı` differs from `i`). Idempotent. Accents are kept. Do not fold parts
 * and concatenate them: composition may combine characters across the boundary. A text with a long run of combining marks is
 * returned as it is.
 */
export function fold(text: string): string {
  if (isPlainText(text)) return text.toLowerCase().replaceAll('ё', 'е');
  if (hasLongMarkRun(text)) return text;
  return withoutYo(caseFold(text.normalize('NFC')).normalize('NFC'));
}

/** Lower, upper, lower reaches every member of a case class. The result differs from the standard only for `ı`. */
function caseFold(text: string): string {
  if (text.includes('ı')) return text.split('ı').map(caseFold).join('ı');
  // toLowerCase writes a word-final sigma differently, which would make `fold` depend on the neighbouring characters.
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Expects text that is case-folded and in form C. */
function withoutYo(text: string): string {
  if (!text.includes('\u0308')) return text.includes('ё') ? text.replaceAll('ё', 'е').normalize('NFC') : text;
  // A separate diaeresis could compose with the remaining `е`. It is therefore removed in the decomposed form, wherever it
  // stands among the marks of that letter.
  return text
    .normalize('NFD')
    .replace(/е\p{M}+/gu, (letter) => letter.replaceAll('\u0308', ''))
    .normalize('NFC');
}

/** Keys that reach a prototype if they are assigned to a plain object. */
const UNSAFE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether the text must not be a key of an object that comes from outside. */
export function isUnsafeKey(key: string): boolean {
  return UNSAFE_KEYS.has(key);
}
