/**
 * Which way to the matches of words is the shortest one. All ways have the same result; only estimates decide between them.
 * Pure. The weights are processor time measured at 1,000,000 records, in microseconds (docs/explanation/search.md).
 */

/** What is believed to be so. */
export interface Estimate {
  /** All rows of the projection. */
  rows: number;
  /** Share of all rows that hold the words. */
  share: number;
  /** Share of all records that rights and filter admit. */
  admitted: number;
  /** Matches wanted, in order, those included that a page leaves out. */
  wanted: number;
  /** How much further than seems to be needed a way goes; 1.15 unless said. */
  spare?: number | undefined;
}

/**
 * `matches`: all of them by the index of words, then in order. `since`: those alone that were last changed after a moment that
 * about `depth` records lie behind, by the index of words and that of ids together. `recent`: the same, by the words of each of
 * these records. `walk`: along the last changed records, `depth` of them at most. `admitted`: along the records that rights and
 * filter admit, `depth` of them at most.
 */
export interface QueryPlan {
  by: 'matches' | 'since' | 'recent' | 'walk' | 'admitted';
  depth: number;
}

/** A way is not chosen for what would have to go just right. */
const SPARE = 1.15;
/**
 * To ask the index of words for many combinations costs the same however short the stretch (up to a second, docs/explanation/search.md), and
 * far more than to look at some matches that are not needed: rather than again, it is asked for more.
 */
export const EXPENSIVE_SPARE = 3;
/** Longer than this nothing is walked. */
const LONGEST = 100_000;
/** More records than this are never taken for all that a caller may see. */
const FEW_ADMITTED = 20_000;

const COST = {
  /** To bring a match into order; more where its page is not at hand. */
  inOrder: 5,
  /** To look at a record: rights, filter. */
  look: 8,
  /** A record's place in an index. */
  entry: 0.15,
  /** A match in the index of words. */
  posting: 0.25,
  /** A row of the projection among its neighbours, its words looked at. */
  row: 1,
  /** A record's words, found by its id. */
  words: 3.5,
  /** A record that a filter or a right admits, found by whatever index. */
  admit: 4,
} as const;

/** From the shortest on; ways that cannot be are left out. */
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
  // A walk ends by itself as soon as it has enough: how far it may go says only when it is given up.
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
