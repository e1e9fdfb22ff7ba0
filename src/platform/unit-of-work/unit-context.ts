/** Contexts of units of work: the implementation that collects what a unit plans, and reads on behalf of another user. */
import type { Sql } from 'sql-template-tag';
import { newId } from '../clock.ts';
import { find, type Lookup } from '../database/lookups.ts';
import type { Queryable, QueryOptions, Transaction } from '../database/pool.ts';
import type {
  Actor,
  Caller,
  Invariant,
  PlannedEvent,
  ReadContext,
  ReturnedValue,
  TableWrite,
  UnitPart,
  Via,
  WriteContext,
} from './context.ts';
import type { Turn } from './turns.ts';
import type { Planned } from './flush.ts';
import type { ConfigSnapshot } from './snapshot.ts';

/** Ends a command whose rights are checked, because a stored response answers it. */
export class ReplayDue extends Error {}

/** The context of one attempt. Each retry gets a new one. */
export class UnitContext implements WriteContext {
  readonly actor: Actor;
  readonly now: string;
  readonly via: Via;
  readonly keyId: string | null;
  readonly correlationId: string;
  readonly config: ConfigSnapshot;
  readonly locale: string | undefined;
  readonly surface: 'public' | 'console' | undefined;
  readonly memo = new Map<string, unknown>();
  readonly planned = new Map<string, Planned>();
  readonly events: PlannedEvent[] = [];
  readonly kept = new Map<string, Uint8Array>();
  readonly invalidated = new Set<'rights' | 'config'>();
  readonly invariants = new Map<string, Invariant>();
  returnedValue: { key: string; value: ReturnedValue } | undefined;
  checked = false;
  readonly isRetry: boolean;
  db: Queryable;
  readonly #begin: (() => Promise<Transaction>) | undefined;
  readonly #turn: Turn | undefined;

  isDryRun = false;
  /** Whether a response is stored under the idempotency key of the unit. */
  isReplay = false;

  constructor(
    caller: Caller,
    now: string,
    db: Queryable,
    begin?: () => Promise<Transaction>,
    again = false,
    turn?: Turn,
  ) {
    this.actor = caller.actor;
    this.now = now;
    this.via = caller.via;
    this.keyId = caller.keyId;
    this.correlationId = caller.correlationId;
    this.config = caller.config;
    this.locale = caller.locale;
    this.surface = caller.surface;
    this.db = db;
    this.#begin = begin;
    this.isRetry = again;
    this.#turn = turn;
  }

  query<Row>(statement: Sql, options?: QueryOptions): Promise<Row[]> {
    return this.db.query<Row>(statement, options);
  }

  async find<Row, Key extends object>(lookup: Lookup<Row, Key>, key: Key): Promise<Row | undefined> {
    if ('id' in key) this.#turn?.load(key.id as string);
    return await find(this.db, lookup, key);
  }

  newId(): string {
    return newId();
  }

  plan<Row>(write: TableWrite<Row>, row: Row): void {
    const planned = this.planned.get(write.name);
    if (planned === undefined) this.planned.set(write.name, { write: write as TableWrite<unknown>, rows: [row] });
    else planned.rows.push(row);
  }

  /** Whether the unit plans a change that only one of several concurrent units can make. */
  isCompeting(): boolean {
    for (const { write } of this.planned.values()) if (write.requiresRevision === true) return true;
    return false;
  }

  storeBlob(sha256: string, bytes: Uint8Array): void {
    this.kept.set(sha256, bytes);
  }

  emit(event: PlannedEvent): void {
    this.events.push(event);
  }

  async attempt<T>(part: () => Promise<T>): Promise<T> {
    const rows = new Map([...this.planned].map(([name, planned]) => [name, planned.rows.length]));
    const events = this.events.length;
    const memo = new Map(this.memo);
    const kept = new Set(this.kept.keys());
    try {
      return await part();
    } catch (error) {
      for (const [name, planned] of this.planned) {
        const before = rows.get(name) ?? 0;
        if (before === 0) this.planned.delete(name);
        else planned.rows.length = before;
      }
      this.events.length = events;
      this.memo.clear();
      for (const [key, value] of memo) this.memo.set(key, value);
      for (const sha256 of this.kept.keys()) if (!kept.has(sha256)) this.kept.delete(sha256);
      throw error;
    }
  }

  markAuthorized({ isWhole }: UnitPart = {}): void {
    this.checked = true;
    if (isWhole === true && this.isReplay) throw new ReplayDue();
  }

  async lock<Row>(statement: Sql): Promise<Row[]> {
    if (this.#begin === undefined) throw new Error('a read unit cannot lock');
    this.db = await this.#begin();
    return await this.db.query<Row>(statement);
  }

  invalidate(version: 'rights' | 'config'): void {
    this.invalidated.add(version);
  }

  verify<Seen>(invariant: Invariant<Seen>): void {
    if (!this.invariants.has(invariant.name)) this.invariants.set(invariant.name, invariant as Invariant);
  }

  returning(key: string, value: ReturnedValue): void {
    this.returnedValue = { key, value };
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
    memo: ctx.memo,
    query: (statement, options) => ctx.query(statement, options),
    find: (lookup, key) => ctx.find(lookup, key),
    newId: () => ctx.newId(),
  };
}
