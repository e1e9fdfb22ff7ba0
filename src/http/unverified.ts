/**
 * Admission of requests whose sender is not verified: open operations (sign-in and its pages), and lookups of credentials that
 * this process has not yet seen as valid. They are limited per source, so that one unauthenticated client cannot use up the
 * capacity of verified callers or of other clients.
 *
 * A source is the device that the request proves to come from, else the client address. For IPv6 it is the /64 network, which
 * usually belongs to one client.
 */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { FairQueue } from '../lib/fair-queue.ts';
import { Fault } from '../lib/fault.ts';
import { SharedBudget } from '../lib/shared-budget.ts';
import type { Sender } from '../platform/unit-of-work/binding.ts';
import { overloaded } from './admission.ts';
import { cookie } from './headers.ts';
import { MemoryRateLimiter } from './rate.ts';

/** Maximum body of an open operation, in bytes. */
export const MAX_OPEN_BODY = 16_384;

/** Open requests in flight, over all sources. */
const IN_FLIGHT = 64;
/** Open requests and lookups of unknown credentials per source and minute. */
const PER_MINUTE = 600;
/** Database connections that lookups of unknown credentials may use at once; the pool has 20. */
const LOOKUPS_RUNNING = 4;
const LOOKUPS_WAITING = 128;

export interface OpenLimits {
  inFlight?: number;
  perMinute?: number;
}

/** The cookie that identifies the device of a request. */
export interface DeviceCookie {
  cookie: string;
  /** The id of the device; undefined for a value that this service did not issue. */
  read(value: string | undefined): string | undefined;
}

export class OpenAdmission {
  readonly #places: SharedBudget;
  readonly #rate: MemoryRateLimiter;
  readonly #lookUps = new FairQueue({ running: LOOKUPS_RUNNING, places: LOOKUPS_WAITING });

  constructor(limits: OpenLimits = {}) {
    this.#places = new SharedBudget(limits.inFlight ?? IN_FLIGHT);
    this.#rate = new MemoryRateLimiter(limits.perMinute ?? PER_MINUTE);
  }

  get inFlight(): number {
    return this.#places.held;
  }

  /**
   * Admits one request of the source.
   *
   * @returns a function to call after the request was answered
   * @throws Fault RATE_LIMITED, OVERLOADED
   */
  enter(source: string): () => void {
    this.#count(source);
    if (!this.#places.take(source, 1)) throw overloaded();
    let inside = true;
    return () => {
      if (inside) this.#places.release(source, 1);
      inside = false;
    };
  }

  /** Runs the lookup of a credential that is not known to be valid. @throws Fault RATE_LIMITED, OVERLOADED */
  lookUp<T>(source: string, work: () => Promise<T>): Promise<T> {
    this.#count(source);
    const result = this.#lookUps.run(source, work);
    if (result === undefined) throw overloaded();
    return result;
  }

  #count(source: string): void {
    const { allowed, retryAfter } = this.#rate.take(source, performance.now());
    if (allowed) return;
    throw new Fault('RATE_LIMITED', `Too many requests from this address. Retry in ${retryAfter} s.`, [], {
      headers: { 'Retry-After': String(retryAfter) },
    });
  }
}

/** The address; for IPv6 its /64 network. */
export function sourceOf(ip: string): string {
  if (!ip.includes(':') || !ipaddr.IPv6.isValid(ip)) return ip;
  const network = ipaddr.IPv6.parse(ip).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}

/** Returns a function that reads the sender of a request. @param device reads the device id from its cookie */
export function senderReader(device: DeviceCookie | undefined): (request: IncomingMessage, ip: string) => Sender {
  return (request, ip) => ({
    address: sourceOf(ip),
    device: device?.read(cookie(request, device.cookie)),
  });
}

/** The key under which a request is counted. */
export function sourceName({ address, device }: Sender): string {
  return device === undefined ? address : `device ${device}`;
}
