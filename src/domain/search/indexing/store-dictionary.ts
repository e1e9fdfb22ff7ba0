/** The dictionary for typo correction: all indexed words (`search_words`), and the rows whose words are still to be added. */
import sql, { join } from 'sql-template-tag';
import type { Queryable } from '../../../platform/database/pool.ts';
import { takeRows } from '../../../platform/jobs/queue.ts';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import type { FieldTokens } from '../terms.ts';
import { isWithinOneEdit, mayHoldTypo, type Term } from '../terms.ts';

/**
 * Adds the words of new rows to the dictionary: only words of letters, long enough for typo correction. Rows share most of their
 * lexemes, so these are made distinct before they are taken apart.
 *
 * @returns the number of processed rows
 */
export async function learnWords(db: Queryable, limit: number): Promise<number> {
  const [row] = await db.query<{ taken: number }>(sql`
    WITH taken AS (${takeRows('search_pending_words', limit)}), written AS (
      SELECT r.words FROM taken t JOIN search_records r ON r.id = t.id
      UNION ALL SELECT c.words FROM taken t JOIN search_comments c ON c.id = t.id
      UNION ALL SELECT a.words FROM taken t JOIN search_articles a ON a.id = t.id
    ), lexemes AS MATERIALIZED (
      SELECT DISTINCT u.lexeme FROM written CROSS JOIN LATERAL unnest(tsvector_to_array(words)) AS u (lexeme)
    ), found AS (
      SELECT CASE WHEN starts_with(lexeme, chr(1)) THEN chr(1) || split_part(lexeme, chr(1), 2) || chr(1) ELSE '' END AS field_token,
        CASE WHEN starts_with(lexeme, chr(1)) THEN split_part(lexeme, chr(1), 3) ELSE lexeme END AS word
      FROM lexemes WHERE NOT starts_with(lexeme, chr(2)) AND strpos(lexeme, chr(3)) = 0
    ), learnt AS (
      INSERT INTO search_words (field_token, word)
      SELECT field_token, word FROM found WHERE length(word) BETWEEN 4 AND 40 AND word !~ '[0-9]'
      ORDER BY field_token COLLATE "C", word COLLATE "C" ON CONFLICT DO NOTHING
    )
    SELECT count(*) AS taken FROM taken`);
  return row?.taken ?? 0;
}

/** Maximum number of pending rows that are searched. */
const MAX_PENDING = 2000;

/**
 * Words under the field tokens that start with the first half or end with the second half of `word` and differ in length by at
 * most 1. Every word at edit distance 1 is among them. There is no LIMIT: the words of one field token must not depend on those
 * of others that the caller may not read.
 */
async function likeWords(ctx: ReadContext, word: string, fieldTokens: readonly string[]): Promise<string[]> {
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
      FROM (SELECT id FROM search_pending_words LIMIT ${MAX_PENDING}::int) AS n
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

/** The words, each with the known words at edit distance 1. */
export async function withTypos(
  ctx: ReadContext,
  { free, classes }: FieldTokens,
  terms: readonly Term[],
): Promise<Term[]> {
  const fieldTokens = [...free, ...classes.flatMap((of) => of.fieldTokens)];
  const typed: Term[] = [];
  for (const term of terms) {
    const near = new Set<string>();
    for (const word of new Set(mayHoldTypo(term.raw) ? [term.raw, ...term.lexemes].filter(mayHoldTypo) : [])) {
      for (const found of await likeWords(ctx, word, fieldTokens)) if (isWithinOneEdit(found, word)) near.add(found);
    }
    typed.push({ ...term, near: [...near].filter((word) => !term.lexemes.includes(word)).sort() });
  }
  return typed;
}
