/**
 * What a room tells about its section of the configuration bundle (docs/spec/configuration.md#bundle). `bundle/` reads, plans
 * and applies any list of such sections by one code path and knows none of them; `config-define.ts` makes them.
 *
 * Words: an *item* is an entry as a bundle writes it; its *definition* is the same with every default filled in, so that
 * equal configurations are equal JSON; its *compiled* form has ids in place of codes and logins.
 */
import type { GlobalRight } from '../contract/rights.ts';
import type { TSchema } from 'typebox';
import type { Turns } from '../lib/yielding.ts';
import type { ReadContext, WriteContext } from '../platform/unit-of-work/context.ts';
import type { Problem } from '../lib/problem.ts';

/** Steps into an item: property names and indexes. */
export type ItemPath = readonly (string | number)[];

/** Reports a problem at a place of the item. */
export type Report = (path: ItemPath, found: Problem) => void;

/** The same for an item of the section, named by its code. */
export type SectionReport = (item: string, path: ItemPath, found: Problem) => void;

export type ItemState = 'ACTIVE' | 'ARCHIVED';

/** An item as it stands in the database. */
export interface StoredItem {
  id: string;
  code: string;
  state: ItemState;
  version: number;
  definition: unknown;
  compiled: unknown;
}

/** A stored version of a record type. */
export interface StoredVersion {
  version: number;
  compiled: unknown;
}

/** Something that an item names in another section. */
export interface Reference {
  section: string;
  code: string;
  path: ItemPath;
}

/** The whole configuration as it would be after the apply: what the bundle names, and what stands and is not archived. */
export interface ConfigView {
  /** Whether the section has the item, or the bundle has one of that code that could not be read. */
  has(section: string, code: string): boolean;
  /** The definition; undefined also for an item that could not be read, which was reported already. */
  get<Definition>(section: string, code: string): Definition | undefined;
  /** Code → definition of the active items. */
  active<Definition>(section: string): ReadonlyMap<string, Definition>;
  archived<Definition>(section: string): ReadonlyMap<string, Definition>;
  /** The item as it stands before the apply. */
  stored(section: string, code: string): StoredItem | undefined;
  /** Stored versions of the item, oldest first. */
  versions(section: string, code: string): readonly StoredVersion[];
}

export interface CompileView extends ConfigView {
  /** The id of an item that `has` knows; new ones have theirs already. */
  id(section: string, code: string): string;
  /** The id of a thing inside an item, the same for its scope and code for ever. */
  nested(scope: string, code: string): string;
}

export type Action = 'create' | 'change' | 'leave' | 'archive' | 'restore';

/** What an apply does to one item. */
export interface Change {
  action: Exclude<Action, 'leave'>;
  section: string;
  id: string;
  code: string;
  stored: StoredItem | undefined;
  state: ItemState;
  definition: unknown;
  compiled: unknown;
}

export interface MergeOptions {
  /** Memberships and assignments become exactly what the bundle says; else it only adds to them. */
  exact: boolean;
  /** The code or login as the configuration-to-be writes it, for one that may be written otherwise. */
  spell(section: string, code: string): string;
}

export interface PresentOptions {
  identity: boolean;
  /** Whether the item of another section is active, so that the export has it too. */
  active(section: string, code: string): boolean;
}

export interface Comparison {
  compatible: boolean;
  reasons: string[];
}

/** What a room declares; what it leaves out has the meaning that `config-define.ts` gives it. */
export interface SectionParts<Item, Definition> {
  /** The top-level key of the bundle. */
  key: string;
  /** `list` of items (the default), `codes` alone, or one `map` for the whole section. */
  shape?: 'list' | 'codes' | 'map';
  /** Strict schema of one item. */
  schema: TSchema;
  /** Name of the property that tells items apart; `code` by default. */
  codeProperty?: string;
  /** The form in which codes are compared; as they are by default. @throws Error with a sentence for one that may not be */
  keyOf?(code: string): string;
  /** People and memberships: calls and imports change them too, so that the bundle only adds and changes. */
  identity?: boolean;
  /**
   * The right that the endpoints of the same things need. Beside `config.manage`, the items of the section are read and changed
   * with it alone; where nothing but the bundle has the things, there is none.
   */
  right?: GlobalRight;
  /** Rights that a change needs beside `config.manage` and `right`. */
  rights?(change: Change, view: CompileView, actorId: string | null): readonly GlobalRight[];
  normalise(item: Item): Definition;
  /** The definition to be, from what the bundle says and what stands; `normalise` by default. */
  merge?(item: Item, stored: Definition | undefined, options: MergeOptions): Definition;
  references?(definition: Definition): Reference[];
  /** Judges the definition within the whole and gives its compiled form, for an item with problems whatever there is. */
  compile?(definition: Definition, view: CompileView, report: Report): unknown;
  /** Judges what concerns several items of the section at once. */
  whole?(view: ConfigView, report: SectionReport): void;
  /** Judges what only the stored records tell. Asked last, with everything else sound. */
  verify?(ctx: ReadContext, changes: readonly Change[], view: CompileView, report: SectionReport): Promise<void>;
  /** A note shown in the plan. Long work awaits `turns`. */
  note?(change: Change, view: ConfigView, turns: Turns): string | undefined | Promise<string | undefined>;
  /** Keeps every version of the compiled form; tells whether stored records go on under a new one. */
  compare?(before: unknown, after: unknown): Comparison;
  load?(ctx: ReadContext): Promise<StoredItem[]>;
  /** Holds off whoever else changes what the section's judgements rest on, from before it is read until the apply ends. */
  lock?(ctx: WriteContext): Promise<unknown>;
  write?(ctx: WriteContext, change: Change, view: CompileView): void;
  /** The item as an export writes it, from the definition; undefined leaves it out. */
  present?(definition: Definition, options: PresentOptions): unknown;
}

/** A section as `bundle/` works with it. */
export interface ConfigSection {
  readonly key: string;
  readonly shape: 'list' | 'codes' | 'map';
  readonly schema: TSchema;
  readonly identity: boolean;
  /** Whether every version of the compiled form is kept. */
  readonly versioned: boolean;
  readonly codeProperty: string;
  readonly right: GlobalRight | undefined;
  codeOf(item: unknown): string;
  keyOf(code: string): string;
  rights(change: Change, view: CompileView, actorId: string | null): readonly GlobalRight[];
  merge(item: unknown, stored: unknown, options: MergeOptions): unknown;
  references(definition: unknown): Reference[];
  compile(definition: unknown, view: CompileView, report: Report): unknown;
  whole(view: ConfigView, report: SectionReport): void;
  verify(ctx: ReadContext, changes: readonly Change[], view: CompileView, report: SectionReport): Promise<void>;
  note(change: Change, view: ConfigView, turns: Turns): Promise<string | undefined>;
  compare(before: unknown, after: unknown): Comparison;
  load(ctx: ReadContext): Promise<StoredItem[]>;
  lock(ctx: WriteContext): Promise<void>;
  write(ctx: WriteContext, change: Change, view: CompileView): void;
  present(definition: unknown, options: PresentOptions): unknown;
}
