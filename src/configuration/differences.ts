/** Differences between two definitions, for display in a plan. Pure. */
import type { ListedDifferences } from './contract-plan.ts';
import { canonicalJson, deepEqualJson, isObject, ownMember } from '../lib/json.ts';
import { pathText } from './errors.ts';

export type Difference = ListedDifferences['differences'][number];

type Members = ReadonlyMap<string, unknown>;

/** The members of a list by code; undefined unless all have a unique code. */
function byCode(list: readonly unknown[]): Members | undefined {
  const members = new Map<string, unknown>();
  for (const member of list) {
    const code = isObject(member) ? member['code'] : undefined;
    if (typeof code !== 'string' || members.has(code)) return undefined;
    members.set(code, member);
  }
  return members;
}

/**
 * The smallest differing parts, in the order of the new definition. Lists of members with codes are compared by code; if only
 * their order changed, that is one difference of the whole list. Lists of other objects are aligned at equal members, and between
 * these at members that resemble each other. Lists of plain values are one difference.
 */
export function differencesOf(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = [];
  compare('', before, after, found);
  return found;
}

const MAX_DIFFERENCES = 200;

/**
 * The first differences and the number of the others. A missing definition counts as an empty one.
 *
 * @param schema gives the order of properties
 */
export function listedDifferences(before: unknown = {}, after: unknown = {}, schema?: Ordered): ListedDifferences {
  const all = differencesOf(inOrder(schema, before), inOrder(schema, after));
  const differences = all.slice(0, MAX_DIFFERENCES);
  return { differences, moreDifferences: all.length - differences.length };
}

/** A JSON Schema, as far as it orders properties. */
export interface Ordered {
  anyOf?: Ordered[];
  items?: Ordered;
  properties?: Record<string, Ordered>;
}

/** A copy with properties in the order of the schema. */
export function inOrder(schema: Ordered | undefined, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const branches = [schema, ...(schema?.anyOf ?? [])];
  if (Array.isArray(value)) {
    const items = branches.find((branch) => branch?.items !== undefined)?.items;
    return value.map((member) => inOrder(items, member));
  }
  const properties = branches.find((branch) => branch?.properties !== undefined)?.properties ?? {};
  const record = value as Record<string, unknown>;
  const names = [...Object.keys(properties).filter((name) => Object.hasOwn(record, name)), ...Object.keys(record)];
  return Object.fromEntries(
    [...new Set(names)].map((name) => [
      name,
      inOrder(Object.hasOwn(properties, name) ? properties[name] : undefined, record[name]),
    ]),
  );
}

function difference(path: string, before: unknown, after: unknown): Difference {
  return { path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

function compare(path: string, before: unknown, after: unknown, found: Difference[]): void {
  if (deepEqualJson(before, after)) return;
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(after), ...Object.keys(before)])) {
      const name = path === '' ? pathText([key]) : `${path}${pathText(['x', key]).slice(1)}`;
      compare(name, ownMember(before, key), ownMember(after, key), found);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const old = byCode(before);
    const now = byCode(after);
    if (old !== undefined && now !== undefined && old.size + now.size > 0) {
      lists(path, old, now, found);
      return;
    }
    if ([...before, ...after].every(isObject)) {
      for (const [index, other] of aligned(before, after)) {
        const place = `${path}[${other ?? index}]`;
        compare(place, index === null ? undefined : before[index], other === null ? undefined : after[other], found);
      }
      return;
    }
  }
  found.push(difference(path, before, after));
}

function lists(path: string, old: Members, now: Members, found: Difference[]): void {
  for (const code of new Set([...now.keys(), ...old.keys()])) {
    compare(`${path}[${code}]`, old.get(code), now.get(code), found);
  }
  const stayed = [...old.keys()].filter((code) => now.has(code));
  const order = [...now.keys()].filter((code) => old.has(code));
  if (stayed.some((code, index) => code !== order[index])) found.push({ path, before: stayed, after: order });
}

/** Longer parts of lists are compared member by member in their order. */
const MAX_PAIRS = 250_000;

/** Index in the old and in the new list; null where a member has no counterpart. */
type Pair = readonly [number | null, number | null];

/** Pairs the members of two lists of objects, in order. */
function aligned(before: readonly unknown[], after: readonly unknown[]): Pair[] {
  const [old, now] = [before.map((one) => canonicalJson(one)), after.map((one) => canonicalJson(one))];
  const equal = common([0, old.length], [0, now.length], (i, j) => old[i] === now[j]);
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  for (const [nextOld, nextNow] of [...equal, [old.length, now.length] as const]) {
    pairs.push(...between([i, nextOld], [j, nextNow], (a, b) => isAlike(before[a], after[b])));
    if (nextOld < old.length) pairs.push([nextOld, nextNow]);
    [i, j] = [nextOld + 1, nextNow + 1];
  }
  return pairs;
}

type Range = readonly [start: number, end: number];
type Matches = (oldIndex: number, newIndex: number) => boolean;

/** Pairs members of two ranges without equal members: all in order if there are as many, otherwise those that match. */
function between(old: Range, now: Range, matches: Matches): Pair[] {
  const [count, other] = [old[1] - old[0], now[1] - now[0]];
  if (count === other) return Array.from({ length: count }, (_, index): Pair => [old[0] + index, now[0] + index]);
  const pairs: Pair[] = [];
  let [i, j] = [old[0], now[0]];
  for (const [nextOld, nextNow] of [...common(old, now, matches), [old[1], now[1]] as const]) {
    while (i < nextOld) pairs.push([i++, null]);
    while (j < nextNow) pairs.push([null, j++]);
    if (nextOld < old[1] && nextNow < now[1]) pairs.push([i++, j++]);
  }
  return pairs;
}

/** Whether two objects have a text or an object in common under the same name, such as the type of a grant. */
function isAlike(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return false;
  return Object.entries(one).some(
    ([key, value]) =>
      (typeof value === 'string' || isObject(value)) && deepEqualJson(value, ownMember(other, key) ?? null),
  );
}

/** A longest common subsequence of two ranges, as pairs of indexes. */
function common(old: Range, now: Range, matches: Matches): [number, number][] {
  let [start, begin] = [old[0], now[0]];
  let [end, close] = [old[1], now[1]];
  const head: [number, number][] = [];
  const tail: [number, number][] = [];
  while (start < end && begin < close && matches(start, begin)) head.push([start++, begin++]);
  while (start < end && begin < close && matches(end - 1, close - 1)) tail.unshift([--end, --close]);
  const [height, width] = [end - start, close - begin];
  if (height === 0 || width === 0 || height * width > MAX_PAIRS) return [...head, ...tail];
  // lengths[i][j]: the longest one of what follows i and j.
  const lengths = Array.from({ length: height + 1 }, () => new Uint32Array(width + 1));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = height - 1; i >= 0; i--) {
    for (let j = width - 1; j >= 0; j--) {
      const next = matches(start + i, begin + j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
      (lengths[i] as Uint32Array)[j] = next;
    }
  }
  const middle: [number, number][] = [];
  for (let [i, j] = [0, 0]; i < height && j < width; ) {
    if (matches(start + i, begin + j) && at(i, j) === at(i + 1, j + 1) + 1) middle.push([start + i++, begin + j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return [...head, ...middle, ...tail];
}
