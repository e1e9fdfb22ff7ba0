/** SQL for the lookups of imports and exports: records by the value of a field, by page, and changes by revision. */
import sql, { empty, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { JOINED_NAMES, JOINS, OBJECT_COLUMNS, type ObjectRow } from './store.ts';

/** Active visible records of the type that satisfy the condition, with the value of one field. */
export async function listByValue(
  ctx: ReadContext,
  typeId: string,
  fieldCode: string,
  visible: Sql,
  condition: Sql,
): Promise<{ id: string; value: unknown }[]> {
  return await ctx.query<{ id: string; value: unknown }>(sql`
    SELECT o.id, o."values" -> ${fieldCode}::text AS value FROM objects o
    WHERE o.state = 'ACTIVE' AND o.type_id = ${typeId}::uuid AND ${visible} AND ${condition}`);
}

/** The last record of a page. */
export interface PageEnd {
  createdAt: string;
  id: string;
}

/** Active records of the type, newest first, after `after`; if `ids` is given, only those records. */
export async function listPage(
  ctx: ReadContext,
  page: {
    typeId: string;
    visible: Sql;
    condition: Sql | null;
    after: PageEnd | undefined;
    ids: readonly string[] | undefined;
    limit: number;
  },
): Promise<ObjectRow[]> {
  const { after } = page;
  const behind =
    after === undefined ? empty : sql`AND (o.created_at, o.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`;
  const condition = page.condition === null ? empty : sql`AND ${page.condition}`;
  const among = page.ids === undefined ? empty : sql`AND o.id = ANY(${[...page.ids]}::uuid[])`;
  return await ctx.query<ObjectRow>(
    sql`SELECT ${OBJECT_COLUMNS}, ${JOINED_NAMES} FROM (
        SELECT o.* FROM objects o
        WHERE o.state = 'ACTIVE' AND o.type_id = ${page.typeId}::uuid AND ${page.visible} ${condition} ${among} ${behind}
        ORDER BY o.created_at DESC, o.id DESC LIMIT ${page.limit}::int) AS o
      ${JOINS} ORDER BY o.created_at DESC, o.id DESC`,
    // With a filter, the best plan depends on its values.
    { freshPlan: page.condition !== null },
  );
}

/** The changes that made the given revisions: field → [before, after], by record and revision. */
export async function listChanges(
  ctx: ReadContext,
  revisions: readonly { id: string; revision: number }[],
): Promise<{ id: string; revision: number; changes: Record<string, [unknown, unknown]> | null }[]> {
  return await ctx.query(sql`
    SELECT j.object_id AS id, j.revision, j.changes
    FROM jsonb_to_recordset(${JSON.stringify(revisions)}::jsonb) AS r (id uuid, revision integer)
    JOIN journal j ON j.object_id = r.id AND j.revision = r.revision AND j.type = 'ObjectUpdated'`);
}
