/** Listening addresses and ports, and error messages for those that are not available. */
import { lookup } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';

/** Length of the accept queue. When it is full, clients retry for seconds instead of getting a quick rejection. */
export const BACKLOG = 4096;

export interface Place {
  /** An address or a name of this machine. */
  host: string;
  /** 0 selects any free port. */
  port: number;
}

/** @returns listening errors as a message that says what to do; other errors unchanged */
export function whyNot(error: unknown, { host, port }: Place): unknown {
  const { code } = error as { code?: string };
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE') {
    return new Error(`${where} is in use by another program; stop it, or set DOCKET_PORT to a free port.`);
  }
  if (code === 'EACCES') return new Error(`${where} may not be opened by this user; set DOCKET_PORT above 1023.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new Error(`${host} is no address of this machine; set DOCKET_HOST.`);
  return error;
}

/** The addresses of a name. `localhost` gives both IPv4 and IPv6, because a client may try either. */
export async function hostsOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  return [...new Set((await lookup(host, { all: true })).map(({ address }) => address))];
}

/** The URL at which a client on this machine reaches the server. */
export function urlOf({ address, family, port }: AddressInfo): string {
  if (family === 'IPv6') return `http://[${address}]:${port}`;
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${port}`;
}
