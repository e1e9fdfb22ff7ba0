/** SQL on the tables of access: api_keys, sessions, role_assignments; and reads of identity on which rights depend. */
import sql, { type Sql } from 'sql-template-tag';
import type { TableWrite, ReadContext } from '../../platform/unit-of-work/context.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { ItemState } from '../../contract/state.ts';

export interface KeyRow {
  id: string;
  prefix: string;
  secret_hash: Buffer;
  previous_hash: Buffer | null;
  previous_until: string | null;
  owner_id: string;
  owner_login: string;
  owner_state: ItemState;
  name: string;
  scopes: string[];
  allow: string[];
  expires_at: string | null;
  created_at: string;
  created_by: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

const KEY_COLUMNS = sql`k.id, k.prefix, k.secret_hash, k.previous_hash, k.previous_until, k.owner_id, u.login AS owner_login,
  u.state AS owner_state, k.name, k.scopes, k.allow, k.expires_at, k.created_at, k.created_by, k.last_used_at, k.revoked_at`;

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

export interface NewKey {
  id: string;
  prefix: string;
  secret_hash: string;
  owner_id: string;
  name: string;
  scopes: string[];
  allow: string[];
  expires_at: string | null;
  created_at: string;
  created_by: string | null;
}

export const insertKey: TableWrite<NewKey> = {
  name: 'insert_key',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO api_keys (id, prefix, secret_hash, owner_id, name, scopes, allow, expires_at, created_at, created_by)
    SELECT id, prefix, decode(secret_hash, 'hex'), owner_id, name, scopes, allow, expires_at, created_at, created_by
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, prefix text, secret_hash text, owner_id uuid, name text, scopes text[],
      allow text[], expires_at timestamptz, created_at timestamptz, created_by uuid) RETURNING 1`,
};

/** Guarded: if the key was revoked concurrently, the transaction is retried. */
export const revokeKey: TableWrite<{ id: string; at: string }> = {
  name: 'revoke_key',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE api_keys k SET revoked_at = r.at FROM jsonb_to_recordset(${rows}) AS r (id uuid, at timestamptz)
    WHERE k.id = r.id AND k.revoked_at IS NULL RETURNING 1`,
};

/** The previous secret stays valid until `previous_until`. An earlier previous secret is dropped. */
export const rotateKey: TableWrite<{
  id: string;
  secret_hash: string;
  old_hash: string;
  previous_until: string | null;
}> = {
  name: 'rotate_key',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE api_keys k SET secret_hash = decode(r.secret_hash, 'hex'), previous_until = r.previous_until,
      previous_hash = CASE WHEN r.previous_until IS NULL THEN NULL ELSE k.secret_hash END
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, secret_hash text, old_hash text, previous_until timestamptz)
    WHERE k.id = r.id AND k.revoked_at IS NULL AND k.secret_hash = decode(r.old_hash, 'hex') RETURNING 1`,
};

/** Records the last use of keys, to the minute. No decision depends on it. */
export async function touchKeys(db: Queryable, uses: ReadonlyMap<string, string>): Promise<void> {
  const rows = JSON.stringify([...uses].map(([id, at]) => ({ id, at })));
  await db.query(sql`
    UPDATE api_keys k SET last_used_at = date_trunc('minute', r.at)
    FROM jsonb_to_recordset(${rows}::jsonb) AS r (id uuid, at timestamptz)
    WHERE k.id = r.id AND (k.last_used_at IS NULL OR k.last_used_at < date_trunc('minute', r.at))`);
}

export interface SessionRow {
  user_id: string;
  csrf_hash: Buffer;
  expires_at: string;
}

export async function findSession(db: Queryable, tokenHash: Buffer): Promise<SessionRow | undefined> {
  const rows = await db.query<SessionRow>(
    sql`SELECT user_id, csrf_hash, expires_at FROM sessions WHERE token_hash = ${tokenHash}`,
  );
  return rows[0];
}

export const insertSession: TableWrite<{
  token_hash: string;
  user_id: string;
  csrf_hash: string;
  created_at: string;
  expires_at: string;
  user_agent: string | null;
  address: string;
}> = {
  name: 'insert_session',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO sessions (token_hash, user_id, csrf_hash, created_at, expires_at, user_agent, address, last_seen_at)
    SELECT decode(token_hash, 'hex'), user_id, decode(csrf_hash, 'hex'), created_at, expires_at, user_agent, address, created_at
    FROM jsonb_to_recordset(${rows}) AS r (token_hash text, user_id uuid, csrf_hash text, created_at timestamptz,
      expires_at timestamptz, user_agent text, address text) RETURNING 1`,
};

/** The public id of a session: it names the session to its owner and gives no access. */
const SESSION_ID = sql`substr(encode(sha256(s.token_hash), 'hex'), 1, 32)::uuid`;

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
    SELECT ${SESSION_ID} AS id, s.user_agent AS "userAgent", s.address, s.created_at AS "createdAt",
      s.last_seen_at AS "lastSeenAt", s.expires_at AS "expiresAt",
      s.token_hash IS NOT DISTINCT FROM decode(${current}::text, 'hex') AS current
    FROM sessions s WHERE s.user_id = ${userId}::uuid AND s.expires_at > ${ctx.now}::timestamptz
    ORDER BY current DESC, s.last_seen_at DESC NULLS LAST, s.created_at DESC, id`);
}

/** Ends one session of a user, if it is theirs. */
export const endSession: TableWrite<{ user_id: string; id: string }> = {
  name: 'end_session',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM sessions s USING jsonb_to_recordset(${rows}) AS r (user_id uuid, id uuid)
    WHERE s.user_id = r.user_id AND ${SESSION_ID} = r.id`,
};

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

export const deleteSession: TableWrite<{ token_hash: string }> = {
  name: 'delete_session',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM sessions s USING jsonb_to_recordset(${rows}) AS r (token_hash text)
    WHERE s.token_hash = decode(r.token_hash, 'hex')`,
};

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

export const setPasswordHash: TableWrite<{ id: string; hash: string }> = {
  name: 'set_password',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE users u SET password_hash = r.hash
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, hash text) WHERE u.id = r.id RETURNING 1`,
};

/** Ends the sessions of a user, except the one with the hash `keep` (hex). */
export const endSessionsOf: TableWrite<{ user_id: string; keep?: string | null }> = {
  name: 'end_sessions',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM sessions s USING jsonb_to_recordset(${rows}) AS r (user_id uuid, keep text)
    WHERE s.user_id = r.user_id AND s.token_hash IS DISTINCT FROM decode(r.keep, 'hex')`,
};

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

interface AssignmentRow {
  role_id: string;
  member_type: 'user' | 'group';
  member_id: string;
}

const COLUMNS = sql`(role_id uuid, member_type text, member_id uuid)`;

export const insertAssignment: TableWrite<AssignmentRow> = {
  name: 'bundle_insert_assignments',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO role_assignments (role_id, member_type, member_id)
    SELECT role_id, member_type, member_id FROM jsonb_to_recordset(${rows}) AS r ${COLUMNS}
    ON CONFLICT (role_id, member_type, member_id) DO NOTHING`,
};

export const dropAssignment: TableWrite<AssignmentRow> = {
  name: 'bundle_drop_assignments',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM role_assignments a USING jsonb_to_recordset(${rows}) AS r ${COLUMNS}
    WHERE a.role_id = r.role_id AND a.member_type = r.member_type AND a.member_id = r.member_id`,
};

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
