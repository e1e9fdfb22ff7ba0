/** Writes the present configuration as a bundle on which `plan` reports no change (configuration, section 2). */
import { stringify } from 'yaml';
import { Fault } from '../lib/fault.ts';
import { deepEqualJson } from '../lib/json.ts';
import type { ConfigSection, StoredItem } from '../mechanisms/config-section.ts';
import type { ReadContext } from '../mechanisms/context.ts';
import type { BundleFile } from './read.ts';
import { mayRead, requireRight, seesHolders, shown } from './rights.ts';
import { checkShape } from './shape.ts';

/**
 * One file for each section that holds something. Archived items are left out, and people, groups, units, memberships and
 * assignments unless `identity` asks for them. Sections that the caller may not read are left out too; `unreadable` names them.
 * Never holds a secret.
 *
 * @throws Fault RIGHT_MISSING for `config.manage`, and with `identity` for the right to read people
 */
export async function exportBundle(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  { identity }: { identity: boolean },
): Promise<BundleFile[]> {
  ctx.actor.require('config.manage');
  if (identity) for (const section of sections) if (section.identity) requireRight(ctx, section);
  const stored = new Map<string, StoredItem[]>();
  const active = new Map<string, ReadonlySet<string>>();
  for (const section of sections) {
    const items = (await section.load(ctx)).filter((item) => item.state === 'ACTIVE');
    stored.set(section.key, items);
    active.set(section.key, new Set(items.map((item) => section.keyOf(item.code))));
  }
  const byKey = new Map(sections.map((section) => [section.key, section]));
  const isActive = (key: string, code: string): boolean => {
    const section = byKey.get(key);
    return section !== undefined && active.get(key)?.has(section.keyOf(code)) === true;
  };
  const files: BundleFile[] = [];
  for (const section of sections) {
    if ((section.identity && !identity) || !mayRead(ctx, section)) continue;
    const items = (stored.get(section.key) ?? []).sort((a, b) => (a.code < b.code ? -1 : 1));
    const written = items.flatMap((item) => {
      const presented = section.present(item.definition, { identity, active: isActive });
      return presented === undefined ? [] : [withoutDefaults(section, presented)];
    });
    if (written.length === 0) continue;
    const content = { [section.key]: section.shape === 'map' ? written[0] : written };
    files.push({
      name: `${section.key}.yaml`,
      text: stringify(content, { lineWidth: 0, aliasDuplicateObjects: false }),
    });
  }
  return files;
}

/** Keys of the sections that an export leaves out, since the caller lacks the right to read them. */
export function unreadable(ctx: ReadContext, sections: readonly ConfigSection[]): string[] {
  return sections.filter((section) => !section.identity && !mayRead(ctx, section)).map(({ key }) => key);
}

export interface ItemText {
  id: string;
  code: string;
  state: string;
  /**
   * YAML of the item alone, with memberships and assignments where the caller may see them, without what its section fills in by
   * itself.
   */
  text: string;
  definition: unknown;
}

/** One item, archived or not. @throws Fault RIGHT_MISSING, NOT_FOUND */
export async function exportItem(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  section: ConfigSection,
  code: string,
): Promise<ItemText> {
  ctx.actor.require('config.manage');
  requireRight(ctx, section);
  const items = new Map<string, StoredItem[]>();
  // One after the other: a unit has one connection.
  for (const one of sections) items.set(one.key, await one.load(ctx));
  const item = items.get(section.key)?.find((one) => one.code === code);
  if (item === undefined) throw new Fault('NOT_FOUND', `There is no ${section.key}/${code}.`);
  const active = new Set(
    sections.flatMap((one) =>
      (items.get(one.key) ?? []).flatMap(({ state, code: own }) =>
        state === 'ACTIVE' ? [`${one.key} ${one.keyOf(own)}`] : [],
      ),
    ),
  );
  const byKey = new Map(sections.map((one) => [one.key, one]));
  const isActive = (key: string, own: string): boolean => {
    const other = byKey.get(key);
    // Who left keeps memberships and roles for the day they are back; an edit must not lose them.
    return other !== undefined && (other.identity || active.has(`${key} ${other.keyOf(own)}`));
  };
  const holders = seesHolders(ctx);
  const presented = section.present(item.definition, { identity: holders, active: isActive });
  const written = presented === undefined ? item.definition : withoutDefaults(section, presented);
  const { id, state } = item;
  const definition = shown(sections, section.key, item.definition, holders);
  return { id, code, state, text: stringify(written, { lineWidth: 0, aliasDuplicateObjects: false }), definition };
}

/** What a section makes of an item while nothing stands: as an export is judged. */
function meaning(section: ConfigSection, item: unknown): unknown {
  return section.merge(item, undefined, { exact: true, spell: (_section, code) => code });
}

/** The item without what its section fills in by itself: what a person would have written. */
function withoutDefaults(section: ConfigSection, item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return item;
  const whole = inOrder(section.schema, item) as object;
  // Settings are few, and a file that shows them is of more use than an empty one.
  if (section.shape === 'map') return whole;
  // Definitions may share parts with the item that they were made of, and the item is about to be cut.
  const meant = structuredClone(meaning(section, item));
  thin(whole, () => deepEqualJson(attempt(section, whole), meant));
  // What means the same and is no longer well formed would be a fault of the section; the whole item is always right.
  return checkShape(section.schema, whole, () => {}) ? whole : inOrder(section.schema, item);
}

/** What a cut item means; nothing where too much was cut for it to mean anything. */
function attempt(section: ConfigSection, item: unknown): unknown {
  try {
    return meaning(section, item);
  } catch {
    return undefined;
  }
}

interface Ordered {
  anyOf?: Ordered[];
  items?: Ordered;
  properties?: Record<string, Ordered>;
}

/** A copy with the properties in the order in which the schema names them, which is the order to read them in. */
function inOrder(schema: Ordered | undefined, value: unknown): unknown {
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

/** Takes out every property without which the whole still means the same, the outer ones first. */
function thin(value: object, same: () => boolean): void {
  if (Array.isArray(value)) {
    for (const member of value) if (typeof member === 'object' && member !== null) thin(member, same);
    return;
  }
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record)) {
    const member = record[key];
    delete record[key];
    if (same()) continue;
    record[key] = member;
    if (typeof member === 'object' && member !== null) thin(member, same);
  }
}
