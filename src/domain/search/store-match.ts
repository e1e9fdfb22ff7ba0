/**
 * Which records match, in steps that are bounded whatever the words (performance, "Search at 1,000,000 records"): nothing
 * unbounded is ranked or counted. Rights are part of the statement, before every LIMIT.
 */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../mechanisms/context.ts';
import { type Reach, trustedRows } from './store-reach.ts';

/** How many records a walk looks at, beside as many as the page lies deep, before the index of words is asked. */
const LONGEST_WALK = 30_000;
/** So many more for each match that is left out before the page. */
const WALK_A_PLACE = 8;
/** A walk that found too few goes on from the start, once it is known how far. */
const MOST_WALKS = 3;

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

interface Page {
  limit: number;
  offset: number;
  /** Ids that are listed elsewhere. */
  except: readonly string[];
}

function inState({ state }: Match): Sql {
  return state === 'ACTIVE' ? sql`o.state = 'ACTIVE'` : sql`o.state = 'ARCHIVED'`;
}

/** The records that come into question, whatever their words: a predicate over `o` alone. */
function seen(match: Match): Sql {
  const parts = [inState(match), match.reach.visible];
  if (match.workflowStateIds !== null) {
    parts.push(sql`o.workflow_state_id = ANY(${[...match.workflowStateIds]}::uuid[])`);
  }
  if (match.filter !== null) parts.push(match.filter);
  return join(parts, ' AND ');
}

function ordered(match: Match): Sql {
  return match.order === 'updated_at'
    ? sql`ORDER BY o.updated_at DESC, o.id DESC`
    : sql`ORDER BY o.created_at DESC, o.id DESC`;
}

function paged(match: Match, { limit, offset, except }: Page): Sql {
  const unlisted = except.length === 0 ? empty : sql`AND o.id <> ALL(${[...except]}::uuid[])`;
  return sql`${unlisted} ${ordered(match)} LIMIT ${limit}::int OFFSET ${offset}::int`;
}

function exactly({ exact }: Words): Sql {
  return exact === null ? empty : sql`AND ${exact}`;
}

/** Whatever their words, by whatever way the planner finds. */
function withoutWords(match: Match, page: Page): Sql {
  return sql`SELECT o.id FROM objects o WHERE ${seen(match)} ${paged(match, page)}`;
}

/**
 * By the index of words, each match with its record by key: left to itself the planner, which cannot know how many will match,
 * joins in ways that are a thousand times dearer. The matches are brought into order by an index alone (`objects_order`), and
 * looked at in that order, with rights and filter, until there are enough.
 */
function byWords(match: Match, words: Words, page: Page): Sql {
  const { limit, offset, except } = page;
  const at = match.order === 'updated_at' ? sql`o.updated_at` : sql`o.created_at`;
  const unlisted = except.length === 0 ? empty : sql`AND s.id <> ALL(${[...except]}::uuid[])`;
  // The words themselves are wide: they are read again of those that are looked at.
  const row =
    words.exact === null
      ? sql`CROSS JOIN LATERAL (SELECT m.id, m.form) AS s`
      : sql`JOIN LATERAL (SELECT s.id, s.form, s.words FROM search_records s WHERE s.id = m.id OFFSET 0) s ON true`;
  return sql`SELECT m.id
    FROM (SELECT s.id, s.form, o.at
        FROM (SELECT s.id, s.form FROM search_records s WHERE s.words @@ ${words.query}::tsquery ${unlisted} OFFSET 0) s
          JOIN LATERAL (SELECT ${at} AS at FROM objects o WHERE o.id = s.id AND ${inState(match)} OFFSET 0) o ON true
        ORDER BY o.at DESC, s.id DESC OFFSET 0) m
      ${row}
      JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = m.id OFFSET 0) o ON true
    WHERE ${seen(match)} ${trustedRows(match.reach)} ${exactly(words)}
    ORDER BY m.at DESC, m.id DESC LIMIT ${limit}::int OFFSET ${offset}::int`;
}

/**
 * What a walk goes along. With a filter the records that it admits, since it may have an index; else all records, since the
 * planner knows nothing of how many a row condition admits, and would rather sort them all.
 */
function path(match: Match): Sql {
  return match.filter === null ? inState(match) : seen(match);
}

/** Along records, in order, no further than `walk` of them. */
function alongRecords(match: Match, words: Words, walk: number, page: Page): Sql {
  return sql`SELECT o.id
    FROM (SELECT o.* FROM objects o WHERE ${path(match)} ${ordered(match)} LIMIT ${walk}::int OFFSET 0) o
      JOIN LATERAL (SELECT s.id, s.form, s.size, s.words FROM search_records s WHERE s.id = o.id OFFSET 0) s ON true
    WHERE s.words @@ ${words.query}::tsquery AND ${seen(match)} ${trustedRows(match.reach)} ${exactly(words)} ${paged(match, page)}`;
}

/** Whether a walk of `most` records reaches the end. */
async function isShort(ctx: ReadContext, match: Match, most: number): Promise<boolean> {
  const [row] = await ctx.query<{ n: number }>(
    sql`SELECT count(*) AS n FROM (SELECT 1 FROM objects o WHERE ${path(match)} LIMIT ${most + 1}::int) AS counted`,
    { freshPlan: true },
  );
  return (row?.n ?? 0) <= most;
}

/** Ids of matches in the match's order, from `offset` on, without those in `except`. */
export async function listMatches(
  ctx: ReadContext,
  match: Match,
  limit: number,
  offset = 0,
  except: readonly string[] = [],
): Promise<string[]> {
  const { words } = match;
  if (limit <= 0 || words?.query === '') return [];
  const page = { limit, offset, except };
  // The best way hangs on the values: how many records a filter admits, how far the page lies.
  const fresh = { freshPlan: words === null || match.filter !== null || offset > 0 };
  if (words === null) return await idsOf(ctx, withoutWords(match, page), fresh);
  const walked = words.common ? await walk(ctx, match, words, page) : undefined;
  return walked ?? (await idsOf(ctx, byWords(match, words, page), fresh));
}

async function idsOf(ctx: ReadContext, statement: Sql, options: { freshPlan: boolean }): Promise<string[]> {
  return (await ctx.query<{ id: string }>(statement, options)).map(({ id }) => id);
}

/** Undefined where too many records lie between the matches. */
async function walk(ctx: ReadContext, match: Match, words: Words, page: Page): Promise<string[] | undefined> {
  const wanted = page.limit + page.offset + page.except.length;
  const longest = LONGEST_WALK + WALK_A_PLACE * page.offset;
  let length = Math.ceil((1.5 * wanted) / words.share);
  for (let round = 0; round < MOST_WALKS && length <= longest; round++) {
    const found = await idsOf(ctx, alongRecords(match, words, length, page), {
      freshPlan: match.filter !== null,
    });
    if (found.length === page.limit) return found;
    if (await isShort(ctx, match, length)) return found;
    // Short of a page far behind, nothing tells how many there were.
    if (found.length === 0 && page.offset > 0) {
      length = length < longest ? Math.min(longest, 3 * length) : longest + 1;
      continue;
    }
    const density = (found.length === 0 ? 0.5 : found.length + page.offset) / length;
    length = Math.max(4 * length, Math.ceil((1.5 * wanted) / density));
  }
  return undefined;
}

/** From here on a statement of this transaction that takes longer is ended. */
export async function setTimeBudget(ctx: ReadContext, milliseconds: number): Promise<void> {
  await ctx.query(sql`SELECT set_config('statement_timeout', ${String(milliseconds)}, true)`);
}
