/**
 * Problems of requests and configuration by reason. A problem carries the code of the contract, the reason (a closed union that
 * can be finer than the code), its params, and the English text. The console has a Russian text for each reason
 * (`web/src/problems`), so a reason without a text does not compile.
 */
import { nearNames } from './near-names.ts';
import { fillText, type ProblemLanguage, type ProblemParams } from './problem-fill.ts';
import { CONFIGURATION_PROBLEMS, PLAN_NOTES } from './problem-texts-configuration.ts';
import { FAULT_PROBLEMS } from './problem-texts-faults.ts';
import { REQUEST_PHRASES, REQUEST_PROBLEMS } from './problem-texts-requests.ts';
import { VALUE_PROBLEMS } from './problem-texts-values.ts';
import {
  ENGLISH as VALUE_ENGLISH,
  type ParamsOf,
  type ParamsOfText,
  type Phrase,
  type Problem,
  type ProblemReason,
  problemOf,
} from './problem-value.ts';

export type { ParamsOf, Phrase, Problem, ProblemReason } from './problem-value.ts';

export const PROBLEMS = {
  ...CONFIGURATION_PROBLEMS,
  ...VALUE_PROBLEMS,
  ...REQUEST_PROBLEMS,
  ...FAULT_PROBLEMS,
} as const;

const ENGLISH: ProblemLanguage = { ...VALUE_ENGLISH, phrases: { ...VALUE_ENGLISH.phrases, ...REQUEST_PHRASES } };

/** A problem at a place of a request: a JSON Pointer into the body, or `query.NAME`, `header.NAME`, `path`. */
export interface PlacedProblem extends Problem {
  path: string;
}

export function problem<Reason extends ProblemReason>(reason: Reason, ...rest: ParamsOf<Reason>): Problem {
  return problemOf(reason, PROBLEMS[reason], rest[0] as ProblemParams | undefined, ENGLISH);
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
  return extended(found, { forType: type });
}

/**
 * The same problem with "Did you mean …?" if some of the known names resemble the wrong one.
 *
 * @param known only names that the caller may read
 */
export function withNearNames(found: Problem, wrong: string, known: Iterable<string>): Problem {
  const meant = nearNames(wrong, known);
  return meant.length === 0 ? found : extended(found, { meant });
}

function extended(found: Problem, more: ProblemParams): Problem {
  const params = { ...found.params, ...more };
  const text = Object.hasOwn(PROBLEMS, found.reason) ? PROBLEMS[found.reason as ProblemReason][1] : found.message;
  return { ...found, message: fillText(text, params, ENGLISH), params };
}
