/** SQL for search: the ids of active versions, and the predicate for the versions that a caller may read. */
import sql, { type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { EVERYONE, type Reach } from './store.ts';

/** Ids of active versions after `after`, in order. */
export async function listActiveIds(ctx: ReadContext, after: string | null, limit: number): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT id FROM kb_versions WHERE state = 'ACTIVE' AND (${after}::uuid IS NULL OR id > ${after}::uuid)
    ORDER BY id LIMIT ${limit}::int`);
  return rows.map(({ id }) => id);
}

/** Predicate: `column` is the id of an active version whose audience includes the caller. */
export function isReached(column: Sql, { bases, admitted }: Reach): Sql {
  return sql`EXISTS (SELECT 1 FROM kb_versions kv JOIN kb_articles ka ON ka.id = kv.article_id
    WHERE kv.id = ${column} AND kv.state = 'ACTIVE' AND kv.admits && ${[...admitted]}::uuid[]
      AND ka.base_id = ANY(${bases.map(({ id }) => id)}::uuid[]))`;
}

/**
 * Whether an active version admits one of `ids` and none of `own`: gaining one of `ids` would give access to another article.
 */
export async function articlesAdmit(
  ctx: ReadContext,
  ids: readonly string[],
  own: readonly string[],
): Promise<boolean> {
  const rows = await ctx.query<{ found: boolean }>(sql`
    SELECT EXISTS (SELECT 1 FROM kb_versions WHERE state = 'ACTIVE' AND admits && ${[...ids]}::uuid[]
      AND NOT admits && ${[EVERYONE, ...own]}::uuid[]) AS found`);
  return rows[0]?.found === true;
}
