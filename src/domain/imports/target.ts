/** The interface of import targets: how to find, create and change items of each target kind. */
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';

export type Values = Record<string, unknown>;

/** An existing item that the caller may see. */
export interface Standing {
  id: string;
  /** The mapped fields that the caller may read. */
  values: Values;
}

export interface Written {
  id: string;
  /** The revision after the write; null if the item has none. */
  revision: number | null;
  changed: boolean;
  /** The former values, for targets without a history; used by undo. */
  before?: Values;
  /** The mapped fields that the caller may read afterwards. */
  after: Values;
}

export interface Target {
  /** Whether rows of one content may depend on each other in other ways than by external id and look-ups. */
  readonly ordered: boolean;
  /** Loads the data of many rows in one batch. */
  preload(ctx: ReadContext, ids: readonly string[]): Promise<void>;
  /** The target of an external id. @throws Fault NOT_FOUND if it is missing, hidden, or of another type than this import's */
  require(ctx: ReadContext, id: string): Promise<Standing>;
  /** The target that the row names by an id of this service; undefined if it is missing, hidden, or of another type. */
  own(ctx: ReadContext, id: string): Promise<Standing | undefined>;
  create(ctx: WriteContext, values: Values): Promise<Written>;
  update(ctx: WriteContext, standing: Standing, values: Values): Promise<Written>;
  /** Undoes a creation. @returns the revision after it @throws Fault REVISION_CONFLICT, ARCHIVED, RIGHT_MISSING, NOT_FOUND */
  archive(ctx: WriteContext, id: string, expected: number): Promise<number>;
  /** Undoes the change that made the revision `made`. @returns the revision after it */
  putBack(ctx: WriteContext, change: MadeChange): Promise<number>;
}

export interface MadeChange {
  id: string;
  made: number;
  /** The revision that the item must have now. */
  expected: number;
  /** The value of `Written.before`. */
  before: unknown;
}
