/**
 * The interface between the configuration bundle (docs/spec/configuration.md#bundle) and its sections. Modules declare their
 * sections with `defineSection`; this folder reads, plans and applies them without knowing a particular section.
 *
 * Terms: an *item* is an entry as written in a bundle. Its *definition* is the item with all defaults, so that equal
 * configurations are equal JSON. Its *compiled* form has ids instead of codes and logins.
 */
import type { ItemState } from '../contract/state.ts';
import type { GlobalRight } from '../contract/rights.ts';
import type { TSchema } from 'typebox';
import type { PartKind } from './naming.ts';
import type { PlanNote, Problem } from '../lib/problem.ts';
import type { Yielder } from '../lib/yielding.ts';
import type { ReadContext, WriteContext } from '../platform/unit-of-work/context.ts';

/**
 * The sections of the bundle, in the order in which they are applied and exported. A new one must join what asks about each of
 * them, such as the impact of a plan.
 */
export const SECTION_KEYS = [
  'settings',
  'users',
  'groups',
  'orgUnits',
  'workflows',
  'types',
  'roles',
  'calendars',
  'slaPolicies',
  'relationDefinitions',
  'services',
  'catalogs',
  'knowledgeBases',
  'signingSecrets',
  'webhooks',
  'integrations',
  'importDefinitions',
  'dashboards',
  'macros',
  'rules',
  'synonyms',
  'templates',
  'mailboxes',
] as const;

export type SectionKey = (typeof SECTION_KEYS)[number];

/** Path into an item: property names and indexes. */
export type ItemPath = readonly (string | number)[];

/** Reports a problem at a path of the item. */
export type Report = (path: ItemPath, found: Problem) => void;

/** Reports a problem of the section's item with this code. */
export type SectionReport = (item: string, path: ItemPath, found: Problem) => void;

/** An item as stored in the database. */
export interface StoredItem {
  id: string;
  code: string;
  state: ItemState;
  version: number;
  /** Codes that it had before renames. Absent for items that are stored outside the configuration. */
  formerCodes?: string[];
  definition: unknown;
  compiled: unknown;
  /** Time of the last change. Absent for items that are stored outside the configuration, such as users. */
  updatedAt?: string;
  /** The user who changed it last; null for the service itself. */
  updatedBy?: string | null;
}

/** A stored version of a record type. */
export interface StoredVersion {
  version: number;
  compiled: unknown;
}

/** The complete configuration after the apply: the items of the bundle and the other stored items. */
export interface ConfigView {
  /** Whether an item with this code exists and can be referenced, even if the bundle's item is invalid. */
  has(section: string, code: string): boolean;
  /** Undefined if there is no such item, and for an invalid item, which was reported already. */
  get<Definition>(section: string, code: string): Definition | undefined;
  /** Code → definition of the active items. */
  active<Definition>(section: string): ReadonlyMap<string, Definition>;
  archived<Definition>(section: string): ReadonlyMap<string, Definition>;
  /** The item as stored before the apply. */
  stored(section: string, code: string): StoredItem | undefined;
  /** Stored versions of the item, oldest first. */
  versions(section: string, code: string): readonly StoredVersion[];
}

export interface CompileView extends ConfigView {
  /** The id of an item for which `has` is true; new items have one, too. */
  id(section: string, code: string): string;
  /** The id of a part of an item. It never changes for the same scope and code. */
  nested(scope: string, code: string): string;
}

export type Action = 'create' | 'change' | 'leave' | 'archive' | 'restore';

/** What an apply does to one item. */
export interface Change {
  action: Exclude<Action, 'leave'>;
  section: string;
  id: string;
  code: string;
  /** The stored item, under the codes that renames of the same change give. */
  stored: StoredItem | undefined;
  /** The stored item as it is in the database, for the audit log. */
  before: StoredItem | undefined;
  state: ItemState;
  definition: unknown;
  compiled: unknown;
}

/** A part that the new item does not have. */
export interface GonePart {
  kind: PartKind;
  /** The codes of the part and of the parts around it, outermost first. */
  codes: readonly string[];
  /** The codes under which records store them. */
  stored: readonly string[];
}

/** How many records hold a part. */
export interface HeldCount {
  all: number;
  /** Those that the caller may read, with the field. */
  readable: number;
}

export interface MergeOptions {
  /** Replace memberships and assignments by those of the bundle; otherwise only add to them. */
  exact: boolean;
  /** The code or login as the resulting configuration spells it; see `keyOf`. */
  canonicalCode(section: string, code: string): string;
}

export interface ExportOptions {
  identity: boolean;
  /** Whether the item of another section is active and therefore exported, too. */
  active(section: string, code: string): boolean;
}

export interface Comparison {
  compatible: boolean;
  /** Why stored records are compatible with the new version, or not. */
  notes: PlanNote[];
}

/** The declaration of a section. `defineSection` fills in what is omitted. */
export interface SectionParts<Item, Definition> {
  /** The top-level key of the bundle. */
  key: SectionKey;
  /** What the section holds, for editors. */
  summary: string;
  /** A `list` of items with codes (the default), a list of `plain` values, or one `map` for the whole section. */
  shape?: 'list' | 'plain' | 'map';
  /** Schema of one item; rejects unknown properties. */
  schema: TSchema;
  /** Name of the property that identifies items; `code` by default. */
  codeProperty?: string;
  /** The code of a plain value; by default the value itself. */
  codeOf?(item: Item): string;
  /** The name in lists of items; by default the property `name` or `displayName`. */
  nameOf?(definition: Definition): unknown;
  /** The normal form in which codes are compared; by default the code itself. @throws Error with a sentence if it is invalid */
  keyOf?(code: string): string;
  /** True for users, groups and units. API calls and imports change them, too, so a bundle without `pruneIdentity` archives none. */
  identity?: boolean;
  /**
   * The right that the API endpoints of the same items need. Reading and changing the items in a bundle needs it in addition to
   * `config.manage`. Absent if there are no such endpoints.
   */
  right?: GlobalRight;
  /** Rights that a change needs in addition to `config.manage` and `right`. */
  rights?(change: Change, view: CompileView, actorId: string | null): readonly GlobalRight[];
  normalise(item: Item): Definition;
  /** The new definition, from the bundle's item and the stored definition; `normalise` by default. */
  merge?(item: Item, stored: Definition | undefined, options: MergeOptions): Definition;
  /** Validates the definition in the whole configuration and returns its compiled form; any value if it has problems. */
  compile?(definition: Definition, view: CompileView, report: Report): unknown;
  /** Validates rules about several items of the section. */
  validateAll?(view: ConfigView, report: SectionReport): void;
  /** Validates against stored records. Called last, if there are no other problems. */
  verify?(ctx: ReadContext, changes: readonly Change[], view: CompileView, report: SectionReport): Promise<void>;
  /** Notes shown in the plan. Long work awaits `yielder`. */
  notes?(change: Change, view: ConfigView, yielder: Yielder): PlanNote[] | Promise<PlanNote[]>;
  /** If given, all versions of the compiled form are stored, and this function decides whether stored records fit the new one. */
  compare?(before: unknown, after: unknown): Comparison;
  /** Keeps out other writers of records before they are counted, until the apply ends. One section does it for all. */
  lockRecords?(ctx: WriteContext): Promise<unknown>;
  /** The numbers of records that hold each part that goes, such as a field. By default, records hold no part of an item. */
  countRecords?(ctx: ReadContext, change: Change, gone: readonly GonePart[], view: CompileView): Promise<HeldCount[]>;
  load?(ctx: ReadContext): Promise<StoredItem[]>;
  /** Locks the data that validation depends on, before it is read and until the apply ends. */
  lock?(ctx: WriteContext): Promise<unknown>;
  write?(ctx: WriteContext, change: Change, view: CompileView): void;
  /** The item to export for the definition; undefined omits it. */
  toBundleItem?(definition: Definition, options: ExportOptions): unknown;
}

/** A section with all defaults. */
export interface ConfigSection
  extends Readonly<Omit<Required<SectionParts<unknown, unknown>>, 'key' | 'right' | 'normalise' | 'nameOf'>> {
  readonly key: string;
  readonly right: GlobalRight | undefined;
  /** Whether items and their parts take `was`. */
  readonly renamable: boolean;
  /** Whether items have lists of parts with codes of their own. */
  readonly hasParts: boolean;
  /** Whether every version of the compiled form is kept. */
  readonly versioned: boolean;
  /** The name in lists of items; the code if the definition has none. */
  nameOf(definition: unknown, code: string): unknown;
}
