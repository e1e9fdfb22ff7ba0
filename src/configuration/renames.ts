/**
 * Renames in a bundle (`was`): finds which items and parts of items have new codes, and which parts are gone. Parts are the
 * elements of lists whose schema says so: fields, options, states, transitions, categories and the like. Pure.
 */
import { isObject } from '../lib/json.ts';
import { type Problem, problem } from '../lib/problem.ts';
import type { Renamed } from '../lib/data-types/index.ts';
import { Codes } from './codes.ts';
import type { NamingSchema, PartKind } from './naming.ts';
import type { GonePart, ItemPath } from './section.ts';

type Members = Record<string, unknown>;
interface RenamedPart extends Renamed, Members {
  code: string;
}

/** A list of parts in a schema: the properties that lead to it, and the schema of its elements. */
interface PartList {
  steps: string[];
  part: NamingSchema & { part: PartKind };
}

function* partLists(schema: NamingSchema, steps: string[] = []): Generator<PartList> {
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (member.items?.part !== undefined) yield { steps: [...steps, name], part: member.items as PartList['part'] };
    else if (member.properties !== undefined) yield* partLists(member, [...steps, name]);
  }
}

/** Whether items of the schema have parts. */
export function hasParts(schema: unknown): boolean {
  return partLists(schema as NamingSchema).next().done !== true;
}

function isPart(value: unknown): value is RenamedPart {
  return isObject(value) && typeof value['code'] === 'string';
}

function partsAt(value: unknown, steps: readonly string[]): RenamedPart[] {
  const list = steps.reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), value);
  return Array.isArray(list) ? list.filter(isPart) : [];
}

/** A copy in which the list at the steps is replaced, if there is one. */
function withList(value: unknown, steps: readonly string[], change: (list: unknown[]) => unknown[]): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return Array.isArray(value) ? change(value) : value;
  if (!isObject(value) || !Object.hasOwn(value, step)) return value;
  return { ...value, [step]: withList(value[step], rest, change) };
}

/** The value with each of its parts, at any depth, replaced. The inner parts of a part are replaced first. */
function mapParts(
  schema: NamingSchema,
  value: unknown,
  map: (part: RenamedPart, path: string) => RenamedPart,
  path = '',
): unknown {
  let mapped = value;
  for (const { steps, part } of partLists(schema)) {
    const replaced = (one: unknown): unknown => {
      if (!isPart(one)) return one;
      const at = `${path}/${steps.at(-1)}/${one.code}`;
      return map(mapParts(part, one, map, at) as RenamedPart, at);
    };
    mapped = withList(mapped, steps, (list) => list.map(replaced));
  }
  return mapped;
}

/** `was` as a list. */
export function formerCodes(was: unknown): string[] {
  return typeof was === 'string' ? [was] : Array.isArray(was) ? (was as string[]) : [];
}

/** The item without `was`, its own and that of its parts. */
export function withoutWas(schema: unknown, value: unknown): unknown {
  const drop = <T extends Members>({ was: _was, ...rest }: T) => rest;
  const own = isObject(value) ? drop(value) : value;
  return mapParts(schema as NamingSchema, own, (part) => drop(part) as unknown as RenamedPart);
}

/** The definition with `was` as the item has it. */
export function withWas(schema: unknown, item: unknown, definition: unknown): unknown {
  if (!isObject(item) || !isObject(definition)) return definition;
  const found = new Map<string, unknown>();
  mapParts(schema as NamingSchema, item, (part, path) => {
    if (part['was'] !== undefined) found.set(path, part['was']);
    return part;
  });
  const own = item['was'] === undefined ? definition : { ...definition, was: item['was'] };
  if (found.size === 0) return own;
  return mapParts(schema as NamingSchema, own, (part, path) =>
    found.has(path) ? { ...part, was: found.get(path) } : part,
  );
}

/**
 * A former definition with `was` wherever the item or a part has another code now, so that applying it renames back.
 *
 * @param now the item as it is stored
 */
export function withWasNow(
  schema: unknown,
  former: { code: string; definition: unknown },
  now: { code: string; compiled: unknown },
): unknown {
  const codes = new Codes({ former: true });
  if (isObject(now.compiled)) codes.addParts([''], now.compiled);
  const back = (was: unknown, code: string): string[] => [code, ...formerCodes(was).filter((old) => old !== code)];
  const definition = mapParts(schema as NamingSchema, former.definition, (part, path) => {
    const code = codes.at(path)?.code ?? part.code;
    return code === part.code ? part : { ...part, was: back(part['was'], code) };
  });
  if (now.code === former.code || !isObject(definition)) return definition;
  return { ...definition, was: back(definition['was'], now.code) };
}

/** The compiled item with what renames left on its parts. */
export function withRenamed(schema: unknown, compiled: unknown, renamed: ReadonlyMap<string, Renamed>): unknown {
  if (renamed.size === 0) return compiled;
  return mapParts(schema as NamingSchema, compiled, (part, path) => ({ ...part, ...renamed.get(path) }));
}

export interface PartRename {
  kind: PartKind;
  /** The list with the codes before the change: `/fields/impact/options`. */
  list: string;
  from: string;
  to: string;
}

/** The difference between the parts of an item before and after a change. */
export interface PartChanges {
  renames: PartRename[];
  gone: GonePart[];
  /** Path after the change → what this and earlier renames leave on the part. */
  renamed: Map<string, Renamed>;
  problems: { path: ItemPath; found: Problem }[];
}

/** A part, or the whole item. */
interface ComparedPart {
  before: string;
  after: string;
  at: ItemPath;
  codes: readonly string[];
  stored: readonly string[];
}

/**
 * Compares the parts of an item with its stored ones.
 *
 * @param next the item, as in the bundle or as stored
 * @param before its stored definition
 * @param compiled its stored compiled forms, oldest first
 */
export function compareParts(
  schema: unknown,
  next: unknown,
  before: unknown,
  compiled: readonly unknown[],
  place: ComparedPart = { before: '', after: '', at: [], codes: [], stored: [] },
  changes: PartChanges = { renames: [], gone: [], renamed: new Map(), problems: [] },
): PartChanges {
  for (const { steps, part } of partLists(schema as NamingSchema)) {
    const [list, name] = [partsAt(next, steps), steps.at(-1) ?? ''];
    const old = new Map(partsAt(before, steps).map((one) => [one.code, one]));
    const versions = compiled.flatMap((one) => partsAt(one, steps));
    const storedAs = (code: string): string => versions.findLast((one) => one.code === code)?.storedAs ?? code;
    const origins = originsOf(list, old, versions, (index, property, found) => {
      changes.problems.push({ path: [...place.at, ...steps, index, property], found });
    });
    for (const [index, one] of list.entries()) {
      const { code } = one;
      const from = origins.get(index) ?? code;
      const after = `${place.after}/${name}/${code}`;
      if (from !== code) changes.renames.push({ kind: part.part, list: `${place.before}/${name}`, from, to: code });
      const kept = renamedPart(versions, from, code, part.part);
      if (kept !== undefined) changes.renamed.set(after, kept);
      const inner: ComparedPart = {
        before: `${place.before}/${name}/${from}`,
        after,
        at: [...place.at, ...steps, index],
        codes: [...place.codes, code],
        stored: [...place.stored, storedAs(from)],
      };
      const older = versions.filter((version) => version.code === from);
      compareParts(part, one, old.get(from), older, inner, changes);
    }
    const kept = new Set(origins.values());
    for (const code of old.keys()) {
      const [codes, stored] = [
        [...place.codes, code],
        [...place.stored, storedAs(code)],
      ];
      if (!kept.has(code)) changes.gone.push({ kind: part.part, codes, stored });
    }
  }
  return changes;
}

/** What renames leave on a part; undefined if it was never renamed. */
function renamedPart(compiled: readonly RenamedPart[], from: string, to: string, kind: PartKind): Renamed | undefined {
  const known = compiled.findLast(({ code }) => code === from);
  const all = [...(known?.former ?? []), ...(from === to ? [] : [from])];
  const former = [...new Set(all)].filter((code) => code !== to);
  if (former.length === 0) return undefined;
  const storedAs = known?.storedAs ?? from;
  return kind === 'field' || kind === 'option' ? (storedAs === to ? { former } : { storedAs, former }) : { former };
}

/**
 * Finds what each thing of a list was before the change: items of a section, or parts of an item.
 *
 * @param old things before the change, by code
 * @param known things of now and of older versions, with the codes that they had
 * @param report takes renames that are not possible
 * @returns index in the list → code before; without the new ones
 */
export function originsOf(
  list: readonly { code: string; was?: unknown }[],
  old: ReadonlyMap<string, unknown>,
  known: readonly { code: string; former?: string[] }[],
  report: (index: number, property: 'code' | 'was', found: Problem) => void,
): Map<number, string> {
  const origins = new Map<number, string>();
  const indexes = new Map(list.map(({ code }, index) => [code, index]));
  const owners = new Map(known.flatMap(({ code, former = [] }) => former.map((one) => [one, code])));
  const codes = new Set(known.map(({ code }) => code));
  const claimed = new Set<string>();
  for (const [index, { code, was }] of list.entries()) {
    const there = old.has(code);
    const owner = owners.get(code);
    const [from, ...others] = formerCodes(was).filter((one) => one !== code && old.has(one));
    if (from === undefined) {
      if (there) origins.set(index, code);
      else if (owner !== undefined) report(index, 'code', problem('CODE_NOT_REUSABLE', { code }));
      continue;
    }
    if (there) report(index, 'was', problem('RENAME_TARGET_EXISTS', { code, was: from }));
    else if (others.length > 0 || claimed.has(from)) report(index, 'was', problem('RENAME_AMBIGUOUS', { code }));
    else {
      // A code that an older version or another part had would mean two things.
      if (owner === undefined ? codes.has(code) : owner !== from)
        report(index, 'code', problem('CODE_NOT_REUSABLE', { code }));
      const other = indexes.get(from);
      if (other !== undefined) report(other, 'code', problem('CODE_NOT_REUSABLE', { code: from }));
      origins.set(index, from);
    }
    claimed.add(from);
  }
  return origins;
}
