import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compoundsOf, LONGEST_WORD, normalWord, runsOf } from './word-parts.ts';
import { type Analysis, makeAnalysis, MAX_TERMS, type QueryTerm } from './words.ts';
import { processorMs } from '../../test/support/processor-time.ts';

const analysis = makeAnalysis();
const lexemesOf = (text: string, by: Analysis = analysis): Set<string> =>
  new Set(by.indexLexemes(text).map(({ lexeme }) => lexeme));

function holds(lexemes: ReadonlySet<string>, term: QueryTerm): boolean {
  if ([...term.lexemes, ...term.completions].some((lexeme) => lexemes.has(lexeme))) return true;
  return term.beginnings.some((beginning) => [...lexemes].some((lexeme) => lexeme.startsWith(beginning)));
}

/** Whether the text contains all required words of the query. */
function finds(q: string, text: string): boolean {
  const lexemes = lexemesOf(text);
  const required = analysis.queryTerms(q).filter((term) => term.required);
  return required.length > 0 && required.every((term) => holds(lexemes, term));
}

describe('word matching', () => {
  const found: [q: string, text: string][] = [
    // Stems, case, ё, accents, stress.
    ['принтеры', 'Не печатает ПРИНТЕРОМ'],
    ['печатать', 'принтер печатает'],
    ['crashed', 'The server is crashing'],
    ['елка', 'Ёлки'],
    ['ЁЛКА', 'елку'],
    ['cafe', 'Café'],
    ['naïve', 'naive'],
    ['strasse', 'Straße'],
    ['общий', 'о́бщий'],
    ['kobenhavn', 'København'],
    // Compatibility characters, other digits, invisible characters.
    ['file', 'ﬁle'],
    ['abc123', 'ＡＢＣ１２３'],
    ['34', '٣٤'],
    ['wifi', 'wi\u00ADfi'],
    // Hyphens, dots, numbers, leading zeros.
    ['jquery.ui', 'the jquery.ui widgets'],
    ['jquery ui', 'the jquery.ui widgets'],
    ['jqueryui', 'the jquery.ui widgets'],
    ['jquery.ui', 'jQueryUI'],
    ['RFC-2616', 'see rfc2616'],
    ['RFC 2616', 'see RFC-2616'],
    ['rfc2616', 'see RFC 2616'],
    ['INC0000123', 'as in inc123'],
    ['123', 'INC0000123'],
    ['INC-123', 'INC0000123'],
    ['000042', 'error 42'],
    ['42', 'error 0042'],
    ['e-mail', 'no email'],
    ['email', 'no e-mail'],
    ['1.4.2', 'jquery-1.4.2.min.js'],
    ['v1.4.2', 'version 1.4.2'],
    ['1.4.2', 'v1.4.2'],
    ['10.0.0.1', 'host 10.0.0.1 is down'],
    ['bob@example.org', 'from: bob@example.org'],
    ['IE8', 'broken in IE 8'],
    ['IE 8', 'broken in IE8'],
    ['h264', 'codec H264'],
    // Inner capitals.
    ['fadeIn', 'call fadein'],
    ['fadein', '$.fadeIn()'],
    ['fade', '$.fadeIn()'],
    ['element', 'getElementById'],
    ['http', 'XMLHttpRequest'],
    // Apostrophes.
    ['dont', "don't"],
    ['don’t', "don't"],
    ['user', "the user's"],
    ['ordinateur', "l'ordinateur"],
    // Two alphabets.
    ['android', 'под управлением Аndroid'],
    ['1C', 'обмен с 1С'],
    ['usb', 'USBшный'],
    ['почта', 'пoчта'],
    // Special characters in names.
    ['c++', 'written in C++'],
    ['C#', 'written in c#'],
    // Scripts without spaces.
    ['検索', '全文検索エンジン'],
    ['文検', '全文検索エンジン'],
    ['索', '全文検索'],
    ['エンジン', '全文検索エンジン'],
    ['ガ', 'ｶﾞ'],
    ['검색', '한국어검색'],
    ['jquery', '使用jQuery时'],
    ['ดี', 'สวัสดี'],
    // An incomplete last word.
    ['not updatin', 'not updated'],
    ['обновлени', 'обновление'],
    ['replacem', 'replacement'],
    ['jquery.u', 'jquery.ui'],
    ['RFC-26', 'RFC-2616'],
    // Words of one letter.
    ['a printer', 'printer'],
    ['я печатал', 'печатала'],
    ['x', 'axis x'],
  ];
  for (const [q, text] of found) {
    test(`"${q}" finds "${text}"`, () => assert.ok(finds(q, text), JSON.stringify([...lexemesOf(text)])));
  }

  const kept: [q: string, text: string][] = [
    ['кит', 'кот'],
    ['C#', 'C++'],
    ['1.42', '14.2'],
    ['10.0.0.1', '10.0.0.21'],
    ['server down', 'server'],
    ['検索', '索検'],
    ['page 5', 'page'],
    ['iphone', 'phone'],
    ['phone iPhone x', 'i phone'],
    ['кот', 'kot'],
  ];
  for (const [q, text] of kept) test(`"${q}" does not find "${text}"`, () => assert.ok(!finds(q, text)));
});

describe('query terms', () => {
  test('contain each word once with its count; only the last one matches as a prefix', () => {
    const terms = analysis.queryTerms('Printer printers, PRINTER pri');
    assert.deepEqual(
      terms.map(({ lexemes, count, last }) => ({ lexemes, count, last })),
      [
        { lexemes: ['printer'], count: 3, last: false },
        { lexemes: ['pri'], count: 1, last: true },
      ],
    );
    assert.deepEqual(terms[0]?.beginnings, []);
    assert.deepEqual(terms[1]?.beginnings, ['pri']);
  });

  test('a word that is repeated at the end is the last one', () => {
    assert.deepEqual(
      analysis.queryTerms('disk server disk').map(({ raw, last }) => [raw, last]),
      [
        ['disk', true],
        ['server', false],
      ],
    );
  });

  test('words of one letter are dropped, unless they are digits or the only words', () => {
    const raws = (q: string): string[] => analysis.queryTerms(q).map(({ raw }) => raw);
    assert.deepEqual(raws('a plan b 7 漢'), ['plan', '7', '漢']);
    assert.deepEqual(raws('a b'), ['a', 'b']);
    assert.deepEqual(raws('% _ \\ - . !'), []);
    assert.deepEqual(raws(''), []);
  });

  test('the whole form of a compound is optional', () => {
    const terms = analysis.queryTerms('jquery.ui fadeIn IE8');
    assert.deepEqual(
      terms.filter(({ required }) => !required).map(({ raw }) => raw),
      ['jqueryui', 'fade', 'ie8'],
    );
  });

  test('the number of words is limited', () => {
    const q = Array.from(
      { length: 500 },
      (_, index) => `word${'abcdefghij'[index % 10]}${'klmnopqrst'[Math.floor(index / 10) % 10]}x`,
    );
    assert.equal(analysis.queryTerms(q.join(' ')).length, MAX_TERMS);
  });
});

const LETTERS = [...'abzAZйЙёЁжЖеЕéßﬁ0179漢字カナสีกкот', '\u0301', '\u00AD', '\u200D'];
const JOINERS = [...` -._@'’+#,/\n`];
const anyText = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...LETTERS) },
      { weight: 1, arbitrary: fc.constantFrom(...JOINERS) },
    ),
    {
      maxLength: 40,
    },
  )
  .map((parts) => parts.join(''));

test('a text matches itself, in capitals and in any Unicode composition', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const lexemes = lexemesOf(text);
      for (const q of [text, text.normalize('NFD'), text.normalize('NFC')]) {
        for (const term of analysis.queryTerms(q)) {
          if (term.required) assert.ok(holds(lexemes, term), JSON.stringify({ q, term, lexemes: [...lexemes] }));
        }
      }
    }),
    { numRuns: 3000 },
  );
});

test('case never affects whether a word matches', () => {
  const plain = fc.stringMatching(/^[a-zа-яё]{1,12}([-._][a-zа-яё0-9]{1,6}){0,2}$/u);
  fc.assert(
    fc.property(plain, (word) => {
      for (const [q, text] of [
        [word, word.toUpperCase()],
        [word.toUpperCase(), word],
      ] as const) {
        const lexemes = lexemesOf(text);
        for (const term of analysis.queryTerms(q)) assert.ok(!term.required || holds(lexemes, term), `${q} in ${text}`);
      }
    }),
    { numRuns: 1500 },
  );
});

test('the size of the cache does not affect results', () => {
  const forgetful = makeAnalysis(3);
  fc.assert(
    fc.property(anyText, (text) => {
      assert.deepEqual(forgetful.indexLexemes(text), makeAnalysis().indexLexemes(text));
      assert.deepEqual(forgetful.queryTerms(text), makeAnalysis().queryTerms(text));
    }),
    { numRuns: 500 },
  );
});

test('results are copies: changing one affects no other', () => {
  for (const token of analysis.tokens('alpha beta')) token.lexemes.push('intruder');
  for (const { positions } of analysis.indexLexemes('alpha')) positions.push(99);
  assert.deepEqual(analysis.indexLexemes('alpha beta'), [
    { lexeme: 'alpha', positions: [1] },
    { lexeme: 'beta', positions: [2] },
  ]);
});

test('token offsets are correct and ordered, and tokens equal the index lexemes', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      let before = 0;
      const seen = new Set<string>();
      for (const { start, end, lexemes } of analysis.tokens(text)) {
        assert.ok(start >= before && end > start && end <= text.length, JSON.stringify({ text, start, end }));
        before = start;
        for (const lexeme of lexemes) {
          assert.ok(lexeme !== '' && !/[\p{Cc}\s]/u.test(lexeme) && lexeme.isWellFormed());
          seen.add(lexeme);
        }
      }
      assert.deepEqual(seen, lexemesOf(text));
    }),
    { numRuns: 2000 },
  );
});

test('the token of a word is that word in the text', () => {
  const text = 'Open jquery.ui, fadeIn and ёлки in 検索';
  const places = [...analysis.tokens(text)].map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(places, ['Open', 'jquery', 'ui', 'fadeIn', 'In', 'and', 'ёлки', 'in', '検索', '索']);
});

test('positions count words; a word and its parts share a position', () => {
  const at = new Map(analysis.indexLexemes('one jquery.ui one').map(({ lexeme, positions }) => [lexeme, positions]));
  assert.deepEqual(at.get('one'), [1, 4]);
  assert.deepEqual(at.get('jqueryui'), at.get('jqueri'));
  assert.deepEqual(at.get('ui'), [3]);
});

test('a normal form is stable', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 8 }), (text) => {
      for (const { text: run } of runsOf(text)) {
        const normal = normalWord(run);
        assert.equal(normalWord(normal), normal, JSON.stringify(run));
      }
    }),
    { numRuns: 2000 },
  );
});

describe('incomplete words', () => {
  const words = (
    'ошибка печати документа обновление доступа пользователь восстановить пароль заявка принтера сервера недоступен ' +
    'connection refused replacement modification visibility compatibility successful environment automatically synchronous ' +
    'development requirement additional specification updating printing attachments notifications'
  ).split(' ');
  test('match their word from the third letter on', () => {
    for (const word of words) {
      const lexemes = lexemesOf(word);
      for (let length = 3; length <= word.length; length++) {
        const [term] = analysis.queryTerms(word.slice(0, length));
        assert.ok(term !== undefined && holds(lexemes, term), `${word.slice(0, length)} for ${word}`);
      }
    }
  });
  test('match no word with another prefix', () => {
    const [term] = analysis.queryTerms('printi');
    assert.ok(term !== undefined);
    for (const other of ['primer', 'pring', 'sprint', 'prin']) assert.ok(!holds(lexemesOf(other), term), other);
  });
});

test('lexemes are those of the tokens, in order, whatever is cached', () => {
  const forgetful = makeAnalysis(4);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
      const expected = [...analysis.tokens(text)].flatMap(({ lexemes }) => lexemes);
      assert.deepEqual(analysis.lexemes(text), expected);
      assert.deepEqual(forgetful.lexemes(text), expected);
    }),
  );
});

describe('hostile text', () => {
  const long = 60_000;
  const texts: Record<string, string> = {
    'one word': 'a'.repeat(long),
    'capitals and small letters': 'aB'.repeat(long / 2),
    'letters and digits': 'a1'.repeat(long / 2),
    'a chain of words': 'ab-'.repeat(long / 3),
    'a chain of numbers': '1.'.repeat(long / 2),
    apostrophes: "a'".repeat(long / 2),
    'signs behind letters': 'c#'.repeat(long / 2),
    marks: `e${'\u0301'.repeat(long)}`,
    'marks between letters': 'е\u0301'.repeat(long / 2),
    'invisible letters': '\u00AD'.repeat(long),
    'two alphabets': 'aя'.repeat(long / 2),
    'no spaces': '漢'.repeat(long),
    'half of pairs': `${'x'.repeat(239)}${'𝒳'.repeat(long / 2)}`,
  };
  for (const [name, text] of Object.entries(texts)) {
    test(`${name}: cost grows linearly with length`, () => {
      let lexemes: ReturnType<ReturnType<typeof makeAnalysis>['indexLexemes']> = [];
      const took = processorMs(() => {
        lexemes = makeAnalysis().indexLexemes(text);
        makeAnalysis().queryTerms(text);
      });
      assert.ok(took < 3000, `took ${took} ms`);
      for (const { lexeme } of lexemes) {
        assert.ok([...lexeme].length <= LONGEST_WORD && lexeme.isWellFormed() && Buffer.byteLength(lexeme) <= 240);
      }
    });
  }

  test('names of prototype properties are ordinary words', () => {
    assert.deepEqual(
      analysis.queryTerms('constructor __proto__').map(({ raw }) => raw),
      ['constructor', 'proto'],
    );
  });
});

test('a compound lists its segments', () => {
  assert.deepEqual(
    compoundsOf('jquery-1.4.2.min').map(({ segments, joined }) => ({
      parts: segments.map(({ text }) => text),
      joined,
    })),
    [{ parts: ['jquery', '1.4.2', 'min'], joined: 'jquery1.4.2min' }],
  );
});
