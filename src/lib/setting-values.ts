/** Parsers for setting values. Each returns undefined if the text is invalid. */
import { isIP } from 'node:net';

export function hostName(text: string): string | undefined {
  if (isIP(text) !== 0) return text;
  // Only digits and dots, but not an IP address: a mistyped address.
  return /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) && !/^[\d.]+$/.test(text) ? text : undefined;
}

function isRange(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return prefix === undefined || wholeNumber(prefix, 0, version === 4 ? 32 : 128) !== undefined;
}

export function ranges(text: string): readonly string[] | undefined {
  const list = text
    .split(',')
    .map((range) => range.trim())
    .filter((range) => range !== '');
  return list.every(isRange) ? Object.freeze(list) : undefined;
}

export function parsedUrl(text: string, protocols: readonly string[]): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && protocols.includes(url.protocol) ? url : undefined;
}

export function databaseUrl(text: string): string | undefined {
  return parsedUrl(text, ['postgres:', 'postgresql:']) === undefined ? undefined : text;
}

export function originUrl(text: string): string | undefined {
  const url = parsedUrl(text, ['http:', 'https:']);
  if (url === undefined || url.username !== '' || url.password !== '') return undefined;
  return url.pathname === '/' && url.search === '' && url.hash === '' ? url.origin : undefined;
}

export function contactUri(text: string): string | undefined {
  const url = parsedUrl(text, ['mailto:', 'https:', 'tel:']);
  if (url === undefined || /\s/.test(text)) return undefined;
  // The contact is published.
  return url.username === '' && url.password === '' ? url.href : undefined;
}

export function webUrl(text: string): string | undefined {
  return parsedUrl(text, ['http:', 'https:']) === undefined ? undefined : text;
}

// Sign-in over plain http would expose tokens on the network. A local provider is allowed for development.
export function issuerUrl(text: string): string | undefined {
  const url = parsedUrl(text, ['http:', 'https:']);
  if (url === undefined || url.search !== '' || url.hash !== '') return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  const loopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url.protocol === 'https:' || loopback ? text : undefined;
}

export function wholeNumber(text: string, least: number, most: number): number | undefined {
  if (!/^\d{1,15}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= least && value <= most ? value : undefined;
}

/** A number from 0 to 1. */
export function share(text: string): number | undefined {
  const value = /^(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  return value >= 0 && value <= 1 ? value : undefined;
}
