/**
 * Chooses the cheapest query plan for word matches. All plans return the same result; estimates only affect the cost. Pure. The
 * costs are processor time measured with 1,000,000 records, in microseconds (docs/explanation/search.md).
 */

/** The estimates that the choice is based on. */
export interface Estimate {
  /** Number of rows of the index. */
  rows: number;
  /** Share of all rows that contain the words. */
  share: number;
  /** Share of all records that rights and filter permit. */
  admitted: number;
  /** Number of matches needed in order, including those before the page. */
  wanted: number;
  /** Factor by which a plan reads more than the estimate requires; 1.15 by default. */
  spare?: number | undefined;
}

/**
 * - `matches`: reads all matches from the word index, then sorts them.
 * - `since`: intersects the word index with the id index, for about `depth` last changed records.
 * - `recent`: reads the words of the about `depth` last changed records.
 * - `walk`: reads at most `depth` last changed records in order.
 * - `admitted`: reads at most `depth` records that rights and filter permit.
 */
export interface QueryPlan {
  by: 'matches' | 'since' | 'recent' | 'walk' | 'admitted';
  depth: number;
}

/** Safety factor, so that a plan does not depend on an exact estimate. */
const SPARE = 1.15;
/**
 * For many combinations of words, a query on the word index costs the same for any time range (up to a second,
 * docs/explanation/search.md). Reading some unneeded matches is cheaper than a second query.
 */
export const EXPENSIVE_SPARE = 3;
/** Maximum depth of a walk. */
const LONGEST = 100_000;
/** Maximum number of permitted records for the plan `admitted`. */
const FEW_ADMITTED = 20_000;

const COST = {
  /** Sorting a match; more if its page is not cached. */
  inOrder: 5,
  /** Checking a record: rights, filter. */
  look: 8,
  /** An entry of a record index. */
  entry: 0.15,
  /** An entry of the word index. */
  posting: 0.25,
  /** Reading a row of the index in order, with its words. */
  row: 1,
  /** Reading the words of a record by its id. */
  words: 3.5,
  /** A record that a filter or a right permits, found by any index. */
  admit: 4,
} as const;

/** The possible plans, cheapest first. */
export function plansFor({ rows, share, admitted, wanted, spare = SPARE }: Estimate): QueryPlan[] {
  const density = Math.max(share * admitted, 1 / Math.max(1, rows));
  const matches = share * rows;
  const examined = Math.min(matches, wanted / Math.max(admitted, 1e-6));
  const depth = Math.ceil((spare * wanted) / density);
  const all = Math.ceil(admitted * rows);
  const plans: { plan: QueryPlan; cost: number }[] = [
    { plan: { by: 'matches', depth: rows }, cost: matches * (COST.posting + COST.inOrder) + examined * COST.look },
  ];
  if (depth < 0.8 * rows) {
    const common = depth * COST.entry + spare * examined * COST.look;
    plans.push({ plan: { by: 'since', depth }, cost: common + depth * COST.entry + matches * COST.posting });
    plans.push({ plan: { by: 'recent', depth }, cost: common + depth * COST.row });
  }
  // A walk stops as soon as it has enough matches, so a larger depth costs nothing by itself.
  if (depth <= LONGEST / 2) {
    const walk = (depth / spare) * (COST.words + share * COST.look);
    plans.push({ plan: { by: 'walk', depth: 2 * depth }, cost: walk });
  }
  if (all <= FEW_ADMITTED) {
    const walk = all * COST.admit + Math.min(all, wanted / share) * COST.words;
    plans.push({ plan: { by: 'admitted', depth: 2 * all + 1000 }, cost: walk });
  }
  return plans.sort((a, b) => a.cost - b.cost).map(({ plan }) => plan);
}
