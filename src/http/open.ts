/**
 * Admission of requests whose sender is not verified: open operations (sign-in and its pages), and look-ups of credentials that
 * this process has never seen valid. They are counted by source, so that a stranger can use up neither what verified callers
 * need nor what other strangers need.
 *
 * A source is the device that the request proves to come from, else the client's address (of IPv6 the /64 network, which one
 * client has to itself).
 */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { FairQueue } from '../lib/fair-queue.ts';
import { Fault } from '../lib/fault.ts';
import { SharedBudget } from '../lib/shared-budget.ts';
import type { Sender } from '../mechanisms/binding.ts';
import { overloaded } from './gate.ts';
import { cookie } from './headers.ts';
import { MemoryRateLimiter } from './rate.ts';

/** Largest body of an open operation. */
export const MOST_OPEN_BODY = 16_384;

/** Open requests in flight, over all sources. */
const IN_FLIGHT = 64;
/** Open requests, and look-ups of unknown credentials, that one source may make in a minute. */
const PER_MINUTE = 600;
/** Database connections that look-ups of unknown credentials may use at once; a pool has 20. */
const LOOKUPS_RUNNING = 4;
const LOOKUPS_WAITING = 128;

export interface OpenLimits {
  inFlight?: number;
  perMinute?: number;
}

/** The cookie that says which device a request comes from. */
export interface DeviceCookie {
  cookie: string;
  /** The id of the device; undefined for a value that this service did not make. */
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
   * @returns a function to call when it has been answered
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

  /** Runs the look-up of a credential that is not known to be valid. @throws Fault RATE_LIMITED, OVERLOADED */
  lookUp<T>(source: string, work: () => Promise<T>): Promise<T> {
    this.#count(source);
    const result = this.#lookUps.run(source, work);
    if (result === undefined) throw overloaded();
    return result;
  }

  #count(source: string): void {
    const { allowed, retryAfter } = this.#rate.take(source, performance.now());
    if (allowed) return;
    throw new Fault('RATE_LIMITED', `Too many requests from this address; retry in ${retryAfter} s.`, [], {
      headers: { 'Retry-After': String(retryAfter) },
    });
  }
}

/** The address, of IPv6 the network. */
export function sourceOf(ip: string): string {
  if (!ip.includes(':') || !ipaddr.IPv6.isValid(ip)) return ip;
  const network = ipaddr.IPv6.parse(ip).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}

/** Reads from where requests come. @param device how the id of a device is read from its cookie */
export function senderReader(device: DeviceCookie | undefined): (request: IncomingMessage, ip: string) => Sender {
  return (request, ip) => ({
    address: sourceOf(ip),
    device: device?.read(cookie(request, device.cookie)),
  });
}

/** What a request is counted under. */
export function sourceName({ address, device }: Sender): string {
  return device === undefined ? address : `device ${device}`;
}
