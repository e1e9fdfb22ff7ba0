/** The resulting configuration: the stored items overlaid with the items of the bundle. */
import { isActive, type ItemState } from '../contract/state.ts';
import type { CompileView, ConfigSection, ItemPath, StoredItem, StoredVersion } from './section.ts';
import type { Problem } from '../lib/problem.ts';
import type { NestedId } from './store.ts';
import { type BundleProblem, pathText } from './errors.ts';
import type { BundleItem } from './read.ts';

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
  readonly #versions: ReadonlyMap<string, readonly StoredVersion[]>;
  readonly #nested: Map<string, string>;
  readonly #newId: () => string;
  /** Ids assigned during compilation that are not stored yet. */
  readonly newNested: NestedId[] = [];

  constructor(parts: {
    sections: readonly ConfigSection[];
    versions: ReadonlyMap<string, readonly StoredVersion[]>;
    nested: readonly NestedId[];
    newId: () => string;
  }) {
    this.#sections = new Map(parts.sections.map((section) => [section.key, section]));
    for (const section of parts.sections) this.#entries.set(section.key, new Map());
    this.#versions = parts.versions;
    this.#nested = new Map(parts.nested.map(({ id, scope, code }) => [`${scope} ${code}`, id]));
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
    let id = this.#nested.get(key);
    if (id === undefined) {
      id = this.#newId();
      this.#nested.set(key, id);
      this.newNested.push({ id, scope, code });
    }
    return id;
  }

  canonicalCode(section: string, code: string): string {
    return this.entry(section, code)?.code ?? code;
  }
}
