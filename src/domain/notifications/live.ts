/**
 * Sends each connected user the number of their unread notifications whenever it differs from the number sent last. After a
 * change, one statement per second reads which users got notifications. Only their numbers are counted, one user at a time; the
 * user whose number is oldest comes first. Without changes there are no statements, except a recount each minute.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, isFault } from '../../lib/fault.ts';
import { type EventSink, EventStream, type Runner } from '../../platform/unit-of-work/binding.ts';
import type { Changes } from '../../platform/unit-of-work/changes.ts';
import { countNotifications } from './queries.ts';
import { notifiedSince } from './store.ts';

const TICK_MS = 1000;
/** Notifications are made some time after the change, so the process asks for them for this many ticks. */
const TICKS_AFTER_CHANGE = 5;
/** A number can also change by rights, or by reading in another browser. */
const RECOUNT_MS = 60_000;
/** Time limit of a tick, so that new notifications are noticed. The remaining users wait for the next tick. */
const TICK_COST_MS = 500;
/** The pause after a tick is this many times its duration. */
const PAUSE_COST = 2;

type Reading = Pick<Runner, 'work' | 'caller'>;

interface Stream {
  sink: EventSink;
  userId: string;
  /** The text sent last. */
  sent: string | undefined;
  isStale: boolean;
  /** Time of the last computation, in milliseconds of the process's clock. */
  computedAt: number;
}

export class LiveNotifications {
  readonly #changes: Pick<Changes, 'listen'>;
  readonly #streams = new Set<Stream>();
  #isRunning = false;
  #ticksLeft = 0;
  /** The last place whose notifications were asked for. */
  #place: number | null = null;

  constructor(changes: Pick<Changes, 'listen'>) {
    this.#changes = changes;
  }

  /** The stream of one client. Its first event is sent at once. @throws Fault NOT_FOUND for the system user */
  stream(reading: Reading): EventStream {
    const { userId } = reading.caller.actor;
    if (userId === null) throw new Fault('NOT_FOUND', 'The system user has no notifications.');
    return new EventStream((sink) => {
      const stream: Stream = { sink, userId, sent: undefined, isStale: true, computedAt: Number.NEGATIVE_INFINITY };
      this.#streams.add(stream);
      void this.#run(reading);
      return () => this.#streams.delete(stream);
    });
  }

  /** Ticks until there are no streams. */
  async #run(reading: Reading): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const unlisten = this.#changes.listen(() => {
      this.#ticksLeft = TICKS_AFTER_CHANGE;
    });
    this.#ticksLeft = TICKS_AFTER_CHANGE;
    try {
      while (this.#streams.size > 0) {
        const began = performance.now();
        await this.#tick(reading);
        const cost = performance.now() - began;
        await sleep(Math.max(TICK_MS - cost, cost * PAUSE_COST), undefined, { ref: false });
      }
    } finally {
      this.#isRunning = false;
      unlisten();
    }
  }

  async #tick({ work, caller }: Reading): Promise<void> {
    if (this.#ticksLeft > 0) {
      this.#ticksLeft--;
      try {
        // The rights of the context do not matter, because the ids are not shown.
        const { place, users } = await work.read(caller, (ctx) => notifiedSince(ctx, this.#place));
        this.#place = place;
        const notified = new Set(users);
        for (const stream of this.#streams) stream.isStale ||= notified.has(stream.userId);
      } catch {
        // For example, the database restarts: the next tick asks again.
        this.#ticksLeft = TICKS_AFTER_CHANGE;
      }
    }
    const began = performance.now();
    const due = [...this.#streams]
      .filter(({ isStale, computedAt }) => isStale || computedAt < began - RECOUNT_MS)
      .sort((a, b) => Number(b.isStale) - Number(a.isStale) || a.computedAt - b.computedAt);
    for (const stream of due) {
      if (performance.now() > began + TICK_COST_MS) break;
      await this.#compute(work, stream);
    }
  }

  async #compute(work: Reading['work'], stream: Stream): Promise<void> {
    stream.isStale = false;
    stream.computedAt = performance.now();
    try {
      const text = JSON.stringify(await work.read(await stream.sink.caller(), countNotifications));
      // Notifications that the caller may not see do not change the number, so nothing is sent.
      if (text !== stream.sent) stream.sink.send({ event: 'unread', data: text });
      stream.sent = text;
    } catch (error) {
      if (isFault(error, 'UNAUTHENTICATED') || isFault(error, 'SCOPE_MISSING')) stream.sink.end();
      // Other errors, for example of a database that restarts, pass.
      stream.isStale = true;
    }
  }
}
