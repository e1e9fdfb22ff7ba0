/**
 * Maps a row of a source to values of targets, with ordered transforms and precedence (docs/spec/import-export-bulk.md).
 * Pure: database lookups are requested in `wanted`, and their results are passed in by `found`. Repeat until `wanted` is empty.
 */
import type { FaultDetail } from './fault.ts';
import { isObject, pointer } from './json.ts';
import { ProblemError } from './problem.ts';
import {
  type Found,
  isEmptySource,
  type Lookup,
  parseTransform,
  PENDING,
  type Transform,
  TransformProblem,
} from './transforms.ts';

export type { Found, Lookup } from './transforms.ts';

export interface MappingItem {
  source: string;
  target: string;
  transform: readonly string[];
  /** If several items have the same target, the one with the lowest precedence whose source is not empty applies. */
  precedence: number;
}

interface Candidate {
  source: string;
  steps: readonly Transform[];
}

/** A parsed mapping. */
export interface Mapping {
  targets: ReadonlyMap<string, readonly Candidate[]>;
  /** The lookups of its transforms, without the texts. */
  lookups: readonly Omit<Lookup, 'text'>[];
}

/** The row's value for a source; undefined if the row has no such source. */
export type Row = (source: string) => unknown;

export interface Mapped {
  /** Target → value. A target is omitted if all its sources are missing, and null if they are all empty. */
  values: Record<string, unknown>;
  problems: FaultDetail[];
  wanted: Lookup[];
}

export function parseMapping(items: readonly MappingItem[]): Mapping {
  const ordered = [...items].sort((a, b) => a.precedence - b.precedence);
  const targets = new Map<string, Candidate[]>();
  for (const { source, target, transform } of ordered) {
    const candidates = targets.get(target) ?? [];
    candidates.push({ source, steps: transform.map(parseTransform) });
    targets.set(target, candidates);
  }
  const all = [...targets.values()].flat().flatMap((candidate) => candidate.steps);
  return { targets, lookups: all.flatMap((step) => step.lookup ?? []) };
}

/** Maps one row. Problems name the target and the source. While `wanted` is not empty, the values are incomplete. */
export function mapRow(mapping: Mapping, row: Row, found: Found): Mapped {
  const mapped: Mapped = { values: {}, problems: [], wanted: [] };
  const values: [string, unknown][] = [];
  for (const [target, candidates] of mapping.targets) {
    try {
      const value = valueFor(candidates, row, found, mapped.wanted);
      if (value !== undefined && value !== PENDING) values.push([target, value]);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      mapped.problems.push({ path: pointer('values', target), ...error.problem });
    }
  }
  mapped.values = Object.fromEntries(values);
  return mapped;
}

/** Undefined if no source exists in the row. */
function valueFor(candidates: readonly Candidate[], row: Row, found: Found, wanted: Lookup[]): unknown {
  let there = false;
  const empty: Candidate[] = [];
  for (const candidate of candidates) {
    const given = row(candidate.source);
    if (given !== undefined) there = true;
    if (isEmptySource(given)) empty.push(candidate);
    else {
      const value = transformed(candidate, given, found, wanted);
      if (!isEmptySource(value)) return value;
    }
  }
  // All sources are empty: use the first transform result that replaces an empty value.
  for (const candidate of empty) {
    const value = transformed(candidate, row(candidate.source), found, wanted);
    if (!isEmptySource(value)) return value;
  }
  return there ? null : undefined;
}

function transformed(candidate: Candidate, given: unknown, found: Found, wanted: Lookup[]): unknown {
  let value = given;
  try {
    for (const step of candidate.steps) {
      value = step.apply(value, { found, wanted });
      if (value === PENDING) break;
    }
  } catch (error) {
    if (error instanceof TransformProblem) throw new ProblemError(error.problemOf(candidate.source));
    throw error;
  }
  return value;
}

/**
 * The value at a source in JSON: the property with exactly that name, otherwise the one at a dotted path (`alert.labels.host`,
 * `items.0.name`). Only own properties; undefined if there is none.
 */
export function valueAt(body: unknown, source: string): unknown {
  return isObject(body) && Object.hasOwn(body, source) ? body[source] : valueAtPath(body, source);
}

/**
 * The value at a dotted path such as `alert.labels.host` or `items.0.name`. Only own properties and array elements count.
 *
 * @returns undefined if there is none; null is a value
 */
export function valueAtPath(body: unknown, path: string): unknown {
  let value = body;
  for (const step of path.split('.')) {
    if (Array.isArray(value)) value = /^(?:0|[1-9][0-9]{0,8})$/.test(step) ? value[Number(step)] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}
