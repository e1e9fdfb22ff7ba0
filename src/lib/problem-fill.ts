/** Fills the placeholders of the text of a problem, in any language. */

type Scalar = string | number;

interface PhraseParam {
  phrase: string;
  [param: string]: Scalar;
}

export type ProblemParams = Readonly<Record<string, Scalar | readonly string[] | PhraseParam | readonly PhraseParam[]>>;

/** The parts of texts that depend on the language. */
export interface ProblemLanguage {
  /** Name of a phrase → text. */
  phrases: Readonly<Record<string, string>>;
  or: string;
  /** Appended to a problem that was found for one of several record types, with `{type}`. */
  forType: string;
  /** Appended where names resemble the wrong one, with `{names}`. */
  meant: string;
}

export function fillText(text: string, params: ProblemParams, language: ProblemLanguage): string {
  const filled = replace(text, (name) => shown(params[name], language));
  const { forType: type, meant } = params;
  const typed =
    typeof type === 'string' ? `${filled.replace(/\.$/, '')}${replace(language.forType, () => type)}.` : filled;
  if (!Array.isArray(meant) || meant.length === 0) return typed;
  return `${typed}${replace(language.meant, () => meant.join(language.or))}`;
}

function replace(text: string, valueOf: (name: string) => string): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => valueOf(name));
}

function shown(value: ProblemParams[string] | undefined, language: ProblemLanguage): string {
  if (value === undefined) return '';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (!Array.isArray(value)) return phraseText(value as PhraseParam, language);
  const list = value as readonly (string | PhraseParam)[];
  if (list.every((one) => typeof one === 'string')) return list.join(', ');
  return [...new Set(list.map((phrase) => phraseText(phrase as PhraseParam, language)))].join(language.or);
}

function phraseText(phrase: PhraseParam, language: ProblemLanguage): string {
  return replace(language.phrases[phrase.phrase] ?? phrase.phrase, (name) => String(phrase[name] ?? ''));
}
