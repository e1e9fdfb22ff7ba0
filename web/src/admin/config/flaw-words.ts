/** What the service finds wrong with a configuration is said in English; these are its sentences in Russian. */
import { PHRASES } from './flaw-phrases.ts';
import { CONFIG_SENTENCES, type Line, OPEN_SENTENCES } from './flaw-sentences.ts';
import { VALUE_SENTENCES } from './flaw-value-sentences.ts';
import { YAML_CODES, YAML_SENTENCES } from './flaw-yaml.ts';

interface Pattern {
  english: RegExp;
  russian: string;
}

/** `{name}` is whatever stands there, `{=name}` what is a phrase of its own. */
function patternOf([english, russian]: Line): Pattern {
  const source = english.replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replace(/\{=?(\w+)\}/g, '(?<$1>.*?)');
  return { english: new RegExp(`^${source}$`, 's'), russian };
}

const SENTENCES = [...CONFIG_SENTENCES, ...VALUE_SENTENCES, ...YAML_SENTENCES, ...OPEN_SENTENCES].map(patternOf);
const PHRASE_PATTERNS = PHRASES.map(patternOf);

/** The Russian of the first pattern that fits with all phrases in it; undefined where none does. */
function translated(patterns: readonly Pattern[], text: string): string | undefined {
  for (const { english, russian } of patterns) {
    const groups = english.exec(text);
    if (groups === null) continue;
    let known = true;
    const said = russian.replace(/\{(=?)(\w+)\}/g, (_, phrase: string, name: string) => {
      const part = groups.groups?.[name] ?? '';
      const words = phrase === '' ? part : phraseOf(part);
      known &&= words !== undefined;
      return words ?? '';
    });
    if (known) return said;
  }
  return undefined;
}

function phraseOf(text: string): string | undefined {
  // One value that alone may stand here is said as JSON.
  if (isJsonScalar(text)) return text;
  const whole = translated(PHRASE_PATTERNS, text);
  if (whole !== undefined && !/^одно из: .* or /s.test(whole)) return whole;
  for (const { index } of text.matchAll(/ or /g)) {
    const left = phraseOf(text.slice(0, index));
    const right = left === undefined ? undefined : phraseOf(text.slice(index + ' or '.length));
    if (left !== undefined && right !== undefined) return `${left} или ${right}`;
  }
  return whole;
}

function isJsonScalar(text: string): boolean {
  try {
    return typeof JSON.parse(text) !== 'object';
  } catch {
    return false;
  }
}

/** The Russian sentence for what was found wrong; undefined where there is none. */
export function russianFlaw({ code, message }: { code: string; message: string }): string | undefined {
  // What is asked of all types says at the end which one refused.
  const [, inner = '', type] = /^(.*\.) \(type (\S+)\)$/s.exec(message) ?? [];
  if (type !== undefined) {
    const said = russianFlaw({ code, message: inner });
    return said === undefined ? undefined : `${said.replace(/\.$/, '')} (вид записей ${type}).`;
  }
  return translated(SENTENCES, message) ?? YAML_CODES.get(code);
}
