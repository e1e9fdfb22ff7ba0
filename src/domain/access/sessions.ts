/**
 * Passwords and console sessions. A session is a cookie for reads, and in addition a CSRF token for writes. `sign-in.ts` opens
 * them.
 */
import { isArchived } from '../../contract/state.ts';
import * as store from './store.ts';
import { createHash, randomBytes, argon2, timingSafeEqual } from 'node:crypto';
import { Reply } from '../../contract/operation.ts';
import { Fault, faultAt } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import type { Invariant, ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { isId } from '../../lib/ids.ts';
import { findKey, findUser, requireMayGrant } from '../identity/index.ts';
import { tokenHash } from './authenticate.ts';
import { GLOBAL_RIGHTS } from '../../contract/rights.ts';
import { promisify } from 'node:util';
import { FairQueue } from '../../lib/fair-queue.ts';
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from './contract.ts';

const SESSION_HOURS = 12;

function cookie(value: string, seconds: number, secure: boolean): string {
  return `docket_session=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}

/** The cookie of a session that was just opened. */
export function openedCookie(token: string, secure: boolean): string {
  return cookie(token, SESSION_HOURS * 3600, secure);
}

const LONGEST_USER_AGENT = 400;

/** @param from where the sign-in came from, as the owner of the session will see it */
export function openSession(
  ctx: WriteContext,
  userId: string,
  from: { ip: string; userAgent: string | undefined },
): { token: string; csrf: string } {
  const token = randomBytes(32).toString('base64url');
  const csrf = csrfOf(token);
  ctx.plan(store.insertSession, {
    tokenHash: tokenHash(token).toString('hex'),
    userId,
    csrfHash: tokenHash(csrf).toString('hex'),
    createdAt: ctx.now,
    expiresAt: new Date(Date.parse(ctx.now) + SESSION_HOURS * 3_600_000).toISOString(),
    userAgent: from.userAgent?.slice(0, LONGEST_USER_AGENT) ?? null,
    address: from.ip,
  });
  return { token, csrf };
}

/**
 * The CSRF token of a session. It is derived from the cookie's secret, which scripts cannot read and the database does not
 * store. So the console can request it again after a reload.
 */
function csrfOf(token: string): string {
  return createHash('sha256').update(`docket-csrf ${token}`).digest('base64url');
}

/** The signed-in user. `csrfToken` is only returned for a session; a key needs none. */
export async function getSession(ctx: ReadContext, token: string | undefined): Promise<unknown> {
  const { actor, keyId } = ctx;
  const profile = actor.userId === null ? undefined : await store.findProfile(ctx, actor.userId);
  return {
    user: {
      id: actor.userId,
      ...(profile === undefined ? {} : { login: profile.login }),
      displayName: actor.displayName,
      locale: profile?.locale ?? null,
      timezone: profile?.timezone ?? null,
    },
    groups: actor.variables.groups,
    orgUnit: actor.variables.orgUnit,
    rights: GLOBAL_RIGHTS.filter((right) => actor.has(right)),
    interfaces: actor.interfaces,
    ...(token === undefined || keyId !== null ? {} : { csrfToken: csrfOf(token) }),
  };
}

export async function signOut(ctx: WriteContext, token: string | undefined, secure: boolean): Promise<Reply> {
  if (token !== undefined) {
    ctx.plan(store.deleteSession, { tokenHash: tokenHash(token).toString('hex') });
    ctx.emit({ type: 'SignedOut', subject: `user:${ctx.actor.userId}`, data: {} });
  }
  return new Reply({ signedOut: token !== undefined }, { 'Set-Cookie': cookie('', 0, secure) });
}

/** The caller's open sessions: their own first, then last seen first. */
export async function listSessions(ctx: ReadContext, token: string | undefined): Promise<store.OwnSession[]> {
  const { userId } = ctx.actor;
  return userId === null ? [] : await store.listSessions(ctx, userId, ownSession(ctx, token));
}

/** Ends one of the caller's sessions. A session that has ended, or belongs to another user, is not changed. */
export async function endSession(ctx: WriteContext, id: string): Promise<{ ended: true }> {
  if (!isId(id)) throw new Fault('NOT_FOUND', 'There is no such session.');
  return end(ctx, (userId) => ctx.plan(store.endSession, { userId, id }), { session: id });
}

/** Ends all sessions of the caller except the one of this request. */
export async function endOtherSessions(ctx: WriteContext, token: string | undefined): Promise<{ ended: true }> {
  const keep = ownSession(ctx, token);
  return end(ctx, (userId) => ctx.plan(store.endSessionsOf, { userId, keep }), { others: true });
}

function end(ctx: WriteContext, plan: (userId: string) => void, data: Record<string, unknown>): { ended: true } {
  const { userId } = ctx.actor;
  ctx.markAuthorized();
  if (userId === null) throw new Fault('NOT_FOUND', 'The caller is not a user.');
  plan(userId);
  ctx.emit({ type: 'SessionsEnded', subject: `user:${userId}`, data });
  return { ended: true };
}

/**
 * Like `setPasswordOf`, for a user by login. @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED, ROLE_ESCALATION, INVALID_REQUEST
 */
export async function setPassword(ctx: WriteContext, login: string, password: string): Promise<{ id: string }> {
  ctx.actor.require('user.administer');
  const user = await store.findUserByLogin(ctx, findKey(login));
  if (user === undefined) throw new Fault('NOT_FOUND', 'There is no user with this login.');
  return await setPasswordOf(ctx, user.id, password);
}

/**
 * Sets a password and ends the sessions of the user. The caller could sign in with the new password. So the caller must hold
 * everything that this user holds.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED, ROLE_ESCALATION, INVALID_REQUEST
 */
export async function setPasswordOf(ctx: WriteContext, id: string, password: string): Promise<{ id: string }> {
  ctx.actor.require('user.administer');
  ctx.markAuthorized();
  const user = await findUser(ctx, id);
  if (user === undefined) throw new Fault('NOT_FOUND', 'There is no user with this id.');
  if (isArchived(user)) throw new Fault('ARCHIVED', problem('USER_ARCHIVED'));
  if (id !== ctx.actor.userId) await requireMayGrant(ctx, { users: [id] });
  return planPassword(ctx, id, { hash: await hashPassword(password), keep: null });
}

/**
 * Plans the new password and the end of the sessions that it does not keep. Sign-ins that verified the previous password wait
 * for it or are refused, see `requirePassword`.
 *
 * @param keep hash of the token (hex) of the session that stays open
 * @param verified the stored hash that the caller proved to know; the unit is refused if it changed since
 */
export function planPassword(
  ctx: WriteContext,
  id: string,
  { hash, keep, verified }: { hash: string; keep: string | null; verified?: string | null },
): { id: string } {
  requirePassword(ctx, id, verified, wrongPassword);
  ctx.plan(store.setPasswordHash, { id, passwordHash: hash });
  ctx.plan(store.endSessionsOf, { userId: id, keep });
  ctx.emit({ type: 'PasswordSet', subject: `user:${id}`, data: {} });
  return { id };
}

export function wrongPassword(): Fault {
  return faultAt('INVALID_REQUEST', '/oldPassword', 'WRONG_PASSWORD');
}

/**
 * Refuses the unit if the password is no longer the verified one. Verification happens before the transaction. Without this
 * check, a sign-in with the old password could open a session just after a change of the password has ended all others.
 *
 * @param verified the stored hash that was verified; undefined: only serialize with sign-ins
 */
export function requirePassword(
  ctx: WriteContext,
  userId: string,
  verified: string | null | undefined,
  refused: () => Fault,
): void {
  const invariant: Invariant<string | null> = {
    name: `access.password ${userId}`,
    lock: store.passwordLock(userId),
    before: (read) => store.passwordHashOf(read, userId),
    after: async (_read, current) => {
      if (verified !== undefined && verified !== current) throw refused();
    },
  };
  ctx.verify(invariant);
}

/** Hash of the token of the caller's session in hex; null for a key. */
export function ownSession(ctx: ReadContext, token: string | undefined): string | null {
  return token === undefined || ctx.keyId !== null ? null : tokenHash(token).toString('hex');
}

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
  if (tag === undefined) throw new Fault('OVERLOADED', 'Too many passwords are waiting to be hashed. Retry later.');
  return (await tag) as Buffer;
}

/** @throws Fault INVALID_REQUEST if the password is too short or too long */
export async function hashPassword(password: string): Promise<string> {
  if (password.length < SHORTEST_PASSWORD || password.length > LONGEST_PASSWORD) {
    throw new Fault('INVALID_REQUEST', problem('PASSWORD_LENGTH', { min: SHORTEST_PASSWORD, max: LONGEST_PASSWORD }));
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
