/**
 * Sends each caller the counts of their built-in queues, when they differ from those sent last. A change that does not affect
 * the caller's own counts sends nothing, so the stream tells nothing about records that the caller may not read.
 *
 * One computation runs at a time in a process. A stream that is due waits for its turn. The interval between two computations of
 * a stream grows with their cost, and after each computation the process pauses. Without changes, nothing is computed.
 */
import { isFault } from '../../lib/fault.ts';
import { type EventSink, EventStream, type Runner } from '../../platform/unit-of-work/binding.ts';
import type { Changes } from '../../platform/unit-of-work/changes.ts';

import { listBuiltInQueues } from './built-in.ts';

const LEAST_MS = 1000;
const MAX_MS = 30_000;
/** The interval of a stream is at least this many times the time of its last computation. */
const INTERVAL_COST = 20;
/** The pause of the process is this many times the time of the computation. */
const PAUSE_COST = 2;
const RETRY_MS = 5000;

interface Stream {
  sink: EventSink;
  /** The text sent last. */
  sent: string | undefined;
  /** Whether something changed since the last computation began. */
  isStale: boolean;
  /** Not computed before this time, in milliseconds of the process's clock. */
  notBefore: number;
}

export class LiveCounts {
  readonly #streams = new Set<Stream>();
  readonly #changes: Pick<Changes, 'listen'>;
  #unlisten: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isComputing = false;
  #pausedUntil = 0;

  constructor(changes: Pick<Changes, 'listen'>) {
    this.#changes = changes;
  }

  /** The stream of one client. Its first event is sent at once. */
  stream(work: Runner['work']): EventStream {
    return new EventStream((sink) => {
      const stream: Stream = { sink, sent: undefined, isStale: true, notBefore: 0 };
      this.#streams.add(stream);
      this.#unlisten ??= this.#changes.listen(() => {
        for (const one of this.#streams) one.isStale = true;
        this.#schedule(work);
      });
      this.#schedule(work);
      return () => {
        this.#streams.delete(stream);
        if (this.#streams.size > 0) return;
        this.#unlisten?.();
        this.#unlisten = undefined;
        clearTimeout(this.#timer);
        this.#timer = undefined;
      };
    });
  }

  /** The stale stream that may be computed first. */
  #next(): Stream | undefined {
    let next: Stream | undefined;
    for (const one of this.#streams) {
      if (one.isStale && (next === undefined || one.notBefore < next.notBefore)) next = one;
    }
    return next;
  }

  #schedule(work: Runner['work']): void {
    if (this.#isComputing || this.#timer !== undefined) return;
    const next = this.#next();
    if (next === undefined) return;
    const delay = Math.max(0, Math.max(next.notBefore, this.#pausedUntil) - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const due = this.#next();
      if (due !== undefined) void this.#compute(work, due);
    }, delay);
    this.#timer.unref();
  }

  async #compute(work: Runner['work'], stream: Stream): Promise<void> {
    this.#isComputing = true;
    stream.isStale = false;
    const began = performance.now();
    let least = LEAST_MS;
    try {
      const caller = await stream.sink.caller();
      const text = JSON.stringify(await listBuiltInQueues({ work, caller }));
      if (text !== stream.sent) stream.sink.send({ event: 'queues', data: text });
      stream.sent = text;
    } catch (error) {
      if (isFault(error, 'UNAUTHENTICATED') || isFault(error, 'SCOPE_MISSING')) stream.sink.end();
      // Other errors, for example of a database that restarts, pass.
      stream.isStale = true;
      least = RETRY_MS;
    }
    const ended = performance.now();
    const cost = ended - began;
    stream.notBefore = ended + Math.min(MAX_MS, Math.max(least, cost * INTERVAL_COST));
    this.#pausedUntil = ended + cost * PAUSE_COST;
    this.#isComputing = false;
    this.#schedule(work);
  }
}
