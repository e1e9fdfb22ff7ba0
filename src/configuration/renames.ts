/**
 * Renames in a bundle (`was`): finds which items and parts of items have new codes, and which parts are gone. Parts are the
 * elements of lists whose schema says so: fields, options, states, transitions, categories and the like. Pure.
 */
import { isObject } from '../lib/json.ts';
import { type Problem, problem } from '../lib/problem.ts';
import type { Renamed } from '../lib/data-types/index.ts';
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

function partsAt(value: unknown, steps: readonly string[]): RenamedPart[] {
  let at: unknown = value;
  for (const step of steps) at = isObject(at) ? at[step] : undefined;
  return Array.isArray(at)
    ? at.filter((one): one is RenamedPart => isObject(one) && typeof one['code'] === 'string')
    : [];
}

/** The value with each of its parts, at any depth, replaced. The inner parts of a part are replaced first. */
function mapParts(
  schema: NamingSchema,
  value: unknown,
  map: (part: RenamedPart, path: string) => RenamedPart,
  path = '',
): unknown {
  if (!isObject(value)) return value;
  const lists = new Map<string, PartList[]>();
  for (const list of partLists(schema)) {
    const [first = '', ...steps] = list.steps;
    lists.set(first, [...(lists.get(first) ?? []), { ...list, steps }]);
  }
  const replaced = Object.entries(value).map(([name, member]): [string, unknown] => {
    let next = member;
    for (const list of lists.get(name) ?? []) next = mapList(list, next, name, map, path);
    return [name, next];
  });
  return Object.fromEntries(replaced);
}

function mapList(
  { steps: [step, ...steps], part }: PartList,
  value: unknown,
  name: string,
  map: (part: RenamedPart, path: string) => RenamedPart,
  path: string,
): unknown {
  if (step !== undefined) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return value;
    return { ...value, [step]: mapList({ steps, part }, value[step], step, map, path) };
  }
  if (!Array.isArray(value)) return value;
  return value.map((one: unknown) => {
    if (!isObject(one) || typeof one['code'] !== 'string') return one;
    const at = `${path}/${name}/${one['code']}`;
    return map(mapParts(part, one, map, at) as RenamedPart, at);
  });
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
  const codes = new Map<string, string>();
  for (const list of nowParts(schema as NamingSchema, now.compiled, [''])) {
    for (const path of list.paths) if (!codes.has(path)) codes.set(path, list.code);
  }
  const back = (was: unknown, code: string): string[] => [code, ...formerCodes(was).filter((old) => old !== code)];
  const definition = mapParts(schema as NamingSchema, former.definition, (part, path) => {
    const code = codes.get(path);
    return code === undefined || code === part.code ? part : { ...part, was: back(part['was'], code) };
  });
  if (now.code === former.code || !isObject(definition)) return definition;
  return { ...definition, was: back(definition['was'], now.code) };
}

/** Each part with all paths that it has or had; present codes come first. */
function nowParts(
  schema: NamingSchema,
  value: unknown,
  places: readonly string[],
): { code: string; paths: string[] }[] {
  const found: { code: string; paths: string[]; present: boolean }[] = [];
  for (const { steps, part } of partLists(schema)) {
    for (const one of partsAt(value, steps)) {
      const paths = [one.code, ...(one.former ?? [])].map((code) =>
        places.map((place) => `${place}/${steps.at(-1)}/${code}`),
      );
      found.push({ code: one.code, paths: paths[0] ?? [], present: true });
      found.push({ code: one.code, paths: paths.slice(1).flat(), present: false });
      found.push(...nowParts(part, one, paths.flat()).map((inner) => ({ ...inner, present: true })));
    }
  }
  return found.sort((a, b) => Number(b.present) - Number(a.present));
}

/** The compiled item with what renames left on its parts. */
export function withRenamed(schema: unknown, compiled: unknown, renamed: ReadonlyMap<string, Renamed>): unknown {
  if (renamed.size === 0) return compiled;
  return mapParts(schema as NamingSchema, compiled, (part, path) => ({ ...part, ...renamed.get(path) }));
}

export interface PartRename {
  kind: PartKind;
  /** Lists and codes that lead to it before the change: `/fields/impact/options/high`. */
  path: string;
  /** Lists and codes of the part around it. */
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

interface ComparedList {
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
): PartChanges {
  const changes: PartChanges = { renames: [], gone: [], renamed: new Map(), problems: [] };
  const place: ComparedList = { before: '', after: '', at: [], codes: [], stored: [] };
  compareLists(schema as NamingSchema, next, before, compiled, place, changes);
  return changes;
}

function compareLists(
  schema: NamingSchema,
  next: unknown,
  before: unknown,
  compiled: readonly unknown[],
  place: ComparedList,
  changes: PartChanges,
): void {
  for (const { steps, part } of partLists(schema)) {
    const list = {
      next: partsAt(next, steps),
      before: new Map(partsAt(before, steps).map((one) => [one.code, one])),
      compiled: compiled.flatMap((one) => partsAt(one, steps)),
    };
    const name = steps.at(-1) ?? '';
    const origins = originsOf(list, { ...place, at: [...place.at, ...steps] }, changes);
    for (const [index, one] of list.next.entries()) {
      const from = origins.get(one) ?? one.code;
      const inner: ComparedList = {
        before: `${place.before}/${name}/${from}`,
        after: `${place.after}/${name}/${one.code}`,
        at: [...place.at, ...steps, index],
        codes: [...place.codes, one.code],
        stored: [...place.stored, storedCode(list.compiled, from)],
      };
      if (from !== one.code) {
        const list = `${place.before}/${name}`;
        changes.renames.push({ kind: part.part, path: inner.before, list, from, to: one.code });
      }
      const kept = renamedPart(list.compiled, from, one.code, part.part);
      if (kept !== undefined) changes.renamed.set(inner.after, kept);
      const older = list.compiled.filter(({ code }) => code === from);
      compareLists(part, one, list.before.get(from), older, inner, changes);
    }
    const kept = new Set(origins.values());
    for (const code of list.before.keys()) {
      if (kept.has(code)) continue;
      changes.gone.push({
        kind: part.part,
        codes: [...place.codes, code],
        stored: [...place.stored, storedCode(list.compiled, code)],
      });
    }
  }
}

function storedCode(compiled: readonly RenamedPart[], code: string): string {
  return compiled.findLast((one) => one.code === code)?.storedAs ?? code;
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

/** Each part of the new list that was in the old one → its code there. Reports renames that are not possible. */
function originsOf(
  list: { next: readonly RenamedPart[]; before: ReadonlyMap<string, RenamedPart>; compiled: readonly RenamedPart[] },
  place: ComparedList,
  { problems }: PartChanges,
): Map<RenamedPart, string> {
  const origins = new Map<RenamedPart, string>();
  const codes = new Map(list.next.map(({ code }, index) => [code, index]));
  const owners = new Map(list.compiled.flatMap(({ code, former = [] }) => former.map((old) => [old, code])));
  const known = new Set(list.compiled.map(({ code }) => code));
  const claimed = new Set<string>();
  for (const [index, part] of list.next.entries()) {
    const report = (name: string, found: Problem, at = index): void => {
      problems.push({ path: [...place.at, at, name], found });
    };
    const { code } = part;
    const there = list.before.has(code);
    const [from, ...others] = formerCodes(part['was']).filter((old) => old !== code && list.before.has(old));
    if (from === undefined) {
      if (there) origins.set(part, code);
      else if (owners.has(code)) report('code', problem('CODE_NOT_REUSABLE', { code }));
      continue;
    }
    if (there) report('was', problem('RENAME_TARGET_EXISTS', { code, was: from }));
    else if (others.length > 0 || claimed.has(from)) report('was', problem('RENAME_AMBIGUOUS', { code }));
    else {
      // A code that an older version or another part had would mean two things.
      const owner = owners.get(code);
      if ((owner !== undefined && owner !== from) || (owner === undefined && known.has(code))) {
        report('code', problem('CODE_NOT_REUSABLE', { code }));
      }
      const other = codes.get(from);
      if (other !== undefined) report('code', problem('CODE_NOT_REUSABLE', { code: from }), other);
      origins.set(part, from);
    }
    claimed.add(from);
  }
  return origins;
}
