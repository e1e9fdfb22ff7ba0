/** Queries on stored records that check whether a configuration change is allowed. */
import sql from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';

/** Whether a record in one of these versions of the type has a value under the field's code. */
export async function holdsValue(
  ctx: ReadContext,
  typeId: string,
  versions: readonly number[],
  fieldCode: string,
): Promise<boolean> {
  const rows = await ctx.query<{ held: boolean }>(sql`
    SELECT EXISTS (SELECT 1 FROM objects WHERE type_id = ${typeId}::uuid AND type_version = ANY(${[...versions]}::int[])
      AND jsonb_exists("values", ${fieldCode})) AS held`);
  return rows[0]?.held === true;
}

/** The given workflow states that at least one record is in; archived records count. */
export async function occupiedStates(ctx: ReadContext, stateIds: readonly string[]): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT s.id FROM unnest(${[...stateIds]}::uuid[]) AS s (id)
    WHERE EXISTS (SELECT 1 FROM objects o WHERE o.workflow_state_id = s.id)`);
  return rows.map((row) => row.id);
}
