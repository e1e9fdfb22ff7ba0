/** The second stage: makes the attempts of due deliveries, with the rights of the executor at that time. */
import { type Clock, instant, newId } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/pool.ts';
import { Queue, type QueueLimits, type Settle } from '../../platform/jobs/queue.ts';
import type { Outbound, Outcome } from '../../platform/outbound/outbound.ts';
import { ServicePart } from '../../platform/module.ts';
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

/** Limits of deliveries, and their poll interval, used when a notification is lost. Tests provide others. */
export const deliveryLimits = new ServicePart<{ limits?: Partial<DeliveryLimits>; everyMs?: number | undefined }>(
  'limits of deliveries',
  () => ({}),
);

export interface DeliveryLimits extends QueueLimits {
  /** An attempt that takes longer counts as slow. */
  slowMs: number;
}

const LIMITS: DeliveryLimits = { total: 1024, each: 64, eachTroubled: 4, slowMs: 2000, leaseMs: 30_000 };
const WRONG_KEY_MS = 30_000;

interface Ready extends Sender {
  secrets: string[];
}

export class Deliverer {
  readonly #options: DeliveryOptions;
  readonly #limits: DeliveryLimits;
  readonly #payloads: Payloads;
  readonly #opened = new Map<string, string>();
  readonly #queue: Queue<LeasedDelivery, Finished>;

  constructor(options: DeliveryOptions) {
    const { db, clock, onError, onRoom } = options;
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#payloads = new Payloads(options.parts);
    this.#queue = new Queue({
      clock,
      limits: this.#limits,
      claim: (request) => leaseDeliveries(db, { lease: newId(), ...request }),
      groupOf: ({ subscriptionId }) => subscriptionId,
      attempt: (leased, settle) => this.#attempts(leased, settle),
      putOff: (delivery, dueAt) => this.#unsent(delivery, 'PENDING', dueAt, null),
      store: (results) => finishDeliveries(db, results),
      onError,
      onRoom,
    });
  }

  /** Leases due deliveries and starts their attempts without waiting for them. @returns whether more may be due at once */
  turn(): Promise<boolean> {
    return this.#queue.turn();
  }

  /** Starts no further attempts. Waits for those in progress and stores their results. */
  stop(): Promise<void> {
    return this.#queue.stop();
  }

  async #attempts(leased: readonly LeasedDelivery[], settle: Settle<LeasedDelivery, Finished>): Promise<void> {
    const senders = await this.#senders(leased);
    await Promise.all(
      [...Map.groupBy(leased, ({ subscriptionId }) => subscriptionId)].map(async ([id, own]) => {
        const sender = senders.get(id);
        if (sender === undefined) {
          const dueAt = instant(this.#options.clock.now() + WRONG_KEY_MS);
          for (const delivery of own) settle(delivery, this.#unsent(delivery, 'PENDING', dueAt, null), WRONG_KEY_MS);
        } else {
          await this.#attemptsOf(sender, own, settle);
          for (const delivery of own) settle(delivery);
        }
      }),
    );
  }

  async #attemptsOf(
    sender: Ready,
    own: readonly LeasedDelivery[],
    settle: Settle<LeasedDelivery, Finished>,
  ): Promise<void> {
    try {
      const principal = sender.webhook.executionPrincipalId;
      const caller = principal === null ? undefined : await this.#options.callerOf(principal);
      if (caller === undefined) {
        for (const delivery of own) settle(delivery, this.#skipped(delivery, 'The executor is not active.'));
        return;
      }
      await Promise.all(
        (await this.#read(caller, sender, own)).map(async ([delivery, payload]) => {
          if (payload.kind === 'skip') settle(delivery, this.#skipped(delivery, payload.reason));
          else await this.#send(sender, delivery, payload.data, settle);
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
    settle: Settle<LeasedDelivery, Finished>,
  ): Promise<void> {
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
    this.#queue.noteTrouble(sender.id, slow);
    const verdict = verdictOf(outcome, { id, baseDelayMs, maxAttempts }, attemptCount + 1, now);
    const result: Finished = {
      id,
      lease: delivery.lease,
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
    settle(delivery, result, verdict.status === 'PENDING' ? verdict.delayMs : undefined);
  }

  #unsent({ id, lease }: LeasedDelivery, status: 'PENDING' | 'SKIPPED', dueAt: string, error: string | null): Finished {
    const at = instant(this.#options.clock.now());
    const none = { http_status: null, duration_ms: 0, excerpt: null };
    return { id, lease, status, attempted: false, at, ended_at: at, due_at: dueAt, error, ...none };
  }

  #skipped(delivery: LeasedDelivery, reason: string): Finished {
    return this.#unsent(delivery, 'SKIPPED', instant(this.#options.clock.now()), reason);
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
}

function durationOf(outcome: Outcome): number {
  return outcome.kind === 'refused' ? 0 : outcome.durationMs;
}
