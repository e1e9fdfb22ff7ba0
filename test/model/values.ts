/** Values of fields as the model judges them, written from docs/spec/records.md#data-types, not from the service's code. */
import { isDeepStrictEqual } from 'node:util';
import {
  AGENT_READS,
  AGENT_WRITES,
  AGENT_TRANSITIONS,
  type Caller,
  TRANSITIONS,
  type TypeCode,
  VIEWER_READS,
} from './world.ts';
import type { RecordState, State, Values } from './state.ts';

/** A value that the field refuses. */
export const REFUSED = Symbol('refused');

type Canonical = (value: unknown) => unknown;

const oneOf =
  (...options: unknown[]): Canonical =>
  (value) =>
    options.includes(value) ? value : REFUSED;

const line: Canonical = (value) => {
  if (typeof value !== 'string' || value.length > 1000 || value.includes('\n')) return REFUSED;
  return value === '' ? null : value;
};

const text: Canonical = (value) => (typeof value === 'string' ? value || null : REFUSED);
const id: Canonical = (value) => (typeof value === 'string' && /^[\da-f-]{36}$/.test(value) ? value : REFUSED);

const listOf =
  (element: Canonical): Canonical =>
  (value) => {
    if (!Array.isArray(value)) return REFUSED;
    const elements = value.map(element);
    if (elements.includes(REFUSED) || elements.includes(null) || new Set(elements).size < elements.length)
      return REFUSED;
    return elements.length === 0 ? null : elements;
  };

const title: Canonical = (value) => (typeof value === 'string' && value.length > 40 ? REFUSED : line(value));

const CANONICAL: Readonly<Record<TypeCode, Readonly<Record<string, Canonical>>>> = {
  ticket: {
    title,
    kind: oneOf('a', 'b'),
    count: (value) => (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 1000 ? value : REFUSED),
    flag: oneOf(true, false),
    // Of two forms of a decimal, the service answers one: exact, without needless zeros.
    amount: (value) => {
      if (typeof value === 'number') return Number.isInteger(value) ? String(value) : REFUSED;
      return typeof value === 'string' && /^-?\d+(\.\d*[1-9])?$/.test(value) ? value : REFUSED;
    },
    day: (value) => {
      if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return REFUSED;
      const parsed = new Date(`${value}T00:00:00Z`);
      return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(value) ? value : REFUSED;
    },
    tags: listOf(line),
    note: text,
    secret: line,
    grade: oneOf('low', 'high'),
    owner: id,
    team: id,
    unit: id,
    parts: listOf(id),
    extra: (value) => value,
    run: line,
    escalated: oneOf(true, false),
  },
  part: { title, kind: oneOf('a', 'b'), run: line },
  word: { title, run: line },
};

export const FIELDS: Readonly<Record<TypeCode, readonly string[]>> = {
  ticket: Object.keys(CANONICAL.ticket),
  part: Object.keys(CANONICAL.part),
  word: Object.keys(CANONICAL.word),
};

/** The stored form of a value: null for an empty one, `REFUSED` for one that the field does not take. */
export function canonical(type: TypeCode, field: string, value: unknown): unknown {
  return value === null ? null : CANONICAL[type][field]?.(value);
}

export function canSee(who: Caller, record: RecordState): boolean {
  if (who === 'chief') return true;
  if (record.type === 'ticket') return who === 'agent' || record.values['kind'] === 'a';
  return record.type === 'part' && who === 'agent' && record.values['kind'] === 'a';
}

export function canRead(who: Caller, type: TypeCode, field: string): boolean {
  if (!FIELDS[type].includes(field)) return false;
  if (who === 'chief') return true;
  if (type === 'ticket') return (who === 'agent' ? AGENT_READS : VIEWER_READS).includes(field);
  return type === 'part' && who === 'agent';
}

export function canWrite(who: Caller, type: TypeCode, field: string): boolean {
  if (!FIELDS[type].includes(field)) return false;
  return who === 'chief' || (who === 'agent' && type === 'ticket' && AGENT_WRITES.includes(field));
}

/** What the caller may read of the record's values. */
export function readable(who: Caller, { type, values }: Pick<RecordState, 'type' | 'values'>): Values {
  return Object.fromEntries(Object.entries(values).filter(([field]) => canRead(who, type, field)));
}

export function transitionsOf(who: Caller): typeof TRANSITIONS {
  if (who === 'chief') return TRANSITIONS;
  return who === 'agent' ? TRANSITIONS.filter(({ code }) => AGENT_TRANSITIONS.includes(code)) : [];
}

export interface Checked {
  /** Stored values of the accepted fields; null where the value is cleared. */
  stored: Values;
  /** Codes of the refused fields. */
  refused: readonly string[];
}

/** Judges the form of values; a field that the caller can neither read nor write does not exist. */
export function checkForm(who: Caller, type: TypeCode, given: Values): Checked {
  const stored: Record<string, unknown> = {};
  const refused: string[] = [];
  for (const [field, value] of Object.entries(given)) {
    const isKnown = canRead(who, type, field) || canWrite(who, type, field);
    const checked = isKnown ? canonical(type, field, value) : REFUSED;
    if (checked === REFUSED) refused.push(field);
    else stored[field] = checked;
  }
  return { stored, refused };
}

/** Fields that name something that is not there, is archived, has another kind, or cannot be read by the caller. */
export function wrongReferences(state: State, who: Caller, values: Values): string[] {
  const exists: Record<string, (id: string) => boolean> = {
    owner: (one) => state.users.has(one),
    team: (one) => state.groups.has(one),
    unit: (one) => state.units.has(one),
    parts: (one) => {
      const part = state.records.get(one);
      return part?.type === 'part' && !part.archived && canSee(who, part);
    },
  };
  return Object.entries(values).flatMap(([field, value]) => {
    const check = exists[field];
    if (check === undefined || value === null) return [];
    return (Array.isArray(value) ? value : [value]).every((one) => check(String(one))) ? [] : [field];
  });
}

/** Values after a change; a null clears. `fields`: those that differ. */
export function changed(before: Values, changes: Values): { values: Values; fields: string[] } {
  const values: Record<string, unknown> = { ...before };
  const fields: string[] = [];
  for (const [field, value] of Object.entries(changes)) {
    if (isDeepStrictEqual(before[field] ?? null, value)) continue;
    fields.push(field);
    if (value === null) delete values[field];
    else values[field] = value;
  }
  return { values, fields };
}
