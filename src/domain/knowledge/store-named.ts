/** SQL on the users, groups and units in audiences, and on the images of articles. */
import sql, { type Sql } from 'sql-template-tag';
import type { BlobUse } from '../../platform/blobs/register.ts';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';
import type { LocalizedText } from '../metadata/index.ts';

export interface Named {
  kind: 'user' | 'group' | 'orgUnit';
  id: string;
  name: LocalizedText;
  active: boolean;
}

/** The users, groups and units with these ids, including archived ones. */
export async function findNamed(ctx: ReadContext, ids: readonly string[]): Promise<Named[]> {
  if (ids.length === 0) return [];
  const wanted = [...ids];
  return await ctx.query<Named>(sql`
    SELECT 'user' AS kind, id, to_jsonb(display_name) AS name, state = 'ACTIVE' AS active FROM users WHERE id = ANY(${wanted}::uuid[])
    UNION ALL
    SELECT 'group', id, name, state = 'ACTIVE' FROM groups WHERE id = ANY(${wanted}::uuid[])
    UNION ALL
    SELECT 'orgUnit', id, name, state = 'ACTIVE' FROM org_units WHERE id = ANY(${wanted}::uuid[])`);
}

export interface ImageRow {
  sha256: string;
  mediaType: string;
  size: number;
}

export async function listImages(ctx: ReadContext, articleId: string): Promise<ImageRow[]> {
  return await ctx.query<ImageRow>(
    sql`SELECT sha256, media_type AS "mediaType", size FROM kb_images WHERE article_id = ${articleId}::uuid`,
  );
}

export const useImage: TableWrite<{ article_id: string; sha256: string; media_type: string; size: number }> = {
  name: 'use_kb_image',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO kb_images (article_id, sha256, media_type, size)
    SELECT article_id, sha256, media_type, size
    FROM jsonb_to_recordset(${rows}) AS r (article_id uuid, sha256 text, media_type text, size integer)
    ON CONFLICT DO NOTHING`,
};

/** An article's images are kept as long as the article. */
export const articleImageUse: BlobUse = (sha256) => sql`EXISTS (SELECT 1 FROM kb_images k WHERE k.sha256 = ${sha256})`;
