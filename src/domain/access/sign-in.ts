/** Signing in with a password: attempts are limited (`sign-in-limits.ts`) and verified one at a time. */
import { isActive } from '../../contract/state.ts';
import * as store from './store-sign-in.ts';
import { Reply } from '../../contract/operation.ts';
import { FairQueue } from '../../lib/fair-queue.ts';
import { Fault } from '../../lib/fault.ts';
import type { RequestFacts, Runner, Sender } from '../../platform/unit-of-work/binding.ts';
import { type Clock, instant } from '../../platform/clock.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import { type SecretBox, secretBytes } from '../../platform/secrets.ts';
import { findKey } from '../identity/index.ts';
import { unauthenticated } from './authenticate.ts';
import {
  hashPassword,
  openedCookie,
  openSession,
  ownSession,
  planPassword,
  requirePassword,
  verifyPassword,
  wrongPassword,
} from './sessions.ts';
import { findProfile } from './store.ts';
import { addressPlace, type AttemptKeys, attemptKeys, devicePlace, PLACE_KEPT_DAYS } from './store-sign-in.ts';

export const DEVICE_COOKIE = 'docket_device';
const PURPOSE = 'device of a sign-in';
const DEVICE_PATH = '/api/admin/v1';
const PLACES = 32;

/** Signs users in. Each process verifies at most one password at a time. */
export class SignIns {
  readonly #secrets: SecretBox;
  readonly #db: Queryable;
  readonly #clock: Clock;
  // After each attempt the queue pauses for as long as the attempt took: attempts use at most half of one processor core.
  readonly #queue = new FairQueue({ running: 1, places: PLACES, rest: 1 });

  constructor(options: { secrets: SecretBox; db: Queryable; clock: Clock }) {
    this.#secrets = options.secrets;
    this.#db = options.db;
    this.#clock = options.clock;
  }

  /** The id in the cookie of a device; undefined if this service did not seal it. */
  deviceOf(value: string | undefined): string | undefined {
    if (value === undefined || value.length > 500) return undefined;
    try {
      return this.#secrets.open(Buffer.from(value, 'base64url'), PURPOSE);
    } catch {
      return undefined;
    }
  }

  /**
   * Records, in the transaction of `ctx`, that the user signed in from this address and device.
   *
   * @returns the cookie that makes the device known
   */
  note(ctx: WriteContext, userId: string, sender: Sender, secure: boolean): string {
    const device = sender.device ?? secretBytes(18).toString('base64url');
    for (const place of [addressPlace(sender), devicePlace(device)]) {
      ctx.plan(store.notePlace, { userId, originHash: place.toString('hex'), lastAt: ctx.now });
    }
    const sealed = this.#secrets.seal(device, PURPOSE).toString('base64url');
    const age = PLACE_KEPT_DAYS * 86_400;
    // SameSite=Lax, since the callback of a provider comes from another site.
    return `${DEVICE_COOKIE}=${sealed}; Path=${DEVICE_PATH}; Max-Age=${age}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /**
   * Checks the password and opens a session. A wrong login, a wrong password and an archived user get the same answer.
   *
   * @throws Fault UNAUTHENTICATED, RATE_LIMITED (too many attempts), OVERLOADED (too many wait to be verified)
   */
  signIn(runner: Runner, given: { login: string; password: string }, request: RequestFacts): Promise<Reply> {
    return this.#queued(request.sender, () => this.#attempt(runner, given, request));
  }

  /**
   * Changes the caller's own password. The old one is verified like a password of a sign-in, with the same limits. All other
   * sessions of the user end.
   *
   * @throws Fault INVALID_REQUEST (WRONG_PASSWORD, or the length of the new one), RATE_LIMITED, OVERLOADED
   */
  changePassword(
    runner: Runner,
    given: { oldPassword: string; newPassword: string },
    request: RequestFacts,
  ): Promise<{ id: string }> {
    return this.#queued(request.sender, () => this.#change(runner, given, request));
  }

  #queued<T>(sender: Sender, run: () => Promise<T>): Promise<T> {
    const attempt = this.#queue.run(sender.device ?? sender.address, run);
    if (attempt === undefined) {
      throw new Fault('OVERLOADED', 'Too many users are signing in. Retry after the time in Retry-After.', [], {
        headers: { 'Retry-After': '2' },
      });
    }
    return attempt;
  }

  /** Counts the attempt and verifies the password. @throws Fault RATE_LIMITED, OVERLOADED */
  async #verify(given: { login: string; password: string }, sender: Sender) {
    const loginKey = findKey(given.login);
    const own = sender.device === undefined ? undefined : devicePlace(sender.device);
    const places = own === undefined ? [addressPlace(sender)] : [addressPlace(sender), own];
    const user = await store.findSignIn(this.#db, loginKey, places);
    const before = user?.places ?? [];
    const device = own !== undefined && before.some((place) => place.equals(own)) ? sender.device : undefined;
    const keys = attemptKeys(loginKey ?? given.login, sender, device);
    const now = instant(this.#clock.now());
    requireAttempt(await store.countAttempt(this.#db, keys, before.length > 0, now));
    const right = await verifyPassword(given.password, user?.passwordHash ?? null);
    return { user, right, keys };
  }

  async #change(
    runner: Runner,
    { oldPassword, newPassword }: { oldPassword: string; newPassword: string },
    { sender, sessionToken }: RequestFacts,
  ): Promise<{ id: string }> {
    const profile = await findProfile(this.#db, runner.caller.actor.userId ?? '');
    const login = profile?.login ?? '';
    const { user, right, keys } = await this.#verify({ login, password: oldPassword }, sender);
    if (user === undefined || !right) throw wrongPassword();
    const hash = await hashPassword(newPassword);
    return await runner.write(async (ctx) => {
      ctx.markAuthorized();
      ctx.plan(store.forgiveAttempt, textsOf(keys));
      return planPassword(ctx, user.id, {
        hash,
        keep: ownSession(ctx, sessionToken),
        verified: user.passwordHash,
      });
    });
  }

  async #attempt(
    { work, caller }: Runner,
    given: { login: string; password: string },
    request: RequestFacts,
  ): Promise<Reply> {
    const { sender, secure } = request;
    const { user, right, keys } = await this.#verify(given, sender);
    if (user === undefined) throw refused();
    const admitted = right && isActive(user);
    const result = await work.write(caller, async (ctx) => {
      ctx.emit({ type: admitted ? 'SignedIn' : 'SignInRefused', subject: `user:${user.id}`, data: {} });
      if (!admitted) return undefined;
      requirePassword(ctx, user.id, user.passwordHash, refused);
      ctx.plan(store.forgiveAttempt, textsOf(keys));
      return { ...openSession(ctx, user.id, request), device: this.note(ctx, user.id, sender, secure) };
    });
    const opened = result.kind === 'done' ? result.data : undefined;
    if (opened === undefined) throw refused();
    const answer = { user: { id: user.id, displayName: user.displayName }, csrfToken: opened.csrf };
    return new Reply(answer, { 'Set-Cookie': [openedCookie(opened.token, secure), opened.device] });
  }
}

function textsOf({ pair, login, address }: AttemptKeys): { pair: string; login: string; address: string } {
  return { pair: pair.toString('hex'), login: login.toString('hex'), address: address.toString('hex') };
}

/** @throws Fault RATE_LIMITED */
function requireAttempt(wait: number): void {
  if (wait === 0) return;
  throw new Fault('RATE_LIMITED', `Too many attempts to sign in. Retry in ${wait} s.`, [], {
    headers: { 'Retry-After': String(wait) },
  });
}

function refused(): Fault {
  return new Fault('UNAUTHENTICATED', 'The login or the password is wrong. Check both.', [], {
    headers: unauthenticated().headers,
  });
}
