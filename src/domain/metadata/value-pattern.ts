/**
 * Compiled patterns and option sets of fields. The cache depends only on the constraints, so it may outlive a unit of work. It
 * is weak, so entries are released with their definition.
 */
import { RE2JS } from 're2js';
import type { FieldConstraints } from './definitions.ts';

export interface Prepared {
  pattern: RE2JS | null;
  options: ReadonlySet<string> | null;
}

const prepared = new WeakMap<FieldConstraints, Prepared>();

/** Expects constraints that `checkConstraints` accepted. */
export function prepare(constraints: FieldConstraints): Prepared {
  let known = prepared.get(constraints);
  if (known === undefined) {
    const { pattern, options } = constraints;
    known = {
      pattern: pattern === undefined ? null : RE2JS.compile(pattern),
      options: options === undefined ? null : new Set(options.map((option) => option.code)),
    };
    prepared.set(constraints, known);
  }
  return known;
}

/** The compiled pattern, or the reason why it is invalid, as the end of a sentence. */
export function compilePattern(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unknown reason';
  }
}
