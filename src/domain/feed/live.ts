/** Readers that wait for events: long polls and streams. An idle one costs memory and no statement. */
import { setTimeout as sleep } from 'node:timers/promises';
import { FairQueue } from '../../lib/fair-queue.ts';
import type { PlaceWatch } from '../../platform/journal/place-watch.ts';
import { EventStream, DelayedReply, type RequestFacts, type Runner } from '../../platform/unit-of-work/binding.ts';
import type { Caller } from '../../platform/unit-of-work/context.ts';
import { type FeedQuery, type FeedRead, readFeed } from './queries.ts';

/** Readers of a process that read at the same time. */
const AT_ONCE = 4;
const MAX_READERS = 4000;
const RETRY_MS = 1000;

/** Who reads what, and from where on. */
interface Reader {
  work: Runner['work'];
  query: FeedQuery;
  facts: Pick<RequestFacts, 'scopes'>;
  /** Who shares the slots with others: a key or a user. */
  owner: string;
}

/** Remembers signals between two looks of a reader. */
class Signals {
  hasPlaces = false;
  #wake = Promise.withResolvers<void>();

  signal(hasPlaces: boolean): void {
    this.hasPlaces ||= hasPlaces;
    this.#wake.resolve();
  }

  /** Resolves at the next signal, or at once if there was one since the last call. */
  async next(): Promise<void> {
    await this.#wake.promise;
    this.#wake = Promise.withResolvers();
  }
}

export class LiveFeed {
  readonly #watch: PlaceWatch;
  readonly #queue = new FairQueue({ running: AT_ONCE, places: MAX_READERS });

  constructor(watch: PlaceWatch) {
    this.#watch = watch;
  }

  /** @param caller verifies the caller after the wait for a slot, because rights can change meanwhile */
  async #read({ work, query, facts, owner }: Reader, caller: () => Promise<Caller>): Promise<FeedRead | undefined> {
    return await this.#queue.run(owner, async () => work.read(await caller(), (ctx) => readFeed(ctx, query, facts)));
  }

  /** Answers when there is an event that the caller may see, or after `ms` milliseconds. */
  poll(reader: Reader, first: FeedRead, ms: number): DelayedReply {
    return new DelayedReply(async ({ caller, signal }) => {
      const signals = new Signals();
      let isOver = false;
      const end = (): void => {
        isOver = true;
        signals.signal(false);
      };
      const unlisten = this.#watch.listen((hasPlaces) => signals.signal(hasPlaces));
      const timer = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      let read = first;
      // Events may have come between the first reading and the listening.
      signals.hasPlaces = true;
      try {
        while (read.page.events.length === 0 && !isOver && !signal.aborted) {
          if (read.isAtEnd && !signals.hasPlaces) {
            await signals.next();
            continue;
          }
          signals.hasPlaces = false;
          const next = await this.#read({ ...reader, query: { ...reader.query, after: read.page.next } }, caller);
          if (next === undefined) break;
          read = next;
        }
        return read.page;
      } finally {
        unlisten();
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
      }
    });
  }

  /** Sends events as they come. Ends when the key or session has ended. */
  stream(reader: Reader, first: FeedRead): EventStream {
    return new EventStream((sink) => {
      const signals = new Signals();
      let isOpen = true;
      const follow = async (): Promise<void> => {
        let { page, isAtEnd, mark } = first;
        signals.hasPlaces = true;
        while (isOpen) {
          for (const event of page.events) {
            sink.send({ id: event.cursor, event: event.eventType, data: JSON.stringify(event) });
            await sink.drained();
            if (!isOpen) return;
          }
          sink.mark(mark);
          while (isAtEnd && !signals.hasPlaces && isOpen) {
            await signals.next();
            // A signal without new places can mean that the key was revoked.
            if (isOpen) await sink.caller();
          }
          if (!isOpen) return;
          signals.hasPlaces = false;
          const asked = { ...reader, query: { ...reader.query, after: page.next } };
          const read = await this.#read(asked, () => sink.caller());
          // The queue is full: the same page is requested again after a pause.
          if (read === undefined) await sleep(RETRY_MS);
          signals.hasPlaces ||= read === undefined;
          ({ page, isAtEnd, mark } = read ?? { page: { ...page, events: [] }, isAtEnd, mark });
        }
      };
      const unlisten = this.#watch.listen((hasPlaces) => signals.signal(hasPlaces));
      // The client opens a new stream after its last event, and gets the error as the answer.
      follow().catch(() => sink.end());
      return () => {
        isOpen = false;
        signals.signal(false);
        unlisten();
      };
    });
  }
}
