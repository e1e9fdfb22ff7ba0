/**
 * Refuses work before it makes everybody slow (decisions, "Other"), and divides what can be done among callers.
 *
 * So many requests run at once as the database has use for; the others wait, each caller in a queue of their own, and whoever
 * has the least running is next. Who would have to wait too long is refused on arrival, before their body is read: 1 s while a
 * burst is worked off, 250 ms once there has been a queue for a second. So a flood of one key fills that key's queue and
 * nobody else's. Past a number of requests in flight everything is refused; when the event loop has been late for a while, what is
 * more than the caller's equal share of what can run. To refuse takes time too, and must not keep from work what could be done.
 */
import { Fault } from '../lib/fault.ts';

const SAMPLE_MS = 100;
const LATE_MS = 250;
/** One long step of work is no overload; this many late samples in a row are. */
const LATE_SAMPLES = 3;
/** A queue that stands for longer is no burst any more. */
const BURST_MS = 1000;
const BURST_WAIT_MS = 1000;
const STANDING_WAIT_MS = 250;
/** What runs for longer (exports, imports) is no measure of how much can run at once. */
const LONG_MS = 1000;
/** How much of what is known of the pace gives way to the newest observation. */
const PACE_WEIGHT = 0.1;

export interface GateOptions {
  /** Requests in flight, waiting ones included. */
  most: number;
  /** Requests that run at once, long ones apart; as many as in flight unless given. */
  running?: number;
  sampleMs?: number;
  lateMs?: number;
}

export function overloaded(message = 'The service has more work than it can do now; retry after Retry-After.'): Fault {
  return new Fault('OVERLOADED', message, [], { headers: { 'Retry-After': '1' } });
}

interface Waiting {
  visit: Visit;
  since: number;
  let: PromiseWithResolvers<void>;
}

interface Caller {
  inFlight: number;
  running: number;
  queue: Waiting[];
}

/** One request on its way through the gate; `leave` must follow. */
export class Visit {
  readonly #gate: Gate;
  callerId: string | undefined;
  /** When it began to run. */
  began: number | undefined;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** Counts the request against its caller, and refuses it where it would wait too long. @throws Fault OVERLOADED */
  attribute(callerId: string): void {
    this.callerId = callerId;
    this.#gate.attribute(callerId);
  }

  /** Waits for its turn; undefined when that is now. @throws Fault OVERLOADED after waiting in vain */
  turn(): Promise<void> | undefined {
    return this.#gate.turn(this);
  }

  /** Only waits from now on, and does not count among what runs. */
  rest(): void {
    this.#gate.rest(this);
  }

  leave(): void {
    this.#gate.leave(this);
  }
}

export class Gate {
  readonly #most: number;
  readonly #limit: number;
  readonly #sampleMs: number;
  readonly #lateMs: number;
  readonly #share: number;
  /** What one caller may have running: the rest is there for who comes next. */
  readonly #callerLimit: number;
  readonly #callers = new Map<string, Caller>();
  /** Callers with a queue, longest not served first. */
  readonly #waiting = new Map<string, Caller>();
  /** In the order in which they began; long ones are taken out. */
  readonly #running = new Set<Visit>();
  /** Long ones that do not count among what runs; only so many, or what is slow for want of power would make room for more. */
  readonly #long = new Set<Visit>();
  readonly #mostLong: number;
  readonly #timer: NodeJS.Timeout;
  /** Made once: where it was thrown tells nothing, and to find that out would be most of its cost. */
  readonly #refusal = overloaded();
  readonly #refusalOfCaller = overloaded('You have too many requests running at once; retry after Retry-After.');
  #inFlight = 0;
  #late = 0;
  #expected: number;
  /** Since when somebody waits without a break. */
  #queuedSince: number | undefined;
  #lastTurn = 0;
  /** Milliseconds between two turns while there is a queue. */
  #pace = 0;

  constructor(options: GateOptions) {
    this.#most = options.most;
    this.#limit = options.running ?? options.most;
    this.#sampleMs = options.sampleMs ?? SAMPLE_MS;
    this.#lateMs = options.lateMs ?? LATE_MS;
    this.#share = Math.max(1, Math.floor(this.#most / 4));
    this.#callerLimit = Math.max(1, Math.ceil((this.#limit * 3) / 4));
    this.#mostLong = Math.max(1, Math.floor(this.#limit / 4));
    this.#expected = performance.now() + this.#sampleMs;
    this.#timer = setInterval(() => this.#sample(), this.#sampleMs);
    this.#timer.unref();
  }

  #sample(): void {
    const now = performance.now();
    this.#late = now - this.#expected > this.#lateMs ? this.#late + 1 : 0;
    this.#expected = now + this.#sampleMs;
    for (const visit of this.#running) {
      if (now - (visit.began ?? now) < LONG_MS || this.#long.size >= this.#mostLong) break;
      this.#end(visit);
      this.#long.add(visit);
    }
    this.#next(now);
    for (const [callerId, caller] of this.#waiting) {
      while ((caller.queue[0]?.since ?? now) < now - BURST_WAIT_MS) {
        caller.queue.shift()?.let.reject(this.#refusal);
      }
      if (caller.queue.length === 0) this.#waiting.delete(callerId);
    }
    if (this.#waiting.size === 0) this.#queuedSince = undefined;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** @throws Fault OVERLOADED */
  enter(): Visit {
    if (this.#inFlight >= this.#most) throw this.#refusal;
    this.#inFlight++;
    return new Visit(this);
  }

  /** `Visit.attribute`. */
  attribute(callerId: string): void {
    let caller = this.#callers.get(callerId);
    if (caller === undefined) {
      caller = { inFlight: 0, running: 0, queue: [] };
      this.#callers.set(callerId, caller);
    }
    caller.inFlight++;
    if (this.#inFlight * 2 > this.#most && caller.inFlight > this.#share) {
      throw this.#refusalOfCaller;
    }
    // While the loop is late, nobody has more in flight than an equal share of what can run.
    const share = Math.max(1, Math.floor(this.#limit / this.#callers.size));
    if (this.#late >= LATE_SAMPLES && caller.inFlight > share) throw this.#refusal;
    if (this.#queuedSince === undefined) return;
    const now = performance.now();
    const allowed = now - this.#queuedSince > BURST_MS ? STANDING_WAIT_MS : BURST_WAIT_MS;
    if (this.#wait(caller, now) > allowed) throw this.#refusal;
  }

  /**
   * How long the caller's next request would wait: turns go round. Where nothing has gone on for a while, that counts too, but
   * only for who has a queue: a step of work that took long must not turn away everybody who came meanwhile.
   */
  #wait(caller: Caller, now: number): number {
    const queued = caller.queue.length;
    if (queued === 0) return this.#mayRun(caller) ? 0 : (this.#waiting.size + 1) * this.#pace;
    return (queued + 1) * this.#waiting.size * this.#pace + now - this.#lastTurn;
  }

  #mayRun(caller: Caller): boolean {
    return this.#running.size < this.#limit && caller.running < this.#callerLimit;
  }

  /** `Visit.turn`. A request whose caller is not known runs at once. */
  turn(visit: Visit): Promise<void> | undefined {
    const caller = visit.callerId === undefined ? undefined : this.#callers.get(visit.callerId);
    const now = performance.now();
    if (caller === undefined || (caller.queue.length === 0 && this.#mayRun(caller))) {
      this.#begin(visit, caller, now);
      return undefined;
    }
    const waiting: Waiting = { visit, since: now, let: Promise.withResolvers<void>() };
    caller.queue.push(waiting);
    this.#waiting.set(visit.callerId ?? '', caller);
    if (this.#queuedSince === undefined) {
      this.#queuedSince = now;
      this.#lastTurn = now;
    }
    return waiting.let.promise;
  }

  #begin(visit: Visit, caller: Caller | undefined, now: number): void {
    visit.began = now;
    this.#running.add(visit);
    if (caller !== undefined) caller.running++;
  }

  #end(visit: Visit): void {
    if (!this.#running.delete(visit)) return;
    const caller = visit.callerId === undefined ? undefined : this.#callers.get(visit.callerId);
    if (caller !== undefined) caller.running--;
  }

  /** Gives turns as long as there are any: to the caller who has the least running, of equals to the longest not served. */
  #next(now: number): void {
    while (this.#waiting.size > 0) {
      let next: [string, Caller] | undefined;
      for (const entry of this.#waiting) {
        if (this.#mayRun(entry[1]) && (next === undefined || entry[1].running < next[1].running)) next = entry;
      }
      if (next === undefined) return;
      const [callerId, caller] = next;
      const waiting = caller.queue.shift();
      this.#waiting.delete(callerId);
      if (caller.queue.length > 0) this.#waiting.set(callerId, caller);
      if (waiting === undefined) continue;
      this.#pace += (now - this.#lastTurn - this.#pace) * PACE_WEIGHT;
      this.#lastTurn = now;
      this.#begin(waiting.visit, caller, now);
      waiting.let.resolve();
    }
    this.#queuedSince = undefined;
  }

  /** `Visit.rest`. */
  rest(visit: Visit): void {
    this.#end(visit);
    if (this.#waiting.size > 0) this.#next(performance.now());
  }

  /** `Visit.leave`. */
  leave(visit: Visit): void {
    this.#inFlight--;
    this.#long.delete(visit);
    this.#end(visit);
    const { callerId } = visit;
    const caller = callerId === undefined ? undefined : this.#callers.get(callerId);
    if (callerId !== undefined && caller !== undefined && --caller.inFlight === 0) this.#callers.delete(callerId);
    if (this.#waiting.size > 0) this.#next(performance.now());
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
