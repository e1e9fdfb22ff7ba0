/** Russian texts of the problems that the service reports, by reason. */
import { fillText, type ProblemParams } from '../../../src/lib/problem-fill.ts';
import type { ProblemReason } from '../../../src/lib/problem.ts';
import { RUSSIAN_CONFIGURATION, RUSSIAN_PLAN_NOTES, RUSSIAN_VALUE_PHRASES } from './russian-configuration.ts';
import { RUSSIAN_FAULTS } from './russian-faults.ts';
import { RUSSIAN_REQUEST_PHRASES, RUSSIAN_REQUESTS } from './russian-requests.ts';
import { RUSSIAN_VALUES } from './russian-values.ts';

export { RUSSIAN_PLAN_NOTES } from './russian-configuration.ts';

export const RUSSIAN_PHRASES = { ...RUSSIAN_VALUE_PHRASES, ...RUSSIAN_REQUEST_PHRASES } as const;

export const RUSSIAN_PROBLEMS: Readonly<Record<ProblemReason, string>> = {
  ...RUSSIAN_CONFIGURATION,
  ...RUSSIAN_VALUES,
  ...RUSSIAN_REQUESTS,
  ...RUSSIAN_FAULTS,
};

const RUSSIAN = {
  phrases: RUSSIAN_PHRASES,
  or: ' или ',
  forType: ' (тип записей {type})',
  meant: ' Возможно, имелось в виду {names}?',
} as const;

const RUSSIAN_TEXTS: Readonly<Record<string, string>> = { ...RUSSIAN_PROBLEMS, ...RUSSIAN_PLAN_NOTES };

/** An entry of `error.details` or a part of it, or a note of a plan. */
export interface ReportedProblem {
  /** English. */
  message: string;
  reason?: string;
  /** `ProblemParams`, as JSON. */
  params?: Readonly<Record<string, unknown>>;
}

/** Undefined for a reason that this console does not know, from a newer service. */
export function russianText({ reason = '', params = {} }: ReportedProblem): string | undefined {
  const text = Object.hasOwn(RUSSIAN_TEXTS, reason) ? RUSSIAN_TEXTS[reason] : undefined;
  return text === undefined ? undefined : fillText(text, params as ProblemParams, RUSSIAN);
}
