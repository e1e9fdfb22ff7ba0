/** Problems of a bundle: all of them at once, each with file, line, column and path in the document. */
import { Fault, type FaultDetail } from '../lib/fault.ts';
import { type Problem, problem } from '../lib/problem.ts';
import type { ItemPath } from './section.ts';

export interface BundleProblem extends Problem {
  /** Null for a stored item that the bundle does not contain. */
  file: string | null;
  line: number | null;
  column: number | null;
  /** `types[0].fields[2].dataType`; empty for a whole file. */
  path: string;
}

const MAX_LISTED = 200;

/** Formats a path for display: `types[0].fields[2].dataType`. */
export function pathText(steps: ItemPath): string {
  let text = '';
  for (const step of steps) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\p{L}$_][\p{L}\p{N}$_-]*$/u.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

function where({ file, line, column, path }: BundleProblem): string {
  const place = file === null ? 'stored configuration' : `${file}:${line}:${column}`;
  return path === '' ? place : `${place} ${path}`;
}

/** Sorts by position in the files; problems of stored items come last. */
function byPlace(a: BundleProblem, b: BundleProblem): number {
  if (a.file !== b.file) return a.file === null ? 1 : b.file === null || a.file < b.file ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

function codeOf(problems: readonly BundleProblem[]): 'INVALID_REQUEST' | 'CODE_NOT_REUSABLE' {
  return problems.some(({ code }) => code === 'CODE_NOT_REUSABLE') ? 'CODE_NOT_REUSABLE' : 'INVALID_REQUEST';
}

/**
 * Fault INVALID_REQUEST, or CODE_NOT_REUSABLE, with all problems. The details name each position in readable form (`incident.yaml:12:17
 * types[0].fields[2].dataType`) and also contain its parts. The command line prints them, and the administration API returns
 * them.
 */
export class BundleError extends Fault {
  readonly problems: readonly BundleProblem[];

  constructor(found: readonly BundleProblem[]) {
    const problems = [...found].sort(byPlace);
    const listed = problems.slice(0, MAX_LISTED);
    const details = listed.map((one) => ({ ...one, path: where(one), at: one.path }));
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    const rest = problems.length > listed.length ? ` The details list the first ${listed.length}.` : '';
    const message = `The bundle has ${count}. Nothing was changed.${rest}`;
    const cause = problem('BUNDLE_PROBLEMS', { count: problems.length });
    super(codeOf(problems), { ...cause, message }, details satisfies FaultDetail[]);
    this.name = 'BundleError';
    this.problems = problems;
  }
}
