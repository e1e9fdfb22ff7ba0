import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeFromTitle } from './code-from-title.ts';

test('makes codes from titles', () => {
  const cases: [string, string][] = [
    ['Как подключиться к VPN из дома?', 'kak-podklyuchitsya-k-vpn-iz-doma'],
    ['Set up the VPN', 'set-up-the-vpn'],
    ['Ёлка, щётка и съезд № 5', 'elka-shchetka-i-sezd-no-5'],
    ['Café — naïve', 'cafe-naive'],
    ['打印机', 'article'],
    ['  ', 'article'],
    [`${'слово '.repeat(40)}`, Array.from({ length: 10 }, () => 'slovo').join('-')],
    ['x'.repeat(500), 'x'.repeat(60)],
  ];
  for (const [title, code] of cases) assert.equal(codeFromTitle(title), code, title);
});
