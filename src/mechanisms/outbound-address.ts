/**
 * Which addresses calls to the outside may reach, and the way from a host name to a socket on an address that was judged
 * (reliability, 3.7). There is no second look-up between judging and connecting: the socket is opened to the very address.
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP } from 'node:net';
import tls from 'node:tls';
import ipaddr from 'ipaddr.js';

/** An address that calls may not reach stands behind the name. */
export class AddressRefused extends Error {
  constructor() {
    super('The host is, or resolves to, an address that is not public.');
    this.name = 'AddressRefused';
  }
}

/** All addresses of a name, in the order in which they are to be tried. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

// Global unicast; everything that is assigned lies here.
const IPV6_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
// A public number, and yet the machine's own cloud answers there.
const HOST_SERVICES: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Whether an address in any notation is public; what is no address is not. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast' || HOST_SERVICES.has(address.toString())) return false;
  return address instanceof ipaddr.IPv4 || address.match(IPV6_UNICAST);
}

export function resolveBySystem(hostname: string): Promise<readonly string[]> {
  return new Promise((done, fail) => {
    systemLookup(hostname, { all: true, order: 'ipv4first' }, (error: Error | null, found: LookupAddress[]) => {
      if (error === null) done(found.map(({ address }) => address));
      else fail(error);
    });
  });
}

/** The host of a URL without the brackets of an IPv6 literal. */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
}

export interface DialOptions {
  allowPrivate: boolean;
  /** Further roots of trust, PEM. */
  ca?: string;
  connectMs: number;
  resolve: Resolve;
}

/** Opens TLS sockets to judged addresses. */
export class Dialler {
  readonly #options: DialOptions;
  /** Look-ups under way, one a name: they hold threads that everything else needs too. */
  readonly #pending = new Map<string, Promise<readonly string[]>>();
  readonly #roots: tls.SecureContext | undefined;

  constructor(options: DialOptions) {
    this.#options = options;
    this.#roots =
      options.ca === undefined
        ? undefined
        : tls.createSecureContext({ ca: [...tls.getCACertificates('default'), options.ca] });
  }

  #resolve(hostname: string): Promise<readonly string[]> {
    let found = this.#pending.get(hostname);
    if (found === undefined) {
      found = this.#options.resolve(hostname).finally(() => this.#pending.delete(hostname));
      this.#pending.set(hostname, found);
    }
    return found;
  }

  /**
   * The addresses of a host, all of them allowed.
   *
   * @throws AddressRefused when one is not, or there is none; the system's error when the name cannot be resolved
   */
  async judged(hostname: string): Promise<readonly string[]> {
    const host = bareHost(hostname);
    // By its standard the name is this machine, whatever a name server says.
    const isOwn = /(?:^|\.)localhost\.?$/.test(host);
    if (isOwn && !this.#options.allowPrivate) throw new AddressRefused();
    const addresses = isIP(host) === 0 ? await this.#resolve(host) : [host];
    const allowed = this.#options.allowPrivate || addresses.every(isPublicAddress);
    if (!allowed || addresses.length === 0) throw new AddressRefused();
    return addresses;
  }

  /** A TLS socket to one of the host's addresses, tried in turn. @throws AddressRefused, or why none could be reached */
  async dial(hostname: string, port: number): Promise<tls.TLSSocket> {
    const addresses = await this.judged(hostname);
    let last: unknown;
    for (const address of addresses) {
      try {
        return await this.#connect(address, port, bareHost(hostname));
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }

  #connect(address: string, port: number, host: string): Promise<tls.TLSSocket> {
    return new Promise((done, fail) => {
      const socket = tls.connect({
        host: address,
        port,
        // Names go into the greeting and are what the certificate must be for; an address is checked as an address.
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ALPNProtocols: ['http/1.1'],
        // Said outright, so that no variable of the environment can say otherwise.
        rejectUnauthorized: true,
        ...(this.#roots === undefined ? {} : { secureContext: this.#roots }),
      });
      const timer = setTimeout(() => socket.destroy(new Error('connect timeout')), this.#options.connectMs);
      socket.setNoDelay(true);
      socket.once('error', (error) => {
        clearTimeout(timer);
        fail(error);
      });
      socket.once('secureConnect', () => {
        clearTimeout(timer);
        // What was asked for is what there is; should that ever not be so, nothing is sent.
        if (!this.#options.allowPrivate && !isPublicAddress(socket.remoteAddress ?? '')) {
          socket.destroy();
          fail(new AddressRefused());
        } else done(socket);
      });
    });
  }
}
