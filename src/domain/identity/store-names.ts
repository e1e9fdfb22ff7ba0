/** SQL that reads names of users, groups and units, for the display of ids and for choices in the console. */
import sql, { type Sql, raw } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { findKey } from './rules.ts';

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

/** Active users whose name matches one of the LIKE patterns, or whose login starts with the key. */
export async function searchPeople(
  ctx: ReadContext,
  patterns: readonly string[],
  loginKey: string,
  limit: number,
): Promise<{ id: string; name: string }[]> {
  return await ctx.query<{ id: string; name: string }>(sql`
    SELECT id, display_name AS name FROM users
    WHERE state = 'ACTIVE' AND (display_name LIKE ANY(${[...patterns]}::text[]) OR starts_with(login_key, ${loginKey}::text))
    ORDER BY display_name COLLATE "C", id LIMIT ${limit}::int`);
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
