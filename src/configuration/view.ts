/** The resulting configuration: the stored items overlaid with the items of the bundle. */
import { isActive, type ItemState } from '../contract/state.ts';
import type { CompileView, ConfigSection, GonePart, ItemPath, StoredItem, StoredVersion } from './section.ts';
import type { Problem } from '../lib/problem.ts';
import type { NestedId } from './store.ts';
import { type BundleProblem, pathText } from './errors.ts';
import type { BundleItem } from './read.ts';
import type { PartRename } from './renames.ts';
import type { Renamed } from '../lib/data-types/index.ts';
import type { RenameEffects } from './naming.ts';
import { deepEqualJson } from '../lib/json.ts';

/** One item of the resulting configuration. */
export interface Entry {
  section: ConfigSection;
  code: string;
  id: string;
  state: ItemState;
  stored: StoredItem | undefined;
  named: BundleItem | undefined;
  /** Undefined if the bundle's item is invalid. */
  definition: unknown;
  compiled: unknown;
  /** The item as it is in the database, if a rename changed `stored`. */
  original?: StoredItem;
  /** Path of a part → what renames left on it. */
  renamed: ReadonlyMap<string, Renamed>;
  /** Renames of parts in this change. */
  partRenames: readonly PartRename[];
  /** Parts that the bundle's item does not have any more. */
  gone: readonly GonePart[];
  /** What renames mean for the stored definition, apart from new codes. */
  effects: RenameEffects;
}

/** What an entry has that no rename concerns. */
export function noRenames(): Pick<Entry, 'renamed' | 'partRenames' | 'gone' | 'effects'> {
  return { renamed: new Map(), partRenames: [], gone: [], effects: { gained: [], split: [] } };
}

/** A problem at a path of the entry: in the bundle if it contains the item, otherwise in the stored item. */
export function problemOf(entry: Entry, path: ItemPath, found: Problem): BundleProblem {
  if (entry.named !== undefined) return entry.named.problem(path, found);
  const item = `${entry.section.key}/${entry.code}`;
  return { file: null, line: null, column: null, path: `${item} ${pathText(path)}`.trim(), ...found };
}

export class View implements CompileView {
  readonly #entries = new Map<string, Map<string, Entry>>();
  readonly #sections: ReadonlyMap<string, ConfigSection>;
  readonly #versions: Map<string, readonly StoredVersion[]>;
  readonly #nested: Map<string, NestedId>;
  readonly #newId: () => string;
  /** Ids assigned during compilation that are not stored yet. */
  readonly newNested: NestedId[] = [];
  /** Ids of parts whose code or item was renamed. */
  readonly movedNested: NestedId[] = [];
  /** Versions of types with other codes than in the database. */
  readonly changedVersions: { typeId: string; version: number; compiled: unknown }[] = [];

  constructor(parts: {
    sections: readonly ConfigSection[];
    versions: ReadonlyMap<string, readonly StoredVersion[]>;
    nested: readonly NestedId[];
    newId: () => string;
  }) {
    this.#sections = new Map(parts.sections.map((section) => [section.key, section]));
    for (const section of parts.sections) this.#entries.set(section.key, new Map());
    this.#versions = new Map(parts.versions);
    this.#nested = new Map(parts.nested.map((one) => [`${one.scope} ${one.code}`, one]));
    this.#newId = parts.newId;
  }

  add(entry: Entry): void {
    this.#entries.get(entry.section.key)?.set(entry.section.keyOf(entry.code), entry);
  }

  entries(section: string): Iterable<Entry> {
    return this.#entries.get(section)?.values() ?? [];
  }

  entry(section: string, code: string): Entry | undefined {
    const known = this.#sections.get(section);
    if (known === undefined) return undefined;
    let key: string;
    try {
      key = known.keyOf(code);
    } catch {
      return undefined;
    }
    return this.#entries.get(section)?.get(key);
  }

  has(section: string, code: string): boolean {
    const entry = this.entry(section, code);
    // Archived users, groups and units may still be referenced: existing references to them must stay valid. Other archived
    // items may not.
    return entry !== undefined && (isActive(entry) || entry.section.identity);
  }

  get<Definition>(section: string, code: string): Definition | undefined {
    return this.has(section, code) ? (this.entry(section, code)?.definition as Definition | undefined) : undefined;
  }

  active<Definition>(section: string): ReadonlyMap<string, Definition> {
    return this.#of(section, 'ACTIVE');
  }

  archived<Definition>(section: string): ReadonlyMap<string, Definition> {
    return this.#of(section, 'ARCHIVED');
  }

  #of<Definition>(section: string, state: ItemState): ReadonlyMap<string, Definition> {
    const found = new Map<string, Definition>();
    for (const entry of this.entries(section)) {
      if (entry.state === state && entry.definition !== undefined)
        found.set(entry.code, entry.definition as Definition);
    }
    return found;
  }

  stored(section: string, code: string): StoredItem | undefined {
    return this.entry(section, code)?.stored;
  }

  versions(section: string, code: string): readonly StoredVersion[] {
    const entry = this.entry(section, code);
    return (entry === undefined ? undefined : this.#versions.get(entry.id)) ?? [];
  }

  id(section: string, code: string): string {
    const entry = this.entry(section, code);
    if (entry === undefined) throw new Error(`no id was asked for first: ${section} ${code}`);
    return entry.id;
  }

  nested(scope: string, code: string): string {
    const key = `${scope} ${code}`;
    let nested = this.#nested.get(key);
    if (nested === undefined) {
      nested = { id: this.#newId(), scope, code };
      this.#nested.set(key, nested);
      this.newNested.push(nested);
    }
    return nested.id;
  }

  /** All items, also archived ones. */
  *all(): Generator<Entry> {
    for (const entries of this.#entries.values()) yield* entries.values();
  }

  /** Gives the item its new code. */
  rename(entry: Entry, code: string): void {
    const entries = this.#entries.get(entry.section.key);
    entries?.delete(entry.section.keyOf(entry.code));
    entry.code = code;
    entries?.set(entry.section.keyOf(code), entry);
  }

  /** Replaces the compiled forms of the item's versions. */
  mapVersions(entry: Entry, map: (compiled: unknown) => unknown): void {
    const versions = this.#versions.get(entry.id);
    if (versions === undefined) return;
    const mapped = versions.map(({ version, compiled }) => ({ version, compiled: map(compiled) }));
    for (const [index, { version, compiled }] of mapped.entries()) {
      if (deepEqualJson(compiled, versions[index]?.compiled)) continue;
      this.changedVersions.push({ typeId: entry.id, version, compiled });
    }
    this.#versions.set(entry.id, mapped);
  }

  /**
   * Keeps the ids of parts under the new codes of the parts and of what they are in.
   *
   * @param current the present path of what has the path
   * @returns scopes and new codes that other parts have or had
   */
  renameNested(current: (path: string) => string): [scope: string, code: string][] {
    const clashes: [string, string][] = [];
    const nested = [...this.#nested];
    for (const [key, { id, scope, code }] of nested) {
      const path = current(`${scope}/${code}`);
      if (path === `${scope}/${code}`) continue;
      const next = { id, scope: path.slice(0, path.lastIndexOf('/')), code: path.slice(path.lastIndexOf('/') + 1) };
      if (this.#nested.has(`${next.scope} ${next.code}`)) clashes.push([scope, next.code]);
      this.#nested.delete(key);
      this.#nested.set(`${next.scope} ${next.code}`, next);
      this.movedNested.push(next);
    }
    return clashes;
  }

  canonicalCode(section: string, code: string): string {
    return this.entry(section, code)?.code ?? code;
  }
}
