/** Differences between two definitions, for display in a plan. Pure. */
import { deepEqualJson, isObject, ownMember } from '../lib/json.ts';
import { pathText } from './errors.ts';

export interface Difference {
  /** `fields[priority].default`; list members that have a code are named by it. */
  path: string;
  /** Absent if there was no value. */
  before?: unknown;
  after?: unknown;
}

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
 * their order changed, that is one difference of the whole list.
 */
export function differencesOf(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = [];
  compare('', before, after, found);
  return found;
}

/** Differences for an answer, at most `MOST_DIFFERENCES`. */
export interface ListedDifferences {
  differences: Difference[];
  /** Number of differences that are not listed. */
  moreDifferences: number;
}

const MOST_DIFFERENCES = 200;

/** The first differences and the number of the others. A missing definition counts as an empty one. */
export function listedDifferences(before: unknown = {}, after: unknown = {}): ListedDifferences {
  const all = differencesOf(before, after);
  const differences = all.slice(0, MOST_DIFFERENCES);
  return { differences, moreDifferences: all.length - differences.length };
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
