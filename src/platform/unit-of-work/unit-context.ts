/** Contexts of units of work: the implementation that collects what a unit plans, and reads on behalf of another user. */
import type { Sql } from 'sql-template-tag';
import { newId } from '../clock.ts';
import { find, type Lookup } from '../database/lookups.ts';
import { Database, type Queryable, type QueryOptions, type Transaction } from '../database/pool.ts';
import type {
  Actor,
  ActorOf,
  Caller,
  EventOrigin,
  Invariant,
  PlainMembers,
  PlannedEvent,
  Reacted,
  ReadContext,
  ReturnedValue,
  TableWrite,
  UnitPart,
  Via,
  WriteContext,
} from './context.ts';
import type { Interface } from '../../contract/rights.ts';
import type { QueueTicket } from './turns.ts';
import type { Planned } from './flush.ts';
import type { ConfigSnapshot } from './snapshot.ts';
import { failedGuard, STRUCTURE_GUARD } from './transactions.ts';

/** Ends a command whose rights are checked, because a stored response answers it. */
export class ReplayDue extends Error {}
/** Made once: its stack is of no use, and to capture it costs much of a replay. */
const REPLAY_DUE = new ReplayDue('a stored response answers the command');

/** The context of a unit that only reads. */
export class ReadUnit implements ReadContext {
  readonly actor: Actor;
  readonly now: string;
  readonly via: Via;
  readonly keyId: string | null;
  readonly correlationId: string;
  readonly config: ConfigSnapshot;
  readonly locale: string | undefined;
  readonly surface: 'public' | 'console' | undefined;
  readonly interface: Interface | undefined;
  readonly memo = new Map<string, unknown>();
  db: Queryable;

  constructor(caller: Caller, now: string, db: Queryable) {
    this.actor = caller.actor;
    this.now = now;
    this.via = caller.via;
    this.keyId = caller.keyId;
    this.correlationId = caller.correlationId;
    this.config = caller.config;
    this.locale = caller.locale;
    this.surface = caller.surface;
    this.interface = caller.interface;
    this.db = db;
  }

  query<Row>(statement: Sql, options?: QueryOptions): Promise<Row[]> {
    return this.db.query<Row>(statement, options);
  }

  find<Row, Key extends object>(lookup: Lookup<Row, Key>, key: Key): Promise<Row | undefined> {
    return find(this.db, lookup, key);
  }

  newId(): string {
    return newId();
  }
}

function withoutRights(): never {
  throw new Error('this process reads no rights of other users');
}

/** The context of one attempt of a unit that writes. Each retry gets a new one. */
export class UnitContext extends ReadUnit implements WriteContext {
  readonly planned = new Map<string, Planned>();
  readonly events: PlannedEvent[] = [];
  readonly reactions: Reacted[] = [];
  readonly kept = new Map<string, Uint8Array>();
  readonly invalidated = new Set<'rights' | 'config'>();
  plainMembers: PlainMembers | undefined;
  readonly invariants = new Map<string, Invariant>();
  readonly #updates: (() => void)[] = [];
  returnedValue: { key: string; value: ReturnedValue } | undefined;
  checked = false;
  readonly isRetry: boolean;
  readonly retries: number;
  readonly actorOf: ActorOf;
  readonly #begin: (() => Promise<Transaction>) | undefined;
  readonly #turn: QueueTicket | undefined;

  isDryRun = false;
  /** The first id that the unit looked up: that of the record which it is about, in commands on one record. */
  firstId: string | undefined;
  /** Whether a response is stored under the idempotency key of the unit. */
  isReplay = false;

  constructor(
    caller: Caller,
    now: string,
    db: Queryable,
    begin?: () => Promise<Transaction>,
    retries = 0,
    turn?: QueueTicket,
    actorOf: ActorOf = withoutRights,
  ) {
    super(caller, now, db);
    this.#begin = begin;
    this.isRetry = retries > 0;
    this.retries = retries;
    this.#turn = turn;
    this.actorOf = actorOf;
  }

  override find<Row, Key extends object>(lookup: Lookup<Row, Key>, key: Key): Promise<Row | undefined> {
    if ('id' in key) this.firstId ??= key.id as string;
    return super.find(lookup, key);
  }

  plan<Row>(write: TableWrite<Row>, row: Row): void {
    const planned = this.planned.get(write.name);
    if (planned === undefined) this.planned.set(write.name, { write: write as TableWrite<unknown>, rows: [row] });
    else planned.rows.push(row);
  }

  /**
   * Waits for others that compete for the record, if the unit plans a change that only one of several concurrent units can make. A
   * unit in a transaction does not wait: it holds locks that those before it may need.
   *
   * @throws TurnAwaited if it had to wait
   */
  async takeTurn(): Promise<void> {
    if (this.#turn === undefined || !(this.db instanceof Database)) return;
    for (const { write, rows } of this.planned.values()) {
      const [record] = write.guard === 'revision' && rows.length === 1 ? (write.records?.(rows[0]) ?? []) : [];
      if (typeof record === 'string') return await this.#turn.take(record);
    }
  }

  replan<Row>(write: TableWrite<Row>, change: (row: Row) => Row | undefined): void {
    const planned = this.planned.get(write.name);
    if (planned === undefined) return;
    // A new list, because `attempt` may have to restore the old one.
    const rows = planned.rows.map((row) => change(row as Row)).filter((row) => row !== undefined);
    if (rows.length === 0) this.planned.delete(write.name);
    else this.planned.set(write.name, { write: planned.write, rows });
  }

  storeBlob(sha256: string, bytes: Uint8Array): void {
    this.kept.set(sha256, bytes);
  }

  emit(event: PlannedEvent): void {
    this.events.push(event);
  }

  async attempt<T>(part: () => Promise<T>): Promise<T> {
    const plannedBefore = [...this.planned].map(([name, planned]) => ({ name, planned, length: planned.rows.length }));
    const updates = this.#updates.length;
    const events = this.events.length;
    const memo = new Map(this.memo);
    const kept = new Set(this.kept.keys());
    const invalidated = new Set(this.invalidated);
    const { plainMembers } = this;
    const invariants = new Map(this.invariants);
    const reactions = this.reactions.length;
    try {
      return await part();
    } catch (error) {
      this.planned.clear();
      for (const { name, planned, length } of plannedBefore) {
        planned.rows.length = length;
        this.planned.set(name, planned);
      }
      this.events.length = events;
      this.#updates.length = updates;
      this.memo.clear();
      for (const [key, value] of memo) this.memo.set(key, value);
      this.reactions.length = reactions;
      this.plainMembers = plainMembers;
      for (const what of this.invalidated) if (!invalidated.has(what)) this.invalidated.delete(what);
      for (const name of this.invariants.keys()) if (!invariants.has(name)) this.invariants.delete(name);
      for (const sha256 of this.kept.keys()) if (!kept.has(sha256)) this.kept.delete(sha256);
      throw error;
    }
  }

  markAuthorized({ isWhole }: UnitPart = {}): void {
    this.checked = true;
    if (isWhole === true && this.isReplay) throw REPLAY_DUE;
  }

  async lock<Row>(statement: Sql): Promise<Row[]> {
    if (this.#begin === undefined) throw new Error('a read unit cannot lock');
    this.db = await this.#begin();
    return await this.db.query<Row>(statement);
  }

  invalidate(version: 'rights' | 'config'): void {
    this.invalidated.add(version);
  }

  invalidateMember(userId: string, structure: number): void {
    const { userIds = [], structure: first = structure } = this.plainMembers ?? {};
    if (structure !== first) throw failedGuard(STRUCTURE_GUARD);
    this.plainMembers = { userIds: [...userIds, userId], structure };
  }

  /** The unit changes no version, because it is undone at its end. */
  keepVersions(): void {
    this.invalidated.clear();
    this.plainMembers = undefined;
  }

  verify<Seen>(invariant: Invariant<Seen>): void {
    if (!this.invariants.has(invariant.name)) this.invariants.set(invariant.name, invariant as Invariant);
  }

  returning(key: string, value: ReturnedValue): void {
    this.returnedValue = { key, value };
  }

  onReacted(update: () => void): void {
    this.#updates.push(update);
  }

  noteReaction(reacted: Reacted): void {
    this.reactions.push(reacted);
  }

  /** Brings the response up to date with what the reaction changed. */
  reacted(): void {
    for (const update of this.#updates) update();
  }
}

/** The same unit with `actor`'s rights, for reads and checks. It cannot plan rows or emit events. */
export function contextOnBehalfOf(ctx: ReadContext, actor: Actor): ReadContext {
  return {
    actor,
    now: ctx.now,
    via: ctx.via,
    keyId: ctx.keyId,
    correlationId: ctx.correlationId,
    config: ctx.config,
    surface: ctx.surface,
    interface: ctx.interface,
    memo: ctx.memo,
    query: (statement, options) => ctx.query(statement, options),
    find: (lookup, key) => ctx.find(lookup, key),
    newId: () => ctx.newId(),
  };
}

/** What is done in a unit of work by another user than its caller. */
export interface Deputy extends EventOrigin {
  actor: Actor;
  /** Added to the data of the events. */
  data: Record<string, unknown>;
  /** Gets each event. */
  onEmit(event: PlannedEvent): void;
}

/**
 * The same unit with the rights of another user, for commands that a reaction runs. The response of the unit remains that of its
 * caller.
 */
export function writeContextAs(ctx: WriteContext, { actor, via, data, onEmit }: Deputy): WriteContext {
  return {
    ...contextOnBehalfOf(ctx, actor),
    via,
    keyId: null,
    isRetry: ctx.isRetry,
    retries: ctx.retries,
    isDryRun: ctx.isDryRun,
    invalidated: ctx.invalidated,
    actorOf: (userId) => ctx.actorOf(userId),
    plan: (write, row) => ctx.plan(write, row),
    replan: (write, change) => ctx.replan(write, change),
    storeBlob: (sha256, bytes) => ctx.storeBlob(sha256, bytes),
    emit: (event) => {
      const made = { ...event, data: { ...event.data, ...data }, origin: { actor, via } } as PlannedEvent;
      ctx.emit(made);
      onEmit(made);
    },
    events: ctx.events,
    markAuthorized: () => {},
    attempt: (part) => ctx.attempt(part),
    lock: (statement) => ctx.lock(statement),
    invalidate: (version) => ctx.invalidate(version),
    invalidateMember: (userId, structure) => ctx.invalidateMember(userId, structure),
    verify: (invariant) => ctx.verify(invariant),
    returning: () => {},
    onReacted: () => {},
    noteReaction: (reacted) => ctx.noteReaction(reacted),
  };
}
