/** The text predicate of a question: a `tsquery`, SQL if it depends on the record, and the same for the index in memory. */
import sql, { join, type Sql } from 'sql-template-tag';
import type { Need } from './memory/need.ts';
import { needAll, needAny, needCombination, needNumbers } from './needs.ts';
import type { AccessFilter } from './store-access-filter.ts';
import { type Numbers, type TermQuery, termQuery, widest } from './terms.ts';

export interface TextPredicate {
  /** `tsquery` that every match satisfies; empty if nothing can match. */
  query: string;
  /** Additional predicate; null if there is none. */
  exact: Sql | null;
  /** The whole predicate for the index in memory. */
  need: Need;
}

/** The record contains the word in a field that the caller may read on this record. */
export function holdsTerm({ free, classes }: TermQuery, accessFilter: AccessFilter): Sql {
  const parts: Sql[] = free.match === '' ? [] : [sql`s.words @@ ${free.match}::tsquery`];
  for (const [index, { match }] of classes.entries()) {
    const of = accessFilter.classes[index];
    if (of !== undefined && match !== '') parts.push(sql`(${of.holds} AND s.words @@ ${match}::tsquery)`);
  }
  return parts.length === 0 ? sql`false` : sql`(${join(parts, ' OR ')})`;
}

const NOTHING: TextPredicate = { query: '', exact: sql`false`, need: needAny([]) };

/** All of the words. */
export function allOf(queries: readonly TermQuery[], accessFilter: AccessFilter): TextPredicate {
  const parts = queries.map(widest);
  // A word without searchable characters, for example only control characters, matches nothing.
  if (parts.length === 0 || parts.includes('')) return NOTHING;
  const exact = queries.map((query) => holdsTerm(query, accessFilter));
  return {
    query: parts.map((part) => `(${part})`).join(' & '),
    exact: accessFilter.classes.length === 0 ? null : sql`(${join(exact, ' AND ')})`,
    need: needAll(queries),
  };
}

/** Any of several predicates. */
export function oneOf(predicates: readonly TextPredicate[], accessFilter: AccessFilter): TextPredicate {
  const given = predicates.filter(({ query }) => query !== '');
  if (given.length === 0) return NOTHING;
  const exact = given.map(({ query, exact }) => exact ?? sql`s.words @@ ${query}::tsquery`);
  return {
    query: given.map(({ query }) => `(${query})`).join(' | '),
    exact: accessFilter.classes.length === 0 ? null : sql`(${join(exact, ' OR ')})`,
    need: { kind: 'any', needs: given.map(({ need }) => need) },
  };
}

/** Both predicates. */
function bothOf(one: TextPredicate, other: TextPredicate): TextPredicate {
  if (one.query === '' || other.query === '') return NOTHING;
  const exact = one.exact === null || other.exact === null ? null : sql`(${one.exact} AND ${other.exact})`;
  return { query: `(${one.query}) & (${other.query})`, exact, need: { kind: 'all', needs: [one.need, other.need] } };
}

/**
 * Any of several combinations of words. Each is a list of indexes, the rarest word first. Common prefixes of combinations are
 * factored out, because the word index evaluates the whole query for every entry that it reads.
 */
export function combinationOf(
  combinations: readonly (readonly number[])[],
  queries: readonly TermQuery[],
  accessFilter: AccessFilter,
): TextPredicate {
  const rests = new Map<number, (readonly number[])[]>();
  for (const [first, ...rest] of combinations) {
    if (first === undefined) continue;
    const known = rests.get(first);
    if (known === undefined) rests.set(first, [rest]);
    else known.push(rest);
  }
  const predicates = [...rests].map(([index, others]) => {
    const query = queries[index];
    if (query === undefined) return NOTHING;
    const word = allOf([query], accessFilter);
    return others.some((rest) => rest.length === 0) ? word : bothOf(word, combinationOf(others, queries, accessFilter));
  });
  return { ...oneOf(predicates, accessFilter), need: needCombination(combinations, queries) };
}

/** Any of the words. */
export function anyOf(queries: readonly TermQuery[], accessFilter: AccessFilter): TextPredicate {
  return oneOf(
    queries.map((query) => allOf([query], accessFilter)),
    accessFilter,
  );
}

/** Records with these numbers that also match the rest of the question. */
export function numbered(numbers: Numbers, accessFilter: AccessFilter): TextPredicate {
  const need = needNumbers(numbers, accessFilter);
  const number: TextPredicate = {
    query: numbers.query,
    exact: accessFilter.classes.length === 0 ? null : sql`s.words @@ ${numbers.query}::tsquery`,
    need,
  };
  if (numbers.rest.length === 0) return number;
  const rest = allOf(
    numbers.rest.map((term) => termQuery(term, accessFilter)),
    accessFilter,
  );
  if (rest.query === '') return NOTHING;
  return {
    query: `(${number.query}) & (${rest.query})`,
    exact: number.exact === null ? null : sql`(${number.exact} AND ${rest.exact ?? sql`true`})`,
    need,
  };
}
