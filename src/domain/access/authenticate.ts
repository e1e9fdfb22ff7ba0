/**
 * Turns an API key or a session into a caller (docs/spec/access.md#api-keys, docs/spec/configuration.md#administration-api).
 * Keys, the owners of sessions and the rights of users are cached until the rights version changes, so that most requests need
 * no query here. A plain membership (ADR 0024) drops only the rights of its user.
 */
import { isActive } from '../../contract/state.ts';
import { createHash, timingSafeEqual } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { ADMIN_SCOPE } from '../../contract/scopes.ts';
import { Fault, type FaultDetails } from '../../lib/fault.ts';
import { Yielder } from '../../lib/yielding.ts';
import { type Clock, instant } from '../../platform/clock.ts';
import type { Actor, Caller } from '../../platform/unit-of-work/context.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { VersionWatcher } from '../../platform/unit-of-work/versions.ts';
import type { ConfigSnapshot } from '../../platform/unit-of-work/snapshot.ts';
import { actorFor } from './actor.ts';
import { hashSecret, readKey } from './keys.ts';
import {
  findKeyByPrefix,
  findSession,
  type KeyRow,
  loadUser,
  loadUsers,
  type UserRow,
  type SessionRow,
  type SessionUse,
} from './store.ts';

export interface Credentials {
  authorization: string | undefined;
  sessionToken: string | undefined;
  csrfToken: string | undefined;
  method: string;
  surface: 'public' | 'console';
  ip: string;
  /** How long to wait for a slow database, in milliseconds. Default: 30,000. */
  patienceMs?: number;
  /** Looks up a credential that is not known to be valid. Such look-ups are limited per client address. */
  lookUp<T>(work: () => Promise<T>): Promise<T>;
}

export interface Authenticated {
  /** The id of the key, or of the session's user. Request limits and idempotency keys are kept per caller. */
  callerId: string;
  keyId: string | null;
  scopes: ReadonlySet<string>;
  caller: Omit<Caller, 'correlationId'>;
}

interface CachedKey extends KeyRow {
  /** Its scopes as a set: every request checks one. */
  granted: ReadonlySet<string>;
}

const NO_HASH = Buffer.alloc(32);
const SAFE_METHODS = new Set(['GET', 'HEAD']);
/** Bounds the caches of credentials: a client can send any number of invalid ones. */
const MAX_CACHED = 50_000;

const NEEDS_KEY = 'The API key is missing or invalid. Send "Authorization: Bearer <key>" with a valid key.';
const NEEDS_SIGN_IN = 'The session has ended. Sign in again, or send an API key with the scope admin:manage.';
const NEEDS_CSRF =
  'The CSRF token is missing or wrong. Send the csrfToken of GET /session in the header X-Docket-CSRF.';

export function unauthenticated(message = NEEDS_KEY, details: FaultDetails = []): Fault {
  return new Fault('UNAUTHENTICATED', message, details, {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}

/** The error for a session cookie without an open session. It is the same for an ended session and for one that never existed. */
function sessionEnded(): Fault {
  return unauthenticated(NEEDS_SIGN_IN, { session: 'ended' });
}

export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export class Authenticator {
  readonly #db: Queryable;
  readonly #versions: VersionWatcher;
  readonly #clock: Clock;
  readonly #onLoaded: () => Promise<void>;
  #keys = new Map<string, Promise<CachedKey | undefined>>();
  /** Prefixes without a key. Kept apart from `#keys`: many invalid prefixes must not evict the keys in use. */
  #unknown = new Set<string>();
  /** Prefixes of keys that exist. Kept when rights change: reloading such a key does not count towards the look-up limit. */
  readonly #found = new Set<string>();
  /** Hashes of sessions that were valid, oldest first. */
  readonly #sessions = new Set<string>();
  #users = new Map<string, Promise<{ user: UserRow; actor: Actor } | undefined>>();
  /** How often cached users were dropped. */
  #drops = 0;
  #names = new Map<string, string>();
  /** Key → the instant of its last use, in milliseconds. */
  #used = new Map<string, number>();
  #usedSessions = new Map<string, SessionUse>();
  /** Cache hits and misses, for the metrics. */
  readonly memory = { hits: 0, misses: 0 };

  constructor(options: {
    db: Queryable;
    versions: VersionWatcher;
    clock: Clock;
    /** Awaited after rights were read: the rows may be newer than the rights version that this process knows. */
    onLoaded?: () => Promise<void>;
  }) {
    this.#db = options.db;
    this.#versions = options.versions;
    this.#clock = options.clock;
    this.#onLoaded = options.onLoaded ?? (async () => {});
    options.versions.onRights((userIds) => {
      this.#drops++;
      if (userIds !== undefined) {
        for (const id of userIds) this.#users.delete(id);
        return;
      }
      this.#keys = new Map();
      this.#unknown = new Set();
      this.#users = new Map();
      this.#names = new Map();
    });
  }

  /**
   * @throws Fault UNAUTHENTICATED (one answer for keys, one for sessions), SCOPE_MISSING, CSRF_TOKEN_INVALID,
   * DATABASE_UNAVAILABLE
   */
  async authenticate(given: Credentials): Promise<Authenticated> {
    const config = this.#versions.recent() ?? (await this.#versions.fresh(given.patienceMs));
    if (given.authorization === undefined && given.surface === 'console' && given.sessionToken !== undefined) {
      return await this.#session(given, given.sessionToken, config);
    }
    const row = await this.#acceptedKey(given);
    if (given.surface === 'console' && !row.scopes.includes(ADMIN_SCOPE)) {
      throw new Fault('SCOPE_MISSING', `The key lacks the scope "${ADMIN_SCOPE}". Use a key that has it.`, {
        scope: ADMIN_SCOPE,
      });
    }
    const found = await this.#cachedUser(row.ownerId);
    if (found === undefined || !isActive(found.user)) throw unauthenticated();
    this.#used.set(row.id, this.#clock.now());
    return {
      callerId: row.id,
      keyId: row.id,
      scopes: row.granted,
      caller: { actor: found.actor, via: given.surface === 'console' ? 'console' : 'api', keyId: row.id, config },
    };
  }

  async #acceptedKey(given: Credentials): Promise<CachedKey> {
    const text = /^Bearer +(\S+)$/i.exec(given.authorization ?? '')?.[1];
    const parts = text === undefined ? undefined : readKey(text);
    if (parts === undefined) throw unauthenticated();
    const row = this.#unknown.has(parts.prefix) ? undefined : await this.#key(parts.prefix, given);
    const hash = hashSecret(parts.secret);
    const now = this.#clock.now();
    // Always make both comparisons: the response time must not show which secret matched or whether the key exists.
    const current = timingSafeEqual(hash, row?.secretHash ?? NO_HASH);
    const previous = timingSafeEqual(hash, row?.previousHash ?? NO_HASH);
    if (row === undefined) throw unauthenticated();
    const overlaps = previous && row.previousUntil !== null && Date.parse(row.previousUntil) > now;
    const accepted =
      (current || overlaps) &&
      row.revokedAt === null &&
      (row.expiresAt === null || Date.parse(row.expiresAt) > now) &&
      (row.allow.length === 0 || row.allow.some((range) => within(given.ip, range)));
    if (!accepted) throw unauthenticated();
    return row;
  }

  async #key(prefix: string, given: Credentials): Promise<CachedKey | undefined> {
    const load = async (): Promise<CachedKey | undefined> => {
      const row = await findKeyByPrefix(this.#db, prefix);
      return row === undefined ? undefined : { ...row, granted: new Set(row.scopes) };
    };
    const keys = this.#keys;
    const unknown = this.#unknown;
    const row = await cached(this.memory, keys, prefix, () => (this.#found.has(prefix) ? load() : given.lookUp(load)));
    if (row === undefined) {
      keys.delete(prefix);
      if (unknown.size >= MAX_CACHED) unknown.clear();
      unknown.add(prefix);
    } else {
      this.#found.add(prefix);
    }
    return row;
  }

  #cachedUser(userId: string): Promise<{ user: UserRow; actor: Actor } | undefined> {
    return cached(this.memory, this.#users, userId, async () => {
      const user = await loadUser(this.#db, userId);
      if (user === undefined) {
        // Creating a user does not change the rights version, so a missing user is not cached.
        this.#users.delete(userId);
        return undefined;
      }
      await this.#onLoaded();
      return { user, actor: actorFor(user, await this.#versions.fresh(), this.#names) };
    });
  }

  /** The actor of a user who is ACTIVE, for work on behalf of other users (catalogue, webhooks). */
  async actorOf(userId: string): Promise<Actor | undefined> {
    const found = await this.#cachedUser(userId);
    return isActive(found?.user) ? found.actor : undefined;
  }

  /** The actors of the users among these who are ACTIVE, by id. One statement loads those that are not cached. */
  async actorsOf(userIds: readonly string[]): Promise<Map<string, Actor>> {
    const missing = [...new Set(userIds)].filter((id) => !this.#users.has(id));
    if (missing.length > 0) await this.#loadUsers(missing);
    const actors = new Map<string, Actor>();
    for (const id of userIds) {
      const actor = await this.actorOf(id);
      if (actor !== undefined) actors.set(id, actor);
    }
    return actors;
  }

  async #loadUsers(userIds: readonly string[]): Promise<void> {
    // What was loaded before a change of rights must not get into the cache after it.
    const cache = this.#users;
    const drops = this.#drops;
    const users = await loadUsers(this.#db, userIds);
    await this.#onLoaded();
    const config = await this.#versions.fresh();
    const yielder = new Yielder();
    for (const user of users) {
      await yielder.next();
      if (drops !== this.#drops) return;
      await cached(this.memory, cache, user.id, async () => ({ user, actor: actorFor(user, config, this.#names) }));
    }
  }

  async #session(given: Credentials, token: string, config: ConfigSnapshot): Promise<Authenticated> {
    const hash = tokenHash(token);
    const name = hash.toString('base64');
    const load = (): Promise<SessionRow | undefined> => findSession(this.#db, hash);
    const session = await (this.#sessions.has(name) ? load() : given.lookUp(load));
    const refused = session === undefined || Date.parse(session.expiresAt) <= this.#clock.now();
    if (refused) {
      this.#sessions.delete(name);
      throw sessionEnded();
    }
    this.#noteSession(name);
    if (!SAFE_METHODS.has(given.method)) {
      const csrf = tokenHash(given.csrfToken ?? '');
      if (given.csrfToken === undefined || !timingSafeEqual(csrf, session.csrfHash)) {
        throw new Fault('CSRF_TOKEN_INVALID', NEEDS_CSRF);
      }
    }
    const found = await this.#cachedUser(session.userId);
    if (found === undefined || !isActive(found.user)) throw sessionEnded();
    this.#usedSessions.set(hash.toString('hex'), {
      at: new Date(this.#clock.now()).toISOString(),
      address: given.ip,
    });
    return {
      callerId: session.userId,
      keyId: null,
      scopes: new Set(),
      caller: { actor: found.actor, via: 'console', keyId: null, config },
    };
  }

  #noteSession(name: string): void {
    this.#sessions.add(name);
    if (this.#sessions.size <= MAX_CACHED) return;
    for (const oldest of this.#sessions) {
      this.#sessions.delete(oldest);
      return;
    }
  }

  /** Returns the keys used since the last call, with the instant of the last use; a background job stores them. */
  takeUses(): ReadonlyMap<string, string> {
    const uses = this.#used;
    this.#used = new Map();
    return new Map([...uses].map(([id, ms]) => [id, instant(ms)]));
  }

  /** The same for sessions, by the hash of their token in hex. */
  takeSessionUses(): ReadonlyMap<string, SessionUse> {
    const uses = this.#usedSessions;
    this.#usedSessions = new Map();
    return uses;
  }
}

function cached<T>(
  counts: { hits: number; misses: number },
  memory: Map<string, Promise<T>>,
  key: string,
  load: () => Promise<T>,
): Promise<T> {
  let found = memory.get(key);
  if (found !== undefined) counts.hits++;
  else {
    counts.misses++;
    if (memory.size >= MAX_CACHED) memory.clear();
    found = load();
    memory.set(key, found);
    // A failed look-up is not cached.
    found.catch(() => memory.delete(key));
  }
  return found;
}

function within(ip: string, range: string): boolean {
  try {
    const address = ipaddr.process(ip);
    const [network, bits] = ipaddr.parseCIDR(range);
    return address.kind() === network.kind() && address.match(network, bits);
  } catch {
    return false;
  }
}
