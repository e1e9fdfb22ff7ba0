/**
 * Values of type `url`, `email` and `phone`. Only their form is checked; they are stored as written. All expressions run in
 * linear time: no part can match in two ways.
 */

const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u;
const LOCAL_PART = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;

/**
 * An e-mail address: a dot-atom of at most 64 characters, `@`, and a domain name of at least two labels that does not end in a
 * number. Letters of any script are accepted. Quoted local parts, comments and address literals are not.
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
 * An absolute http or https address with a host. User names and passwords are refused, because they must not be stored in a
 * record and can disguise the host. Blanks, control characters and backslashes are refused, because URL parsers disagree about
 * them.
 */
export function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s\p{Cc}\\<>"`{}|^]+$/iu.test(text)) return false;
  const authority = text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)[0] ?? '';
  return authority !== '' && !authority.includes('@') && URL.canParse(text);
}

const PHONE = /^\+?[0-9()\u00a0 ./-]+$/;
const EXTENSION = /[ \u00a0,;]{0,2}(?:ext\.?|x|доб\.?|#)[ \u00a0]?[0-9]{1,10}$/i;

/**
 * A telephone number: 2 to 15 digits (E.164), an optional leading `+`, blanks, brackets, dots, slashes and hyphens in between,
 * and an optional extension of up to 10 digits (`x12`, `ext. 12`, `доб. 12`, `#12`).
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
