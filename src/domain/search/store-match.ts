/**
 * Which records match, in steps that are bounded whatever the words (performance, "Search at 1,000,000 records"): nothing
 * unbounded is ranked or counted. Rights are part of the statement, before every LIMIT.
 */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../mechanisms/context.ts';
import type { RankPlan } from './ranking.ts';
import { termRank } from './store-look.ts';
import { holdsTerm } from './store-need.ts';
import type { Reach } from './store-reach.ts';
import type { TermQuery } from './terms.ts';

/** How many records a walk by update looks at before the index of words is asked after all. */
const LONGEST_WALK = 20_000;

/** What records must be and hold. */
export interface Match {
  reach: Reach;
  state: 'ACTIVE' | 'ARCHIVED';
  /** Null: whatever their state in the workflow. */
  workflowStateIds: readonly string[] | null;
  /** Further predicate over `o`. */
  filter: Sql | null;
  /** Null: whatever their words. */
  words: Words | null;
  order: 'updated_at' | 'created_at';
}

export interface Words {
  /** `tsquery` that every match satisfies. */
  query: string;
  /** Predicate over `s` and `o` beyond `query`; null: none. */
  exact: Sql | null;
  /** Estimated share of all rows that satisfy `query`: which way is the shorter one. */
  share: number;
  common: boolean;
}

/** `found`: that the words stand there somewhere is known already. */
function admitted(match: Match, found: boolean): Sql {
  const parts = [match.state === 'ACTIVE' ? sql`o.state = 'ACTIVE'` : sql`o.state = 'ARCHIVED'`, match.reach.visible];
  if (match.workflowStateIds !== null) {
    parts.push(sql`o.workflow_state_id = ANY(${[...match.workflowStateIds]}::uuid[])`);
  }
  if (match.filter !== null) parts.push(match.filter);
  if (match.words !== null) {
    if (!found) parts.push(sql`s.words @@ ${match.words.query}::tsquery`);
    if (match.words.exact !== null) parts.push(match.words.exact);
  }
  return join(parts, ' AND ');
}

function ordered(match: Match): Sql {
  return match.order === 'updated_at'
    ? sql`ORDER BY o.updated_at DESC, o.id DESC`
    : sql`ORDER BY o.created_at DESC, o.id DESC`;
}

const JOINED = sql`JOIN LATERAL (SELECT s.id, s.form, s.size, s.words FROM search_records s WHERE s.id = o.id OFFSET 0) s ON true`;

/**
 * By the index of words, each match with its record by key: left to itself the planner, which cannot know how many will match,
 * joins in ways that are a thousand times dearer. Without words, or with common ones beside a filter, whatever way it finds.
 */
function byWords(match: Match, limit: number, offset: number, except: readonly string[]): Sql {
  const { words, filter } = match;
  const planned = words === null || (filter !== null && words.common);
  const from = planned
    ? sql`objects o JOIN search_records s ON s.id = o.id`
    : sql`(SELECT s.id, s.form, s.size, s.words FROM search_records s WHERE s.words @@ ${words.query}::tsquery OFFSET 0) s
        JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = s.id OFFSET 0) o ON true`;
  return sql`SELECT o.id FROM ${from} WHERE ${admitted(match, !planned)} ${unlisted(except)}
    ${ordered(match)} LIMIT ${limit}::int OFFSET ${offset}::int`;
}

function unlisted(except: readonly string[]): Sql {
  return except.length === 0 ? empty : sql`AND o.id <> ALL(${[...except]}::uuid[])`;
}

/** Along the records last updated, no further than `walk` of them. */
function byUpdate(match: Match, walk: number, limit: number, offset: number, except: readonly string[]): Sql {
  const state = match.state === 'ACTIVE' ? sql`o.state = 'ACTIVE'` : sql`o.state = 'ARCHIVED'`;
  return sql`SELECT o.id FROM (SELECT o.* FROM objects o WHERE ${state} ${ordered(match)} LIMIT ${walk}::int OFFSET 0) o ${JOINED}
    WHERE ${admitted(match, false)} ${unlisted(except)} ${ordered(match)} LIMIT ${limit}::int OFFSET ${offset}::int`;
}

/** Ids of matches in the match's order, from `offset` on, without those in `except`. */
export async function listMatches(
  ctx: ReadContext,
  match: Match,
  limit: number,
  offset = 0,
  except: readonly string[] = [],
): Promise<string[]> {
  if (limit <= 0 || match.words?.query === '') return [];
  if (match.words?.common === true && match.filter === null) {
    const walk = Math.min(LONGEST_WALK, Math.ceil((4 * (limit + offset + except.length)) / match.words.share));
    const found = await ctx.query<{ id: string }>(byUpdate(match, walk, limit, offset, except));
    if (found.length === limit) return found.map(({ id }) => id);
  }
  const found = await ctx.query<{ id: string }>(byWords(match, limit, offset, except), {
    // The best way hangs on the values: how many records a filter admits, how far the page lies.
    freshPlan: match.words === null || match.filter !== null || offset > 0,
  });
  return found.map(({ id }) => id);
}

export interface Scored {
  id: string;
  score: number;
}

const TITLE = sql`'{0,0,0,1}'::real[]`;
const REST = sql`'{1,1,1,0}'::real[]`;

/** The score of each record, best first, ties by id. Only words that the caller may read on the record count. */
export async function score(
  ctx: ReadContext,
  ids: readonly string[],
  queries: readonly TermQuery[],
  plan: RankPlan & { average: number },
  reach: Reach,
  most: number,
): Promise<Scored[]> {
  if (ids.length === 0) return [];
  const weighed = (zones: Sql, weights: readonly number[]): Sql => {
    const sums = queries.map((query, index) => sql`${weights[index] ?? 0}::float8 * ${termRank(zones, query, reach)}`);
    return sums.length === 0 ? sql`0` : join(sums, ' + ');
  };
  const average = plan.average > 0 ? sql`${plan.average}::float8` : sql`greatest(1, avg(s.size) OVER ())`;
  return await ctx.query<Scored>(sql`
    SELECT id, score FROM (
      SELECT s.id, floor(1e6 * ((${weighed(TITLE, plan.titleWeights)}) + (${weighed(REST, plan.restWeights)})
        / (1 - ${plan.b}::float8 + ${plan.b}::float8 * s.size / ${average}))) / 1e6 AS score
      FROM search_records s ${reach.classes.length === 0 ? empty : sql`JOIN objects o ON o.id = s.id`}
      WHERE s.id = ANY(${[...ids]}::uuid[])
    ) AS scored ORDER BY score DESC, id DESC LIMIT ${most}::int`);
}

/** How many of the caller's newest records hold each word, of how many, and how long these are: what is common where they look. */
export async function sampleTerms(
  ctx: ReadContext,
  reach: Reach,
  queries: readonly TermQuery[],
  size: number,
): Promise<{ records: number; holding: number[]; average: number }> {
  const counts = queries.map((query) => sql`count(*) FILTER (WHERE ${holdsTerm(query, reach)})`);
  const [row] = await ctx.query<{ records: number; holding: number[]; average: number }>(
    sql`SELECT count(*) AS records, ARRAY[${join(counts)}]::float8[] AS holding, coalesce(avg(o.size), 0)::float8 AS average
      FROM (SELECT o.*, s.words, s.size FROM objects o ${JOINED} WHERE o.state = 'ACTIVE' AND ${reach.visible}
        ORDER BY o.updated_at DESC, o.id DESC LIMIT ${size}::int OFFSET 0) o
      CROSS JOIN LATERAL (SELECT o.words) AS s (words)`,
  );
  return row ?? { records: 0, holding: queries.map(() => 0), average: 0 };
}

/** From here on a statement of this transaction that takes longer is ended. */
export async function setTimeBudget(ctx: ReadContext, milliseconds: number): Promise<void> {
  await ctx.query(sql`SELECT set_config('statement_timeout', ${String(milliseconds)}, true)`);
}
