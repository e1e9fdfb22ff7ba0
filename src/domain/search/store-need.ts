/** What records must hold, from the words of a question: as a `tsquery`, and as SQL where it hangs on the record. */
import sql, { join, type Sql } from 'sql-template-tag';
import { holdsTerm } from './store-match.ts';
import type { Reach } from './store-reach.ts';
import { type TermQuery, widest } from './terms.ts';

export interface Need {
  /** `tsquery` that every match satisfies; empty: nothing can match. */
  query: string;
  /** Predicate beyond it; null: none. */
  exact: Sql | null;
}

/** All of the words, or the number that the question is. */
export function allOf(queries: readonly TermQuery[], reach: Reach, number: string): Need {
  const widestOf = queries.map(widest);
  // A word of which nothing is left, as one of controls alone, matches nothing.
  const words = widestOf.includes('') || widestOf.length === 0 ? '' : widestOf.map((query) => `(${query})`).join(' & ');
  const query = [words, number]
    .filter((part) => part !== '')
    .map((part) => `(${part})`)
    .join(' | ');
  if (reach.classes.length === 0 || words === '') return { query, exact: null };
  const exact = sql`(${join(
    queries.map((one) => holdsTerm(one, reach)),
    ' AND ',
  )})`;
  return { query, exact: number === '' ? exact : sql`(${exact} OR s.words @@ ${number}::tsquery)` };
}

/** Any of the words. */
export function anyOf(queries: readonly TermQuery[], reach: Reach): Need {
  const query = queries
    .map(widest)
    .filter((part) => part !== '')
    .join(' | ');
  if (reach.classes.length === 0) return { query, exact: null };
  return {
    query,
    exact: sql`(${join(
      queries.map((one) => holdsTerm(one, reach)),
      ' OR ',
    )})`,
  };
}
