/**
 * The format of an API key (docs/spec/access.md#api-keys): `dk_<16 id chars>_<43 secret chars>_<6 check chars>`. The prefix
 * serves secret scanners. The checksum detects typing errors without a look-up. Only the SHA-256 hash of the secret is stored.
 */
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHAPE = /^dk_([0-9A-Za-z]{16})_([0-9A-Za-z_-]{43})_([0-9A-Za-z]{6})$/;

function base62(bytes: Uint8Array, length: number): string {
  // 248 is the largest multiple of 62 in a byte: higher values would favour the first letters.
  let text = '';
  for (const byte of bytes) if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
  return text;
}

function random62(length: number): string {
  let text = '';
  while (text.length < length) text += base62(randomBytes(length * 2), length - text.length);
  return text;
}

function check(head: string): string {
  let rest = crc32(head);
  let text = '';
  for (let i = 0; i < 6; i++) {
    text = ALPHABET[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Makes a new secret for the key with the given id characters, or a new key. */
export function makeKey(prefix: string = random62(16)): { key: string; prefix: string; hash: Buffer } {
  const secret = randomBytes(32).toString('base64url');
  const head = `dk_${prefix}_${secret}`;
  return { key: `${head}_${check(head)}`, prefix, hash: hashSecret(secret) };
}

export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** The parts of a well-formed key with a valid checksum, else undefined. */
export function readKey(text: string): { prefix: string; secret: string } | undefined {
  const match = SHAPE.exec(text);
  if (match === null) return undefined;
  const [, prefix, secret, sum] = match as unknown as [string, string, string, string];
  return check(`dk_${prefix}_${secret}`) === sum ? { prefix, secret } : undefined;
}
