/** The question as it reads in the other keyboard layout and in the other alphabet, English and Russian. Pure. */

/** The keys of the two layouts, in the same order. */
const LATIN_KEYS = "`qwertyuiop[]asdfghjkl;'zxcvbnm,.";
const RUSSIAN_KEYS = 'ёйцукенгшщзхъфывапролджэячсмитьбю';

/** Letters as people write them without a standard; longer groups first. */
const TO_CYRILLIC: readonly (readonly [string, string])[] = [
  ['shch', 'щ'],
  ['sch', 'щ'],
  ['yo', 'е'],
  ['zh', 'ж'],
  ['kh', 'х'],
  ['ts', 'ц'],
  ['ch', 'ч'],
  ['sh', 'ш'],
  ['yu', 'ю'],
  ['ju', 'ю'],
  ['ya', 'я'],
  ['ja', 'я'],
  ['ck', 'к'],
  ['ph', 'ф'],
  ...[...'abvgdezijklmnoprstufhcyqwx'].map(
    (letter, index) => [letter, [...'абвгдезийклмнопрстуфхцыквк'][index] ?? ''] as const,
  ),
];
const CYRILLIC = 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя';
const LATIN = 'a b v g d e e zh z i y k l m n o p r s t u f h ts ch sh sch  y  e yu ya'.split(' ');

/** Longer questions have enough words that are spelt right. */
const MOST_WORDS = 8;
/** Shorter words are similar to too many others. */
const SHORTEST = 3;

function byKeys(word: string, from: string, to: string): string {
  return [...word].map((letter) => to[from.indexOf(letter)] ?? letter).join('');
}

function toLatin(word: string): string {
  return [...word].map((letter) => LATIN[CYRILLIC.indexOf(letter)] ?? '').join('');
}

function toCyrillic(word: string): string {
  let text = '';
  for (let at = 0; at < word.length; ) {
    const [latin, cyrillic] = TO_CYRILLIC.find(([group]) => word.startsWith(group, at)) ?? [
      word[at] ?? '',
      word[at] ?? '',
    ];
    text += cyrillic;
    at += latin.length;
  }
  return text;
}

/**
 * The other spellings of the words of a question: typed in the wrong layout (`ghbynth` is `принтер`), and written in the other
 * alphabet (`printer` is `принтер`, `сервер` is `server`). Words with letters of both alphabets have none.
 */
export function respell(q: string): string[] {
  return q
    .toLowerCase()
    .split(/\s+/)
    .slice(0, MOST_WORDS)
    .filter((word) => word.length >= SHORTEST)
    .flatMap((word) => {
      if (/^[a-z`[\];',.]+$/.test(word) && /[a-z]/.test(word)) {
        return [byKeys(word, LATIN_KEYS, RUSSIAN_KEYS), ...(/^[a-z]+$/.test(word) ? [toCyrillic(word)] : [])];
      }
      if (!/^[а-яё]+$/.test(word)) return [];
      return [byKeys(word, RUSSIAN_KEYS, LATIN_KEYS), toLatin(word)];
    });
}
