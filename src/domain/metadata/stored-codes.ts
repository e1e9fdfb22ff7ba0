/**
 * Values and history are stored under the first code that a field or option had, so that a rename moves no data
 * (docs/decisions/0017-a-rename-moves-no-values.md). Everything above the SQL uses the current codes; `StoredValues` marks what
 * was not translated yet. Pure.
 */
import type { Renamed } from '../../lib/data-types/index.ts';

interface Named extends Renamed {
  code: string;
}
/** The parts of a field, a type version and a type that matter here. */
interface StoredField extends Named {
  constraints: { options?: readonly Named[] };
}
interface StoredVersion {
  version: number;
  fields: ReadonlyMap<string, StoredField>;
  workflow: { states: ReadonlyMap<string, Named> } | null;
}

declare const stored: unique symbol;

/** Values of a record under the codes that the database has. Only `StoredCodes` makes and reads them. */
export type StoredValues = Readonly<Record<string, unknown>> & { readonly [stored]: true };

type Values = Readonly<Record<string, unknown>>;
type Changes = Readonly<Record<string, readonly [unknown, unknown]>>;

/** Translates between the current codes of a type and the stored ones. */
export interface StoredCodes {
  encode(values: Values): StoredValues;
  decode(values: StoredValues): Record<string, unknown>;
  encodeChanges(changes: Changes): Record<string, [unknown, unknown]>;
  /** Also the codes of workflow states. */
  decodeChanges(changes: Changes): Record<string, [unknown, unknown]>;
}

const UNCHANGED: StoredCodes = {
  encode: (values) => values as StoredValues,
  decode: (values) => values as Record<string, unknown>,
  encodeChanges: (changes) => changes as Record<string, [unknown, unknown]>,
  decodeChanges: (changes) => changes as Record<string, [unknown, unknown]>,
};

interface Target {
  code: string;
  options: ReadonlyMap<string, string>;
}

/** Stored options by code, or the reverse; empty if no option was renamed. */
function optionMap({ constraints }: StoredField, toStored: boolean): Map<string, string> {
  const renamed = (constraints.options ?? []).filter(({ storedAs }) => storedAs !== undefined);
  return new Map(renamed.map(({ code, storedAs = code }) => (toStored ? [code, storedAs] : [storedAs, code])));
}

/** A value of the field with other codes of options. */
function translated(value: unknown, options: ReadonlyMap<string, string>): unknown {
  if (options.size === 0) return value;
  if (Array.isArray(value)) return value.map((one) => translated(one, options));
  return typeof value === 'string' ? (options.get(value) ?? value) : value;
}

/** One value of the field with the current codes of its options. */
export function decodeValue(field: StoredField, value: unknown): unknown {
  return translated(value, optionMap(field, false));
}

function targets(fields: readonly StoredField[], toStored: boolean): Map<string, Target> {
  const found = new Map<string, Target>();
  for (const field of fields) {
    const { code, storedAs = code } = field;
    const options = optionMap(field, toStored);
    if (code === storedAs && options.size === 0) continue;
    found.set(toStored ? code : storedAs, { code: toStored ? storedAs : code, options });
  }
  return found;
}

function rename<T>(
  values: Readonly<Record<string, T>>,
  map: ReadonlyMap<string, Target>,
  each: (value: T, target: Target) => T,
) {
  const entries = Object.entries(values).flatMap(([name, value]): [string, T][] => {
    const target = map.get(name);
    if (target === undefined) return [[name, value]];
    // A process of a release without renames stores new values under the current code, beside the older stored one.
    const isNewer = Object.hasOwn(values, target.code) && !map.has(target.code);
    return isNewer ? [] : [[target.code, each(value, target)]];
  });
  return Object.fromEntries(entries);
}

/** The translation for a type; `null` if nothing in it was ever renamed. */
export function storedCodesOf(type: { versions: ReadonlyMap<number, StoredVersion> }): StoredCodes | null {
  const versions = [...type.versions.values()].sort((a, b) => a.version - b.version);
  const fields = versions.flatMap((version) => [...version.fields.values()]);
  const toStored = targets(fields, true);
  const toCode = targets(fields, false);
  const states = currentStates(versions.flatMap(({ workflow }) => [...(workflow?.states.values() ?? [])]));
  if (toStored.size === 0 && states.size === 0) return null;
  const one = (value: unknown, { options }: Target): unknown => translated(value, options);
  type Change = readonly [unknown, unknown];
  const pair = ([from, to]: Change, { options }: Target): Change => [
    translated(from, options),
    translated(to, options),
  ];
  return {
    encode: (values) => rename(values, toStored, one) as StoredValues,
    decode: (values) => rename<unknown>(values, toCode, one),
    encodeChanges: (changes) => rename<Change>(changes, toStored, pair) as Record<string, [unknown, unknown]>,
    decodeChanges: (changes) => {
      const decoded = rename<Change>(changes, toCode, pair) as Record<string, [unknown, unknown]>;
      const { workflowState } = decoded;
      if (workflowState === undefined || states.size === 0) return decoded;
      const [from, to] = workflowState;
      return { ...decoded, workflowState: [translated(from, states), translated(to, states)] };
    },
  };
}

/** Former code of a state → its code. A code that a state has now means that state. */
function currentStates(states: readonly Named[]): Map<string, string> {
  const found = new Map(states.flatMap(({ code, former = [] }) => former.map((old) => [old, code] as const)));
  for (const { code } of states) found.delete(code);
  return found;
}

/** The translation for records of the type; codes stay as they are for a type in which nothing was renamed. */
export function storedCodes(types: { storedCodes: ReadonlyMap<string, StoredCodes> }, typeId: string): StoredCodes {
  return types.storedCodes.get(typeId) ?? UNCHANGED;
}
