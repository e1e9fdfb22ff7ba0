/** SQL on the tables of access: api_keys, sessions, role_assignments; and reads of identity on which rights depend. */
import { columns, pick, type RowOf } from '../../platform/database/table.ts';
import { type ApiKeysRow, tables } from '../../platform/database/tables.ts';
import { deleteFrom, insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import sql, { type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { ItemState } from '../../contract/state.ts';

export interface KeyRow extends ApiKeysRow {
  ownerLogin: string;
  ownerState: ItemState;
}

const KEY_COLUMNS = sql`${columns(tables.api_keys, 'k')}, u.login AS "ownerLogin", u.state AS "ownerState"`;

export async function findKeyByPrefix(db: Queryable, prefix: string): Promise<KeyRow | undefined> {
  const rows = await db.query<KeyRow>(
    sql`SELECT ${KEY_COLUMNS} FROM api_keys k JOIN users u ON u.id = k.owner_id WHERE k.prefix = ${prefix}`,
  );
  return rows[0];
}

export async function findKey(db: Queryable, id: string): Promise<KeyRow | undefined> {
  const rows = await db.query<KeyRow>(
    sql`SELECT ${KEY_COLUMNS} FROM api_keys k JOIN users u ON u.id = k.owner_id WHERE k.id = ${id}::uuid`,
  );
  return rows[0];
}

export async function listKeys(db: Queryable, ownerId: string | null): Promise<KeyRow[]> {
  return await db.query<KeyRow>(sql`
    SELECT ${KEY_COLUMNS} FROM api_keys k JOIN users u ON u.id = k.owner_id
    WHERE ${ownerId}::uuid IS NULL OR k.owner_id = ${ownerId}::uuid ORDER BY k.created_at, k.id`);
}

export const insertKey = insertInto(tables.api_keys, {
  name: 'insert_key',
  defaults: ['previousHash', 'previousUntil', 'lastUsedAt', 'revokedAt'],
});

/** Guarded: if the key was revoked concurrently, the transaction is retried. */
export const revokeKey = update(tables.api_keys, {
  name: 'revoke_key',
  set: ['revokedAt'],
  where: sql`t.revoked_at IS NULL`,
});

/** The previous secret stays valid until `previousUntil`. An earlier previous secret is dropped. */
export const rotateKey = update(tables.api_keys, {
  name: 'rotate_key',
  set: ['secretHash', 'previousUntil'],
  given: { oldHash: 'text' },
  also: { previousHash: sql`CASE WHEN r."previousUntil" IS NULL THEN NULL ELSE t.secret_hash END` },
  where: sql`t.revoked_at IS NULL AND t.secret_hash = decode(r."oldHash", 'hex')`,
});

/** Records the last use of keys, to the minute. No decision depends on it. */
export async function touchKeys(db: Queryable, uses: ReadonlyMap<string, string>): Promise<void> {
  const rows = JSON.stringify([...uses].map(([id, at]) => ({ id, at })));
  await db.query(sql`
    UPDATE api_keys k SET last_used_at = date_trunc('minute', r.at)
    FROM jsonb_to_recordset(${rows}::jsonb) AS r (id uuid, at timestamptz)
    WHERE k.id = r.id AND (k.last_used_at IS NULL OR k.last_used_at < date_trunc('minute', r.at))`);
}

const SESSION = pick(tables.sessions, ['userId', 'csrfHash', 'expiresAt']);
export type SessionRow = RowOf<typeof SESSION>;

export async function findSession(db: Queryable, tokenHash: Buffer): Promise<SessionRow | undefined> {
  const rows = await db.query<SessionRow>(
    sql`SELECT ${columns(SESSION, 's')} FROM sessions s WHERE token_hash = ${tokenHash}`,
  );
  return rows[0];
}

export const insertSession = insertInto(tables.sessions, {
  name: 'insert_session',
  set: { lastSeenAt: sql`r."createdAt"` },
});

/** The public id of the session `t`: it names the session to its owner and gives no access. */
const SESSION_ID = sql`substr(encode(sha256(t.token_hash), 'hex'), 1, 32)::uuid`;

export interface OwnSession {
  id: string;
  userAgent: string | null;
  address: string | null;
  createdAt: string;
  lastSeenAt: string | null;
  expiresAt: string;
  current: boolean;
}

/** Open sessions of a user, last seen first. @param current hash of the token of the caller's session, if there is one */
export async function listSessions(ctx: ReadContext, userId: string, current: string | null): Promise<OwnSession[]> {
  return await ctx.query<OwnSession>(sql`
    SELECT ${SESSION_ID} AS id, t.user_agent AS "userAgent", t.address, t.created_at AS "createdAt",
      t.last_seen_at AS "lastSeenAt", t.expires_at AS "expiresAt",
      t.token_hash IS NOT DISTINCT FROM decode(${current}::text, 'hex') AS current
    FROM sessions t WHERE t.user_id = ${userId}::uuid AND t.expires_at > ${ctx.now}::timestamptz
    ORDER BY current DESC, t.last_seen_at DESC NULLS LAST, t.created_at DESC, id`);
}

/** Ends one session of a user, if it is theirs. */
export const endSession = deleteFrom(tables.sessions, {
  name: 'end_session',
  guard: false,
  key: ['userId'],
  given: { id: 'uuid' },
  where: sql`${SESSION_ID} = r.id`,
});

/** The last use of a session. */
export interface SessionUse {
  at: string;
  address: string;
}

/** Records the last use of sessions, at most once a minute each. No decision depends on it. @param uses by hash of the token in hex */
export async function touchSessions(db: Queryable, uses: ReadonlyMap<string, SessionUse>): Promise<void> {
  const rows = JSON.stringify([...uses].map(([hash, use]) => ({ hash, ...use })));
  await db.query(sql`
    UPDATE sessions s SET last_seen_at = r.at, address = r.address
    FROM jsonb_to_recordset(${rows}::jsonb) AS r (hash text, at timestamptz, address text)
    WHERE s.token_hash = decode(r.hash, 'hex')
      AND (s.last_seen_at IS NULL OR s.last_seen_at <= r.at - interval '1 minute')`);
}

export const deleteSession = deleteFrom(tables.sessions, { name: 'delete_session', guard: false });

export async function purgeSessions(db: Queryable, now: string): Promise<void> {
  await db.query(sql`DELETE FROM sessions WHERE expires_at < ${now}::timestamptz`);
}

export interface UserRow {
  id: string;
  login: string;
  displayName: string;
  state: ItemState;
  locale: string | null;
  groups: string[];
  orgUnit: string | null;
  orgUnits: string[];
  /** The organisation unit and all units above it, up to the first archived one. */
  unitsAbove: string[];
  roles: string[];
}

/**
 * Loads a user with all that rights depend on: groups (nested ones, too), the unit with all units below and above, and roles.
 */
export async function loadUser(db: Queryable, userId: string): Promise<UserRow | undefined> {
  const rows = await db.query<UserRow>(userQuery(sql`${userId}::uuid`));
  return rows[0];
}

/** These users in the order of their ids. */
export async function loadUsers(db: Queryable, userIds: readonly string[]): Promise<UserRow[]> {
  return await db.query<UserRow>(sql`
    SELECT x.* FROM unnest(${[...userIds]}::uuid[]) AS p (id), LATERAL (${userQuery(sql`p.id`)}) x ORDER BY x.id`);
}

/** Selects a user with all that rights depend on. @param id SQL of the id; it is repeated */
export function userQuery(id: Sql): Sql {
  return sql`
    WITH RECURSIVE held AS (
      SELECT m.group_id AS id FROM group_members m JOIN groups g ON g.id = m.group_id AND g.state = 'ACTIVE'
      WHERE m.member_type = 'user' AND m.member_id = ${id}
      UNION
      SELECT m.group_id FROM held h JOIN group_members m ON m.member_type = 'group' AND m.member_id = h.id
      JOIN groups g ON g.id = m.group_id AND g.state = 'ACTIVE'
    ), units AS (
      SELECT organization_unit_id AS id FROM org_members WHERE user_id = ${id}
      UNION
      SELECT o.id FROM units JOIN org_units o ON o.parent_id = units.id AND o.state = 'ACTIVE'
    ), above AS (
      SELECT o.id, o.parent_id FROM org_members m JOIN org_units o ON o.id = m.organization_unit_id AND o.state = 'ACTIVE'
      WHERE m.user_id = ${id}
      UNION
      SELECT o.id, o.parent_id FROM above JOIN org_units o ON o.id = above.parent_id AND o.state = 'ACTIVE'
    )
    SELECT u.id, u.login, u.display_name AS "displayName", u.state, u.locale,
      coalesce((SELECT array_agg(id::text ORDER BY id) FROM held), '{}') AS groups,
      (SELECT organization_unit_id FROM org_members WHERE user_id = u.id) AS "orgUnit",
      coalesce((SELECT array_agg(id::text ORDER BY id) FROM units), '{}') AS "orgUnits",
      coalesce((SELECT array_agg(id::text ORDER BY id) FROM above), '{}') AS "unitsAbove",
      coalesce((SELECT array_agg(DISTINCT a.role_id::text) FROM role_assignments a
        WHERE (a.member_type = 'user' AND a.member_id = u.id)
           OR (a.member_type = 'group' AND a.member_id IN (SELECT id FROM held))), '{}') AS roles
    FROM users u WHERE u.id = ${id}`;
}

/** How a user holds a role: directly or by a group. */
export interface HeldRow {
  roleId: string;
  kind: 'user' | 'group';
  id: string;
  code: string;
}

export async function loadHeld(db: Queryable, userId: string, groups: readonly string[]): Promise<HeldRow[]> {
  return await db.query<HeldRow>(sql`
    SELECT a.role_id AS "roleId", a.member_type AS kind, a.member_id AS id, coalesce(g.code, '') AS code
    FROM role_assignments a LEFT JOIN groups g ON a.member_type = 'group' AND g.id = a.member_id
    WHERE (a.member_type = 'user' AND a.member_id = ${userId}::uuid)
       OR (a.member_type = 'group' AND a.member_id = ANY(${[...groups]}::uuid[]))
    ORDER BY a.member_type DESC, code`);
}

/** What the console needs to know about the user apart from rights. */
export async function findProfile(
  db: Queryable,
  userId: string,
): Promise<{ login: string; locale: string | null; timezone: string | null } | undefined> {
  const rows = await db.query<{ login: string; locale: string | null; timezone: string | null }>(
    sql`SELECT login, locale, timezone FROM users WHERE id = ${userId}::uuid`,
  );
  return rows[0];
}

/** The user that the claims of a provider identify: by the external id first, then by a verified e-mail address. */
export async function findByClaims(
  db: Queryable,
  sub: string,
  emailKey: string | undefined,
): Promise<{ id: string; state: ItemState } | undefined> {
  const rows = await db.query<{ id: string; state: ItemState }>(sql`
    SELECT id, state FROM users WHERE external_id = ${sub}::text OR email_key = ${emailKey ?? null}::text
    ORDER BY (external_id = ${sub}::text) IS TRUE DESC LIMIT 2`);
  return rows[0];
}

export const setPasswordHash = update(tables.users, { name: 'set_password', set: ['passwordHash'] });

/** Ends the sessions of a user, except the one with the hash `keep` (hex). */
export const endSessionsOf = deleteFrom(tables.sessions, {
  name: 'end_sessions',
  guard: false,
  key: ['userId'],
  given: { keep: 'text' },
  where: sql`t.token_hash IS DISTINCT FROM decode(r.keep, 'hex')`,
});

/** Serializes changes of a user's password and sign-ins of this user, until their transactions end. */
export function passwordLock(userId: string): Sql {
  return sql`SELECT pg_advisory_xact_lock(hashtextextended(${`password ${userId}`}::text, 0))::text AS locked`;
}

export async function passwordHashOf(ctx: ReadContext, userId: string): Promise<string | null> {
  const rows = await ctx.query<{ hash: string | null }>(
    sql`SELECT password_hash AS hash FROM users WHERE id = ${userId}::uuid`,
  );
  return rows[0]?.hash ?? null;
}

export async function findUserByLogin(
  db: Queryable,
  loginKey: string | undefined,
): Promise<{ id: string; login: string; state: ItemState } | undefined> {
  const rows = await db.query<{ id: string; login: string; state: ItemState }>(
    sql`SELECT id, login, state FROM users WHERE login_key = ${loginKey ?? null}::text`,
  );
  return rows[0];
}

export interface StoredAssignment {
  roleId: string;
  /** Login of a user or code of a group. */
  name: string;
  kind: 'user' | 'group';
}

export async function loadAssignments(ctx: ReadContext): Promise<StoredAssignment[]> {
  return await ctx.query<StoredAssignment>(sql`
    SELECT a.role_id AS "roleId", a.member_type AS kind, coalesce(u.login, g.code) AS name
    FROM role_assignments a LEFT JOIN users u ON a.member_type = 'user' AND u.id = a.member_id
      LEFT JOIN groups g ON a.member_type = 'group' AND g.id = a.member_id
    WHERE u.id IS NOT NULL OR g.id IS NOT NULL`);
}

export const insertAssignment = insertInto(tables.role_assignments, {
  name: 'bundle_insert_assignments',
  guard: false,
  conflict: 'ignore',
});
export const dropAssignment = deleteFrom(tables.role_assignments, { name: 'bundle_drop_assignments', guard: false });

/**
 * Whether an ACTIVE user holds `role.assign`, directly or by a group, and can authenticate: by a password, by a key, or by the
 * provider if one is configured.
 */
export async function administratorExists(ctx: ReadContext, provider: boolean): Promise<boolean> {
  const byProvider: Sql = provider ? sql`u.external_id IS NOT NULL OR u.email_key IS NOT NULL` : sql`false`;
  const rows = await ctx.query<{ found: boolean }>(sql`
    WITH RECURSIVE assigned AS (
      SELECT a.member_type, a.member_id FROM role_assignments a JOIN config_items r ON r.id = a.role_id
      WHERE r.section = 'roles' AND r.state = 'ACTIVE' AND r.compiled->'rights' @> '["role.assign"]'
    ), inside AS (
      SELECT g.id FROM assigned a JOIN groups g ON g.id = a.member_id AND g.state = 'ACTIVE' WHERE a.member_type = 'group'
      UNION
      SELECT g.id FROM inside i JOIN group_members m ON m.group_id = i.id AND m.member_type = 'group'
        JOIN groups g ON g.id = m.member_id AND g.state = 'ACTIVE'
    ), holders AS (
      SELECT member_id AS id FROM assigned WHERE member_type = 'user'
      UNION
      SELECT m.member_id FROM inside i JOIN group_members m ON m.group_id = i.id AND m.member_type = 'user'
    )
    SELECT EXISTS (SELECT 1 FROM holders h JOIN users u ON u.id = h.id WHERE u.state = 'ACTIVE' AND (
      u.password_hash IS NOT NULL OR ${byProvider} OR EXISTS (SELECT 1 FROM api_keys k WHERE k.owner_id = u.id
        AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${ctx.now}::timestamptz)))) AS found`);
  return rows[0]?.found === true;
}
