/**
 * Admission control (docs/spec/conventions.md#health): rejects excess load early and shares capacity among callers.
 *
 * The number of running requests is limited to what the database can use. Other requests wait in one queue per caller. The
 * caller with the fewest running requests is served next. A request that would wait too long is rejected on arrival, before its
 * body is read. The limit is 1 s during a burst and 250 ms once a queue has existed for a second. So a flood from one key fills
 * only that key's queue. While only one caller waits, its queue delays nobody else, and the limit is 5 s: rejecting would cost
 * more than it saves. Above the maximum of requests in flight, all requests are rejected. While the event loop is late,
 * requests above the caller's equal share of the running limit are rejected. Rejecting must stay cheap.
 */
import { Fault } from '../lib/fault.ts';

const SAMPLE_MS = 100;
const LATE_MS = 250;
/** One long synchronous step is no overload; this many late samples in a row are. */
const LATE_SAMPLES = 3;
/** A queue older than this is no longer a burst. */
const BURST_MS = 1000;
const BURST_WAIT_MS = 1000;
const STANDING_WAIT_MS = 250;
/** Limit for a caller while no other caller waits. */
const ALONE_WAIT_MS = 5000;
/** Requests that run longer (exports, imports) do not count towards the running limit. */
const LONG_MS = 1000;
/** Weight of the newest observation in the moving average of the pace. */
const PACE_WEIGHT = 0.1;

export interface AdmissionOptions {
  /** Maximum number of requests in flight, including waiting ones. */
  most: number;
  /** Maximum number of requests that run at once, not counting long ones. Default: `most`. */
  running?: number;
  sampleMs?: number;
  lateMs?: number;
}

export function overloaded(message = 'The service is overloaded. Retry after the time in Retry-After.'): Fault {
  return new Fault('OVERLOADED', message, [], { headers: { 'Retry-After': '1' } });
}

interface Waiting {
  admission: Admission;
  since: number;
  let: PromiseWithResolvers<void>;
}

interface Caller {
  inFlight: number;
  running: number;
  queue: Waiting[];
}

/** One admitted request. `leave` must be called when it ends. */
export class Admission {
  readonly #control: AdmissionControl;
  callerId: string | undefined;
  /** Start time of its run. */
  began: number | undefined;

  constructor(admissionControl: AdmissionControl) {
    this.#control = admissionControl;
  }

  /** Counts the request against its caller; rejects it if it would wait too long. @throws Fault OVERLOADED */
  attribute(callerId: string): void {
    this.callerId = callerId;
    this.#control.attribute(callerId);
  }

  /** Waits until the request may run; undefined if it may run now. @throws Fault OVERLOADED if it waited too long */
  turn(): Promise<void> | undefined {
    return this.#control.turn(this);
  }

  /** Marks the request as only waiting from now on; it no longer counts as running. */
  rest(): void {
    this.#control.rest(this);
  }

  leave(): void {
    this.#control.leave(this);
  }
}

export class AdmissionControl {
  readonly #most: number;
  readonly #limit: number;
  readonly #sampleMs: number;
  readonly #lateMs: number;
  readonly #share: number;
  /** Maximum number of running requests of one caller. The rest is reserved for other callers. */
  readonly #callerLimit: number;
  readonly #callers = new Map<string, Caller>();
  /** Callers with a queue, least recently served first. */
  readonly #waiting = new Map<string, Caller>();
  /** In order of start. Long requests are removed. */
  readonly #running = new Set<Admission>();
  /**
   * Long requests that do not count as running. Their number is limited: otherwise requests that are slow because of overload
   * would admit even more.
   */
  readonly #long = new Set<Admission>();
  readonly #mostLong: number;
  readonly #timer: NodeJS.Timeout;
  /** Created once: the stack is useless, and capturing it would be most of the cost of a rejection. */
  readonly #refusal = overloaded();
  readonly #refusalOfCaller = overloaded('You have too many concurrent requests. Retry after the time in Retry-After.');
  #inFlight = 0;
  #late = 0;
  #expected: number;
  /** Time since which the queue has never been empty. */
  #queuedSince: number | undefined;
  #lastTurn = 0;
  /** Average milliseconds between two admissions from the queue. */
  #pace = 0;

  constructor(options: AdmissionOptions) {
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
    for (const admission of this.#running) {
      if (now - (admission.began ?? now) < LONG_MS || this.#long.size >= this.#mostLong) break;
      this.#end(admission);
      this.#long.add(admission);
    }
    this.#next(now);
    for (const [callerId, caller] of this.#waiting) {
      while ((caller.queue[0]?.since ?? now) < now - ALONE_WAIT_MS) {
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
  enter(): Admission {
    if (this.#inFlight >= this.#most) throw this.#refusal;
    this.#inFlight++;
    return new Admission(this);
  }

  /** `Admission.attribute`. */
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
    // While the event loop is late, each caller may have in flight only an equal share of the running limit.
    const share = Math.max(1, Math.floor(this.#limit / this.#callers.size));
    if (this.#late >= LATE_SAMPLES && caller.inFlight > share) throw this.#refusal;
    if (this.#queuedSince === undefined) return;
    const now = performance.now();
    if (this.#wait(caller, now) > this.#allowedWait(caller, now - this.#queuedSince)) throw this.#refusal;
  }

  #allowedWait(caller: Caller, queuedMs: number): number {
    const others = this.#waiting.size - (caller.queue.length > 0 ? 1 : 0);
    if (others === 0) return ALONE_WAIT_MS;
    return queuedMs > BURST_MS ? STANDING_WAIT_MS : BURST_WAIT_MS;
  }

  /**
   * Estimated wait of the caller's next request, with round-robin among callers. Time without any admission is added only for
   * callers that have a queue. Otherwise one long step would reject all requests that arrived during it.
   */
  #wait(caller: Caller, now: number): number {
    const queued = caller.queue.length;
    if (queued === 0) return this.#mayRun(caller) ? 0 : (this.#waiting.size + 1) * this.#pace;
    return (queued + 1) * this.#waiting.size * this.#pace + now - this.#lastTurn;
  }

  #mayRun(caller: Caller): boolean {
    return this.#running.size < this.#limit && caller.running < this.#callerLimit;
  }

  /** `Admission.turn`. A request without a known caller runs immediately. */
  turn(admission: Admission): Promise<void> | undefined {
    const caller = admission.callerId === undefined ? undefined : this.#callers.get(admission.callerId);
    const now = performance.now();
    if (caller === undefined || (caller.queue.length === 0 && this.#mayRun(caller))) {
      this.#begin(admission, caller, now);
      return undefined;
    }
    const waiting: Waiting = { admission, since: now, let: Promise.withResolvers<void>() };
    caller.queue.push(waiting);
    this.#waiting.set(admission.callerId ?? '', caller);
    if (this.#queuedSince === undefined) {
      this.#queuedSince = now;
      this.#lastTurn = now;
    }
    return waiting.let.promise;
  }

  #begin(admission: Admission, caller: Caller | undefined, now: number): void {
    admission.began = now;
    this.#running.add(admission);
    if (caller !== undefined) caller.running++;
  }

  #end(admission: Admission): void {
    if (!this.#running.delete(admission)) return;
    const caller = admission.callerId === undefined ? undefined : this.#callers.get(admission.callerId);
    if (caller !== undefined) caller.running--;
  }

  /**
   * Admits waiting requests while there is capacity. The caller with the fewest running requests is first; among equals, the
   * least recently served.
   */
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
      this.#begin(waiting.admission, caller, now);
      waiting.let.resolve();
    }
    this.#queuedSince = undefined;
  }

  /** `Admission.rest`. */
  rest(admission: Admission): void {
    this.#end(admission);
    if (this.#waiting.size > 0) this.#next(performance.now());
  }

  /** `Admission.leave`. */
  leave(admission: Admission): void {
    this.#inFlight--;
    this.#long.delete(admission);
    this.#end(admission);
    const { callerId } = admission;
    const caller = callerId === undefined ? undefined : this.#callers.get(callerId);
    if (callerId !== undefined && caller !== undefined && --caller.inFlight === 0) this.#callers.delete(callerId);
    if (this.#waiting.size > 0) this.#next(performance.now());
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
