/**
 * Addresses as values: `url`, `email` and `phone`. They are judged by form alone and kept as written. All expressions are
 * linear: no part can be matched in two ways.
 */

const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u;
const LOCAL_PART = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;

/**
 * An e-mail address: a dot-atom of at most 64 characters, `@`, and a domain name of at least two labels that does not end
 * in a number; letters of any script. Quoted local parts, comments and address literals are not taken.
 */
export function isEmailAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (text.length > 254 || at < 1 || at > 64) return false;
  const labels = text.slice(at + 1).split('.');
  return (
    LOCAL_PART.test(text.slice(0, at)) &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    !/^[0-9]+$/.test(labels.at(-1) ?? '')
  );
}

/**
 * An absolute http or https address with a host. User names and passwords are refused, since a record is no place for them
 * and they disguise the host; so are blanks, controls and backslashes, which readers of addresses treat differently.
 */
export function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s\p{Cc}\\<>"`{}|^]+$/iu.test(text)) return false;
  const authority = text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)[0] ?? '';
  return authority !== '' && !authority.includes('@') && URL.canParse(text);
}

const PHONE = /^\+?[0-9()\u00a0 ./-]+$/;
const EXTENSION = /[ \u00a0,;]{0,2}(?:ext\.?|x|доб\.?|#)[ \u00a0]?[0-9]{1,10}$/i;

/**
 * A telephone number: 2 to 15 digits (E.164) with `+` before and blanks, brackets, dots, slashes and hyphens between, and
 * an extension of up to 10 digits (`x12`, `ext. 12`, `доб. 12`, `#12`) behind.
 */
export function isPhoneNumber(text: string): boolean {
  if (text.length > 60) return false;
  const number = text.replace(EXTENSION, '');
  const digits = number.replace(/[^0-9]/g, '').length;
  if (!PHONE.test(number) || !/^[+(0-9]/.test(number) || !/[0-9)]$/.test(number)) return false;
  return digits >= 2 && digits <= 15 && hasPairedBrackets(number);
}

function hasPairedBrackets(number: string): boolean {
  let open = false;
  for (const character of number) {
    if (character !== '(' && character !== ')') continue;
    if ((character === '(') === open) return false;
    open = !open;
  }
  return !open;
}
