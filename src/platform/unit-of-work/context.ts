/**
 * The context that every command and query receives: the actor, the time, the correlation id, rights, configuration, and the
 * only access to the database.
 *
 * This file declares types only. `work.ts` creates contexts, the access module creates actors, `snapshot.ts` creates
 * configuration snapshots.
 */
import type { Sql } from 'sql-template-tag';
import type { EventData, EventType } from '../../contract/events.ts';
import type { FieldAccess, GlobalRight, Interface, RecordAction } from '../../contract/rights.ts';
import type { RecordFacts, TypedCondition } from '../../lib/filter.ts';
import type { Lookup } from '../database/lookups.ts';
import type { QueryOptions } from '../database/pool.ts';
import type { ReadConsistency } from '../database/replica.ts';
import type { ConfigSnapshot } from './snapshot.ts';

/** The origin of a change. It is written to the journal; no code branches on it (docs/spec/records.md#history). */
export type Via =
  | 'api'
  | 'console'
  | 'import'
  | 'bulk'
  | 'inbound'
  | 'catalog'
  | 'rule'
  | 'workflow'
  | 'mail'
  | 'system';
/** Origins of changes that a unit of work makes because of another one in it. They share the revision of that one. */
export const CONSEQUENT: readonly Via[] = ['rule', 'workflow'];

/** Values of the variables of the condition language that depend on the user (docs/spec/search.md#condition-language). */
export interface ActorVariables {
  me: string;
  groups: string[];
  orgUnit: string | null;
  orgUnits: string[];
}

/** The actor's rights on one record: the union of the grants whose row condition matches the record. */
export interface RecordRight extends FieldAccess {
  can(action: RecordAction): boolean;
  canTransition(transitionCode: string): boolean;
}

/** The actor's access to the fields of a type, over all its records. `canRead` and `canWrite`: on at least some records. */
export interface TypeFieldAccess extends FieldAccess {
  /** Whether the field is readable on every record of the type that the actor may read. */
  canAlwaysRead(fieldCode: string): boolean;
  /**
   * The SQL form of `canRead` on a record: matches the rows of `objects` (under `alias`) on which the field is readable. Null
   * if `canAlwaysRead`; the statement must limit the rows to those that the actor may read.
   */
  whereReadable(alias: string, fieldCode: string, now: string): Sql | null;
  /** The same as a condition; null if `canAlwaysRead`, undefined if the field is readable on no record. */
  ruleOf(fieldCode: string): TypedCondition | null | undefined;
}

/** The acting user. Created by the access module and cached until the rights version changes. */
export interface Actor {
  /** Id of the user; null for the system. */
  readonly userId: string | null;
  readonly displayName: string;
  /** True if an explanation records its checks. It must not be replaced by another actor of the user. */
  readonly isTraced?: true;
  /** Ids of the roles that the user holds, directly or through groups. */
  readonly roles: readonly string[];
  /** Interfaces of the console that the roles are for; the one that opens first in front. */
  readonly interfaces: readonly Interface[];
  readonly variables: ActorVariables;
  /** The user's organisation unit and all its ancestors. An audience that names a unit includes the units below it. */
  readonly unitsAbove: readonly string[];
  /**
   * Id → display name of the users looked up so far. All actors of one rights version share it: renaming a user changes the
   * version.
   */
  readonly names: Map<string, string>;
  /** Whether the actor holds a right that is not tied to a record. */
  has(right: GlobalRight): boolean;
  /** @throws Fault RIGHT_MISSING with `{right}` */
  require(right: GlobalRight): void;
  /** Rights on one record of the type, evaluated in memory. */
  on(typeId: string, record: RecordFacts, now: string): RecordRight;
  /** Whether any grant allows the action on the type, ignoring row conditions. */
  mayEver(typeId: string, action: RecordAction): boolean;
  /** Whether a grant allows the action on every record of the type, regardless of its values. */
  alwaysMay(typeId: string, action: RecordAction): boolean;
  /** Access to the fields of the type, ignoring row conditions. For one record, use `on`. */
  fieldAccess(typeId: string): TypeFieldAccess;
  /** Ids of the types on which any grant allows the action. */
  typesFor(action: RecordAction): string[];
  /**
   * A predicate that matches the rows of `objects` (under `alias`) on which the actor may do `action`, limited to `typeIds` if
   * given. Null if it matches no row, so that the caller can skip the query.
   */
  visible(alias: string, action: RecordAction, now: string, typeIds?: readonly string[]): Sql | null;
  /** The same as conditions: type id → the condition on its records, null for all of them. Other types have none. */
  rule(action: RecordAction, typeIds?: readonly string[]): ReadonlyMap<string, TypedCondition | null>;
}

/** The rights of an ACTIVE user; undefined for all other ids. */
export type ActorOf = (userId: string) => Promise<Actor | undefined>;

export interface ReadContext {
  readonly actor: Actor;
  /** Time of the unit of work, RFC 3339 UTC with milliseconds. */
  readonly now: string;
  readonly via: Via;
  readonly keyId: string | null;
  readonly correlationId: string;
  readonly config: ConfigSnapshot;
  /** The language of names, if the caller asked for one (the console does); otherwise the default locale is used. */
  readonly locale?: string | undefined;
  /** The API through which the call came: the public API or the administration API; absent outside HTTP. */
  readonly surface?: 'public' | 'console' | undefined;
  /** The interface of the console in which the user acts, where the call names it. */
  readonly interface?: Interface | undefined;
  query<Row>(statement: Sql, options?: QueryOptions): Promise<Row[]>;
  /**
   * The row with the key, or undefined. Outside of a transaction, look-ups of concurrent requests share a statement
   * (`platform/database/lookups.ts`).
   */
  find<Row, Key extends object>(lookup: Lookup<Row, Key>, key: Key): Promise<Row | undefined>;
  newId(): string;
  /** Values loaded once per unit of work (identity map). Keys start with the module's name. */
  readonly memo: Map<string, unknown>;
}

/**
 * A kind of row that commands plan and the unit of work writes. `table-writes.ts` makes those that insert, change or delete the
 * rows of a table. `sql` gets the parameter that holds all planned rows as one JSON array, so the statement's text does not depend
 * on their number.
 */
export interface TableWrite<Row> {
  /** The name of the write in statements and errors. */
  readonly name: string;
  /**
   * If true, the statement must RETURN one row per planned row; otherwise the whole unit is rolled back and retried. `revision`: it
   * also requires the row as the unit loaded it, so of several concurrent units one succeeds (`turns.ts`). `awaited`: it is no guard,
   * and runs after the unit's guards, which then hold their row locks.
   */
  readonly guard?: boolean | 'revision' | 'awaited';
  /** Column → SQL type. If set, `sql` gets a FROM item named `r` with these columns instead. */
  readonly columns?: Readonly<Record<string, string>>;
  /**
   * Sends a few rows as parameters, which costs a third less than extracting them from JSON but makes more texts of statements. For
   * rows that nearly every change writes.
   */
  readonly frequent?: true;
  /**
   * Set if `sql` differs between writes with the same `name`. The statement is then built once for each object, and only units
   * that plan the same object are written together.
   */
  readonly varies?: true;
  /**
   * The records that the row changes, locks or belongs to; null for none. If set, rows of several units may be written by one
   * statement, which never contains two units on one record (`groups.ts`).
   */
  records?(row: Row): readonly (string | null)[];
  /**
   * @param alone whether there is only one row, so that the statement need not lock several rows in a fixed order
   * @param ready for a write that awaits the guards: a condition that the statement must include; true once they ran
   */
  sql(rows: Sql, alone: boolean, ready: Sql): Sql;
  /** Phantom type: the shape of a row. */
  readonly row?: Row;
}

/**
 * A value that only the statement knows (a record's number): the column `returned_value` in the RETURNING of the named write, of
 * the row with this `id`.
 */
export interface ReturnedValue {
  write: string;
  id: string;
}

/**
 * A rule about the data that a unit of work leaves behind, checked on the database inside the unit's transaction. Units that
 * take the same lock run one after another, so that concurrent units cannot break the rule together.
 */
export interface Invariant<Seen = unknown> {
  /** If several invariants have the same name, only the first is checked. */
  readonly name: string;
  /** Takes a lock that is held until the transaction ends. */
  readonly lock: Sql;
  /** Reads the values that `after` compares with, before the unit's rows are written. */
  before(ctx: ReadContext): Promise<Seen>;
  /** Checks the rule after the rows are written. A fault rolls the unit back. */
  after(ctx: ReadContext, seen: Seen): Promise<void>;
}

/** The plain memberships of a unit, and the structure version under which they are plain. */
export interface PlainMembers {
  userIds: readonly string[];
  structure: number;
}

/** The versions that a unit increments. */
export interface Invalidated {
  readonly invalidated: ReadonlySet<'rights' | 'config'>;
  readonly plainMembers?: PlainMembers | undefined;
}

interface EventParts {
  /** The record that the event is about; absent for audit events. */
  objectId?: string;
  /** The subject of an audit event, for example `key:<id>`, `type:incident`. */
  subject?: string;
  revision?: number;
  /** Field code → [before, after]. */
  changes?: Record<string, [unknown, unknown]>;
  /** The same under the codes that the journal stores; `changes` by default. */
  storedChanges?: Record<string, [unknown, unknown]>;
  /**
   * Values that the change stored and that the event does not contain otherwise (ids, hashes of texts). `docket doctor --deep`
   * compares them with the current values. The journal stores them as `data.$stored`; no response includes them.
   */
  stored?: Record<string, string | number | null>;
  /** The actor and the origin, if they are not those of the unit of work. */
  origin?: EventOrigin;
}

/** Something that the reaction did because of an event about a record. */
export interface Reacted {
  objectId: string;
  /** Code of the configuration item that says what to do. */
  code: string;
  outcome: string;
}

/** Who caused an event, and through which channel. */
export interface EventOrigin {
  actor: Pick<Actor, 'userId' | 'displayName'>;
  via: Via;
}

/**
 * An event as a command emits it, with at least the data that its declaration names. The journal adds the actor, the time and
 * the origin.
 */
export type PlannedEvent<T extends EventType = EventType> = EventParts & TypedEvent<T>;

/** The type of an event with its data. */
export type TypedEvent<T extends EventType> = {
  [Type in T]: { type: Type } & (Record<string, never> extends EventData<Type>
    ? { data?: EventData<Type> }
    : { data: EventData<Type> });
}[T];

/** What a command is within its unit of work. */
export interface UnitPart {
  /**
   * Set if the unit does nothing else, and no check of existence or rights follows. With a stored response, the command then ends
   * here: a replay repeats these checks and nothing else.
   */
  isWhole?: true;
}

export interface WriteContext extends ReadContext {
  /**
   * Whether this attempt is a retry after a failed guard. On the first attempt, a condition that nearly always holds may be
   * left to a guard of the flush, which saves a query. On a retry it is queried, so that the response contains the right fault.
   */
  readonly isRetry: boolean;
  /** How often a guard failed so far. */
  readonly retries: number;
  /** Whether the unit is undone at its end. It must not keep out others longer than its rows need. */
  readonly isDryRun: boolean;
  readonly actorOf: ActorOf;
  /** Plans a row. Nothing is written before the command returns. */
  plan<Row>(write: TableWrite<Row>, row: Row): void;
  /** Replaces the planned rows of a write by what `change` returns for them; undefined drops the row. */
  replan<Row>(write: TableWrite<Row>, change: (row: Row) => Row | undefined): void;
  /** Stores content that planned rows refer to by SHA-256. It is in the blob store before the unit is written. */
  storeBlob(sha256: string, bytes: Uint8Array): void;
  /** Plans an event, which goes to the history or audit log, and from there to its consumers. */
  emit(event: PlannedEvent): void;
  /** The events that the unit plans so far. */
  readonly events: readonly PlannedEvent[];
  /**
   * Marks existence and rights as checked. A fault thrown afterwards is replaced by the stored idempotent response, if there is
   * one.
   */
  markAuthorized(unit?: UnitPart): void;
  /** Runs one of several independent parts. If it throws, everything it planned is discarded and the error is rethrown. */
  attempt<T>(part: () => Promise<T>): Promise<T>;
  /** Opens the unit's transaction, unless it is open, and runs a locking statement in it. */
  lock<Row>(statement: Sql): Promise<Row[]>;
  /**
   * Increments the rights or configuration version with this unit. Required when the unit changes rights (roles, memberships,
   * keys, states of users) or configuration.
   */
  invalidate(version: 'rights' | 'config'): void;
  /**
   * Increments the rights version for a plain membership (docs/decisions/0024-plain-memberships-need-no-lock.md): only the rights
   * of this user change. The unit is retried if anything else that rights depend on has changed since.
   *
   * @param structure the structure version under which the membership was found to be plain (`STRUCTURE_VERSION`)
   */
  invalidateMember(userId: string, structure: number): void;
  /** The versions that this unit increments so far, apart from plain memberships. */
  readonly invalidated: ReadonlySet<'rights' | 'config'>;
  /** Registers an invariant to check when the unit's rows are written. */
  verify<Seen>(invariant: Invariant<Seen>): void;
  /** Adds a member to the response whose value only the statement knows. It is set after the flush. */
  returning(key: string, value: ReturnedValue): void;
  /** Registers a function that brings the response up to date. It runs once, after the reactions and before the rows are written. */
  onReacted(update: () => void): void;
  /** Notes what the reaction did, for the effects of a dry run. */
  noteReaction(reacted: Reacted): void;
}

/**
 * A module that follows the events of other modules inside the same unit. The followers that emit events come first, then the
 * others, each in the order of `modules.ts`.
 */
export interface Follower {
  readonly name: string;
  /** Whether it emits events, to which the reaction may react. It gets each event once. */
  readonly emits?: true;
  follow(ctx: WriteContext, events: readonly PlannedEvent[]): Promise<void>;
}

/** What runs commands on the events of a unit, before the followers; these get the events of its commands, too. */
export interface Reaction {
  readonly name: string;
  /** @param followed has the followers that emit events follow the events until now */
  follow(ctx: WriteContext, events: readonly PlannedEvent[], followed: () => Promise<void>): Promise<void>;
}

/** The caller, its origin and the configuration in force; every unit needs them. */
export interface Caller {
  actor: Actor;
  via: Via;
  keyId: string | null;
  correlationId: string;
  config: ConfigSnapshot;
  /** The preferred language for names, if the caller asked for one. */
  locale?: string | undefined;
  /** The API through which the call came; absent outside HTTP. */
  surface?: 'public' | 'console' | undefined;
  /** The interface of the console in which the user acts, where the call names it. */
  interface?: Interface | undefined;
  /** False: the reaction does not run on the changes of this caller. */
  reacts?: boolean | undefined;
  /** What a replica must have replayed before it may serve this caller. If absent, the primary answers. */
  consistency?: ReadConsistency | undefined;
}
