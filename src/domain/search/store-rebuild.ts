/** SQL for making the projection anew and for comparing it. */
import sql from 'sql-template-tag';
import type { ReadContext } from '../../mechanisms/context.ts';

/** The forms that rows have: a few, found by as many steps in the index. */
export async function presentForms(ctx: Pick<ReadContext, 'query'>): Promise<number[]> {
  const rows = await ctx.query<{ form: number }>(sql`
    WITH RECURSIVE present AS (
      (SELECT form FROM search_records ORDER BY form LIMIT 1)
      UNION ALL
      SELECT (SELECT s.form FROM search_records s WHERE s.form > p.form ORDER BY s.form LIMIT 1) FROM present p
      WHERE p.form IS NOT NULL
    )
    SELECT form FROM present WHERE form IS NOT NULL`);
  return rows.map(({ form }) => form);
}
