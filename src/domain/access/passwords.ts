/**
 * Console passwords: argon2id. The hash contains its parameters, so that new hashes can use stronger ones while old hashes stay
 * valid.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { FairQueue } from '../../lib/fair-queue.ts';
import { Fault } from '../../lib/fault.ts';
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from './password-length.ts';

const derive = promisify(argon2);

/**
 * Hashes are computed in libuv's thread pool, which also serves file access and DNS look-ups. Only one runs at a time, so that
 * these do not wait for hashes.
 */
const hashing = new FairQueue({ running: 1, places: 256 });

// The second choice of OWASP: 19 MiB and two passes, about 20 ms on a small machine.
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const LENGTH = 32;

type Purpose = 'verify' | 'set';

interface Parameters {
  salt: Buffer;
  memory: number;
  passes: number;
  lanes: number;
}

/** @throws Fault OVERLOADED if too many hashes wait */
async function hash(purpose: Purpose, password: string, parameters: Parameters): Promise<Buffer> {
  const tag = hashing.run(purpose, () =>
    derive('argon2id', {
      message: Buffer.from(password.normalize('NFC')),
      nonce: parameters.salt,
      parallelism: parameters.lanes,
      tagLength: LENGTH,
      memory: parameters.memory,
      passes: parameters.passes,
    }),
  );
  if (tag === undefined) throw new Fault('OVERLOADED', 'Too many passwords wait to be hashed; retry later.');
  return (await tag) as Buffer;
}

/** @throws Fault INVALID_REQUEST if the password is too short or too long */
export async function hashPassword(password: string): Promise<string> {
  if (password.length < SHORTEST_PASSWORD || password.length > LONGEST_PASSWORD) {
    throw new Fault(
      'INVALID_REQUEST',
      `A password has ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters; choose another one.`,
    );
  }
  const salt = randomBytes(16);
  const tag = await hash('set', password, { salt, memory: MEMORY_KIB, passes: PASSES, lanes: LANES });
  const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${encode(salt)}$${encode(tag)}`;
}

const SHAPE = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * Whether the password is right. Without a stored hash it takes equally long, so that the time does not show which logins
 * exist.
 */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const match = stored === null ? null : SHAPE.exec(stored);
  if (match === null) {
    await hash('verify', password, { salt: Buffer.alloc(16), memory: MEMORY_KIB, passes: PASSES, lanes: LANES });
    return false;
  }
  const [, memory, passes, lanes, salt, tag] = match as unknown as string[];
  const given = await hash('verify', password, {
    salt: Buffer.from(salt ?? '', 'base64'),
    memory: Number(memory),
    passes: Number(passes),
    lanes: Number(lanes),
  });
  const known = Buffer.from(tag ?? '', 'base64');
  return known.length === given.length && timingSafeEqual(known, given);
}
