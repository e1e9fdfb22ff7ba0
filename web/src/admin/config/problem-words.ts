/** Translates the service's English configuration errors to Russian. */
import { PHRASES } from './problem-phrases.ts';
import { CONFIG_SENTENCES, type Line, OPEN_SENTENCES } from './problem-sentences.ts';
import { VALUE_SENTENCES } from './problem-value-sentences.ts';
import { YAML_CODES, YAML_SENTENCES } from './problem-yaml.ts';

interface Pattern {
  english: RegExp;
  russian: string;
}

/** `{name}` matches any text, `{=name}` a phrase that is translated separately. */
function patternOf([english, russian]: Line): Pattern {
  const source = english.replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replace(/\{=?(\w+)\}/g, '(?<$1>.*?)');
  return { english: new RegExp(`^${source}$`, 's'), russian };
}

const SENTENCES = [...CONFIG_SENTENCES, ...VALUE_SENTENCES, ...YAML_SENTENCES, ...OPEN_SENTENCES].map(patternOf);
const PHRASE_PATTERNS = PHRASES.map(patternOf);

/** The translation by the first pattern that matches and whose phrases are all known; undefined if there is none. */
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
  // A single allowed value is given as JSON.
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

/** The Russian message of an error; undefined if unknown. */
export function russianProblem({ code, message }: { code: string; message: string }): string | undefined {
  // Messages about all types end with the type that failed.
  const [, inner = '', type] = /^(.*\.) \(type (\S+)\)$/s.exec(message) ?? [];
  if (type !== undefined) {
    const said = russianProblem({ code, message: inner });
    return said === undefined ? undefined : `${said.replace(/\.$/, '')} (вид записей ${type}).`;
  }
  return translated(SENTENCES, message) ?? YAML_CODES.get(code);
}
