/**
 * The type of problems, and problems of values. The console shares this file, so it imports no text of configuration or
 * requests.
 */
import type { FaultCode } from './fault-codes.ts';
import { fillText, type ProblemLanguage, type ProblemParams } from './problem-fill.ts';
import type { CONFIGURATION_PROBLEMS } from './problem-texts-configuration.ts';
import type { FAULT_PROBLEMS } from './problem-texts-faults.ts';
import type { REQUEST_PHRASES, REQUEST_PROBLEMS } from './problem-texts-requests.ts';
import { PHRASES, VALUE_PROBLEMS } from './problem-texts-values.ts';

type AllProblems = typeof CONFIGURATION_PROBLEMS &
  typeof VALUE_PROBLEMS &
  typeof REQUEST_PROBLEMS &
  typeof FAULT_PROBLEMS;

export type ProblemReason = keyof AllProblems;
type AllPhrases = typeof PHRASES & typeof REQUEST_PHRASES;
export type PhraseName = keyof AllPhrases;

type PlaceholdersOf<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholdersOf<Rest>
  : never;

/** A part of a text, such as `{phrase: 'CODE', example: 'service-desk'}`. */
export type Phrase = {
  [Name in PhraseName]: { phrase: Name } & Record<PlaceholdersOf<AllPhrases[Name]>, string | number>;
}[PhraseName];

/** A list of texts is joined by commas, a list of phrases by "or". */
type Param = string | number | readonly string[] | Phrase | readonly Phrase[];

/** The params of a text as arguments: none, or one object. */
export type ParamsOfText<Text extends string> = [PlaceholdersOf<Text>] extends [never]
  ? []
  : [params: Record<PlaceholdersOf<Text>, Param>];

export type ParamsOf<Reason extends ProblemReason> = ParamsOfText<AllProblems[Reason][1]>;

export interface Problem {
  code: string;
  /** English. */
  message: string;
  /** The code of a fault if it has no finer reason. */
  reason: ProblemReason | FaultCode;
  /** Values of the placeholders of the texts; absent if there are none. */
  params?: ProblemParams;
}

/** English, without the phrases of requests. */
export const ENGLISH: ProblemLanguage = {
  phrases: PHRASES,
  or: ' or ',
  forType: ' (type {type})',
  meant: ' Did you mean {names}?',
};

/** @param text the code and the English text of the reason */
export function problemOf(
  reason: ProblemReason,
  [code, text]: readonly [code: string, text: string],
  params: ProblemParams | undefined,
  language: ProblemLanguage = ENGLISH,
): Problem {
  if (params === undefined) return { code, message: text, reason };
  return { code, message: fillText(text, params, language), reason, params };
}

export function valueProblem<Reason extends keyof typeof VALUE_PROBLEMS>(
  reason: Reason,
  ...rest: ParamsOf<Reason>
): Problem {
  return problemOf(reason, VALUE_PROBLEMS[reason], rest[0] as ProblemParams | undefined);
}
