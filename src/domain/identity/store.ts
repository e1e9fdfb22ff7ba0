/** SQL on users, groups and units, and on their names. Each row is written with a guard on the revision that was read. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import type { ItemState } from '../../contract/state.ts';
import { byId } from '../../platform/database/lookups.ts';
import { type Order, type RowWindow, readInOrder } from '../../platform/database/window.ts';
import { allBut, columns, omit, type RowOf } from '../../platform/database/table.ts';
import { tables } from '../../platform/database/tables.ts';
import { insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { findKey } from './rules.ts';

const USER_COLUMNS = omit(tables.users, ['loginKey', 'emailKey', 'passwordHash', 'updatedBy']);
const GROUP_COLUMNS = omit(tables.groups, ['codeKey', 'updatedBy']);
const UNIT_COLUMNS = omit(tables.org_units, ['codeKey', 'updatedBy']);

export interface UserRow extends RowOf<typeof USER_COLUMNS> {
  organizationUnitId: string | null;
}
export type GroupRow = RowOf<typeof GROUP_COLUMNS>;
export type UnitRow = RowOf<typeof UNIT_COLUMNS>;

const USER = sql`${columns(USER_COLUMNS, 'x')},
  (SELECT m.organization_unit_id FROM org_members m WHERE m.user_id = x.id) AS "organizationUnitId"`;
const GROUP = columns(GROUP_COLUMNS, 'x');
const UNIT = columns(UNIT_COLUMNS, 'x');
const USERS = sql`SELECT ${USER} FROM users x`;
const GROUPS = sql`SELECT ${GROUP} FROM groups x`;
const UNITS = sql`SELECT ${UNIT} FROM org_units x`;

/** Sorts names by the ICU root collation, independent of the server's locale. */
function byName(name: Sql): Order {
  return { by: sql`${name} COLLATE "und-x-icu"`, byType: 'text', id: sql`x.id`, idType: 'uuid' };
}

/** The name in the default locale, else the first one. */
function nameIn(locale: string): Sql {
  return sql`(CASE WHEN jsonb_typeof(x.name) = 'string' THEN x.name #>> '{}' ELSE coalesce(x.name ->> ${locale}::text,
    (SELECT n.value FROM jsonb_each_text(CASE WHEN jsonb_typeof(x.name) = 'object' THEN x.name ELSE '{}' END) n LIMIT 1)) END)`;
}

export function userWindows(ctx: ReadContext, state: ItemState): AsyncGenerator<RowWindow<UserRow>> {
  const from = sql`users x WHERE x.state = ${state}`;
  return readInOrder<UserRow>(ctx, { columns: USER, from }, byName(sql`x.display_name`));
}

export function groupWindows(ctx: ReadContext, state: ItemState, locale: string): AsyncGenerator<RowWindow<GroupRow>> {
  const from = sql`groups x WHERE x.state = ${state}`;
  return readInOrder<GroupRow>(ctx, { columns: GROUP, from }, byName(nameIn(locale)));
}

export function unitWindows(ctx: ReadContext, state: ItemState, locale: string): AsyncGenerator<RowWindow<UnitRow>> {
  const from = sql`org_units x WHERE x.state = ${state}`;
  return readInOrder<UnitRow>(ctx, { columns: UNIT, from }, byName(nameIn(locale)));
}

const userById = byId<UserRow>((id) => sql`${USERS} WHERE x.id = ${id}`);

export async function findUser(ctx: ReadContext, id: string): Promise<UserRow | undefined> {
  return await ctx.find(userById, { id });
}

/** Those of the addresses (`addressKey`) that belong to users who were created since the instant. */
export async function addressesCreatedSince(
  ctx: ReadContext,
  emails: readonly string[],
  since: string,
): Promise<string[]> {
  const keys = emails.flatMap((email) => findKey(email) ?? []);
  const rows = await ctx.query<{ email: string }>(sql`
    SELECT u.email_key AS email FROM users u
    WHERE u.email_key = ANY(${keys}::text[]) AND u.created_at >= ${since}::timestamptz`);
  return rows.map(({ email }) => email);
}

/** The user with this e-mail address, in any spelling and state. */
export async function findByEmail(ctx: ReadContext, email: string): Promise<UserRow | undefined> {
  const key = findKey(email);
  if (key === undefined) return undefined;
  return (await ctx.query<UserRow>(sql`${USERS} WHERE x.email_key = ${key}`))[0];
}

export async function findGroup(ctx: ReadContext, id: string): Promise<GroupRow | undefined> {
  return (await ctx.query<GroupRow>(sql`${GROUPS} WHERE x.id = ${id}::uuid`))[0];
}

export async function findUnit(ctx: ReadContext, id: string): Promise<UnitRow | undefined> {
  return (await ctx.query<UnitRow>(sql`${UNITS} WHERE x.id = ${id}::uuid`))[0];
}

/** Which of the unique names are taken, also by archived users. `but` is the user to ignore. */
export async function takenNames(
  ctx: ReadContext,
  keys: { id?: string; login?: string; email?: string; externalId?: string },
  but: string | null,
): Promise<{ id: boolean; login: boolean; email: boolean; externalId: boolean }> {
  const { id = null, login = null, email = null, externalId = null } = keys;
  const rows = await ctx.query<{ id: boolean; login: boolean; email: boolean; externalId: boolean }>(sql`
    SELECT EXISTS (SELECT 1 FROM users WHERE id = ${id}::uuid) AS id,
      EXISTS (SELECT 1 FROM users WHERE login_key = ${login}::text AND id IS DISTINCT FROM ${but}::uuid) AS login,
      EXISTS (SELECT 1 FROM users WHERE email_key = ${email}::text AND id IS DISTINCT FROM ${but}::uuid) AS email,
      EXISTS (SELECT 1 FROM users WHERE external_id = ${externalId}::text AND id IS DISTINCT FROM ${but}::uuid) AS "externalId"`);
  return rows[0] ?? { id: false, login: false, email: false, externalId: false };
}

export async function takenCodes(
  ctx: ReadContext,
  table: 'groups' | 'org_units',
  id: string | undefined,
  code: string,
): Promise<{ id: boolean; code: boolean }> {
  const from = table === 'groups' ? sql`groups` : sql`org_units`;
  const rows = await ctx.query<{ id: boolean; code: boolean }>(sql`
    SELECT EXISTS (SELECT 1 FROM ${from} WHERE id = ${id ?? null}::uuid) AS id,
      EXISTS (SELECT 1 FROM ${from} WHERE code_key = ${code}::text) AS code`);
  return rows[0] ?? { id: false, code: false };
}

/**
 * Serializes writers of everything that rights depend on, until their transaction ends: memberships, the trees of groups and
 * units, and the check of administrators. A transaction that also takes the lock of the configuration takes that lock first.
 */
export function accessLock(): Sql {
  return sql`SELECT pg_advisory_xact_lock(hashtextextended('identity', 0))::text AS locked`;
}

/** Whether the unit is the other unit or one of its ancestors. Call it under `accessLock`. */
export async function isAbove(ctx: ReadContext, unitId: string, below: string): Promise<boolean> {
  const rows = await ctx.query<{ found: boolean }>(sql`
    WITH RECURSIVE up AS (
      SELECT ${below}::uuid AS id
      UNION
      SELECT o.parent_id FROM up JOIN org_units o ON o.id = up.id WHERE o.parent_id IS NOT NULL
    ) SELECT EXISTS (SELECT 1 FROM up WHERE id = ${unitId}::uuid) AS found`);
  return rows[0]?.found === true;
}

// A concurrent insert of the same name makes the guard fail. The transaction is then retried and finds the other row.
const NEW = { set: { revision: sql`1`, createdAt: sql`r."updatedAt"` }, conflict: 'ignore' } as const;

export const insertUser = insertInto(tables.users, { name: 'insert_users', defaults: ['passwordHash'], ...NEW });
export const insertGroup = insertInto(tables.groups, { name: 'insert_groups', ...NEW });
export const insertUnit = insertInto(tables.org_units, { name: 'insert_org_units', ...NEW });

export const updateUser = update(tables.users, {
  name: 'update_users',
  set: allBut(tables.users, ['passwordHash', 'createdAt']),
  next: 'revision',
});
export const updateGroup = update(tables.groups, {
  name: 'update_groups',
  set: allBut(tables.groups, ['createdAt']),
  next: 'revision',
});
export const updateUnit = update(tables.org_units, {
  name: 'update_org_units',
  set: allBut(tables.org_units, ['createdAt']),
  next: 'revision',
});

/** One text, or a text for each locale. */
export type LocalizedName = string | Record<string, string>;

export type NamedKind = 'user' | 'group' | 'org-unit';

export interface NameRow {
  id: string;
  kind: NamedKind;
  name: LocalizedName;
}

/** Names of the users, groups and units with these ids, including archived ones: old values refer to them. */
export async function findNames(ctx: ReadContext, ids: readonly string[]): Promise<NameRow[]> {
  const given = [...ids];
  return await ctx.query<NameRow>(sql`
    SELECT id, 'user' AS kind, to_jsonb(display_name) AS name FROM users WHERE id = ANY(${given}::uuid[])
    UNION ALL SELECT id, 'group', name FROM groups WHERE id = ANY(${given}::uuid[])
    UNION ALL SELECT id, 'org-unit', name FROM org_units WHERE id = ANY(${given}::uuid[])`);
}

/**
 * The name of the user, group or unit whose id is in `idText`, as a sort key and the join that it needs.
 *
 * @param locales the languages in which a localized name is looked up, in order
 */
export function joinedSortName(kind: NamedKind, idText: Sql, locales: readonly string[]): { join: Sql; key: Sql } {
  if (kind === 'user') {
    return { join: sql`LEFT JOIN users n ON n.id::text = ${idText}`, key: sql`(n.display_name COLLATE "und-x-icu")` };
  }
  const texts = locales.map((locale) => sql`n.name ->> ${locale}::text`);
  return {
    join: sql`LEFT JOIN ${kind === 'group' ? sql`groups` : sql`org_units`} n ON n.id::text = ${idText}`,
    key: sql`(coalesce(${join([...texts, sql`n.name #>> '{}'`])}) COLLATE "und-x-icu")`,
  };
}

/** `alike`: another active user has the same name. */
export interface PersonRow {
  id: string;
  name: string;
  login: string;
  email: string | null;
  unit: LocalizedName | null;
  alike: boolean;
}

/** Name, login, e-mail and unit of a user, in any state. */
export async function findContact(ctx: ReadContext, id: string): Promise<Omit<PersonRow, 'alike'> | undefined> {
  const rows = await ctx.query<Omit<PersonRow, 'alike'>>(sql`
    SELECT p.id, p.display_name AS name, p.login, p.email, u.name AS unit FROM users p
      LEFT JOIN org_members m ON m.user_id = p.id
      LEFT JOIN org_units u ON u.id = m.organization_unit_id
    WHERE p.id = ${id}::uuid`);
  return rows[0];
}

/** Which users are searched: `among` is a predicate on their ids, `after` the last one that was read. */
export interface PeopleRange {
  ids?: readonly string[] | undefined;
  among?: (id: Sql) => Sql;
  after?: { id: string; name: string } | undefined;
}

/** Active users whose name matches one of the LIKE patterns, or whose login starts with the key. */
export async function searchPeople(
  ctx: ReadContext,
  patterns: readonly string[],
  loginKey: string,
  limit: number,
  { ids, among, after }: PeopleRange = {},
): Promise<PersonRow[]> {
  const these = ids === undefined ? empty : sql`AND id = ANY(${[...ids]}::uuid[])`;
  const limited = among === undefined ? empty : sql`AND ${among(sql`id`)}`;
  const rest =
    after === undefined ? empty : sql`AND (display_name COLLATE "C", id) > (${after.name}::text, ${after.id}::uuid)`;
  return await ctx.query<PersonRow>(sql`
    WITH found AS (
      SELECT id, display_name AS name, login, email FROM users
      WHERE state = 'ACTIVE' AND (display_name LIKE ANY(${[...patterns]}::text[]) OR starts_with(login_key, ${loginKey}::text))
        ${these} ${limited} ${rest}
      ORDER BY display_name COLLATE "C", id LIMIT ${limit}::int
    ), names AS (
      SELECT lower(display_name) AS name FROM users
      WHERE state = 'ACTIVE' AND lower(display_name) IN (SELECT lower(name) FROM found)
      GROUP BY 1 HAVING count(*) > 1
    )
    SELECT f.id, f.name, f.login, f.email, u.name AS unit, lower(f.name) IN (SELECT name FROM names) AS alike
    FROM found f
      LEFT JOIN org_members m ON m.user_id = f.id
      LEFT JOIN org_units u ON u.id = m.organization_unit_id
    ORDER BY f.name COLLATE "C", f.id`);
}

/** All active groups or units, at most 5000. There are few, and their names differ by language. */
export async function listNamed(
  ctx: ReadContext,
  kind: 'group' | 'org-unit',
): Promise<{ id: string; name: LocalizedName }[]> {
  const table: Sql = kind === 'group' ? sql`groups` : sql`org_units`;
  return await ctx.query<{ id: string; name: LocalizedName }>(
    sql`SELECT id, name FROM ${table} WHERE state = 'ACTIVE' ORDER BY code_key LIMIT 5000`,
  );
}

const COLUMNS = {
  user: { table: 'users', key: 'login_key' },
  group: { table: 'groups', key: 'code_key' },
  'org-unit': { table: 'org_units', key: 'code_key' },
} as const;

/** Name → id of the active user, group or unit with this name in any spelling; at most one. */
export async function idsByName(
  ctx: ReadContext,
  kind: 'user' | 'group' | 'org-unit',
  names: readonly string[],
): Promise<Map<string, string[]>> {
  const keys = new Map(names.flatMap((name) => [[name, findKey(name)] as const]));
  const wanted = [...new Set([...keys.values()].filter((key) => key !== undefined))];
  if (wanted.length === 0) return new Map();
  const { table, key } = COLUMNS[kind];
  const rows = await ctx.query<{ id: string; key: string }>(sql`
    SELECT id, ${raw(key)} AS key FROM ${raw(table)} WHERE ${raw(key)} = ANY(${wanted}::text[]) AND state = 'ACTIVE'`);
  const ids = new Map(rows.map((row) => [row.key, row.id]));
  const found = new Map<string, string[]>();
  for (const [name, own] of keys) {
    const id = own === undefined ? undefined : ids.get(own);
    if (id !== undefined) found.set(name, [id]);
  }
  return found;
}
