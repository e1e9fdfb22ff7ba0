/** Answers searches by statements of PostgreSQL, which are the truth. */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import type {
  Best,
  BestQuestion,
  Matched,
  OccurrencesById,
  Page,
  Ranking,
  Sample,
  Scope,
  SearchBackend,
  Word,
  Words,
} from '../query.ts';
import { type RerankHit, scoredBest } from '../ranking.ts';
import { readRerankTexts } from './rerank.ts';
import type { Estimates } from './estimates.ts';
import { findMatches, ScopeSql } from './match.ts';
import { holdsWord, rankOf, wordRank } from './words.ts';

/** With more words, ranks are computed only for the matches that are needed. */
const RANKED_AT_ONCE = 4;

const TITLE = sql`'{0,0,0,1}'::real[]`;
const REST = sql`'{1,1,1,0}'::real[]`;

export class Statements implements SearchBackend {
  readonly #ctx: ReadContext;
  readonly #records: ScopeSql;
  readonly #statistics: Estimates;

  constructor(ctx: ReadContext, scope: Scope, statistics: Estimates) {
    this.#ctx = ctx;
    this.#records = new ScopeSql(ctx, scope);
    this.#statistics = statistics;
  }

  async find(words: Words | null, page: Page): Promise<string[]> {
    return (await this.#matches(words, page, null)).map(({ id }) => id);
  }

  #matches(words: Words | null, page: Page, ranking: Ranking | null): Promise<Matched[]> {
    return findMatches(this.#ctx, this.#records, this.#statistics, words, page, ranking);
  }

  /** Many matches of a few words are ranked while they are found. */
  async best({ words, titled, counted, ranked, few, ranking, page }: BestQuestion): Promise<Best> {
    const isRanked = ranking.words.length > 0 && ranking.words.length <= RANKED_AT_ONCE;
    const found = await this.#matches(words, { limit: counted, offset: 0, except: [] }, isRanked ? ranking : null);
    if (found.length <= few) return { kind: 'few', ids: found.map(({ id }) => id), occurrences: undefined };
    const first = await this.find(titled, { limit: ranked, offset: 0, except: [] });
    const isFirst = new Set(first);
    const others = found.filter(({ id }) => !isFirst.has(id)).slice(0, ranked - first.length);
    const ids = others.map(({ id }) => id);
    const rows = isRanked ? others : await this.ranks(ids, ranking);
    const from = Math.max(0, page.offset - first.length);
    const shown = scoredBest(rows, ranking.b).slice(from, Math.max(from, page.offset + page.limit - first.length));
    return { kind: 'page', count: found.length, titled: first, others: shown };
  }

  async findInSteps(
    steps: readonly Words[],
    limit: number,
    except: readonly string[],
    _ranking: Ranking,
  ): Promise<Matched[]> {
    const found: string[] = [];
    for (const words of steps) {
      if (found.length >= limit) break;
      found.push(
        ...(await this.find(words, { limit: limit - found.length, offset: 0, except: [...except, ...found] })),
      );
    }
    return found.map((id) => ({ id }));
  }

  /** Each row by its key: with many ids, the planner would read the whole table. */
  async ranks(ids: readonly string[], ranking: Ranking): Promise<Matched[]> {
    const { classes } = this.#records;
    return await this.#ctx.query<Matched>(sql`
      SELECT s.id, ${rankOf(ranking, classes)} AS rank, s.size
      FROM unnest(${[...ids]}::uuid[]) AS m (id)
        JOIN LATERAL (SELECT s.id, s.size, s.words FROM search_records s WHERE s.id = m.id OFFSET 0) s ON true
        ${classes.length === 0 ? empty : sql`JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = m.id OFFSET 0) o ON true`}`);
  }

  async rerankHits(
    ids: readonly string[],
    words: readonly Word[],
    comments: boolean,
    _known?: OccurrencesById,
  ): Promise<(RerankHit & { id: string })[]> {
    const list = (zones: Sql): Sql =>
      sql`ARRAY[${join(words.map((word) => wordRank(zones, word, this.#records.classes)))}]::float8[]`;
    const counts = sql`s.size, ${list(TITLE)} AS "titleTf", ${list(REST)} AS "restTf"`;
    return await readRerankTexts<RerankHit & { id: string }>(
      this.#ctx,
      this.#records.scope,
      ids,
      words,
      comments,
      counts,
    );
  }

  async sample(words: readonly Word[], size: number): Promise<Sample> {
    const { readable, trusted, classes } = this.#records;
    const counts = words.map((word) => sql`count(*) FILTER (WHERE ${holdsWord(word, classes)})`);
    const [row] = await this.#ctx.query<{ records: number; holding: number[]; average: number }>(
      sql`SELECT count(*) AS records, ARRAY[${join(counts)}]::float8[] AS holding, coalesce(avg(o.size), 0)::float8 AS average
        FROM (SELECT o.*, s.words, s.size FROM objects o
            JOIN LATERAL (SELECT s.id, s.profile_id, s.size, s.words FROM search_records s WHERE s.id = o.id OFFSET 0) s ON true
          WHERE o.state = 'ACTIVE' AND ${readable} ${trusted}
          ORDER BY o.updated_at DESC, o.id DESC LIMIT ${size}::int OFFSET 0) o
        CROSS JOIN LATERAL (SELECT o.words) AS s (words)`,
    );
    return row ?? { records: 0, holding: words.map(() => 0), average: 0 };
  }
}
