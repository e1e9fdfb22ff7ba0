/** Makes a code from a title: transliterated, in lower case, with hyphens. */

/** Russian letters as they are usually transliterated in URLs. */
const LATIN: Readonly<Record<string, string>> = {
  а: 'a',
  б: 'b',
  в: 'v',
  г: 'g',
  д: 'd',
  е: 'e',
  ё: 'e',
  ж: 'zh',
  з: 'z',
  и: 'i',
  й: 'y',
  к: 'k',
  л: 'l',
  м: 'm',
  н: 'n',
  о: 'o',
  п: 'p',
  р: 'r',
  с: 's',
  т: 't',
  у: 'u',
  ф: 'f',
  х: 'kh',
  ц: 'ts',
  ч: 'ch',
  ш: 'sh',
  щ: 'shch',
  ъ: '',
  ы: 'y',
  ь: '',
  э: 'e',
  ю: 'yu',
  я: 'ya',
};

const LONGEST = 60;

/**
 * A code of lower-case letters, digits and single hyphens, at most 60 characters long, cut between words. A title without any
 * letter that can be transliterated gives `article`.
 */
export function codeFromTitle(title: string): string {
  const latin = title
    .slice(0, 1000)
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[а-яё]/g, (letter) => LATIN[letter] ?? '')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase();
  const words = latin.match(/[a-z0-9]+/g) ?? [];
  let code = '';
  for (const word of words) {
    const longer = code === '' ? word.slice(0, LONGEST) : `${code}-${word}`;
    if (longer.length > LONGEST) break;
    code = longer;
  }
  return code === '' ? 'article' : code;
}
