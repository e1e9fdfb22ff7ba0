/**
 * Decides which addresses outgoing calls may reach, and connects to checked addresses. There is no second DNS lookup between
 * check and connect: the socket is opened to the checked address itself.
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP } from 'node:net';
import tls from 'node:tls';
import ipaddr from 'ipaddr.js';

/** The host has an address that calls may not reach. */
export class AddressRefused extends Error {
  constructor() {
    super('The host is, or resolves to, an address that is not public.');
    this.name = 'AddressRefused';
  }
}

/** Returns all addresses of a name, in the order to try them. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

// Global unicast: all assigned public addresses are in this range.
const IPV6_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
// A public address that is served by the cloud host of the machine.
const HOST_SERVICES: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Whether the text is a public address, in any notation. False if it is not an address. */
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

// By its standard, `localhost` is this machine, regardless of what DNS returns.
const OWN_NAME = /(?:^|\.)localhost\.?$/;

/** Whether the host of a URL is a name that DNS resolves. */
export function needsLookup(hostname: string): boolean {
  return isIP(bareHost(hostname)) === 0 && !OWN_NAME.test(hostname);
}

export interface DialOptions {
  allowPrivate: boolean;
  /** Additional root certificates, PEM. */
  ca?: string;
  connectMs: number;
  resolve: Resolve;
}

/** Opens TLS sockets to checked addresses. */
export class Dialler {
  readonly #options: DialOptions;
  /** Pending lookups, at most one per name: lookups occupy threads of a pool that the whole process shares. */
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
   * The addresses of a host, if all of them are allowed.
   *
   * @throws AddressRefused if one is not allowed, or there is none; the system's error if the name cannot be resolved
   */
  async allowedAddresses(hostname: string): Promise<readonly string[]> {
    const host = bareHost(hostname);
    const isOwn = OWN_NAME.test(host);
    if (isOwn && !this.#options.allowPrivate) throw new AddressRefused();
    const addresses = isIP(host) === 0 ? await this.#resolve(host) : [host];
    const allowed = this.#options.allowPrivate || addresses.every(isPublicAddress);
    if (!allowed || addresses.length === 0) throw new AddressRefused();
    return addresses;
  }

  /** Opens a TLS socket to the first reachable address of the host. @throws AddressRefused, or the last connection error */
  async dial(hostname: string, port: number): Promise<tls.TLSSocket> {
    const addresses = await this.allowedAddresses(hostname);
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
        // A name is sent as SNI and must match the certificate. An address is checked as an address.
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ALPNProtocols: ['http/1.1'],
        // Set explicitly, so that no environment variable can disable it.
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
        // Defence in depth: checks the address of the connected socket before anything is sent.
        if (!this.#options.allowPrivate && !isPublicAddress(socket.remoteAddress ?? '')) {
          socket.destroy();
          fail(new AddressRefused());
        } else done(socket);
      });
    });
  }
}
