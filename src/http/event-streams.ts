/**
 * Connections of server-sent events: limits, headers, comment lines that keep the connection alive, and the end. What is sent is
 * up to the operation (`EventStream`). Also requests that wait for something to happen (`DelayedReply`).
 */
import { Fault } from '../lib/fault.ts';
import type { DelayedReply, EventSink, EventStream } from '../platform/unit-of-work/binding.ts';
import type { Caller } from '../platform/unit-of-work/context.ts';
import { toFault } from '../platform/database/sqlstate.ts';
import { overloaded } from './admission.ts';
import type { RequestContext } from './request-context.ts';

export interface EventStreamLimits {
  /** Streams of one caller in this process. Default 8. */
  perCaller?: number;
  /** Waiting requests of one caller in this process. Default 64. */
  waitingPerCaller?: number;
  /** Streams and waiting requests of all callers in this process. Default 2000. */
  inAll?: number;
  /** Milliseconds between two comment lines. Default 15,000. */
  heartbeatMs?: number;
  /** A stream ends after this time or up to a quarter more; browsers then open a new one, whose caller is verified again. Default 30 min. */
  longestMs?: number;
}

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Tells nginx to pass each event on at once.
  'X-Accel-Buffering': 'no',
  Connection: 'close',
};
/** Milliseconds after which browsers open a new stream. */
const RETRY_MS = 3000;

/** Makes the id from which a client goes on; undefined if the stream has none. */
interface Mark {
  id: (() => string) | undefined;
}

interface Open {
  end(): void;
  beat(): void;
}

export class EventStreams {
  readonly #limits: Required<EventStreamLimits>;
  readonly #open = new Set<Open>();
  readonly #waiting = new Set<AbortController>();
  readonly #byCaller = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #stopped = false;
  /** Streams that were started, so that those of one moment do not end together. */
  #started = 0;
  /** Number of events sent, and of streams refused because of a limit. */
  readonly counts = { sent: 0, refused: 0 };

  constructor(limits: EventStreamLimits = {}) {
    const { perCaller = 8, waitingPerCaller = 64, inAll = 2000, heartbeatMs = 15_000, longestMs = 1_800_000 } = limits;
    this.#limits = { perCaller, waitingPerCaller, inAll, heartbeatMs, longestMs };
    this.#timer = setInterval(() => {
      for (const one of this.#open) one.beat();
    }, heartbeatMs);
    this.#timer.unref();
  }

  get open(): number {
    return this.#open.size;
  }

  /**
   * Answers the request with the stream.
   *
   * @param caller verifies the caller again
   * @throws Fault RATE_LIMITED if the caller has too many streams, OVERLOADED if there are too many or the service stops
   */
  start(context: RequestContext, stream: EventStream, caller: () => Promise<Caller>): void {
    const owner = `stream ${context.callerId ?? ''}`;
    this.#admit(owner, this.#limits.perCaller);
    if (context.request.method === 'HEAD') {
      context.sendText(200, undefined, '', HEADERS);
      return;
    }
    this.#count(owner, 1);
    context.begin(200, HEADERS);
    const { response } = context;
    // Comment lines show that the connection is alive; without them it would be idle for longer than others may be.
    context.request.socket.setTimeout(0);
    response.write(`retry: ${RETRY_MS}\n\n`);
    const end = (): void => {
      response.end();
    };
    const lifetime = setTimeout(end, this.#limits.longestMs * (1 + (this.#started++ % 16) / 64));
    lifetime.unref();
    const mark: Mark = { id: undefined };
    const one: Open = { end, beat: heartbeat(response, mark) };
    this.#open.add(one);
    const close = stream.open(this.#sink(response, caller, end, mark));
    context.whenClosed(() => {
      clearTimeout(lifetime);
      this.#open.delete(one);
      this.#count(owner, -1);
      close();
    });
  }

  /**
   * Answers the request when the reply is made.
   *
   * @param caller verifies the caller again
   * @param send sends the data of the response
   * @throws Fault RATE_LIMITED if the caller has too many waiting requests, OVERLOADED if there are too many or the service stops
   */
  wait(
    context: RequestContext,
    reply: DelayedReply,
    caller: () => Promise<Caller>,
    send: (data: unknown) => Promise<void> | undefined,
  ): void {
    const owner = `wait ${context.callerId ?? ''}`;
    this.#admit(owner, this.#limits.waitingPerCaller);
    this.#count(owner, 1);
    const controller = new AbortController();
    this.#waiting.add(controller);
    context.whenClosed(() => controller.abort());
    reply
      .make({ caller, signal: controller.signal })
      .then(send)
      .catch((error: unknown) => context.sendError(toFault(error)))
      .finally(() => {
        this.#waiting.delete(controller);
        this.#count(owner, -1);
      });
  }

  #admit(owner: string, most: number): void {
    if (this.#stopped || this.#open.size + this.#waiting.size >= this.#limits.inAll) {
      this.counts.refused++;
      throw overloaded('The service has too many open event streams. Retry after the time in Retry-After.');
    }
    const held = this.#byCaller.get(owner) ?? 0;
    if (held < most) return;
    this.counts.refused++;
    const message = `You have ${held} open event streams or waiting requests. Close one of them before you open another one.`;
    throw new Fault('RATE_LIMITED', message, [], { headers: { 'Retry-After': '15' } });
  }

  #count(owner: string, change: number): void {
    const held = (this.#byCaller.get(owner) ?? 0) + change;
    if (held > 0) this.#byCaller.set(owner, held);
    else this.#byCaller.delete(owner);
  }

  #sink(response: RequestContext['response'], caller: () => Promise<Caller>, end: () => void, mark: Mark): EventSink {
    return {
      caller,
      send: ({ event, data, id }) => {
        if (response.writableEnded || response.destroyed) return;
        this.counts.sent++;
        if (id !== undefined) mark.id = () => id;
        const lines = data.split('\n').map((line) => `data: ${line}\n`);
        response.write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\n${lines.join('')}\n`);
      },
      mark: (id) => {
        if (mark.id === undefined && !response.writableEnded && !response.destroyed) response.write(`id: ${id()}\n\n`);
        mark.id = id;
      },
      drained: async () => {
        if (!response.writableNeedDrain || response.destroyed) return;
        const drained = Promise.withResolvers<void>();
        response.once('drain', drained.resolve).once('close', drained.resolve);
        await drained.promise;
        response.off('drain', drained.resolve).off('close', drained.resolve);
      },
      end,
    };
  }

  /** Ends all streams and admits no further ones. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
    for (const one of this.#open) one.end();
    for (const one of this.#waiting) one.abort();
  }
}

/** Writes a comment line, and the id to go on from if the stream has one. A client that has not read what was sent before the last one is disconnected. */
function heartbeat(response: RequestContext['response'], mark: Mark): () => void {
  let isUnread = false;
  response.on('drain', () => {
    isUnread = false;
  });
  return () => {
    if (response.writableEnded) {
      // The end was not read since the last time.
      response.destroy();
      return;
    }
    if (response.writableLength > 0 && isUnread) {
      response.destroy();
      return;
    }
    isUnread = response.writableLength > 0;
    response.write(mark.id === undefined ? ':\n\n' : `:\nid: ${mark.id()}\n\n`);
  };
}
