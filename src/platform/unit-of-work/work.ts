/**
 * The unit of work: the only place where transactions begin and end.
 *
 * A command reads, decides and plans rows. The unit then writes everything in ONE statement: the planned rows, the journal, the
 * idempotent response and the rights and configuration versions. Writes that depend on values read earlier carry a
 * guard (compare-and-set). If a guard fails, the statement rolls back and the whole unit is retried on current data. Code never
 * decides anything between a read and an unguarded write.
 */
import { isFault } from '../../lib/fault.ts';
import { Yielder } from '../../lib/yielding.ts';
import { type Clock, instant } from '../clock.ts';
import type { Actor, ActorOf, Caller, Follower, Invalidated, PlannedEvent, Reacted, Reaction } from './context.ts';
import type { ReadContext, Via, WriteContext } from './context.ts';
import { touchBlobs } from '../blobs/register.ts';
import { type BlobStore, putAll } from '../blobs/store.ts';
import type { Database, Transaction } from '../database/pool.ts';
import type { Replica } from '../database/replica.ts';
import { type Constraints, isLockTimeout, isPassing, isRetryable, toFault } from '../database/sqlstate.ts';
import { GROUP_SIZE, Groups } from './groups.ts';
import { answerOf, findStored, type IdempotencyClaim, inProgress, type KeptAnswer } from './idempotency.ts';
import { SeenKeys, WAIT_MS } from './idempotency.ts';
import { journalRow, journalWrite } from '../journal/journal.ts';
import {
  contended,
  type DryRunLimits,
  guardOf,
  isAuthorizedFault,
  AuthorizedFault,
  pause,
  unwrapAuthorizedFault,
  HeldTransaction,
  inDryRun,
  savepoint,
  STRUCTURE_GUARD,
  isRevisionConflict,
  undone,
} from './transactions.ts';
import { Statements } from './statement.ts';
import { type Queues, QueueTicket, TurnAwaited } from './turns.ts';
import { ReadUnit, ReplayDue, UnitContext } from './unit-context.ts';

export interface WriteOptions {
  idempotency?: IdempotencyClaim;
  /** Called when the unit starts to wait for another unit of this process. Waiting takes time but no work. */
  onWait?: (() => void) | undefined;
}

/** Runs units of work, either for real or as a dry run. */
export type Units = Pick<Work, 'read' | 'write'>;

/** An event that a unit of a dry run would have emitted. */
export interface TriedEvent {
  id: string;
  at: string;
  via: Via;
  actor: Pick<Actor, 'userId' | 'displayName'>;
  event: PlannedEvent;
}

/** What the units of a dry run that succeeded would have done, in their order. */
export interface Tried {
  readonly events: readonly TriedEvent[];
  readonly reactions: readonly Reacted[];
}

/** The units of a dry run. A dry run within it is undone on its own. */
export interface TriedUnits extends Tried, Pick<Work, 'read' | 'write' | 'dryRun'> {
  /** Runs and undoes a part on which nothing later builds, so that others get its locks. @param items that it changes */
  part<T>(items: number, fn: (units: TriedUnits) => Promise<T>): Promise<T>;
}

/** Called with what a part of a dry run did, before it is undone. */
export type BeforeUndo = (units: TriedUnits) => Promise<void>;

export type WriteResult<T> = { kind: 'done'; data: T } | { kind: 'replay'; answer: KeptAnswer };

const MAX_ATTEMPTS = 6;

export class Work {
  readonly #db: Database;
  readonly #groups: Groups;
  readonly counts: Groups['counts'];
  readonly #seenKeys = new SeenKeys();
  readonly #queues: Queues = new Map();
  readonly #clock: Clock;
  readonly #blobs: BlobStore | undefined;
  readonly #actorOf: ActorOf | undefined;
  /** Those that emit events, and the others. */
  readonly #emitting: readonly Follower[];
  readonly #followers: readonly Follower[];
  readonly #reaction: Reaction | undefined;
  readonly #constraints: Constraints;
  readonly #replica: Replica | undefined;
  /** Called after the commit of a unit that changed the rights or configuration version: this process reloads at once. */
  onInvalidated: (unit: Invalidated) => Promise<void> = async () => {};
  /** Called after a unit that emitted events has committed. It only speeds up processing; correctness must not depend on it. */
  onEmitted: () => void = () => {};

  constructor(options: {
    db: Database;
    clock: Clock;
    /** The blob store for content that units store. Without it, a unit that stores content fails. */
    blobs?: BlobStore;
    actorOf?: ActorOf;
    followers?: readonly Follower[];
    /** Runs commands on the events of each unit, before the followers. */
    reaction?: Reaction | undefined;
    constraints?: Constraints;
    /** Serves reads whose caller allows a replica. */
    replica?: Replica | undefined;
    /** Maximum number of units in one statement; 1 turns group commit off. */
    groupSize?: number;
  }) {
    this.#db = options.db;
    this.#groups = new Groups(options.db, new Statements(), options.groupSize ?? GROUP_SIZE);
    this.counts = this.#groups.counts;
    this.#clock = options.clock;
    this.#blobs = options.blobs;
    this.#actorOf = options.actorOf;
    this.#emitting = options.followers?.filter(({ emits }) => emits === true) ?? [];
    this.#followers = options.followers?.filter(({ emits }) => emits !== true) ?? [];
    this.#reaction = options.reaction;
    this.#constraints = options.constraints ?? new Map();
    this.#replica = options.replica;
  }

  /**
   * Runs a read. Each statement sees the data committed when it starts. With `snapshot`, all statements see the same snapshot.
   */
  async read<T>(
    caller: Caller,
    fn: (ctx: ReadContext) => Promise<T>,
    options: { snapshot?: boolean } = {},
  ): Promise<T> {
    const replica = caller.consistency?.replicaSafe === true ? this.#replica : undefined;
    if (replica !== undefined && caller.consistency !== undefined && (await replica.admits(caller.consistency))) {
      try {
        return await this.#readOn(replica.database, caller, fn, options.snapshot === true);
      } catch (error) {
        // Transient errors of the replica fall back to the primary.
        if (!isPassing(error)) throw toFault(error, this.#constraints);
        replica.failed();
      }
    }
    try {
      return await this.#readOn(this.#db, caller, fn, options.snapshot === true);
    } catch (error) {
      throw toFault(error, this.#constraints);
    }
  }

  async #readOn<T>(db: Database, caller: Caller, fn: (ctx: ReadContext) => Promise<T>, snapshot: boolean): Promise<T> {
    const now = instant(this.#clock.now());
    if (!snapshot) return await fn(new ReadUnit(caller, now, db));
    return await db.transaction('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY', (tx) =>
      fn(new ReadUnit(caller, now, tx)),
    );
  }

  /** Runs a write: all or nothing. It is retried when a concurrent change fails a guard. */
  async write<T>(
    caller: Caller,
    fn: (ctx: WriteContext) => Promise<T>,
    options: WriteOptions = {},
  ): Promise<WriteResult<T>> {
    const turn = new QueueTicket(this.#queues, options.onWait);
    try {
      return await this.#tryWrite(caller, fn, options, turn);
    } finally {
      turn.end();
    }
  }

  async #tryWrite<T>(
    caller: Caller,
    fn: (ctx: WriteContext) => Promise<T>,
    options: WriteOptions,
    turn: QueueTicket,
  ): Promise<WriteResult<T>> {
    const claim = options.idempotency;
    const patience = performance.now() + WAIT_MS;
    let retries = 0;
    let alone = false;
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await this.#attempt(caller, fn, options, { retries, turn, alone });
        if (claim !== undefined) this.#seenKeys.add(claim);
        if (caller.consistency !== undefined) await this.#replica?.wrote(caller.consistency);
        return result;
      } catch (error) {
        if (error instanceof TurnAwaited) {
          attempt--;
          continue;
        }
        const guard = guardOf(error);
        if (
          claim !== undefined &&
          guard !== 'idempotency-busy' &&
          (guard === 'idempotency-kept' || isAuthorizedFault(error))
        ) {
          const stored = await this.#stored(claim);
          if (stored !== undefined) {
            this.#seenKeys.add(claim);
            if (caller.consistency !== undefined) await this.#replica?.wrote(caller.consistency);
            return { kind: 'replay', answer: answerOf(stored, claim) };
          }
        }
        if (guard === 'idempotency-busy') {
          if (performance.now() >= patience) throw inProgress();
          options.onWait?.();
          alone = true;
          await pause(25 + Math.random() * 225);
          continue;
        }
        if (guard !== undefined) retries++;
        alone ||= guard !== undefined && guard !== STRUCTURE_GUARD;
        if (guard === undefined && !isRetryable(error)) throw toFault(unwrapAuthorizedFault(error), this.#constraints);
        if (attempt >= MAX_ATTEMPTS) throw contended();
        if (guard === undefined || attempt > 1) await pause(Math.random() * 10 * attempt);
      }
    }
  }

  /** Database errors of this lookup are mapped to faults like all others. */
  async #stored(claim: IdempotencyClaim): ReturnType<typeof findStored> {
    try {
      return await findStored(this.#db, claim, instant(this.#clock.now()));
    } catch (error) {
      throw toFault(error, this.#constraints);
    }
  }

  async #attempt<T>(
    caller: Caller,
    fn: (ctx: WriteContext) => Promise<T>,
    options: WriteOptions,
    { retries, turn, alone }: { retries: number; turn: QueueTicket; alone: boolean },
  ): Promise<WriteResult<T>> {
    const claim = options.idempotency;
    // With a key that was seen, the change would almost surely be refused, so its response is looked up first.
    const stored = claim !== undefined && this.#seenKeys.has(claim) ? await this.#stored(claim) : undefined;
    const now = instant(this.#clock.now());
    const held = new HeldTransaction(this.#db);
    const ctx = new UnitContext(caller, now, this.#db, () => held.open(), retries, turn, this.#actorOf);
    ctx.isReplay = stored !== undefined;
    try {
      const data = await this.#command(ctx, fn);
      if (stored !== undefined) throw new ReplayDue();
      await ctx.takeTurn();
      await this.#follow(ctx, caller);
      await this.#keep(ctx);
      const yielder = new Yielder();
      for (const event of ctx.events) {
        await yielder.next();
        ctx.plan(journalWrite, journalRow(ctx, event));
      }
      const returned = await this.#verified(ctx, () => this.#flush(ctx, data, claim, alone));
      if (returned !== undefined) (data as Record<string, unknown>)[returned.key] = returned.value;
      await held.close(true);
      // The change is committed, so a failed reload must not fail the request. The next poll reloads.
      if (ctx.invalidated.size > 0 || ctx.plainMembers !== undefined) await this.onInvalidated(ctx).catch(() => {});
      if (ctx.events.length > 0) this.onEmitted();
      return { kind: 'done', data };
    } catch (error) {
      await held.close(false);
      if (error instanceof ReplayDue && claim !== undefined && stored !== undefined) {
        return { kind: 'replay', answer: answerOf(stored, claim) };
      }
      if (ctx.firstId !== undefined && isRevisionConflict(error)) await turn.refuse(ctx.firstId);
      throw error;
    }
  }

  async #command<T>(ctx: UnitContext, fn: (ctx: WriteContext) => Promise<T>): Promise<T> {
    try {
      return await fn(ctx);
    } catch (error) {
      throw ctx.checked && isFault(error) ? new AuthorizedFault(error) : error;
    }
  }

  /** Runs the reaction on the events that the command emitted, and the followers on the events of both. */
  async #follow(ctx: UnitContext, caller: Caller): Promise<void> {
    if (ctx.events.length === 0) return;
    const followed = new Set<PlannedEvent>();
    const followEmitting = async (): Promise<void> => {
      const events = ctx.events.filter((event) => !followed.has(event));
      for (const event of events) followed.add(event);
      if (events.length > 0) for (const follower of this.#emitting) await follower.follow(ctx, events);
    };
    await this.#command(ctx, async () => {
      if (caller.reacts !== false && this.#reaction !== undefined) {
        await this.#reaction.follow(ctx, [...ctx.events], followEmitting);
        ctx.reacted();
        // The command may only have added something to a record that a rule changes.
        await ctx.takeTurn();
      }
      const commanded = [...ctx.events];
      await followEmitting();
      for (const follower of this.#followers) await follower.follow(ctx, commanded);
    });
  }

  /**
   * Runs units in one transaction that is always rolled back (dry run). Each unit sees the changes of the units before it; no
   * other transaction sees any of them. Units decide and write as usual, except for effects that no decision depends on and
   * that would persist or block others: journal, rights and configuration versions, content in the blob store and
   * sequence numbers.
   *
   * @param beforeUndo called for each part, and at the end for what was done outside parts
   * @throws Fault OVERLOADED if `limits` are exceeded, or others wait for what was done outside parts
   */
  async dryRun<T>(
    fn: (units: TriedUnits) => Promise<T>,
    limits?: DryRunLimits,
    beforeUndo: BeforeUndo = async () => {},
  ): Promise<T> {
    return await inDryRun(this.#db, async (tx) => await this.#tried(tx, fn, beforeUndo), limits);
  }

  async #tried<T>(tx: Transaction, fn: (units: TriedUnits) => Promise<T>, beforeUndo: BeforeUndo): Promise<T> {
    const units = this.#triedUnits(tx, beforeUndo);
    const result = await fn(units);
    await beforeUndo(units);
    return result;
  }

  #triedUnits(tx: Transaction, beforeUndo: BeforeUndo): TriedUnits {
    const events: TriedEvent[] = [];
    const reactions: Reacted[] = [];
    return {
      events,
      reactions,
      read: async (caller, unit) => await this.#dryRead(tx, caller, unit),
      write: async (caller, unit) => ({
        kind: 'done',
        data: await this.#dryWrite({ tx, events, reactions }, caller, unit),
      }),
      dryRun: async (fn) => await undone(tx, () => fn(this.#triedUnits(tx, async () => {}))),
      part: async (items, fn) => await undone(tx, () => this.#tried(tx, fn, beforeUndo), items),
    };
  }

  async #dryRead<T>(tx: Transaction, caller: Caller, fn: (ctx: ReadContext) => Promise<T>): Promise<T> {
    try {
      return await fn(new ReadUnit(caller, instant(this.#clock.now()), tx));
    } catch (error) {
      throw toFault(error, this.#constraints);
    }
  }

  async #dryWrite<T>(
    { tx, events, reactions }: { tx: Transaction; events: TriedEvent[]; reactions: Reacted[] },
    caller: Caller,
    fn: (ctx: WriteContext) => Promise<T>,
  ): Promise<T> {
    let retries = 0;
    for (let attempt = 1; ; attempt++) {
      const now = instant(this.#clock.now());
      const ctx = new UnitContext(caller, now, tx, async () => tx, retries, undefined, this.#actorOf);
      ctx.isDryRun = true;
      try {
        const result = await savepoint(tx, async () => {
          const data = await this.#command(ctx, fn);
          await this.#follow(ctx, caller);
          if (ctx.kept.size > 0) await touchBlobs(tx, [...ctx.kept.keys()], ctx.now);
          ctx.keepVersions();
          const returned = await this.#verified(ctx, () => this.#flush(ctx, data, undefined, true), false);
          if (returned !== undefined) (data as Record<string, unknown>)[returned.key] = returned.value;
          return data;
        });
        const own = { via: ctx.via, actor: ctx.actor };
        for (const event of ctx.events) events.push({ id: ctx.newId(), at: now, ...(event.origin ?? own), event });
        reactions.push(...ctx.reactions);
        return result;
      } catch (error) {
        if (guardOf(error) !== undefined) retries++;
        // Locks of others are not released for a retry: it would only wait again.
        if (guardOf(error) === undefined && (!isRetryable(error) || isLockTimeout(error)))
          throw toFault(unwrapAuthorizedFault(error), this.#constraints);
        if (attempt >= MAX_ATTEMPTS) throw contended();
      }
    }
  }

  /**
   * Registers the content before it is stored: from then on the sweeper does not delete it. A unit in a transaction does so in
   * it: those that hold the locks of others must not wait for another connection, and the sweeper waits for its row lock.
   */
  async #keep(ctx: UnitContext): Promise<void> {
    if (ctx.kept.size === 0) return;
    if (this.#blobs === undefined) throw new Error('there is no blob store here');
    await touchBlobs(ctx.db, [...ctx.kept.keys()], ctx.now);
    await putAll(this.#blobs, ctx.kept);
  }

  /**
   * Writes the unit's rows between the `before` and `after` checks of its invariants. A dry run takes no locks: it leaves
   * nothing behind, and would hold them until it ends.
   */
  async #verified<T>(ctx: UnitContext, write: () => Promise<T>, locks = true): Promise<T> {
    const checks: (() => Promise<void>)[] = [];
    if (locks) for (const { lock } of ctx.invariants.values()) await ctx.lock(lock);
    for (const invariant of ctx.invariants.values()) {
      const seen = await invariant.before(ctx);
      checks.push(() => invariant.after(ctx, seen));
    }
    const written = await write();
    for (const check of checks) await check();
    return written;
  }

  async #flush(
    ctx: UnitContext,
    data: unknown,
    claim: IdempotencyClaim | undefined,
    alone: boolean,
  ): Promise<{ key: string; value: unknown } | undefined> {
    if (ctx.planned.size === 0 && claim === undefined && ctx.invalidated.size === 0) return undefined;
    const { planned, invalidated, plainMembers, now, returnedValue: returned } = ctx;
    const claimed = claim === undefined ? undefined : { claim, answer: JSON.stringify(data), now };
    const unit = { planned: [...planned.values()], claimed, returned, invalidated, plainMembers };
    const value = await (ctx.db === this.#db
      ? this.#groups.write(unit, ctx.actor.userId ?? '', alone)
      : this.#groups.alone(ctx.db, unit));
    return returned === undefined ? undefined : { key: returned.key, value };
  }
}
