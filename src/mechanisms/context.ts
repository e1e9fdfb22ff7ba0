/**
 * What every command and query receives first: who acts, at what instant, under which correlation id, with which rights
 * and configuration, and the only handle to the database (architecture, section 3d).
 *
 * Types alone. `work.ts` makes contexts, the access room makes actors, `snapshot.ts` makes configuration snapshots.
 */
import type { Sql } from 'sql-template-tag';
import type { EventType } from '../contract/events.ts';
import type { GlobalRight, RecordAction } from '../contract/rights.ts';
import type { RecordFacts } from '../lib/filter.ts';
import type { QueryOptions } from './db/pool.ts';
import type { ConfigSnapshot } from './snapshot.ts';

/** Where a change came from; recorded in the journal and never branched upon (decisions, "History event"). */
export type Via = 'api' | 'console' | 'import' | 'bulk' | 'inbound' | 'catalog' | 'system';

/** Values of the variables of the condition language that depend on the person (configuration, section 4). */
export interface ActorVariables {
  me: string;
  groups: string[];
  orgUnit: string | null;
  orgUnits: string[];
}

/** What one actor may do on one record: the union of the grants whose row condition admits it. */
export interface RecordRight {
  can(action: RecordAction): boolean;
  reads(fieldCode: string): boolean;
  writes(fieldCode: string): boolean;
  transitions(transitionCode: string): boolean;
}

/** Who acts. Built by the access room, cached for as long as the epoch stands. */
export interface Actor {
  /** Id of the user; null for the system itself. */
  readonly userId: string | null;
  readonly displayName: string;
  readonly variables: ActorVariables;
  /** The person's organisation unit and all above it: an audience that names a unit means everybody below it too. */
  readonly unitsAbove: readonly string[];
  /** Id → name of people that were looked up, shared by all actors of this epoch: a new name raises the epoch. */
  readonly names: Map<string, string>;
  /** Whether a right that concerns no single record is held. */
  has(right: GlobalRight): boolean;
  /** @throws Fault RIGHT_MISSING with `{right}` */
  require(right: GlobalRight): void;
  /** Rights on one record of the type, judged in memory. */
  on(typeId: string, record: RecordFacts, now: string): RecordRight;
  /** Whether some grant allows the action on the type, whatever its row condition. */
  mayEver(typeId: string, action: RecordAction): boolean;
  /** Whether some grant makes the field readable, whatever its row condition. */
  mayEverRead(typeId: string, fieldCode: string): boolean;
  /** Whether the field is readable on every record of the type that the actor may read. */
  alwaysReads(typeId: string, fieldCode: string): boolean;
  /** Whether some grant makes the field writable, whatever its row condition. */
  mayEverWrite(typeId: string, fieldCode: string): boolean;
  /** Ids of the types on which some grant allows the action. */
  typesFor(action: RecordAction): string[];
  /**
   * The predicate that holds on the rows of `objects` (under `alias`) on which the actor may do `action`; for the given
   * types only when named; null where nothing is admitted, so that the query need not be sent.
   */
  visible(alias: string, action: RecordAction, now: string, typeIds?: readonly string[]): Sql | null;
  /** The predicate that holds on the rows of the type on which the field is readable; null: on all that are visible. */
  fieldVisible(alias: string, typeId: string, fieldCode: string, now: string): Sql | null;
}

export interface ReadContext {
  readonly actor: Actor;
  /** Instant of the unit of work, RFC 3339 UTC with milliseconds. */
  readonly now: string;
  readonly via: Via;
  readonly keyId: string | null;
  readonly correlationId: string;
  readonly config: ConfigSnapshot;
  /** The language of names where the caller asked for one (the console does); else the default locale holds. */
  readonly locale?: string | undefined;
  query<Row>(statement: Sql, options?: QueryOptions): Promise<Row[]>;
  newId(): string;
  /** Things loaded once per unit of work (identity map); keys are prefixed with the room's name. */
  readonly memo: Map<string, unknown>;
}

/**
 * A kind of row that commands plan and the unit of work writes: `sql` gets the parameter that holds all planned rows as one
 * JSON array, so that the statement's text does not depend on their number. With `guard`, it must RETURN one row per
 * planned row, else the whole unit is undone and decided anew.
 */
export interface TableWrite<Row> {
  readonly name: string;
  readonly guard: boolean;
  /**
   * Column → SQL type. With it, `sql` gets an item for FROM, named `r`, instead: a few rows travel as parameters, which costs a
   * third less than to be taken out of JSON. For what is written with nearly every change.
   */
  readonly columns?: Readonly<Record<string, string>>;
  /** Whether `sql` may be another for another value of the same name; else it is asked for once a process. */
  readonly varies?: true;
  /** Whether the rows are written only after the unit's guarded writes have theirs, with the locks on them. */
  readonly afterGuards?: true;
  /**
   * @param alone whether there is one row, so that no order of locking must be kept among several
   * @param ready for a write with `afterGuards`: a condition that the statement must have, true once the guarded writes ran
   */
  sql(rows: Sql, alone: boolean, ready: Sql): Sql;
  /** Phantom: the shape of a row. */
  readonly row?: Row;
}

/** A value that only the statement itself knows (a record's number): the column `late_value` of the named write's RETURNING. */
export interface LateValue {
  write: string;
}

/**
 * A rule about what a unit of work leaves behind, judged on the database inside the unit's transaction. Units under the same lock
 * run one after the other, so that no two of them break the rule together.
 */
export interface Invariant<Seen = unknown> {
  /** Of several of one name the first counts. */
  readonly name: string;
  /** The statement that takes the lock, until the transaction ends. */
  readonly lock: Sql;
  /** Reads what `after` compares with, before the unit's rows are written. */
  before(ctx: ReadContext): Promise<Seen>;
  /** Judges with the rows written. A fault undoes the unit. */
  after(ctx: ReadContext, seen: Seen): Promise<void>;
}

/** An event as a command emits it; the journal adds who, when and where from. */
export interface PlannedEvent {
  type: EventType;
  /** The record that the event is about; absent for audit events. */
  objectId?: string;
  /** What an audit event is about, for example `key:<id>`, `type:incident`. */
  subject?: string;
  revision?: number;
  /** Field code → [before, after]. */
  changes?: Record<string, [unknown, unknown]>;
  data?: Record<string, unknown>;
  /**
   * What the change stored and the event does not say otherwise (ids, hashes of texts): `docket doctor --deep` holds current
   * values against it. Kept in the journal as `data.$stored`, and in no answer.
   */
  stored?: Record<string, string | number | null>;
}

export interface WriteContext extends ReadContext {
  /**
   * Whether the unit is decided anew because a guard was not met. What holds nearly always may be left to a guard of the
   * flush the first time, without a question to the database; decided anew, it is asked, so that the answer names the fault.
   */
  readonly again: boolean;
  /** Plans a row; nothing is written before the command returned. */
  plan<Row>(write: TableWrite<Row>, row: Row): void;
  /** Content that planned rows refer to by its SHA-256: it is safe in the blob store before the unit is written. */
  keep(sha256: string, bytes: Uint8Array): void;
  /** Plans an event: history, audit and outbox at once. */
  emit(event: PlannedEvent): void;
  /** Says that existence and rights were checked: what fails after this gives way to the replay of a kept answer. */
  rightsChecked(): void;
  /** Runs one of several independent parts: when it throws, nothing that it planned stays, and the error goes on. */
  attempt<T>(part: () => Promise<T>): Promise<T>;
  /** Opens the unit's transaction if it is not open and runs a statement that locks in it. */
  lock<Row>(statement: Sql): Promise<Row[]>;
  /** The unit changes rights (roles, memberships, keys, states of people) or configuration: the epoch rises with it. */
  raise(epoch: 'rights' | 'config'): void;
  /** What the unit raises so far. */
  readonly raised: ReadonlySet<'rights' | 'config'>;
  /** Has the rule judged when the unit's rows are written. */
  verify<Seen>(invariant: Invariant<Seen>): void;
  /** The answer has a member that the statement alone knows; it is put there after the flush. */
  late(key: string, value: LateValue): void;
}

/** Rooms that react to others' events inside the same unit, in the order that `app.ts` lists (architecture, section 3f). */
export interface Follower {
  readonly name: string;
  follow(ctx: WriteContext, events: readonly PlannedEvent[]): Promise<void>;
}
