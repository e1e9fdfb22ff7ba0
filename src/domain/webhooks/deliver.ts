/**
 * The second stage: leases due deliveries, makes the attempts and stores the results. Any number of processes may run it at
 * once. After a crash the lease expires and another process repeats the attempt with the same delivery id, so no delivery is
 * lost.
 */
import { type Clock, instant, newId } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { Outbound, Outcome } from '../../platform/outbound/outbound.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import type { Caller } from '../../platform/unit-of-work/context.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import { type CompiledWebhook, requestOf, verdictOf } from './rules.ts';
import { type EventParts, isMessage, type Payload, Payloads, type Sender } from './payload.ts';
import { sealPurpose } from './signing-secrets.ts';
import {
  type Finished,
  findSenders,
  finishDeliveries,
  type LeasedDelivery,
  leaseDeliveries,
  type SenderRow,
} from './store-delivery.ts';

export interface DeliveryOptions {
  db: Database;
  work: Work;
  clock: Clock;
  outbound: Outbound;
  secrets: SecretBox;
  /** The executor with their current rights; undefined if the user is not active. */
  callerOf(userId: string): Promise<Caller | undefined>;
  parts: EventParts;
  onError(error: unknown): void;
  /** Called when further deliveries can be leased, or a repeated attempt is due. */
  onRoom(): void;
  limits?: Partial<DeliveryLimits>;
}

export interface DeliveryLimits {
  /** Maximum number of concurrent attempts in total. */
  total: number;
  /** Maximum number of concurrent attempts per subscription. */
  each: number;
  /** The same for a subscription whose receiver is slow or does not answer. */
  eachTroubled: number;
  /** An attempt that takes longer counts as slow. */
  slowMs: number;
  /** Lease duration. Another process may repeat an attempt afterwards, so it must be well above the time limit of a call. */
  leaseMs: number;
}

const LIMITS: DeliveryLimits = { total: 1024, each: 64, eachTroubled: 4, slowMs: 2000, leaseMs: 30_000 };
/** Delay of a delivery that could not be attempted because of an error in this service. */
const OURS_MS = 1000;
const WRONG_KEY_MS = 30_000;
/** Number of consecutive slow or failed attempts after which a receiver counts as troubled. */
const TROUBLED = 5;
/** Results that are not stored yet would be repeated after a crash, so above this number no attempt is started. */
const MAX_UNNOTED = 4096;

interface Ready extends Sender {
  secrets: string[];
}

export class Deliverer {
  readonly #options: DeliveryOptions;
  readonly #limits: DeliveryLimits;
  readonly #payloads: Payloads;
  /** Subscription id → attempts in progress. */
  readonly #busy = new Map<string, number>();
  /** Subscription id → consecutive attempts that were slow or got no answer. */
  readonly #troubles = new Map<string, number>();
  readonly #opened = new Map<string, string>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();
  #total = 0;
  #notes: Finished[] = [];
  #noting: Promise<void> | undefined;
  #stopped = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#payloads = new Payloads(options.parts);
  }

  /** Leases due deliveries and starts their attempts without waiting for them. @returns whether more may be due at once */
  async turn(): Promise<boolean> {
    const { db, clock } = this.#options;
    const free = this.#limits.total - this.#total;
    if (this.#stopped || free <= 0 || this.#notes.length > MAX_UNNOTED) return false;
    const now = clock.now();
    const lease = newId();
    const leased = await leaseDeliveries(db, {
      lease,
      now: instant(now),
      until: instant(now + this.#limits.leaseMs),
      total: free,
      each: this.#limits.each,
      capacities: this.#capacities(),
    });
    if (leased.length === 0) return false;
    for (const { subscriptionId } of leased) this.#count(subscriptionId, 1);
    const attempts = this.#attempts(lease, leased).finally(() => this.#running.delete(attempts));
    this.#running.add(attempts);
    return true;
  }

  #capacities(): { id: string; free: number }[] {
    const { each, eachTroubled } = this.#limits;
    return [...new Set([...this.#busy.keys(), ...this.#troubles.keys()])].map((id) => {
      const most = (this.#troubles.get(id) ?? 0) >= TROUBLED ? eachTroubled : each;
      return { id, free: Math.max(0, most - (this.#busy.get(id) ?? 0)) };
    });
  }

  #count(subscriptionId: string, by: 1 | -1): void {
    const busy = (this.#busy.get(subscriptionId) ?? 0) + by;
    if (busy === 0) this.#busy.delete(subscriptionId);
    else this.#busy.set(subscriptionId, busy);
    this.#total += by;
  }

  async #attempts(lease: string, leased: readonly LeasedDelivery[]): Promise<void> {
    const waiting = new Set(leased);
    /** Each delivery is settled once. It no longer counts as in progress afterwards. */
    const settle: Settle = (delivery, finished) => {
      if (!waiting.delete(delivery)) return;
      this.#count(delivery.subscriptionId, -1);
      this.#note({ id: delivery.id, lease, ...finished });
    };
    /** A failure of this service does not count as an attempt. The delivery is tried again after the delay. */
    const giveBack = (deliveries: readonly LeasedDelivery[], delayMs: number): void => {
      const open = deliveries.filter((delivery) => waiting.has(delivery));
      for (const delivery of open) settle(delivery, this.#unsent('PENDING', delayMs, null));
      if (open.length > 0) this.#wakeIn(delayMs);
    };
    try {
      const senders = await this.#senders(leased);
      await Promise.all(
        [...Map.groupBy(leased, ({ subscriptionId }) => subscriptionId)].map(async ([id, own]) => {
          const sender = senders.get(id);
          if (sender !== undefined) await this.#attemptsOf(sender, own, settle);
          giveBack(own, sender === undefined ? WRONG_KEY_MS : OURS_MS);
        }),
      );
    } catch (error) {
      this.#options.onError(error);
      giveBack(leased, OURS_MS);
    }
  }

  async #attemptsOf(sender: Ready, own: readonly LeasedDelivery[], settle: Settle): Promise<void> {
    try {
      const principal = sender.webhook.executionPrincipalId;
      const caller = principal === null ? undefined : await this.#options.callerOf(principal);
      if (caller === undefined) {
        for (const delivery of own) settle(delivery, this.#skipped('The executor is not active.'));
        return;
      }
      await Promise.all(
        (await this.#read(caller, sender, own)).map(async ([delivery, payload]) => {
          if (payload.kind === 'skip') settle(delivery, this.#skipped(payload.reason));
          else settle(delivery, await this.#send(sender, delivery, payload.data));
        }),
      );
    } catch (error) {
      this.#options.onError(error);
    }
  }

  /**
   * The payload of each delivery. A delivery whose payload cannot be read because of an error is left out and tried again
   * later.
   */
  #read(caller: Caller, sender: Sender, own: readonly LeasedDelivery[]): Promise<[LeasedDelivery, Payload][]> {
    return this.#options.work.read(caller, async (ctx) => {
      await this.#payloads.preload(ctx, own);
      const read: [LeasedDelivery, Payload][] = [];
      for (const delivery of own) {
        try {
          read.push([delivery, await this.#payloads.of(ctx, delivery, sender)]);
        } catch (error) {
          this.#options.onError(error);
        }
      }
      return read;
    });
  }

  async #send(
    sender: Ready,
    delivery: LeasedDelivery,
    data: Record<string, unknown>,
  ): Promise<Omit<Finished, 'id' | 'lease'>> {
    const { clock, outbound } = this.#options;
    const at = clock.now();
    const timestamp = instant(at);
    const { id, eventId, eventType, eventAt, attemptCount, maxAttempts, baseDelayMs } = delivery;
    const told = { deliveryId: id, eventId, eventType, occurredAt: eventAt, data };
    const { headers, body } = requestOf(sender.secrets, told, timestamp, isMessage(delivery));
    const outcome = await outbound.post(sender.webhook.endpoint, headers, body);
    // If the clock was set back meanwhile, the attempt must not end before it started.
    const now = Math.max(clock.now(), at + durationOf(outcome));
    const slow = outcome.kind === 'failed' || (outcome.kind === 'answered' && outcome.durationMs > this.#limits.slowMs);
    if (slow) this.#troubles.set(sender.id, (this.#troubles.get(sender.id) ?? 0) + 1);
    else this.#troubles.delete(sender.id);
    const verdict = verdictOf(outcome, { id, baseDelayMs, maxAttempts }, attemptCount + 1, now);
    if (verdict.status === 'PENDING') this.#wakeIn(verdict.delayMs);
    return {
      status: verdict.status,
      attempted: true,
      at: timestamp,
      ended_at: instant(now),
      due_at: instant(now + verdict.delayMs),
      http_status: verdict.httpStatus,
      duration_ms: verdict.durationMs,
      excerpt: verdict.excerpt,
      error: verdict.error,
    };
  }

  #unsent(status: 'PENDING' | 'SKIPPED', delayMs: number, error: string | null): Omit<Finished, 'id' | 'lease'> {
    const now = this.#options.clock.now();
    const at = instant(now);
    const none = { http_status: null, duration_ms: 0, excerpt: null };
    return { status, attempted: false, at, ended_at: at, due_at: instant(now + delayMs), error, ...none };
  }

  #skipped(reason: string): Omit<Finished, 'id' | 'lease'> {
    return this.#unsent('SKIPPED', 0, reason);
  }

  /**
   * Subscriptions that can send, by id. If a secret cannot be opened, the subscription is left out and its deliveries wait for
   * the right key.
   */
  async #senders(leased: readonly LeasedDelivery[]): Promise<Map<string, Ready>> {
    const { db, clock } = this.#options;
    const ids = [...new Set(leased.map(({ subscriptionId }) => subscriptionId))];
    const ready = new Map<string, Ready>();
    for (const row of await findSenders(db, ids, instant(clock.now()))) {
      try {
        const secrets = this.#open(row);
        const webhook = row.compiled as CompiledWebhook;
        if (secrets.length > 0) ready.set(row.id, { id: row.id, version: row.version, webhook, secrets });
      } catch (error) {
        this.#options.onError(error);
      }
    }
    return ready;
  }

  #open(row: SenderRow): string[] {
    return row.secrets.map(({ version, sealed }) => {
      const purpose = sealPurpose(row.secretId ?? '', version);
      let secret = this.#opened.get(sealed);
      if (secret === undefined) {
        secret = this.#options.secrets.open(Buffer.from(sealed, 'hex'), purpose);
        // Few secrets are in use. Clearing the whole cache also drops rotated ones.
        if (this.#opened.size > 1000) this.#opened.clear();
        this.#opened.set(sealed, secret);
      }
      return secret;
    });
  }

  /** Results are stored in batches: they accumulate while the previous statement runs. */
  #note(finished: Finished): void {
    this.#notes.push(finished);
    this.#startNoting();
  }

  #startNoting(): void {
    this.#noting ??= this.#write().finally(() => {
      this.#noting = undefined;
      // A result may have arrived after the last check.
      if (this.#notes.length > 0 && !this.#stopped) this.#startNoting();
    });
  }

  async #write(): Promise<void> {
    // Wait for results that arrive in the same iteration of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#notes.length > 0) {
      const notes = this.#notes.splice(0, 500);
      try {
        await finishDeliveries(this.#options.db, notes);
      } catch (error) {
        this.#options.onError(error);
        // On shutdown do not retry: the leases expire and the attempts are repeated.
        if (this.#stopped) return;
        this.#notes.unshift(...notes);
        await new Promise((resolve) => {
          setTimeout(resolve, OURS_MS);
        });
      }
      this.#options.onRoom();
    }
  }

  #wakeIn(ms: number): void {
    // Longer delays are left to the regular polling.
    if (this.#stopped || ms > 60_000) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#options.onRoom();
    }, ms);
    this.#timers.add(timer);
  }

  /** Starts no further attempts. Waits for those in progress and stores their results. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(this.#running);
    await this.#noting;
    if (this.#notes.length > 0) await this.#write();
  }
}

function durationOf(outcome: Outcome): number {
  return outcome.kind === 'refused' ? 0 : outcome.durationMs;
}

type Settle = (delivery: LeasedDelivery, finished: Omit<Finished, 'id' | 'lease'>) => void;
