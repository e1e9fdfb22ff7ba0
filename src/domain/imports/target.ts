/** What an import fills: one way to look things up, create and change them for each kind of target. */
import type { ReadContext, WriteContext } from '../../mechanisms/context.ts';

export type Values = Record<string, unknown>;

/** Something that is there and that the caller may see. */
export interface Standing {
  id: string;
  /** What the caller may read of it, for the fields that are mapped. */
  values: Values;
}

export interface Written {
  id: string;
  /** The record's revision after it; null for what has none. */
  revision: number | null;
  changed: boolean;
  /** What stood before, for what keeps no history of its own; to take the change back. */
  before?: Values;
  /** What the caller may read of it afterwards, for the fields that are mapped. */
  after: Values;
}

export interface Target {
  /** Whether rows of one content may depend on each other in other ways than by external id and look-ups. */
  readonly ordered: boolean;
  /** Loads what many rows need at once. */
  preload(ctx: ReadContext, ids: readonly string[]): Promise<void>;
  /** What an external id leads to. @throws Fault NOT_FOUND where it is absent, hidden, or of another type than this import's */
  require(ctx: ReadContext, id: string): Promise<Standing>;
  /** What the row names by our own id; undefined where it is absent, hidden, or of another type. */
  own(ctx: ReadContext, id: string): Promise<Standing | undefined>;
  create(ctx: WriteContext, values: Values): Promise<Written>;
  update(ctx: WriteContext, standing: Standing, values: Values): Promise<Written>;
  /** Takes a creation back. @returns the revision after it @throws Fault REVISION_CONFLICT, ARCHIVED, RIGHT_MISSING, NOT_FOUND */
  archive(ctx: WriteContext, id: string, expected: number): Promise<number>;
  /** Takes a change back that made the revision `made`. @returns the revision after it */
  putBack(ctx: WriteContext, change: MadeChange): Promise<number>;
}

export interface MadeChange {
  id: string;
  made: number;
  /** The revision on which it is taken back. */
  expected: number;
  /** What `Written.before` said. */
  before: unknown;
}
