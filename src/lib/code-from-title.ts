/** Makes codes from names and titles in any language. */

/** Russian letters: GOST 7.79 B, simplified to ASCII letters. */
const LATIN: ReadonlyMap<string, string> = new Map(
  'а:a б:b в:v г:g д:d е:e ё:e ж:zh з:z и:i й:y к:k л:l м:m н:n о:o п:p р:r с:s т:t у:u ф:f х:kh ц:ts ч:ch ш:sh щ:shch ъ: ы:y ь: э:e ю:yu я:ya'
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
);

/** The words of a text in lower-case ASCII letters and digits. Letters that cannot be transliterated separate words. */
export function latinWords(text: string): string[] {
  const latin = text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[а-яё]/g, (letter) => LATIN.get(letter) ?? '')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase();
  return latin.match(/[a-z0-9]+/g) ?? [];
}

const LONGEST = 60;

/**
 * A code of lower-case letters, digits and single hyphens, at most 60 characters long, cut between words. A title without any
 * letter that can be transliterated gives `article`.
 */
export function codeFromTitle(title: string): string {
  let code = '';
  for (const word of latinWords(title.slice(0, 1000))) {
    const longer = code === '' ? word.slice(0, LONGEST) : `${code}-${word}`;
    if (longer.length > LONGEST) break;
    code = longer;
  }
  return code === '' ? 'article' : code;
}
