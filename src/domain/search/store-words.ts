/** SQL on the word dictionary, for typo correction. */
import sql, { join } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';

/** Maximum number of pending rows that are searched. */
const MOST_PENDING = 2000;

/**
 * Words under the field tokens that start with the first half or end with the second half of `word` and differ in length by at
 * most 1. Every word at edit distance 1 is among them. There is no LIMIT: the words of one field token must not depend on those
 * of others that the caller may not read.
 */
export async function likeWords(ctx: ReadContext, word: string, fieldTokens: readonly string[]): Promise<string[]> {
  const letters = [...word];
  const half = Math.floor(letters.length / 2);
  const head = letters.slice(0, half).join('');
  const tail = letters
    .slice(half + 1)
    .reverse()
    .join('');
  const near = sql`length(w.word) BETWEEN ${letters.length - 1}::int AND ${letters.length + 1}::int`;
  const above = (text: string): string => `${text}\u{10ffff}`;
  const parts = fieldTokens.flatMap((fieldToken) => [
    sql`SELECT w.word FROM search_words w WHERE w.field_token = ${fieldToken} AND w.word >= ${head} AND w.word < ${above(head)} AND ${near}`,
    sql`SELECT w.word FROM search_words w WHERE w.field_token = ${fieldToken} AND reverse(w.word) COLLATE "C" >= ${tail}
      AND reverse(w.word) COLLATE "C" < ${above(tail)} AND ${near}`,
  ]);
  parts.push(sql`SELECT w.word FROM (
      SELECT split_part(u.lexeme, chr(1), 2) AS code, CASE WHEN starts_with(u.lexeme, chr(1)) THEN split_part(u.lexeme, chr(1), 3) ELSE u.lexeme END AS word
      FROM (SELECT id FROM search_pending_words LIMIT ${MOST_PENDING}::int) AS n
      CROSS JOIN LATERAL (SELECT words FROM search_records r WHERE r.id = n.id UNION ALL SELECT words FROM search_comments c WHERE c.id = n.id
        UNION ALL SELECT words FROM search_articles a WHERE a.id = n.id) AS row (words)
      CROSS JOIN LATERAL unnest(row.words) AS u
    ) AS w WHERE ${near} AND (starts_with(w.word, ${head}) OR right(w.word, ${Math.max(letters.length - half - 1, 1)}::int) = ${letters.slice(half + 1).join('')})
      AND CASE WHEN w.code = '' THEN '' ELSE chr(1) || w.code || chr(1) END = ANY(${[...fieldTokens]}::text[])`);
  const rows = await ctx.query<{ word: string }>(
    sql`SELECT DISTINCT word FROM (${join(parts, ' UNION ALL ')}) AS w ORDER BY word`,
  );
  return rows.map(({ word: found }) => found);
}
