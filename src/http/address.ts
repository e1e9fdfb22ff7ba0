/** Client addresses and network lists. */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

export type AddressTest = (address: string) => boolean;

/**
 * Returns a test of whether an address is in one of the networks (`10.0.0.0/8`, `::1`).
 *
 * @throws Error naming the entry that is neither an address nor a network
 */
export function networkTest(networks: readonly string[]): AddressTest {
  const ranges = networks.map((entry) => {
    try {
      const [network, bits] = entry.includes('/')
        ? ipaddr.parseCIDR(entry)
        : ([ipaddr.parse(entry), ipaddr.parse(entry).kind() === 'ipv4' ? 32 : 128] as const);
      return { network, bits };
    } catch {
      throw new Error(`"${entry}" is neither an address nor a network in CIDR form`);
    }
  });
  if (ranges.length === 0) return () => false;
  return (text) => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return ranges.some(({ network, bits }) => address.kind() === network.kind() && address.match(network, bits));
  };
}

/** Converts IPv4-mapped addresses: `::ffff:10.0.0.1` to `10.0.0.1`. */
function plain(address: string): string {
  return address.startsWith('::ffff:') ? ipaddr.process(address).toString() : address;
}

function withoutPort(entry: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(entry);
  if (bracketed?.[1] !== undefined) return bracketed[1];
  const v4 = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(entry);
  return v4?.[1] ?? entry;
}

/** Headers that proxies add to a request. */
const PROXY_HEADERS = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip', 'x-forwarded-host', 'x-forwarded-proto'];

export interface Origin {
  ip: string;
  /** True if the request used TLS, either to this server or to a trusted proxy. */
  secure: boolean;
  /** True if a proxy forwarded the request and the client's address is unknown: `ip` is then the proxy's. */
  hidden: boolean;
}

const loopback = networkTest(['127.0.0.0/8', '::1/128']);

/**
 * The client address for access decisions. Behind an untrusted proxy on this machine every client would look local. The address
 * is then empty, and no network contains it.
 */
export function decisiveAddress({ ip, hidden }: Origin): string {
  return hidden && loopback(ip) ? '' : ip;
}

/** Determines the origin of requests. `X-Forwarded-For` and `X-Forwarded-Proto` are used only from trusted proxies. */
export function originReader(trusted: AddressTest): (request: IncomingMessage) => Origin {
  return (request) => {
    const peer = plain(request.socket.remoteAddress ?? '');
    const secure = (request.socket as { encrypted?: boolean }).encrypted === true;
    const forwarded = request.headers['x-forwarded-for'];
    const proxied = PROXY_HEADERS.some((name) => request.headers[name] !== undefined);
    if (!trusted(peer)) return { ip: peer, secure, hidden: proxied };
    const proto = request.headers['x-forwarded-proto'];
    const outside = secure || (typeof proto === 'string' && proto.split(',')[0]?.trim().toLowerCase() === 'https');
    const entries = typeof forwarded === 'string' ? forwarded.split(',') : [];
    let ip = peer;
    let known = false;
    // From right to left: an entry is valid only if the proxy that wrote it is trusted. A client can forge all others.
    for (const entry of entries.reverse()) {
      const address = withoutPort(entry.trim());
      if (!ipaddr.isValid(address)) break;
      ip = plain(address);
      known = true;
      if (!trusted(ip)) break;
    }
    return { ip, secure: outside, hidden: proxied && !known };
  };
}
