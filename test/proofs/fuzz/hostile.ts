/** Malicious strings, values and bodies. */
import NAUGHTY_STRINGS from 'big-list-of-naughty-strings' with { type: 'json' };
import type { RandomSource } from './random-source.ts';

const NAUGHTY: readonly string[] = NAUGHTY_STRINGS;

const OWN: readonly string[] = [
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff tail',
  'tail \ud83d',
  '\ufffd',
  '\ufeffbom',
  '\u202egnp.exe',
  'a\u200b',
  'İıſK',
  'ᴮᴵᴳ',
  '%',
  '_',
  '\\',
  "'",
  "' OR 1=1--",
  '$1',
  '$me',
  '$$x',
  '{{7*7}}',
  '../../etc/passwd',
  '..%2f',
  'a\r\nX-Injected: 1',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'typeof',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '-0',
  '1e400',
  '0x10',
  '9007199254740993',
  '99999999999999999999999',
  '2026-02-30',
  '2026-11-21T24:00:60Z',
  '+275760-09-13T00:00:00Z',
  '0000-00-00T00:00:00.000Z',
  '294277-01-01T00:00:00Z',
  'P1Y2M3DT4H5M6S',
  'PT99999999999H',
  '-PT1S',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '{00000000-0000-7000-8000-000000000000}',
  'ru-RU',
  'xx-invalid-locale-',
  'ACTIVE',
  'ARCHIVED',
  'https://127.0.0.1/',
  'https://user:pass@1.1.1.1/',
  'https://1.1.1.1/?',
  'http://1.1.1.1/',
  'javascript:alert(1)',
  '=1+1',
  '(((((((((((a+)+)+)+)+)+)+)+)+)+)+$',
  '[a-',
  '&&||!',
  'a & !b <-> (c',
  '<script>alert(1)</script>',
  '<!--',
  '![](data:image/gif;base64,R0lGODlhAQABAAAAADs=)',
  '\u0301'.repeat(500),
  '👨‍👩‍👧‍👦'.repeat(20),
  'ﷺ'.repeat(50),
];

/** Fragments that are expensive for parsers when repeated: Markdown, HTML, CSV, patterns and filters. */
const REPEATED: readonly string[] = [
  '<http://',
  '<a@b',
  '<a@b.c>',
  '[a](b "',
  '[a](<b',
  '[',
  '![a](',
  '*a **b ',
  'a**b_c*',
  '`a ',
  '<!--',
  '<![CDATA[',
  '<?',
  '<a b="',
  '<div><b>',
  '<table><tr><td>',
  '</b>',
  '- a\n',
  '> - ',
  '|a|b|\n|-|-|\n',
  '&amp;',
  '\\',
  '"',
  '"",',
  ' \t',
  'a.a-a_',
  '0042 ',
  'слово ',
  '1,',
  '+7 (',
  '@a.',
  '\u0301a',
];

/** Many values in few characters. Each is legal JSON, or close to it. */
function bombs(random: RandomSource): string {
  const size = random.pick([100, 5000, 60_000, 300_000]);
  return random.pick<() => string>([
    () => '['.repeat(size),
    () => '['.repeat(size) + ']'.repeat(size),
    () => '{"a":'.repeat(size),
    () => `${'{"a":'.repeat(size)}1${'}'.repeat(size)}`,
    () => `[${'[],'.repeat(size)}[]]`,
    () => `{${Array.from({ length: Math.min(size, 60_000) }, (_, index) => `"k${index}":0`).join(',')}}`,
    () => `[${'1e308,'.repeat(size)}1]`,
    () => `"${'a'.repeat(size)}"`,
    () => `"${'\\u0061'.repeat(size)}"`,
    () => `{"a":1,"a":2}`,
    () => `{"__proto__":{"admin":true}}`,
    () => '1'.repeat(size),
    () => `-0.${'0'.repeat(size)}1`,
    () => ' '.repeat(size),
    () => `"${'\\'.repeat(size)}`,
  ])();
}

export function hostileString(random: RandomSource): string {
  const roll = random.below(20);
  if (roll === 0) return 'x'.repeat(random.pick([256, 1001, 4001, 65_537, 200_001]));
  if (roll === 1 && random.once(3)) return random.pick(REPEATED).repeat(random.pick([100, 5000, 25_000]));
  if (roll === 1) return random.pick(OWN).repeat(random.pick([2, 50]));
  return roll < 10 ? random.pick(NAUGHTY) : random.pick(OWN);
}

/** A value of any type, usually a wrong one. */
export function hostileValue(random: RandomSource): unknown {
  return random.pick<() => unknown>([
    () => null,
    () => true,
    () => false,
    () => 0,
    () => -1,
    () => 1.5,
    () => 2 ** 53,
    () => -(2 ** 31) - 1,
    () => 1e21,
    () => 1e-7,
    () => '',
    () => ' ',
    () => [],
    () => {
      return {};
    },
    () => [null],
    () => [[]],
    () => Array.from({ length: random.pick([2, 101, 1001]) }, (_, index) => index),
    () => Object.fromEntries(Array.from({ length: random.pick([1, 30, 300]) }, (_, index) => [`k${index}`, index])),
    () => {
      return { type: 'doc', content: [{ type: 'text', text: hostileString(random) }] };
    },
    () => {
      return { field: hostileString(random), operator: 'equals', value: hostileString(random) };
    },
    () => nested(random.pick([10, 70, 200])),
    () => hostileString(random),
    () => hostileString(random),
    () => hostileString(random),
  ])();
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { conditions: value };
  return value;
}

/** A body that is no fit JSON, or is too much of it; bytes, since some are no text. */
export function hostileBody(random: RandomSource, valid: string): Buffer {
  const roll = random.below(10);
  if (roll < 5) return Buffer.from(bombs(random));
  const bytes = Buffer.from(valid);
  if (roll === 5) return bytes.subarray(0, random.below(bytes.length + 1));
  if (roll === 6) return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
  if (roll === 7) return Buffer.from(valid, 'utf16le');
  if (roll === 8 && valid.startsWith('{"')) {
    // The first property repeated: parsers may disagree which one counts.
    const name = /^\{("[^"]*":)/.exec(valid)?.[1] ?? '"a":';
    return Buffer.from(`{${name}null,${valid.slice(1)}`);
  }
  const copy = Buffer.from(bytes);
  for (let times = 0; times < 3 && copy.length > 0; times++) copy[random.below(copy.length)] = random.below(256);
  return copy;
}

/** Content of a file to be imported. */
export function hostileContent(random: RandomSource): string {
  return random.pick<() => string>([
    () => bombs(random),
    () => 'ext,title\n' + 'a,b\n'.repeat(random.pick([1, 300])),
    () => 'ext,title,title\n1,2,3\n',
    () => '__proto__,title\n1,2\n',
    () => `ext,title\n1,"${hostileString(random)}"\n`,
    () => `ext;title\r\n1;${hostileString(random)}\r\n`,
    () => '"'.repeat(random.pick([1, 1000, 100_001])),
    () => ','.repeat(random.pick([10, 100_000])),
    () => `${'\n'.repeat(random.pick([5, 100_000]))}a`,
    () => `ext,title\n${'"a""'.repeat(20_000)}`,
    () => JSON.stringify([{ ext: '1', title: hostileValue(random) }]),
    () => '[{"ext":"1","title":"a","title":"b"}]',
  ])();
}

/** A search filter that is deep, wide, or refers to hidden fields. */
export function hostileFilter(random: RandomSource): string {
  const leaf = (): object => {
    return {
      field: random.pick(['title', 'shown', 'number', 'updatedAt', '__proto__', 'hushField', hostileString(random)]),
      operator: random.pick([
        'equals',
        'not-equals',
        'contains',
        'starts-with',
        'in',
        'is-empty',
        'before',
        'after',
        'range',
        'constructor',
      ]),
      value: hostileValue(random),
    };
  };
  return random.pick<() => string>([
    () => JSON.stringify(leaf()),
    () => JSON.stringify({ logic: random.pick(['AND', 'OR', 'NOT', 'toString']), conditions: [leaf(), leaf()] }),
    () => JSON.stringify({ logic: 'AND', conditions: Array.from({ length: random.pick([20, 21, 200]) }, leaf) }),
    () => `${'{"logic":"OR","conditions":['.repeat(30)}${JSON.stringify(leaf())}${']}'.repeat(30)}`,
    () => JSON.stringify({ field: 'title', operator: 'in', value: [] }),
    () => '{"field":"title","field":"shown","operator":"equals","value":"x"}',
    () => bombs(random).slice(0, 12_000),
  ])();
}
