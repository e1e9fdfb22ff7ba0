/** SQL on the tables `kb_articles`, `kb_versions` and `kb_images`, and on the users, groups and units in audiences. */
import { userName } from '../../platform/journal/journal.ts';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import type { BlobUse } from '../../platform/blobs/register.ts';
import { byId } from '../../platform/database/lookups.ts';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';
import type { LocalizedText, RichNode } from '../metadata/index.ts';
import type { Visibility } from './registry.ts';

export type VersionState = 'DRAFT' | 'ACTIVE' | 'ARCHIVED';

/** One audience of a version; `everyone` has no `id`. */
export interface Audience {
  kind: 'everyone' | 'group' | 'orgUnit' | 'user';
  id?: string;
}

/** A version without its text. */
export interface VersionRow {
  id: string;
  articleId: string;
  baseId: string;
  code: string;
  /** Revision of the article, shared by all its versions. */
  revision: number;
  sectionId: string;
  locale: string;
  state: VersionState;
  title: string;
  summary: string | null;
  tags: string[];
  responsibleId: string | null;
  responsibleName: string | null;
  visibility: Visibility;
  audiences: Audience[];
  stateToken: string;
  createdAt: string;
  updatedAt: string;
  publishedAt: string | null;
  archivedAt: string | null;
  /** Of the article: the day on which it should be checked again. */
  reviewOn: string | null;
}

export interface VersionText {
  document: RichNode;
  body: string;
}

/** Represents everyone among the ids that a version admits. */
export const EVERYONE = '00000000-0000-0000-0000-000000000000';

/** Columns of a version, from `kb_versions v` and `kb_articles a`. */
export const COLUMNS = sql`v.id, v.article_id AS "articleId", a.base_id AS "baseId", a.code, a.revision, v.section_id AS "sectionId",
  v.locale, v.state, v.title, v.summary, v.tags, v.responsible_id AS "responsibleId",
  ${userName('v.responsible_id')} AS "responsibleName", v.visibility, v.audiences,
  v.state_token AS "stateToken",
  v.created_at AS "createdAt", v.updated_at AS "updatedAt", v.published_at AS "publishedAt", v.archived_at AS "archivedAt",
  a.review_on::text AS "reviewOn"`;

export const TEXT = sql`v.document, v.body`;

const versionById = byId<VersionRow & VersionText>(
  (id) => sql`
    SELECT ${COLUMNS}, ${TEXT} FROM kb_versions v JOIN kb_articles a ON a.id = v.article_id WHERE v.id = ${id}`,
);

/** The version with its text, without a check of read access. */
export async function findVersion(ctx: ReadContext, id: string): Promise<(VersionRow & VersionText) | undefined> {
  return await ctx.find(versionById, { id });
}

/** The draft and the active version, in one locale or in all. */
export async function listCurrent(ctx: ReadContext, articleId: string, locale?: string): Promise<VersionRow[]> {
  const of = locale === undefined ? empty : sql`AND v.locale = ${locale}`;
  return await ctx.query<VersionRow>(sql`
    SELECT ${COLUMNS} FROM kb_versions v JOIN kb_articles a ON a.id = v.article_id
    WHERE v.article_id = ${articleId}::uuid AND v.state IN ('ACTIVE', 'DRAFT') ${of} ORDER BY v.locale COLLATE "C", v.state`);
}

interface ArticleRow {
  id: string;
  revision: number;
  /** Whether the given locale has a draft. */
  hasDraft: boolean;
}

export async function findArticle(
  ctx: ReadContext,
  baseId: string,
  code: string,
  locale: string,
): Promise<ArticleRow | undefined> {
  const rows = await ctx.query<ArticleRow>(sql`
    SELECT a.id, a.revision, EXISTS (SELECT 1 FROM kb_versions v WHERE v.article_id = a.id AND v.draft_locale = ${locale})
      AS "hasDraft" FROM kb_articles a WHERE a.base_id = ${baseId}::uuid AND a.code = ${code}`);
  return rows[0];
}

/** The codes of the base that are `stem`, or `stem` with a suffix. @param stem lower-case letters, digits and hyphens */
export async function listCodesLike(ctx: ReadContext, baseId: string, stem: string): Promise<string[]> {
  const rows = await ctx.query<{ code: string }>(sql`
    SELECT code FROM kb_articles WHERE base_id = ${baseId}::uuid AND (code = ${stem} OR code LIKE ${`${stem}-%`})`);
  return rows.map(({ code }) => code);
}

/** An article by its id, without a check of read access. */
export async function findArticleById(
  ctx: ReadContext,
  id: string,
): Promise<{ baseId: string; revision: number; reviewOn: string | null } | undefined> {
  const rows = await ctx.query<{ baseId: string; revision: number; reviewOn: string | null }>(sql`
    SELECT base_id AS "baseId", revision, review_on::text AS "reviewOn" FROM kb_articles WHERE id = ${id}::uuid`);
  return rows[0];
}

interface VersionPage {
  baseIds: readonly string[];
  state?: VersionState;
  articleId?: string;
  /** Only versions that this user created, changed last or is responsible for. */
  ofUser?: string;
  /** Only versions of articles whose review date is not after this day. */
  reviewBy?: string;
  limit: number;
  offset: number;
}

/** Versions in any state, without a check of read access, last changed first. For authors. */
export async function listVersions(ctx: ReadContext, page: VersionPage): Promise<VersionRow[]> {
  return await ctx.query<VersionRow>(sql`
    SELECT ${COLUMNS} FROM kb_versions v JOIN kb_articles a ON a.id = v.article_id
    WHERE a.base_id = ANY(${[...page.baseIds]}::uuid[])
      ${page.state === undefined ? empty : sql`AND v.state = ${page.state}`}
      ${page.articleId === undefined ? empty : sql`AND v.article_id = ${page.articleId}::uuid`}
      ${page.ofUser === undefined ? empty : sql`AND ${page.ofUser}::uuid IN (v.created_by, v.updated_by, v.responsible_id)`}
      ${page.reviewBy === undefined ? empty : sql`AND a.review_on <= ${page.reviewBy}::date`}
    ORDER BY v.updated_at DESC, v.id DESC LIMIT ${page.limit}::int OFFSET ${page.offset}::int`);
}

/** Guard: if the code was created in the base meanwhile, the unit of work is retried and creates a version of that article. */
export const insertArticle: TableWrite<{ id: string; base_id: string; code: string; at: string; by: string | null }> = {
  name: 'insert_kb_article',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO kb_articles (id, base_id, code, revision, created_at, created_by)
    SELECT id, base_id, code, 1, at, by
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, base_id uuid, code text, at timestamptz, by uuid)
    ON CONFLICT (base_id, code) DO NOTHING RETURNING 1`,
};

/** The condition of every change of an article's versions: the article's revision has not changed since it was read. */
export const changeArticle: TableWrite<{ id: string; expected: number }> = {
  name: 'change_kb_article',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE kb_articles a SET revision = a.revision + 1
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, expected integer)
    WHERE a.id = r.id AND a.revision = r.expected RETURNING 1`,
};

/** Sets the review date; the condition is as in `changeArticle`. */
export const setReviewDate: TableWrite<{ id: string; expected: number; review_on: string | null }> = {
  name: 'set_kb_review',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE kb_articles a SET revision = a.revision + 1, review_on = r.review_on
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, expected integer, review_on date)
    WHERE a.id = r.id AND a.revision = r.expected RETURNING 1`,
};

interface NewVersion {
  id: string;
  article_id: string;
  section_id: string;
  locale: string;
  title: string;
  summary: string | null;
  tags: readonly string[];
  responsible_id: string | null;
  visibility: Visibility;
  document: RichNode;
  body: string;
  audiences: readonly Audience[];
  audience_ids: readonly string[];
  at: string;
  by: string | null;
}

export const insertVersion: TableWrite<NewVersion> = {
  name: 'insert_kb_version',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO kb_versions (id, article_id, section_id, locale, state, draft_locale, title, summary, tags, responsible_id,
      visibility, document, body, audiences, audience_ids, created_at, created_by, updated_at, updated_by)
    SELECT id, article_id, section_id, locale, 'DRAFT', locale, title, summary, tags, responsible_id, visibility, document,
      body, audiences, audience_ids, at, by, at, by
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, article_id uuid, section_id uuid, locale text, title text, summary text,
      tags text[], responsible_id uuid, visibility text, document jsonb, body text, audiences jsonb, audience_ids uuid[],
      at timestamptz, by uuid)
    RETURNING 1`,
};

interface DraftChange extends Omit<NewVersion, 'article_id' | 'section_id' | 'locale' | 'audiences' | 'audience_ids'> {}

/** The state is part of the condition, so that a published text is never changed. */
export const changeDraft: TableWrite<DraftChange> = {
  name: 'change_kb_draft',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE kb_versions v SET title = r.title, summary = r.summary, tags = r.tags, responsible_id = r.responsible_id,
      visibility = r.visibility, document = r.document, body = r.body, state_token = gen_random_uuid(), updated_at = r.at,
      updated_by = r.by
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, title text, summary text, tags text[], responsible_id uuid,
      visibility text, document jsonb, body text, at timestamptz, by uuid)
    WHERE v.id = r.id AND v.state = 'DRAFT' RETURNING 1`,
};

/** Changes states. Publishing a version and archiving the previous one are rows of one statement. */
export const moveVersion: TableWrite<{
  id: string;
  from: VersionState;
  to: VersionState;
  at: string;
  by: string | null;
}> = {
  name: 'move_kb_version',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE kb_versions v SET state = r."to", state_token = gen_random_uuid(), updated_at = r.at, updated_by = r.by,
      draft_locale = CASE WHEN r."to" = 'DRAFT' THEN v.locale END,
      active_locale = CASE WHEN r."to" = 'ACTIVE' THEN v.locale END,
      published_at = CASE WHEN r."to" = 'ACTIVE' THEN r.at WHEN r."to" = 'ARCHIVED' THEN v.published_at END,
      published_by = CASE WHEN r."to" = 'ACTIVE' THEN r.by WHEN r."to" = 'ARCHIVED' THEN v.published_by END,
      archived_at = CASE WHEN r."to" = 'ARCHIVED' THEN r.at END
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, "from" text, "to" text, at timestamptz, by uuid)
    WHERE v.id = r.id AND v.state = r."from" RETURNING 1`,
};

export const setAudiences: TableWrite<{
  id: string;
  state: VersionState;
  audiences: readonly Audience[];
  audience_ids: readonly string[];
  at: string;
  by: string | null;
}> = {
  name: 'set_kb_audiences',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE kb_versions v SET audiences = r.audiences, audience_ids = r.audience_ids, state_token = gen_random_uuid(), updated_at = r.at,
      updated_by = r.by
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, state text, audiences jsonb, audience_ids uuid[], at timestamptz, by uuid)
    WHERE v.id = r.id AND v.state = r.state RETURNING 1`,
};

// ---------------------------------------------------------------- active versions, for search and for the admission of members

/** Ids of active versions after `after`, in order. */
export async function listActiveIds(ctx: ReadContext, after: string | null, limit: number): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT id FROM kb_versions WHERE state = 'ACTIVE' AND (${after}::uuid IS NULL OR id > ${after}::uuid)
    ORDER BY id LIMIT ${limit}::int`);
  return rows.map(({ id }) => id);
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
    SELECT EXISTS (SELECT 1 FROM kb_versions WHERE state = 'ACTIVE' AND audience_ids && ${[...ids]}::uuid[]
      AND NOT audience_ids && ${[EVERYONE, ...own]}::uuid[]) AS found`);
  return rows[0]?.found === true;
}

/** SQL for whether an active version names one of these ids in its audience and not everyone. @param ids SQL of an array */
export function activeArticleNames(ids: Sql): Sql {
  return sql`EXISTS (SELECT FROM kb_versions WHERE state = 'ACTIVE' AND audience_ids && ${ids}
    AND NOT audience_ids && ARRAY[${raw(`'${EVERYONE}'`)}::uuid])`;
}

// ---------------------------------------------------------------- users, groups and units in audiences

export interface Principal {
  kind: 'user' | 'group' | 'orgUnit';
  id: string;
  name: LocalizedText;
  active: boolean;
}

/** The users, groups and units with these ids, including archived ones. */
export async function findPrincipals(ctx: ReadContext, ids: readonly string[]): Promise<Principal[]> {
  if (ids.length === 0) return [];
  const wanted = [...ids];
  return await ctx.query<Principal>(sql`
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
