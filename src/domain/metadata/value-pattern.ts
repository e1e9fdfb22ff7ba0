/**
 * Patterns and options of fields, prepared once. The map below holds nothing but what follows from the definition itself,
 * so it may outlive any unit of work; it goes with the definition.
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

/** The compiled pattern, or why it is none, in words that complete a sentence. */
export function compilePattern(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unknown reason';
  }
}
