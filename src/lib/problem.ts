/**
 * Problems of requests and configuration by reason. A problem carries the code of the contract, the reason (a closed union that
 * can be finer than the code), its params, and the English text. The console has a Russian text for each reason
 * (`web/src/problems`), so a reason without a text does not compile.
 */
import { fillText, type ProblemParams } from './problem-fill.ts';
import { CONFIGURATION_PROBLEMS, PHRASES, PLAN_NOTES } from './problem-texts-configuration.ts';
import { REQUEST_PROBLEMS } from './problem-texts-requests.ts';
import { VALUE_PROBLEMS } from './problem-texts-values.ts';

export const PROBLEMS = { ...CONFIGURATION_PROBLEMS, ...VALUE_PROBLEMS, ...REQUEST_PROBLEMS } as const;

export type ProblemReason = keyof typeof PROBLEMS;
export type PhraseName = keyof typeof PHRASES;

type PlaceholdersOf<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholdersOf<Rest>
  : never;

/** A part of a text, such as `{phrase: 'CODE', example: 'service-desk'}`. */
export type Phrase = {
  [Name in PhraseName]: { phrase: Name } & Record<PlaceholdersOf<(typeof PHRASES)[Name]>, string | number>;
}[PhraseName];

/** A list of texts is joined by commas, a list of phrases by "or". */
type Param = string | number | readonly string[] | Phrase | readonly Phrase[];

/** The params of a text as arguments: none, or one object. */
type ParamsOfText<Text extends string> = [PlaceholdersOf<Text>] extends [never]
  ? []
  : [params: Record<PlaceholdersOf<Text>, Param>];

export type ParamsOf<Reason extends ProblemReason> = ParamsOfText<(typeof PROBLEMS)[Reason][1]>;

export interface Problem {
  code: string;
  /** English. */
  message: string;
  reason: ProblemReason;
  /** Values of the placeholders of the texts; absent if there are none. */
  params?: ProblemParams;
}

/** A problem at a place of a request: a JSON Pointer into the body, or `query.NAME`, `header.NAME`, `path`. */
export interface PlacedProblem extends Problem {
  path: string;
}

const ENGLISH = { phrases: PHRASES, or: ' or ', forType: ' (type {type})' } as const;

export function problem<Reason extends ProblemReason>(reason: Reason, ...rest: ParamsOf<Reason>): Problem {
  const [code, text] = PROBLEMS[reason];
  const params = rest[0] as ProblemParams | undefined;
  if (params === undefined) return { code, message: text, reason };
  return { code, message: fillText(text, params, ENGLISH), reason, params };
}

export function problemAt<Reason extends ProblemReason>(
  path: string,
  reason: Reason,
  ...rest: ParamsOf<Reason>
): PlacedProblem {
  return { path, ...problem(reason, ...rest) };
}

export type PlanNoteReason = keyof typeof PLAN_NOTES;

/** A note on an item of a plan. */
export interface PlanNote {
  reason: PlanNoteReason;
  params?: ProblemParams;
  /** English, without a full stop. */
  message: string;
}

export function planNote<Reason extends PlanNoteReason>(
  reason: Reason,
  ...rest: ParamsOfText<(typeof PLAN_NOTES)[Reason]>
): PlanNote {
  const params = rest[0] as ProblemParams | undefined;
  if (params === undefined) return { reason, message: PLAN_NOTES[reason] };
  return { reason, params, message: fillText(PLAN_NOTES[reason], params, ENGLISH) };
}

/** The English text of a phrase. */
export function phraseText(phrase: Phrase): string {
  return fillText('{phrase}', { phrase }, ENGLISH);
}

/** Thrown by a function that reads a value whose place only the caller knows. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(found: Problem) {
    super(found.message);
    this.name = 'ProblemError';
    this.problem = found;
  }
}

/** The same problem, found for one of several record types. */
export function forType(found: Problem, type: string): Problem {
  const params = { ...found.params, forType: type };
  return { ...found, message: fillText(PROBLEMS[found.reason][1], params, ENGLISH), params };
}
