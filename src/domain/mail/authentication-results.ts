/**
 * Reads `Authentication-Results` (RFC 8601) of the one server that a mailbox trusts, to know whether DMARC proves the domain of
 * `From`.
 *
 * Anybody can write this field into a message. The trusted server adds its own above what it received, and must remove fields
 * that carry its name. Therefore only the topmost field with its name counts, and others up to the next `Received`, because
 * some servers add one field for each method. A field of the sender that a server failed to remove can still stand there, so
 * every DMARC result in them must be a pass.
 */
import { domainOf, type Headers } from './headers.ts';

interface Result {
  method: string;
  result: string;
  /** `header.from` and others, in lower case. */
  properties: ReadonlyMap<string, string>;
}

/** Tokens of RFC 8601: words, quoted strings, and `;` and `=`. Comments in parentheses, which can be nested, are left out. */
function tokens(value: string): string[] | undefined {
  const found: string[] = [];
  let depth = 0;
  for (let at = 0; at < value.length; at++) {
    const char = value[at] as string;
    if (char === '(') depth++;
    else if (char === ')') {
      if (--depth < 0) return undefined;
    } else if (depth > 0) {
      if (char === '\\') at++;
    } else if (char === '"') {
      const end = endOfQuoted(value, at);
      if (end === undefined) return undefined;
      found.push(value.slice(at + 1, end).replace(/\\(.)/g, '$1'));
      at = end;
    } else if (char === ';' || char === '=') found.push(char);
    else if (!/\s/.test(char)) {
      const start = at;
      while (at + 1 < value.length && !/[\s;=()"]/.test(value[at + 1] as string)) at++;
      found.push(value.slice(start, at + 1));
    }
  }
  return depth === 0 ? found : undefined;
}

function endOfQuoted(value: string, from: number): number | undefined {
  for (let at = from + 1; at < value.length; at++) {
    if (value[at] === '\\') at++;
    else if (value[at] === '"') return at;
  }
  return undefined;
}

interface Field {
  server: string;
  results: readonly Result[];
}

/** @returns undefined if the value is malformed */
function readField(value: string): Field | undefined {
  const all = tokens(value);
  if (all === undefined) return undefined;
  const parts: string[][] = [[]];
  for (const token of all) {
    if (token === ';') parts.push([]);
    else parts.at(-1)?.push(token);
  }
  const [head = [], ...rest] = parts;
  // A version may follow the name of the server.
  const [server, version] = head;
  if (server === undefined || head.length > 2 || (version !== undefined && version !== '1')) return undefined;
  const results: Result[] = [];
  for (const part of rest) {
    if (part.length === 0 || (part.length === 1 && part[0]?.toLowerCase() === 'none')) continue;
    const [method, equals, result, ...properties] = part;
    if (method === undefined || equals !== '=' || result === undefined) return undefined;
    const [name = ''] = method.toLowerCase().split('/');
    results.push({ method: name, result: result.toLowerCase(), properties: readProperties(properties) });
  }
  return { server: server.toLowerCase(), results };
}

function readProperties(part: readonly string[]): Map<string, string> {
  const properties = new Map<string, string>();
  for (let at = 1; at + 1 < part.length; at++) {
    if (part[at] === '=')
      properties.set((part[at - 1] as string).toLowerCase(), (part[at + 1] as string).toLowerCase());
  }
  return properties;
}

/** The trusted fields: the topmost one of the server, and its others before the next `Received`. */
function fieldsOf(headers: Headers, server: string): (Field | undefined)[] {
  const found: (Field | undefined)[] = [];
  for (const { name, value } of headers.list) {
    if (name === 'received' && found.length > 0) break;
    if (name !== 'authentication-results') continue;
    const field = readField(value);
    // A malformed field that begins with the name of the server counts as one of its own, and as no pass.
    if (field === undefined ? value.toLowerCase().startsWith(server) : field.server === server) found.push(field);
  }
  return found;
}

export type DmarcVerdict = 'pass' | 'fail' | 'none';

/**
 * Whether the trusted server found that DMARC passed for the domain of `From`.
 *
 * @param server the name of the trusted server (`authserv-id`); null if the mailbox trusts none
 * @param from address of `From`
 * @returns none: the server said nothing about it; fail: any other result, and a malformed field
 */
export function dmarcVerdict(headers: Headers, server: string | null, from: string): DmarcVerdict {
  if (server === null) return 'none';
  const fields = fieldsOf(headers, server.toLowerCase());
  if (fields.includes(undefined)) return 'fail';
  const results = fields.flatMap((field) => field?.results.filter(({ method }) => method === 'dmarc') ?? []);
  if (results.length === 0) return 'none';
  const domain = domainOf(from);
  const passed = results.every(({ result, properties }) => {
    const proven = properties.get('header.from');
    return result === 'pass' && proven !== undefined && domainOf(proven) === domain;
  });
  return passed ? 'pass' : 'fail';
}
