/**
 * The normal form in which logins, codes of groups and units, and e-mail addresses are unique: compatibility composition and
 * full case folding (Unicode NFKC_Casefold, with `ё` as `е`). Names with invisible characters have no normal form: they would
 * look like other names.
 */
import { fold, isWellFormedText } from '../../lib/text.ts';

const LONGEST = 255;

// Control, format, unassigned and private characters, separators other than the plain space, and default-ignorable characters.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * The normal form of a name; idempotent.
 *
 * @throws Error with a sentence for a name that is empty, too long, or contains invisible characters
 */
export function nameKey(name: string): string {
  if (!isWellFormedText(name) || INVISIBLE.test(name)) throw new Error('Take out the characters that cannot be seen.');
  if (name === '') throw new Error('It must not be empty.');
  if (name !== name.trim()) throw new Error('Take out the blanks around it.');
  if (name.length > LONGEST) throw new Error(`Use at most ${LONGEST} characters.`);
  let key = name;
  for (;;) {
    const next = fold(key.normalize('NFKC')).normalize('NFKC');
    if (next === key) break;
    key = next;
  }
  if (INVISIBLE.test(key) || key !== key.trim()) throw new Error('Take out the characters that cannot be seen.');
  return key;
}

/** The normal form, or undefined if the name has none: a look-up then finds nothing. */
export function findKey(name: string): string | undefined {
  try {
    return nameKey(name);
  } catch {
    return undefined;
  }
}

const LOCAL = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~.-]{1,64}$/u;
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u;

/**
 * Whether the text is an e-mail address: the local part has no dot at its start or end and no two dots in a row, and the domain
 * has two labels or more.
 */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  const labels = text.slice(at + 1).split('.');
  return (
    text.length <= 254 &&
    at > 0 &&
    LOCAL.test(local) &&
    !/^\.|\.\.|\.$/.test(local) &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    !/^[0-9]+$/.test(labels.at(-1) ?? '')
  );
}
