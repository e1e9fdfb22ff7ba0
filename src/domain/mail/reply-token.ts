/**
 * Tokens that prove which record and which user a reply belongs to. A token is a part of the address in `Reply-To`:
 * `support+TOKEN@example.org`.
 *
 * It has 20 bytes: the handle of a stored pair of record and user (5) and the last day of its validity (2), encrypted, and a
 * truncated HMAC-SHA-256 (13). Handles are consecutive numbers, which would tell how much mail is sent; the pad that hides them is
 * made of the signature, which no two handles or days have in common. They make 32 characters of base32, because mail servers may change the case of the local part and limit it
 * to 64 characters; two UUIDs would not fit. The signature covers the ids of the record and the user, so that a handle that was
 * assigned again after a restore proves nothing.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { addressKey } from './headers.ts';

/** Purpose of the key of the tokens, which is derived from the master key. */
export const TOKEN_KEY = 'mail reply tokens';

const DAY_MS = 86_400_000;
const VALID_DAYS = 90;
const HANDLE_BYTES = 5;
const DAY_BYTES = 2;
const BODY_BYTES = HANDLE_BYTES + DAY_BYTES;
const SIGNATURE_BYTES = 13;
const TOKEN_CHARACTERS = ((BODY_BYTES + SIGNATURE_BYTES) * 8) / 5;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Maximum length of a mailbox's local part, so that address and token fit into the 64 characters of RFC 5321. */
export const LONGEST_LOCAL_PART = 64 - TOKEN_CHARACTERS - 1;

/** A pair of record and user to which mail was sent, and its short number in the database. */
export interface MailThread {
  /** A positive integer of at most 40 bits. */
  handle: number;
  objectId: string;
  userId: string;
}

/** A token whose signature was not checked yet. */
export interface UncheckedToken {
  encrypted: Buffer;
  signature: Buffer;
}

function encode(bytes: Buffer): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(held >> bits) & 31];
    }
    held &= (1 << bits) - 1;
  }
  return text;
}

function decode(text: string): Buffer {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const char of text.toLowerCase()) {
    held = (held << 5) | ALPHABET.indexOf(char);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >> bits) & 255);
    }
    held &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}

function sign(key: Uint8Array, body: Buffer, { objectId, userId }: MailThread): Buffer {
  // All parts have fixed lengths, so that their concatenation is unambiguous.
  return createHmac('sha256', key)
    .update('docket reply token 2\0')
    .update(body)
    .update(`${objectId} ${userId}`)
    .digest()
    .subarray(0, SIGNATURE_BYTES);
}

/** Encrypts or decrypts handle and day. */
function padded(key: Uint8Array, bytes: Buffer, signature: Buffer): Buffer {
  const pad = createHmac('sha256', key).update('docket reply token pad\0').update(signature).digest();
  return Buffer.from(bytes.map((byte, at) => byte ^ (pad[at] as number)));
}

/** The handle that the token names. It proves nothing before `checkReplyToken`. */
export function handleOf(key: Uint8Array, { encrypted, signature }: UncheckedToken): number {
  return padded(key, encrypted, signature).readUIntBE(0, HANDLE_BYTES);
}

/**
 * The token of a thread, valid for 90 days, until the end of the last day in UTC.
 *
 * @param now milliseconds since the Unix epoch
 */
export function makeReplyToken(key: Uint8Array, thread: MailThread, now: number): string {
  const body = Buffer.alloc(BODY_BYTES);
  body.writeUIntBE(thread.handle, 0, HANDLE_BYTES);
  body.writeUIntBE(Math.floor(now / DAY_MS) + VALID_DAYS, HANDLE_BYTES, DAY_BYTES);
  const signature = sign(key, body, thread);
  return encode(Buffer.concat([padded(key, body, signature), signature]));
}

/** The address with the token in its local part. */
export function replyAddress(mailbox: string, token: string): string {
  const at = mailbox.lastIndexOf('@');
  return `${mailbox.slice(0, at)}+${token}${mailbox.slice(at)}`;
}

/** The text after the `+` if the address is the mailbox's own with such a part; undefined for any other address. */
function detailOf(mailbox: string, address: string): string | undefined {
  const own = addressKey(mailbox);
  const given = addressKey(address);
  const at = own.lastIndexOf('@');
  const [prefix, suffix] = [`${own.slice(0, at)}+`, own.slice(at)];
  const has = given.startsWith(prefix) && given.endsWith(suffix) && given.length > prefix.length + suffix.length;
  return has ? given.slice(prefix.length, given.length - suffix.length) : undefined;
}

/**
 * Finds the token in the recipients of a message.
 *
 * @returns undefined if no recipient has a token, null if the recipients have a malformed one or several different ones
 */
export function findReplyToken(mailbox: string, recipients: readonly string[]): UncheckedToken | null | undefined {
  const details = new Set(recipients.flatMap((address) => detailOf(mailbox, address) ?? []));
  const [detail, ...others] = details;
  if (detail === undefined) return undefined;
  if (others.length > 0 || detail.length !== TOKEN_CHARACTERS || !/^[a-z2-7]+$/.test(detail)) return null;
  const bytes = decode(detail);
  return { encrypted: bytes.subarray(0, BODY_BYTES), signature: bytes.subarray(BODY_BYTES) };
}

/**
 * Checks a token against the thread that its handle names.
 *
 * @param thread undefined if there is none
 * @param now milliseconds since the Unix epoch
 */
export function checkReplyToken(
  key: Uint8Array,
  token: UncheckedToken,
  thread: MailThread | undefined,
  now: number,
): 'valid' | 'invalid' | 'expired' {
  if (thread === undefined || thread.handle !== handleOf(key, token)) return 'invalid';
  const body = padded(key, token.encrypted, token.signature);
  if (!timingSafeEqual(sign(key, body, thread), token.signature)) return 'invalid';
  return Math.floor(now / DAY_MS) > body.readUIntBE(HANDLE_BYTES, DAY_BYTES) ? 'expired' : 'valid';
}
