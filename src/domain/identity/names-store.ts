/** SQL that finds users, groups and units by the normal form of their name. */
import sql, { raw } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { findKey } from './names.ts';

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
