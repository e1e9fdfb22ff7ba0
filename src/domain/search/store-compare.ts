/** SQL that compares the index with its source. */
import sql from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';

export interface Gaps {
  /** Number of records and active comments without a row. */
  missing: number;
  /** Number of rows without a record or comment. */
  stray: number;
}

export async function countGaps(ctx: ReadContext): Promise<Gaps> {
  const [row] = await ctx.query<Gaps>(sql`SELECT
    (SELECT count(*) FROM objects o WHERE NOT EXISTS (SELECT 1 FROM search_records s WHERE s.id = o.id))
    + (SELECT count(*) FROM comments c WHERE c.state = 'ACTIVE'
        AND NOT EXISTS (SELECT 1 FROM search_comments s WHERE s.id = c.id)) AS missing,
    (SELECT count(*) FROM search_records s WHERE NOT EXISTS (SELECT 1 FROM objects o WHERE o.id = s.id))
    + (SELECT count(*) FROM search_comments s
        WHERE NOT EXISTS (SELECT 1 FROM comments c WHERE c.id = s.id AND c.state = 'ACTIVE')) AS stray`);
  return row ?? { missing: 0, stray: 0 };
}

export interface Made {
  id: string;
  revision: number;
  size: number;
  words: string;
}

/** Ids of the records whose row differs from the one built now. Records that changed meanwhile are left out. */
export async function differingRecords(ctx: ReadContext, made: readonly Made[]): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT r.id FROM jsonb_to_recordset(${JSON.stringify(made)}::jsonb) AS r (id uuid, revision integer, size integer, words tsvector)
    JOIN objects o ON o.id = r.id AND o.revision = r.revision JOIN search_records s ON s.id = r.id
    WHERE s.words <> r.words OR s.size <> r.size`);
  return rows.map(({ id }) => id);
}

export async function differingComments(ctx: ReadContext, made: readonly Made[]): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT r.id FROM jsonb_to_recordset(${JSON.stringify(made)}::jsonb) AS r (id uuid, revision integer, size integer, words tsvector)
    JOIN comments c ON c.id = r.id AND c.revision = r.revision JOIN search_comments s ON s.id = r.id
    WHERE s.words <> r.words OR s.size <> r.size OR s.visibility <> c.visibility`);
  return rows.map(({ id }) => id);
}
