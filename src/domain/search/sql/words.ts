/** The words of a question as SQL on the row `s` of a record `o`. A word counts only where the caller may read it. */
import sql, { join, type Sql } from 'sql-template-tag';
import { anyOperand } from '../indexing/lexemes.ts';
import type { Alternatives, Ranking, Reading, Word, Words } from '../query.ts';

/** By class of field tokens: predicate on `o` for the records on which the class may be used. */
export type Classes = readonly Sql[];

/** A condition on words. */
export interface TextPredicate {
  /** `tsquery` that every match satisfies. */
  query: string;
  /** Additional predicate; null if there is none. */
  exact: Sql | null;
}

/** Null if nothing can match, for example a word without searchable characters. */
export function predicateOf(words: Words, classes: Classes): TextPredicate | null {
  switch (words.kind) {
    case 'word':
    case 'title':
      return wordPredicate(words, classes);
    case 'number':
      return { query: anyOperand([words.operand]), exact: null };
    case 'all':
      return combined(
        '&',
        words.parts.map((part) => predicateOf(part, classes)),
      );
    case 'any': {
      const parts = factored(words.parts).flatMap((part) => predicateOf(part, classes) ?? []);
      return combined('|', parts);
    }
  }
}

function wordPredicate(word: Word, classes: Classes): TextPredicate | null {
  const queries = [word.free, ...word.classes]
    .map(({ matched }) => anyOperand(matched))
    .filter((query) => query !== '');
  if (queries.length === 0) return null;
  return { query: queries.join(' | '), exact: word.classes.length === 0 ? null : holdsWord(word, classes) };
}

/** The record contains the word in a field that the caller may read on this record. */
export function holdsWord({ free, classes: readings }: Word, classes: Classes): Sql {
  const holds = ({ matched }: Reading): Sql => sql`s.words @@ ${anyOperand(matched)}::tsquery`;
  const parts = free.matched.length === 0 ? [] : [holds(free)];
  for (const [index, reading] of readings.entries()) {
    if (reading.matched.length > 0) parts.push(sql`(${classes[index]} AND ${holds(reading)})`);
  }
  return parts.length === 0 ? sql`false` : sql`(${join(parts, ' OR ')})`;
}

function combined(operator: '&' | '|', parts: readonly (TextPredicate | null)[]): TextPredicate | null {
  const given = parts.filter((part) => part !== null);
  const [only] = given;
  if (only === undefined || given.length < parts.length) return null;
  if (given.length === 1) return only;
  const exact = given.every((part) => part.exact === null)
    ? null
    : sql`(${join(
        given.map((part) => part.exact ?? sql`s.words @@ ${part.query}::tsquery`),
        operator === '&' ? ' AND ' : ' OR ',
      )})`;
  return { query: given.map(({ query }) => `(${query})`).join(` ${operator} `), exact };
}

/**
 * Alternatives in which combinations that start with the same word are one combination: the word index evaluates the whole query
 * for every entry that it reads.
 */
function factored(alternatives: readonly Words[]): readonly Words[] {
  const rests = new Map<Words, Words[]>();
  const factors: Words[] = [];
  for (const part of alternatives) {
    const [first, ...rest] = part.kind === 'all' ? part.parts : [];
    if (first === undefined) factors.push(part);
    else rests.set(first, [...(rests.get(first) ?? []), { kind: 'all', parts: rest }]);
  }
  for (const [first, others] of rests) {
    const isAlone = others.some((rest) => rest.kind === 'all' && rest.parts.length === 0);
    factors.push(isAlone ? first : { kind: 'all', parts: [first, { kind: 'any', parts: others }] });
  }
  return factors;
}

/** The `ts_rank` of one occurrence with weight 1. */
const ONCE = 6 / Math.PI ** 2;

/**
 * The rank of a word in `words`. `ts_rank` adds up over all words with a prefix, so a prefix of many words would outweigh the word
 * itself; together they count as one occurrence.
 */
export function readingRank(zones: Sql, words: Sql, { exact, like }: Reading): Sql {
  // `ts_rank` divides by the number of operands.
  const ranked = ({ operands, count }: Alternatives): Sql =>
    sql`${count}::float8 * ts_rank(${zones}, ${words}, ${anyOperand(operands)}::tsquery)`;
  const alike = like.operands.length === 0 ? null : sql`least(${ONCE}::float8, ${ranked(like)})`;
  if (exact.operands.length === 0) return alike ?? sql`0`;
  return alike === null ? ranked(exact) : sql`greatest(${ranked(exact)}, ${alike})`;
}

/** The rank of the word where the caller may read it on the record. */
export function wordRank(zones: Sql, { free, classes: readings }: Word, classes: Classes): Sql {
  const words = sql`s.words`;
  const parts = free.matched.length === 0 ? [] : [readingRank(zones, words, free)];
  for (const [index, reading] of readings.entries()) {
    if (reading.matched.length === 0) continue;
    parts.push(sql`CASE WHEN ${classes[index]} THEN ${readingRank(zones, words, reading)} ELSE 0 END`);
  }
  return parts.length === 0 ? sql`0` : sql`(${join(parts, ' + ')})`;
}

/** The rank of a record before length normalisation. */
export function rankOf({ words, weights, zones }: Ranking, classes: Classes): Sql {
  const sums = words.map(
    (word, index) => sql`${weights[index] ?? 0}::float8 * ${wordRank(sql`${[...zones]}::real[]`, word, classes)}`,
  );
  return sums.length === 0 ? sql`0::float8` : sql`(${join(sums, ' + ')})`;
}
