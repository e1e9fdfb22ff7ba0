/** SQL for readers of articles. Every read takes the caller's filter. Also the tables `kb_views`, `kb_view_days` and `kb_votes`. */
import { tables } from '../../platform/database/tables.ts';
import { deleteFrom, insertInto } from '../../platform/unit-of-work/table-writes.ts';
import sql, { empty, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { RichNode } from '../metadata/index.ts';
import type { Base } from './registry.ts';
import { COLUMNS, TEXT, type VersionRow, type VersionText } from './store.ts';

/** Limits reads to active versions of active bases that admit one of these ids. Every read for a caller requires it. */
export interface AudienceFilter {
  bases: readonly Base[];
  admitted: readonly string[];
  /** Whether only versions with the visibility `portal` are readable. */
  portalOnly: boolean;
}

function readableBy({ bases, admitted, portalOnly }: AudienceFilter): Sql {
  const visibility = portalOnly ? sql`AND v.visibility = 'portal'` : empty;
  return sql`v.state = 'ACTIVE' AND v.audience_ids && ${[...admitted]}::uuid[] ${visibility} AND ${ofBases({ bases })}`;
}

function ofBases({ bases }: Pick<AudienceFilter, 'bases'>): Sql {
  return sql`a.base_id = ANY(${bases.map(({ id }) => id)}::uuid[])`;
}

/** Locales in order of preference. */
export interface Preference {
  asked: string;
  fallback: string;
}

function preferred(filter: AudienceFilter, { asked, fallback }: Preference): Sql {
  const orders = JSON.stringify(filter.bases.map(({ id, locales }) => ({ id, locales })));
  return sql`v.locale = ${asked} DESC, v.locale = ${fallback} DESC, (SELECT array_position(b.locales, v.locale)
    FROM jsonb_to_recordset(${orders}::jsonb) AS b (id uuid, locales text[]) WHERE b.id = a.base_id), v.locale COLLATE "C"`;
}

/** Query of one readable version per article, in the preferred locale. */
function readableVersions(filter: AudienceFilter, preference: Preference): Sql {
  return sql`SELECT DISTINCT ON (v.article_id) ${COLUMNS} FROM kb_versions v JOIN kb_articles a ON a.id = v.article_id
    WHERE ${readableBy(filter)} ORDER BY v.article_id, ${preferred(filter, preference)}`;
}

/** The readable articles, last published first. */
export async function listReadable(
  ctx: ReadContext,
  filter: AudienceFilter,
  preference: Preference,
): Promise<VersionRow[]> {
  return await ctx.query<VersionRow>(sql`
    SELECT * FROM (${readableVersions(filter, preference)}) AS found ORDER BY "publishedAt" DESC, id DESC`);
}

export async function findReadable(
  ctx: ReadContext,
  filter: AudienceFilter,
  preference: Preference,
  articleId: string,
): Promise<(VersionRow & VersionText) | undefined> {
  const rows = await ctx.query<VersionRow & VersionText>(sql`
    SELECT ${COLUMNS}, ${TEXT} FROM kb_versions v JOIN kb_articles a ON a.id = v.article_id
    WHERE v.article_id = ${articleId}::uuid AND ${readableBy(filter)} ORDER BY ${preferred(filter, preference)} LIMIT 1`);
  return rows[0];
}

/** Locales in which the caller may read the article. */
export async function listLocales(ctx: ReadContext, filter: AudienceFilter, articleId: string): Promise<string[]> {
  const rows = await ctx.query<{ locale: string }>(sql`
    SELECT v.locale FROM kb_versions v JOIN kb_articles a ON a.id = v.article_id
    WHERE v.article_id = ${articleId}::uuid AND ${readableBy(filter)} ORDER BY v.locale COLLATE "C"`);
  return rows.map(({ locale }) => locale);
}

/** Texts of the article that contain the image's handle: of readable versions, or with `all` of any version. */
export async function listTextsWithImage(
  ctx: ReadContext,
  filter: AudienceFilter & { all: boolean },
  articleId: string,
  sha256: string,
): Promise<RichNode[]> {
  const rows = await ctx.query<{ document: RichNode }>(sql`
    SELECT v.document FROM kb_versions v JOIN kb_articles a ON a.id = v.article_id
    WHERE v.article_id = ${articleId}::uuid AND ${filter.all ? ofBases(filter) : readableBy(filter)}
      AND v.document::text LIKE ${`%blob:${sha256}%`}`);
  return rows.map(({ document }) => document);
}

/** Predicate: `column` is the id of an active version whose audience includes the caller. */
export function isReadable(column: Sql, filter: AudienceFilter): Sql {
  return sql`EXISTS (SELECT 1 FROM kb_versions v JOIN kb_articles a ON a.id = v.article_id
    WHERE v.id = ${column} AND ${readableBy(filter)})`;
}

/** Predicate: `column` is the id of a published or archived version whose audience includes the caller. */
export function wasReadable(column: Sql, { bases, admitted }: AudienceFilter): Sql {
  return sql`EXISTS (SELECT 1 FROM kb_versions v JOIN kb_articles a ON a.id = v.article_id
    WHERE v.id = ${column} AND v.state <> 'DRAFT' AND v.audience_ids && ${[...admitted]}::uuid[] AND ${ofBases({ bases })})`;
}

// ---------------------------------------------------------------- browsing, views and votes

const VIEWS_DAYS = 90;
/** Maximum number of rows that one run of the task moves or removes. */
const BATCH = 5000;

/** Views by article and day that count: those of finished days, and the single ones of the last days. */
function recentViews(ctx: Pick<ReadContext, 'now'>): Sql {
  const first = sql`${ctx.now.slice(0, 10)}::date - ${VIEWS_DAYS}::int`;
  return sql`(SELECT d.article_id, d.views FROM kb_view_days d WHERE d.day > ${first}
    UNION ALL SELECT w.article_id, 1 FROM kb_views w WHERE w.day > ${first})`;
}

export interface SectionCount {
  baseId: string;
  sectionId: string;
  articles: number;
}

/** How many articles the caller may read in each section. An article counts where its preferred version is. */
export async function countBySection(
  ctx: ReadContext,
  filter: AudienceFilter,
  preference: Preference,
): Promise<SectionCount[]> {
  return await ctx.query<SectionCount>(sql`
    SELECT "baseId", "sectionId", count(*)::int AS articles
    FROM (${readableVersions(filter, preference)}) AS found GROUP BY 1, 2`);
}

export interface Browse {
  /** Only articles of these sections. */
  sectionIds?: readonly string[];
  /** Only articles like this one. */
  like?: { articleId: string; sectionId: string; tags: readonly string[]; words: readonly string[] };
  sort: 'title' | 'newest' | 'popular';
  limit: number;
  offset: number;
}

/** One readable version per article, as `listReadable`, filtered and sorted. */
export async function browseReadable(
  ctx: ReadContext,
  filter: AudienceFilter,
  preference: Preference,
  { sectionIds, like, sort, limit, offset }: Browse,
): Promise<VersionRow[]> {
  const inSections = sectionIds === undefined ? empty : sql`AND "sectionId" = ANY(${[...sectionIds]}::uuid[])`;
  const alike = like === undefined ? sql`0` : likeness(like);
  const others =
    like === undefined
      ? empty
      : sql`AND found."articleId" <> ${like.articleId}::uuid AND ("sectionId" = ${like.sectionId}::uuid OR likeness > 0)`;
  const orders = {
    title: sql`title COLLATE "und-x-icu"`,
    newest: sql`"publishedAt" DESC`,
    popular: sql`coalesce(views, 0) + 3 * coalesce(votes, 0) DESC, "publishedAt" DESC`,
  };
  return await ctx.query<VersionRow>(sql`
    SELECT found.* FROM (SELECT all_readable.*, ${alike} AS likeness FROM (${readableVersions(filter, preference)}) AS all_readable) AS found
    LEFT JOIN (SELECT recent.article_id, sum(recent.views) AS views FROM ${recentViews(ctx)} AS recent GROUP BY 1) AS seen
      ON seen.article_id = found."articleId"
    LEFT JOIN (SELECT o.article_id, sum(CASE WHEN o.helpful THEN 1 ELSE -1 END) AS votes FROM kb_votes o GROUP BY 1) AS voted
      ON voted.article_id = found."articleId"
    WHERE true ${inSections} ${others}
    ORDER BY likeness DESC, ${orders[sort]}, "articleId" LIMIT ${limit}::int OFFSET ${offset}::int`);
}

/** Common tags count twice as much as common words of the titles. */
function likeness({ tags, words }: NonNullable<Browse['like']>): Sql {
  return sql`(SELECT 2 * count(*) FROM unnest(tags) AS tag WHERE tag = ANY(${[...tags]}::text[]))
    + (SELECT count(*) FROM unnest(${[...words]}::text[]) AS word WHERE strpos(lower(title), word) > 0)`;
}

/** The caller's vote on an article. Undefined if the caller may not read the article. */
export async function findOwnVote(
  ctx: ReadContext,
  filter: AudienceFilter,
  articleId: string,
  userId: string,
): Promise<{ helpful: boolean | null } | undefined> {
  const rows = await ctx.query<{ helpful: boolean | null }>(sql`
    SELECT (SELECT o.helpful FROM kb_votes o WHERE o.article_id = a.id AND o.user_id = ${userId}::uuid) AS helpful
    FROM kb_articles a WHERE a.id = ${articleId}::uuid
      AND EXISTS (SELECT 1 FROM kb_versions v WHERE v.article_id = a.id AND ${readableBy(filter)})`);
  return rows[0];
}

export interface Feedback {
  views: number;
  helpful: number;
  notHelpful: number;
}

/** Counts for authors, for the articles with these ids. */
export async function countFeedback(
  ctx: ReadContext,
  articleIds: readonly string[],
): Promise<(Feedback & { articleId: string })[]> {
  return await ctx.query<Feedback & { articleId: string }>(sql`
    SELECT id AS "articleId",
      (SELECT coalesce(sum(recent.views), 0)::int FROM ${recentViews(ctx)} AS recent WHERE recent.article_id = id) AS views,
      (SELECT count(*)::int FROM kb_votes o WHERE o.article_id = id AND o.helpful) AS helpful,
      (SELECT count(*)::int FROM kb_votes o WHERE o.article_id = id AND NOT o.helpful) AS "notHelpful"
    FROM unnest(${[...articleIds]}::uuid[]) AS id`);
}

/**
 * Counts the views of days before `today`, except the day before: a view that began on it may still be written. Removes counts
 * that are too old to matter.
 *
 * @param today YYYY-MM-DD, UTC
 * @returns whether there may be more to do
 */
export async function countViewDays(db: Queryable, today: string): Promise<boolean> {
  const rows = await db.query<{ moved: number }>(sql`
    WITH finished AS (
      DELETE FROM kb_views WHERE ctid = ANY (ARRAY(
        SELECT w.ctid FROM kb_views w WHERE w.day < ${today}::date - 1 LIMIT ${BATCH}::int)) RETURNING article_id, day
    ), counted AS (
      INSERT INTO kb_view_days AS d (article_id, day, views) SELECT article_id, day, count(*) FROM finished GROUP BY 1, 2
      ON CONFLICT (article_id, day) DO UPDATE SET views = d.views + EXCLUDED.views
    ), gone AS (
      DELETE FROM kb_view_days WHERE ctid = ANY (ARRAY(
        SELECT d.ctid FROM kb_view_days d WHERE d.day <= ${today}::date - ${VIEWS_DAYS}::int LIMIT ${BATCH}::int)) RETURNING 1
    ) SELECT greatest((SELECT count(*) FROM finished), (SELECT count(*) FROM gone))::int AS moved`);
  return (rows[0]?.moved ?? 0) >= BATCH;
}

export const insertView = insertInto(tables.kb_views, { name: 'insert_kb_view', guard: false, conflict: 'ignore' });

export const setVote = insertInto(tables.kb_votes, { name: 'set_kb_vote', guard: false, conflict: 'replace' });

export const removeVote = deleteFrom(tables.kb_votes, { name: 'remove_kb_vote', guard: false });
