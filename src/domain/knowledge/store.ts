/** SQL on the tables `kb_articles`, `kb_versions` and `kb_images`, and on the users, groups and units in audiences. */
import { columns, omit, pick, type RowOf } from '../../platform/database/table.ts';
import { tables } from '../../platform/database/tables.ts';
import { insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import { userName } from '../../platform/journal/journal.ts';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import type { BlobUse } from '../../platform/blobs/register.ts';
import { byId } from '../../platform/database/lookups.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { LocalizedText } from '../metadata/index.ts';

export type VersionState = 'DRAFT' | 'ACTIVE' | 'ARCHIVED';

/** One audience of a version; `everyone` has no `id`. */
export interface Audience {
  kind: 'everyone' | 'group' | 'orgUnit' | 'user';
  id?: string;
}

const VERSION = omit(tables.kb_versions, [
  'draftLocale',
  'activeLocale',
  'document',
  'body',
  'audienceIds',
  'createdBy',
  'updatedBy',
  'publishedBy',
]);
const ARTICLE = pick(tables.kb_articles, ['baseId', 'code', 'revision', 'reviewOn']);
const TEXT_COLUMNS = pick(tables.kb_versions, ['document', 'body']);

/**
 * A version without its text. The revision is that of the article, shared by all its versions; `reviewOn` is the day on which the
 * article should be checked again.
 */
export interface VersionRow extends RowOf<typeof VERSION>, RowOf<typeof ARTICLE> {
  responsibleName: string | null;
}
export type VersionText = RowOf<typeof TEXT_COLUMNS>;

/** Represents everyone among the ids that a version admits. */
export const EVERYONE = '00000000-0000-0000-0000-000000000000';

/** Columns of a version, from `kb_versions v` and `kb_articles a`. */
export const COLUMNS = sql`${columns(VERSION, 'v')}, ${columns(ARTICLE, 'a')}, ${userName('v.responsible_id')} AS "responsibleName"`;

export const TEXT = columns(TEXT_COLUMNS, 'v');

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
export const insertArticle = insertInto(tables.kb_articles, {
  name: 'insert_kb_article',
  set: { revision: sql`1` },
  defaults: ['reviewOn'],
  conflict: sql`(base_id, code) DO NOTHING`,
});

/** The condition of every change of an article's versions: the article's revision has not changed since it was read. */
export const changeArticle = update(tables.kb_articles, { name: 'change_kb_article', next: 'revision' });

/** Sets the review date; the condition is as in `changeArticle`. */
export const setReviewDate = update(tables.kb_articles, { name: 'set_kb_review', set: ['reviewOn'], next: 'revision' });

export const insertVersion = insertInto(tables.kb_versions, {
  name: 'insert_kb_version',
  set: {
    state: sql`'DRAFT'`,
    draftLocale: sql`r.locale`,
    createdAt: sql`r."updatedAt"`,
    createdBy: sql`r."updatedBy"`,
  },
  defaults: ['activeLocale', 'stateToken', 'publishedAt', 'publishedBy', 'archivedAt'],
});

const CHANGED = { stateToken: sql`gen_random_uuid()` };

/** The state is part of the condition, so that a published text is never changed. */
export const changeDraft = update(tables.kb_versions, {
  name: 'change_kb_draft',
  set: ['title', 'summary', 'tags', 'responsibleId', 'visibility', 'document', 'body', 'updatedAt', 'updatedBy'],
  also: CHANGED,
  where: sql`t.state = 'DRAFT'`,
});

/** Changes states. Publishing a version and archiving the previous one are rows of one statement. */
export const moveVersion = update(tables.kb_versions, {
  name: 'move_kb_version',
  set: ['updatedAt', 'updatedBy'],
  given: { from: 'text', to: 'text' },
  also: {
    ...CHANGED,
    state: sql`r."to"`,
    draftLocale: sql`CASE WHEN r."to" = 'DRAFT' THEN t.locale END`,
    activeLocale: sql`CASE WHEN r."to" = 'ACTIVE' THEN t.locale END`,
    publishedAt: sql`CASE WHEN r."to" = 'ACTIVE' THEN r."updatedAt" WHEN r."to" = 'ARCHIVED' THEN t.published_at END`,
    publishedBy: sql`CASE WHEN r."to" = 'ACTIVE' THEN r."updatedBy" WHEN r."to" = 'ARCHIVED' THEN t.published_by END`,
    archivedAt: sql`CASE WHEN r."to" = 'ARCHIVED' THEN r."updatedAt" END`,
  },
  where: sql`t.state = r."from"`,
});

export const setAudiences = update(tables.kb_versions, {
  name: 'set_kb_audiences',
  key: ['id', 'state'],
  set: ['audiences', 'audienceIds', 'updatedAt', 'updatedBy'],
  also: CHANGED,
});

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

const IMAGE = omit(tables.kb_images, ['articleId']);
export type ImageRow = RowOf<typeof IMAGE>;

export async function listImages(ctx: ReadContext, articleId: string): Promise<ImageRow[]> {
  return await ctx.query<ImageRow>(
    sql`SELECT ${columns(IMAGE, 'i')} FROM kb_images i WHERE article_id = ${articleId}::uuid`,
  );
}

export const useImage = insertInto(tables.kb_images, { name: 'use_kb_image', guard: false, conflict: 'ignore' });

/** An article's images are kept as long as the article. */
export const articleImageUse: BlobUse = (sha256) => sql`EXISTS (SELECT 1 FROM kb_images k WHERE k.sha256 = ${sha256})`;
