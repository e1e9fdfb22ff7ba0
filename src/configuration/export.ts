/**
 * Writes the current configuration as a bundle for which `plan` reports no change (docs/spec/configuration.md#command-line).
 */
import { isActive } from '../contract/state.ts';
import type { Static } from 'typebox';
import { stringify } from 'yaml';
import { Fault } from '../lib/fault.ts';
import { deepEqualJson, isObject } from '../lib/json.ts';
import { Yielder } from '../lib/yielding.ts';
import type { readItem } from './contract.ts';
import { inOrder } from './differences.ts';
import type { ConfigSection, StoredItem } from './section.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import { type BundleFile, shapeProblems } from './read.ts';
import { mayRead } from './require-readable.ts';
import { requireRight, seesHolders, shown } from './rights.ts';
import { withWasNow } from './renames.ts';
import { itemsAt, type PastItem } from './store-versions.ts';

export interface ExportScope {
  /** Also users, groups, units, memberships and assignments. */
  identity: boolean;
  /** Keys of the sections to export; all if absent. */
  only?: readonly string[] | undefined;
  /** The configuration version to export; the current one if absent. Users, groups and units have no versions. */
  version?: number | undefined;
}

/**
 * One file per non-empty section, and for a past version also for empty ones. Archived items are omitted; users, groups, units, memberships and assignments are omitted
 * unless `identity` is set. Sections that the caller may not read are omitted, too; `unreadable` names them. Never contains
 * secrets. The same configuration gives the same text, byte by byte.
 *
 * @throws Fault RIGHT_MISSING for `config.manage`, and with `identity` for the right to read users; NOT_FOUND for an unknown
 *   section or version
 */
export async function exportBundle(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  { identity, only, version }: ExportScope,
): Promise<BundleFile[]> {
  ctx.actor.require('config.manage');
  for (const key of only ?? []) requireSection(sections, key);
  const wanted = (section: ConfigSection): boolean =>
    (identity || !section.identity || only?.includes(section.key) === true) && only?.includes(section.key) !== false;
  for (const section of sections) if (section.identity && wanted(section)) requireRight(ctx, section);
  const past = version === undefined ? undefined : Map.groupBy(await itemsAt(ctx, version), (item) => item.section);
  const { stored, isActiveItem } = await loadAll(ctx, sections, past);
  const yielder = new Yielder();
  const files: BundleFile[] = [];
  for (const section of sections) {
    if (!wanted(section) || !mayRead(ctx, section)) continue;
    const items = (stored.get(section.key) ?? [])
      .filter((item) => isActive(item))
      .sort((a, b) => (a.code < b.code ? -1 : 1));
    const written: unknown[] = [];
    for (const item of items) {
      await yielder.next();
      const presented = section.toBundleItem(item.definition, { identity, active: isActiveItem });
      if (presented !== undefined) written.push(await withoutDefaults(section, presented, yielder));
    }
    if (written.length === 0) {
      // Restoring a version archives what it did not have; only a section that is named is pruned.
      const empty = section.shape === 'map' ? '{}' : '[]';
      if (past !== undefined && !section.identity)
        files.push({ name: `${section.key}.yaml`, text: `${section.key}: ${empty}\n` });
      continue;
    }
    files.push({ name: `${section.key}.yaml`, text: await sectionText(section, written, yielder) });
  }
  return files;
}

/** The items of all sections. @param past those of an older version by section, if it is exported */
async function loadAll(ctx: ReadContext, sections: readonly ConfigSection[], past?: ReadonlyMap<string, PastItem[]>) {
  const stored = new Map<string, StoredItem[]>();
  const active = new Set<string>();
  const byKey = new Map(sections.map((section) => [section.key, section]));
  // One after another: a unit has one connection.
  for (const section of sections) {
    const { key, identity } = section;
    const now = await section.load(ctx);
    const items = past === undefined || identity ? now : storedThen(section, past.get(key), now);
    stored.set(key, items);
    for (const item of items) if (isActive(item)) active.add(`${key} ${section.keyOf(item.code)}`);
  }
  const isActiveItem = (key: string, code: string): boolean =>
    active.has(`${key} ${byKey.get(key)?.keyOf(code) ?? code}`);
  return { stored, isActiveItem };
}

/** A text of several lines that starts with white space; as a YAML block, some of them are read back differently. */
function isQuoted(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\n') && /^\s/.test(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(isQuoted);
}

function yamlText(value: unknown, quoted = isQuoted(value)): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, ...(quoted ? { blockQuote: false } : {}) });
}

/** The file of a section, made item by item. */
async function sectionText(
  { key, shape }: ConfigSection,
  items: readonly unknown[],
  yielder: Yielder,
): Promise<string> {
  if (shape === 'map') return yamlText({ [key]: items[0] });
  return await listText(key, items, isQuoted(items), yielder);
}

/** A property with a list of objects, made element by element. */
async function listText(key: string, list: readonly unknown[], quoted: boolean, yielder: Yielder): Promise<string> {
  const head = `${key}:\n`;
  const parts = [head];
  for (const member of list) {
    await yielder.next();
    parts.push(yamlText({ [key]: [member] }, quoted).slice(head.length));
  }
  return parts.join('');
}

/** The text of one item, made property by property. */
async function itemText(item: object, yielder: Yielder): Promise<string> {
  const quoted = isQuoted(item);
  const parts: string[] = [];
  for (const [key, value] of Object.entries(item)) {
    await yielder.next();
    const isList = Array.isArray(value) && value.length > 0;
    parts.push(isList ? await listText(key, value, quoted, yielder) : yamlText({ [key]: value }, quoted));
  }
  return parts.join('');
}

/**
 * Past items in the form of stored ones; an export needs no more than their definitions. What was renamed since gets `was`, so
 * that applying them renames it back.
 */
function storedThen(
  section: ConfigSection,
  items: readonly PastItem[] = [],
  present: readonly StoredItem[],
): StoredItem[] {
  const byId = new Map(present.map((item) => [item.id, item]));
  return items.map((item) => {
    const now = byId.get(item.id);
    const definition = now === undefined ? item.definition : withWasNow(section.schema, item, now);
    return { ...item, definition, version: 0, compiled: null };
  });
}

/** @throws Fault NOT_FOUND */
export function requireSection(sections: readonly ConfigSection[], key: string): ConfigSection {
  const section = sections.find((one) => one.key === key);
  if (section !== undefined) return section;
  throw new Fault('NOT_FOUND', `There is no such section. Sections: ${sections.map((one) => one.key).join(', ')}.`);
}

/** Keys of the sections that an export omits because the caller lacks the right to read them. */
export function unreadable(ctx: ReadContext, sections: readonly ConfigSection[]): string[] {
  return sections.filter((section) => !section.identity && !mayRead(ctx, section)).map(({ key }) => key);
}

/**
 * One item, archived or not, with memberships and assignments if the caller may see them. The text has no default values.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND
 */
export async function exportItem(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  section: ConfigSection,
  code: string,
): Promise<Static<typeof readItem.answer>> {
  ctx.actor.require('config.manage');
  requireRight(ctx, section);
  const { stored, isActiveItem } = await loadAll(ctx, sections);
  const item = stored.get(section.key)?.find((one) => one.code === code);
  if (item === undefined) throw new Fault('NOT_FOUND', `There is no ${section.key}/${code}.`);
  // Archived users keep memberships and roles in case they are restored; an edit must not lose them.
  const hasActive = (key: string, own: string): boolean =>
    sections.some((one) => one.key === key && one.identity) || isActiveItem(key, own);
  const holders = seesHolders(ctx);
  const yielder = new Yielder();
  await yielder.next();
  const presented = section.toBundleItem(item.definition, { identity: holders, active: hasActive });
  const written = presented === undefined ? item.definition : await withoutDefaults(section, presented, yielder);
  await yielder.next();
  const text = isObject(written) ? await itemText(written, yielder) : yamlText(written);
  await yielder.next();
  const { id, state } = item;
  const definition = shown(sections, section.key, item.definition, holders);
  await yielder.next();
  return { id, code, state, text, definition };
}

/** The section's definition of an item that is not stored yet. */
function normalForm(section: ConfigSection, item: unknown): unknown {
  return section.merge(item, undefined, { exact: true, canonicalCode: (_section, code) => code });
}

/** The item without the values that its section fills in by default. */
async function withoutDefaults(section: ConfigSection, item: unknown, yielder: Yielder): Promise<unknown> {
  if (typeof item !== 'object' || item === null) return item;
  const whole = inOrder(section.schema, item) as object;
  // Settings are few, and a file that lists them is more useful than an empty one.
  if (section.shape === 'map') return whole;
  await yielder.next();
  // The definition may share parts with the item, which is modified below.
  const meant = structuredClone(normalForm(section, item));
  await removeDefaults(whole, { meaning: (part) => attempt(section, part), inItem: (part) => part, yielder });
  await yielder.next();
  // The parts were reduced apart from each other. If the result is not the same, which would be a defect of the section, the
  // whole item is used.
  const reduced = attempt(section, whole);
  await yielder.next();
  const same = deepEqualJson(reduced, meant);
  await yielder.next();
  return same && shapeProblems(section.schema, whole).length === 0 ? whole : inOrder(section.schema, item);
}

/** The definition of a reduced item; undefined if too much was removed. */
function attempt(section: ConfigSection, item: unknown): unknown {
  try {
    return normalForm(section, item);
  } catch {
    return undefined;
  }
}

interface Thinning {
  /** The definition of an item; undefined if it has none. */
  meaning(item: unknown): unknown;
  /** A small item that holds the value at its place. */
  inItem(value: unknown): unknown;
  yielder: Yielder;
}

/**
 * Removes every property without which the definition stays the same, outer ones first. Each element of a list is examined
 * alone in a small item, so that the time grows with the size of the item and not with its square.
 */
async function removeDefaults(value: object, { meaning: meaningOf, inItem, yielder }: Thinning): Promise<void> {
  const within = async (member: unknown, wrapped: (part: unknown) => unknown): Promise<void> => {
    if (typeof member !== 'object' || member === null) return;
    await removeDefaults(member, { meaning: meaningOf, inItem: (part) => inItem(wrapped(part)), yielder });
  };
  if (Array.isArray(value)) {
    for (const member of value) await within(member, (part) => [part]);
    return;
  }
  const record = value as Record<string, unknown>;
  const meant = structuredClone(meaningOf(inItem(record)));
  if (meant === undefined) return;
  for (const key of Object.keys(record)) {
    await yielder.next();
    const member = record[key];
    delete record[key];
    if (deepEqualJson(meaningOf(inItem(record)), meant)) continue;
    record[key] = member;
  }
  const small = withShortLists(record) as Record<string, unknown>;
  for (const [key, member] of Object.entries(record)) await within(member, (part) => ({ ...small, [key]: part }));
}

/** A copy in which each list of objects has only its first element. */
function withShortLists(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return typeof value[0] === 'object' ? value.slice(0, 1).map(withShortLists) : value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withShortLists(member)]));
}
