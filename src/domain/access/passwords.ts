/** Passwords of the console: argon2id with parameters kept in the hash, so that they can grow without breaking old ones. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Fault } from '../../lib/fault.ts';
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from './password-length.ts';

const derive = promisify(argon2);

// OWASP's second choice: 19 MiB and two passes, about 20 ms on a small machine.
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const LENGTH = 32;

async function hash(password: string, salt: Buffer, memory: number, passes: number, lanes: number): Promise<Buffer> {
  return (await derive('argon2id', {
    message: Buffer.from(password.normalize('NFC')),
    nonce: salt,
    parallelism: lanes,
    tagLength: LENGTH,
    memory,
    passes,
  })) as Buffer;
}

/** @throws Fault INVALID_REQUEST when the password is too short or too long */
export async function hashPassword(password: string): Promise<string> {
  if (password.length < SHORTEST_PASSWORD || password.length > LONGEST_PASSWORD) {
    throw new Fault(
      'INVALID_REQUEST',
      `A password has ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters; choose another one.`,
    );
  }
  const salt = randomBytes(16);
  const tag = await hash(password, salt, MEMORY_KIB, PASSES, LANES);
  const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${encode(salt)}$${encode(tag)}`;
}

const SHAPE = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Whether the password is right. Without a hash it takes as long, so that time does not tell which logins exist. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const match = stored === null ? null : SHAPE.exec(stored);
  if (match === null) {
    await hash(password, Buffer.alloc(16), MEMORY_KIB, PASSES, LANES);
    return false;
  }
  const [, memory, passes, lanes, salt, tag] = match as unknown as string[];
  const given = await hash(password, Buffer.from(salt ?? '', 'base64'), Number(memory), Number(passes), Number(lanes));
  const known = Buffer.from(tag ?? '', 'base64');
  return known.length === given.length && timingSafeEqual(known, given);
}
