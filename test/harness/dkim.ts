/** Verifies a DKIM signature (RFC 6376, rsa-sha256, relaxed/relaxed) without the library that made it. */
import { createHash, type KeyObject, verify } from 'node:crypto';

function relaxedHeader(field: string): string {
  const colon = field.indexOf(':');
  const value = field
    .slice(colon + 1)
    .replaceAll(/\r\n(?=[ \t])/g, '')
    .replaceAll(/[ \t]+/g, ' ')
    .trim();
  return `${field.slice(0, colon).trim().toLowerCase()}:${value}`;
}

function relaxedBody(body: string): string {
  const lines = body.split('\r\n').map((line) => line.replaceAll(/[ \t]+/g, ' ').replace(/ $/, ''));
  while (lines.at(-1) === '') lines.pop();
  return lines.length === 0 ? '' : `${lines.join('\r\n')}\r\n`;
}

function tagsOf(value: string): Map<string, string> {
  const tags = value.split(';').flatMap((part): [string, string][] => {
    const equals = part.indexOf('=');
    return equals < 0 ? [] : [[part.slice(0, equals).trim(), part.slice(equals + 1).replaceAll(/\s+/g, '')]];
  });
  return new Map(tags);
}

/**
 * @param raw the message as it was sent
 * @returns domain, selector and the signed header fields, in lower case
 * @throws Error if there is no signature, or it is not valid
 */
export function verifyDkim(raw: Buffer, key: KeyObject): { domain: string; selector: string; signed: string[] } {
  const text = raw.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const fields = text.slice(0, end).split(/\r\n(?![ \t])/);
  const signature = fields.find((field) => /^dkim-signature:/i.test(field));
  if (signature === undefined) throw new Error('there is no signature');
  const tags = tagsOf(signature.slice(signature.indexOf(':') + 1));
  if (tags.get('a') !== 'rsa-sha256' || tags.get('c') !== 'relaxed/relaxed') throw new Error('another algorithm');
  const body = Buffer.from(relaxedBody(text.slice(end + 4)), 'latin1');
  if (createHash('sha256').update(body).digest('base64') !== tags.get('bh')) throw new Error('the body was changed');
  const signed = (tags.get('h') ?? '').toLowerCase().split(':');
  // Of several fields with a name, the last one that was not taken yet.
  const left = fields.filter((field) => field !== signature);
  const lines = signed.flatMap((name) => {
    const index = left.findLastIndex((field) => field.slice(0, field.indexOf(':')).trim().toLowerCase() === name);
    return index < 0 ? [] : left.splice(index, 1).map((field) => `${relaxedHeader(field)}\r\n`);
  });
  const unsigned = relaxedHeader(signature.replace(/([;:\s]b=)[^;]*/, '$1'));
  const data = Buffer.from(lines.join('') + unsigned, 'latin1');
  if (!verify('sha256', data, key, Buffer.from(tags.get('b') ?? '', 'base64')))
    throw new Error('the signature is wrong');
  return { domain: tags.get('d') ?? '', selector: tags.get('s') ?? '', signed };
}
