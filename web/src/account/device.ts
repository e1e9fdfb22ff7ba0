/** The browser and operating system of a User-Agent header, in the words that people know. */
import { both, type Bilingual } from '../i18n/text.ts';

/** The first that matches decides: other browsers also say Chrome and Safari. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bYaBrowser\//, 'Яндекс Браузер'],
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

const found = (list: readonly (readonly [RegExp, string])[], text: string): string | undefined =>
  list.find(([pattern]) => pattern.test(text))?.[1];

const UNKNOWN = both('Неизвестное устройство', 'Unknown device');

/** For example `Firefox, Windows`; the start of the header if neither is known. */
export function deviceName(userAgent: string | null): Bilingual {
  const text = userAgent ?? '';
  const known = [found(BROWSERS, text), found(SYSTEMS, text)].filter((name) => name !== undefined).join(', ');
  if (known !== '') return both(known, known);
  return text === '' ? UNKNOWN : both(text.slice(0, 60), text.slice(0, 60));
}
