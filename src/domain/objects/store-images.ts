/** SQL on the table `inline_images`: the images that a record shows, now or in its history. */
import sql, { type Sql } from 'sql-template-tag';
import type { BlobUse } from '../../platform/blobs/register.ts';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';
import type { HistoryRow } from './store.ts';

export interface ImageRow {
  sha256: string;
  mediaType: string;
  size: number;
}

export async function findImage(ctx: ReadContext, objectId: string, sha256: string): Promise<ImageRow | undefined> {
  const rows = await ctx.query<ImageRow>(sql`
    SELECT sha256, media_type AS "mediaType", size FROM inline_images
    WHERE object_id = ${objectId}::uuid AND sha256 = ${sha256}`);
  return rows[0];
}

export const useImage: TableWrite<{ object_id: string; sha256: string; media_type: string; size: number }> = {
  name: 'use_image',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO inline_images (object_id, sha256, media_type, size)
    SELECT object_id, sha256, media_type, size
    FROM jsonb_to_recordset(${rows}) AS r (object_id uuid, sha256 text, media_type text, size integer)
    ON CONFLICT DO NOTHING`,
};

/** A record's images are kept as long as its history. */
export const imageUse: BlobUse = (sha256) => sql`EXISTS (SELECT 1 FROM inline_images i WHERE i.sha256 = ${sha256})`;

/** The record's events that contain the image's handle anywhere. The caller checks in which field. */
export async function listEventsNaming(
  ctx: ReadContext,
  objectId: string,
  sha256: string,
): Promise<Pick<HistoryRow, 'changes' | 'data'>[]> {
  const named = `%blob:${sha256}%`;
  return await ctx.query(sql`
    SELECT j.changes, j.data FROM journal j
    WHERE j.object_id = ${objectId}::uuid AND (j.changes::text LIKE ${named} OR j.data::text LIKE ${named})`);
}
