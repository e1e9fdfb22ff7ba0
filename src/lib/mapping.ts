/**
 * From a row of a source to values of targets: mappings with transforms in order and precedence (decisions, "Import, export,
 * bulk"). Pure: what only the database knows is asked for in `wanted` and handed in by `found`, until nothing more is asked.
 */
import type { FaultDetail } from './fault.ts';
import { pointer } from './json.ts';
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
  /** Of several for one target, the lowest whose source is not empty wins. */
  precedence: number;
}

interface Candidate {
  source: string;
  steps: readonly Transform[];
}

/** A mapping that was parsed once. */
export interface Mapping {
  targets: ReadonlyMap<string, readonly Candidate[]>;
  /** What its transforms look up, without the texts. */
  lookups: readonly Omit<Lookup, 'text'>[];
}

/** What a row says under the name of a source; undefined where the row has no such source. */
export type Row = (source: string) => unknown;

export interface Mapped {
  /** Target → value; targets whose every source is missing are left out, those whose sources are all empty are null. */
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

/**
 * The values of one row. Problems name the target and the column; while `wanted` is not empty, the values are not complete.
 */
export function mapRow(mapping: Mapping, row: Row, found: Found): Mapped {
  const mapped: Mapped = { values: {}, problems: [], wanted: [] };
  const values: [string, unknown][] = [];
  for (const [target, candidates] of mapping.targets) {
    try {
      const value = valueFor(candidates, row, found, mapped.wanted);
      if (value !== undefined && value !== PENDING) values.push([target, value]);
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error;
      mapped.problems.push({ path: pointer('values', target), code: error.code, message: error.message });
    }
  }
  mapped.values = Object.fromEntries(values);
  return mapped;
}

class RowProblem extends Error {
  readonly code: string;
  constructor(source: string, { code, message }: TransformProblem) {
    super(`The value of ${JSON.stringify(source)} cannot be used: ${message}.`);
    this.code = code;
  }
}

/** Undefined where no source is there. */
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
  // Nothing was given: what a transform puts in the place of nothing counts.
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
    if (error instanceof TransformProblem) throw new RowProblem(candidate.source, error);
    throw error;
  }
  return value;
}

/**
 * What stands in a JSON value under a source: the property of that very name, else the one at the end of a dotted path
 * (`alert.labels.host`, `items.0.name`). Own properties alone; undefined where there is none.
 */
export function valueAt(body: unknown, source: string): unknown {
  if (isObject(body) && Object.hasOwn(body, source)) return body[source];
  let value = body;
  for (const step of source.split('.')) {
    if (Array.isArray(value)) value = /^(?:0|[1-9][0-9]{0,8})$/.test(step) ? value[Number(step)] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
