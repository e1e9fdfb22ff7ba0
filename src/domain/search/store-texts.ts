/**
 * Hits among comments and articles, and the names of users, groups and units. `app.ts` passes in what search needs from the
 * modules of articles and services, so that it does not depend on them. All words of these texts are readable if the text is.
 */
import sql, { type Sql, empty, join, raw } from 'sql-template-tag';
import { rowVersion } from '../../platform/journal/positions.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { visibleComments } from '../comments/index.ts';
import type { RankPlan } from './ranking.ts';
import { anyOperand } from './indexing/lexemes.ts';
import type { Reading, Scored } from './query.ts';
import { readingRank } from './sql/words.ts';

export interface ArticleText {
  articleId: string;
  title: string;
  summary: string;
  tags: readonly string[];
  /** Plain text. */
  body: string;
  updatedAt: string;
}

export interface ArticleSource {
  /** The text of a version as it will be after this unit of work; undefined if the version is not active. */
  activeText(ctx: ReadContext, versionId: string): Promise<ArticleText | undefined>;
  /** Ids of active versions after `after`, in order, for a rebuild. */
  activeIds(ctx: ReadContext, after: string | null, limit: number): Promise<string[]>;
  /** @throws Fault RIGHT_MISSING */
  requireReader(ctx: ReadContext): void;
  /**
   * Predicate: the caller may read the version whose id is in `column`.
   *
   * @throws Fault RIGHT_MISSING
   */
  visible(ctx: ReadContext, column: Sql): Sql;
}

/** An item whose few texts are matched in memory. */
export interface Listed {
  id: string;
  title: string;
  /** Texts that are searched in addition to the title. */
  texts: readonly string[];
  updatedAt: string;
}

export interface ServiceSource {
  /** The services whose audience includes the caller. */
  services(ctx: ReadContext): Promise<readonly Listed[]>;
}

const ZONES = sql`'{0.6,0.6,0.6,1}'::real[]`;

/** Rows `s` (id, updated_at, size, words) that the caller may read. */
export interface TextSource {
  from: Sql;
  visible: Sql;
}

/** The comments that the caller may read; null if there are none. */
export function commentSource(ctx: ReadContext): TextSource | null {
  const visible = ctx.actor.visible('o', 'read', ctx.now);
  if (visible === null) return null;
  return {
    from: sql`search_comments s JOIN objects o ON o.id = s.object_id`,
    visible: sql`o.state = 'ACTIVE' AND ${visible} AND ${visibleComments(ctx, 's', 'o')}`,
  };
}

/** @throws Fault RIGHT_MISSING */
export function articleSource(ctx: ReadContext, articles: ArticleSource): TextSource {
  return { from: sql`search_articles s`, visible: articles.visible(ctx, raw('s.id')) };
}

/** Up to `limit` last updated matches, best first. */
export async function matchTexts(
  ctx: ReadContext,
  source: TextSource,
  readings: readonly Reading[],
  together: 'AND' | 'OR',
  plan: RankPlan,
  except: readonly string[],
  limit: number,
): Promise<Scored[]> {
  const given = readings.flatMap(({ matched }) => (matched.length === 0 ? [] : [anyOperand(matched)]));
  if (given.length === 0 || (together === 'AND' && given.length < readings.length)) return [];
  const whole = given.map((query) => `(${query})`).join(together === 'AND' ? ' & ' : ' | ');
  const sums = readings.flatMap((reading, index) => {
    if (reading.matched.length === 0) return [];
    return [sql`${plan.weights[index] ?? 0}::float8 * ${readingRank(ZONES, sql`m.words`, reading)}`];
  });
  return await ctx.query<Scored>(sql`
    SELECT m.id, floor(1e6 * (${join(sums, ' + ')})
      / (1 - ${plan.b}::float8 + ${plan.b}::float8 * m.size / greatest(1, avg(m.size) OVER ()))) / 1e6 AS score
    FROM (SELECT s.id, s.size, s.words FROM ${source.from} WHERE s.words @@ ${whole}::tsquery AND ${source.visible}
      ${except.length === 0 ? empty : sql`AND s.id <> ALL(${[...except]}::uuid[])`}
      ORDER BY s.updated_at DESC, s.id DESC LIMIT ${limit}::int) AS m
    ORDER BY 2 DESC, m.id DESC`);
}

export interface ArticleHit {
  id: string;
  articleId: string;
  title: string;
  summary: string;
  updatedAt: string;
}

export async function findArticleHits(ctx: ReadContext, ids: readonly string[]): Promise<ArticleHit[]> {
  return await ctx.query<ArticleHit>(sql`
    SELECT id, article_id AS "articleId", title, summary, updated_at AS "updatedAt" FROM search_articles
    WHERE id = ANY(${[...ids]}::uuid[])`);
}

export interface Person {
  kind: 'user' | 'group' | 'org-unit';
  id: string;
  /** A name, or names by locale. */
  title: string | Record<string, string>;
  texts: (string | null)[];
  updatedAt: string;
}

/** All active users, groups and units. */
export async function listPeople(ctx: ReadContext): Promise<Person[]> {
  return await ctx.query<Person>(sql`
    SELECT 'user' AS kind, id, to_jsonb(display_name) AS title, ARRAY[login, email, employee_id, external_id] AS texts, updated_at AS "updatedAt"
    FROM users WHERE state = 'ACTIVE'
    UNION ALL
    SELECT 'group', id, name, ARRAY[code], updated_at FROM groups WHERE state = 'ACTIVE'
    UNION ALL
    SELECT 'org-unit', id, name, ARRAY[code, location], updated_at FROM org_units WHERE state = 'ACTIVE'`);
}

/** Changes whenever one of these rows was written, because each writing transaction has its own number. */
export async function peopleState(ctx: ReadContext): Promise<string> {
  const of = (table: Sql): Sql =>
    sql`SELECT count(*) || ' ' || coalesce(sum(${rowVersion('t')}), 0) AS part FROM ${table} t`;
  const parts = [of(sql`users`), of(sql`groups`), of(sql`org_units`)];
  const [row] = await ctx.query<{ state: string }>(
    sql`SELECT string_agg(part, ', ') AS state FROM (${join(parts, ' UNION ALL ')}) AS parts`,
  );
  return row?.state ?? '';
}
