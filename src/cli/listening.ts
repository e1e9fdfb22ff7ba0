/** Where the service listens: addresses and ports, and what to do where one cannot be had. */
import { lookup } from 'node:dns/promises';
import type { AddressInfo } from 'node:net';

/** Connections that wait to be accepted. Past it the kernel lets clients try again for seconds, instead of a refusal at once. */
export const BACKLOG = 4096;

export interface Place {
  /** An address or a name of this machine. */
  host: string;
  /** 0 takes any free one. */
  port: number;
}

/** @returns the error as a sentence that says what to do, where it is one of listening; else the error itself */
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

/** The addresses of a name: `localhost` stands for both kinds, as a client may try either. */
export async function hostsOf(host: string): Promise<string[]> {
  if (host !== 'localhost') return [host];
  return [...new Set((await lookup(host, { all: true })).map(({ address }) => address))];
}

/** As a client on this machine reaches it. */
export function urlOf({ address, family, port }: AddressInfo): string {
  if (family === 'IPv6') return `http://[${address}]:${port}`;
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${port}`;
}
