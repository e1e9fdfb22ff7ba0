/**
 * The recipe of the search without database and rights: the same analysis, the same choice of candidates, the same weights,
 * over postings in memory. For trying changes of `src/lib/words.ts` and `src/domain/search/ranking.ts` in a minute; what counts
 * is measured through the service.
 *
 *     node bench/search-quality/model.ts [folder of the sets [every Nth question]]
 */
import path from 'node:path';
import { candidateSteps, rankPlan, rerank, type RerankHit, type RerankTerm } from '../../src/domain/search/ranking.ts';
import { type Analysis, makeAnalysis, type QueryTerm } from '../../src/lib/words.ts';
import { measureRanking } from './quality-metrics.ts';
import { type TestCollection, testCollections, type Text } from './test-collections.ts';

const SAMPLE = 500;
const CANDIDATES = 1000;
const CLOSELY = 200;
const MAX_COMMENTS = 20;
const MAX_DUPLICATES = 10;
/** `ts_rank` of a word by its number of occurrences in a text. */
const RANKS = Array.from(
  { length: 256 },
  (_, times) =>
    Array.from({ length: times }, (_, j) => 1 / (j + 1) ** 2).reduce((sum, part) => sum + part, 0) / (Math.PI ** 2 / 6),
);

/** `ts_rank` with weight 1 in the title, whose positions come first, and another weight in the rest. */
function zonedRank(inTitle: number, inRest: number, rest: number): number {
  let sum = 0;
  for (let j = 1; j <= Math.min(inTitle + inRest, 12); j++) sum += (j <= inTitle ? 1 : rest) / j ** 2;
  return sum / (Math.PI ** 2 / 6);
}

const rankOf = (times: number): number => RANKS[Math.min(times, 12)] ?? 0;

interface Row {
  text: Text;
  title: Map<string, number>;
  rest: Map<string, number>;
  size: number;
  comments: Map<string, number>[];
}

function countsOf(analysis: Analysis, ...texts: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const { lexeme, positions } of analysis.indexLexemes(text)) {
      counts.set(lexeme, (counts.get(lexeme) ?? 0) + positions.length);
    }
  }
  return counts;
}

const sumOf = (counts: Map<string, number>): number => [...counts.values()].reduce((sum, n) => sum + n, 0);
const timesIn = (counts: Map<string, number>, lexemes: readonly string[]): number =>
  lexemes.reduce((sum, lexeme) => sum + (counts.get(lexeme) ?? 0), 0);

/** Hits that are ranked together, before those of the next pool. */
export interface Pool {
  hits: (RerankHit & { id: string; text: string })[];
  /** Ids of further hits, below the others. */
  behind: string[];
}

export class Model {
  readonly #analysis: Analysis = makeAnalysis();
  readonly #rows: Row[];
  readonly #holding = new Map<string, number[]>();
  readonly #average: number;
  readonly #options: { comments: boolean; marks: boolean };
  /** Original → its duplicates. */
  readonly #duplicates = new Map<string, Text[]>();

  constructor(
    texts: readonly Text[],
    options: { comments: boolean; marks: boolean },
    duplicates: Required<TestCollection>['duplicates'],
  ) {
    this.#options = options;
    const byId = new Map(texts.map((text) => [text.id, text]));
    for (const [duplicate, original] of duplicates) {
      const text = byId.get(duplicate);
      if (text !== undefined) this.#duplicates.set(original, [...(this.#duplicates.get(original) ?? []), text]);
    }
    this.#rows = texts.map((text) => {
      const title = countsOf(this.#analysis, text.title);
      const rest = countsOf(this.#analysis, text.body, options.marks ? text.marks : '');
      const comments = text.comments.slice(-MAX_COMMENTS).map((comment) => countsOf(this.#analysis, comment));
      return { text, title, rest, size: sumOf(title) + sumOf(rest), comments };
    });
    for (const [index, { title, rest }] of this.#rows.entries()) {
      for (const lexeme of new Set([...title.keys(), ...rest.keys()])) {
        const known = this.#holding.get(lexeme);
        if (known === undefined) this.#holding.set(lexeme, [index]);
        else known.push(index);
      }
    }
    this.#average = this.#rows.reduce((sum, { size }) => sum + size, 0) / this.#rows.length;
  }

  #matching(term: QueryTerm): Set<number> {
    return new Set(term.lexemes.flatMap((lexeme) => this.#holding.get(lexeme) ?? []));
  }

  /** Ids, best first, without what is known from the record in which the question was asked. */
  search(q: string, self: string | undefined): string[] {
    const { terms, pools } = this.pools(q, self);
    return pools.flatMap(({ hits, behind }) => {
      const scores = rerank(hits, terms, q, this.#analysis);
      const order = hits.map(({ id }, index) => ({ id, score: scores[index] ?? 0 })).sort((a, b) => b.score - a.score);
      return [...order.map(({ id }) => id), ...behind];
    });
  }

  /** The hits with all words, then those with some, before they are ranked again. */
  pools(q: string, self: string | undefined): { terms: RerankTerm[]; pools: Pool[] } {
    const asked = this.#analysis.queryTerms(q);
    const matching = asked.map((term) => this.#matching(term));
    const sampled = Math.min(SAMPLE, this.#rows.length);
    const terms: RerankTerm[] = asked.map((term, index) => {
      const held = [...(matching[index] ?? [])].filter((row) => row >= this.#rows.length - sampled).length;
      return { ...term, share: (held + 0.5) / (sampled + 1) };
    });
    const required = asked.flatMap((term, index) => (term.required ? [matching[index] as Set<number>] : []));
    const all = [...(required[0] ?? [])].filter((row) => required.every((set) => set.has(row)));
    const first = this.#pool(all, terms, self);
    if (all.length >= 25) return { terms, pools: [first] };
    const seen = new Set(all);
    const candidates = this.#candidates(terms, matching).filter((row) => !seen.has(row));
    return { terms, pools: [first, this.#pool(candidates, terms, self)] };
  }

  #candidates(terms: readonly RerankTerm[], matching: readonly Set<number>[]): number[] {
    const found = new Set<number>();
    for (const step of candidateSteps(terms)) {
      const rows = new Set<number>();
      for (const combination of step) {
        const [least, ...others] = combination
          .map((index) => matching[index] as Set<number>)
          .sort((a, b) => a.size - b.size);
        for (const row of least ?? []) if (others.every((set) => set.has(row))) rows.add(row);
      }
      for (const row of [...rows].sort((a, b) => b - a)) {
        if (found.size >= CANDIDATES) return [...found];
        found.add(row);
      }
    }
    return [...found];
  }

  #pool(candidates: readonly number[], terms: readonly RerankTerm[], self: string | undefined): Pool {
    const plan = rankPlan(terms);
    const scored = candidates.map((index) => {
      const row = this.#rows[index] as Row;
      const norm = 1 - plan.b + (plan.b * row.size) / this.#average;
      let score = 0;
      for (const [at, { lexemes }] of terms.entries()) {
        const [inTitle, inRest] = [timesIn(row.title, lexemes), timesIn(row.rest, lexemes)];
        score += ((plan.weights[at] ?? 0) * zonedRank(inTitle, inRest, plan.zones[1])) / norm;
      }
      return { row, score };
    });
    scored.sort((a, b) => b.score - a.score);
    const closely = scored.slice(0, CLOSELY).map(({ row }) => row);
    const hits = closely.map((row) => ({
      id: row.text.id,
      text: row.text.body,
      title: row.text.title,
      duplicateTitles: (this.#duplicates.get(row.text.id) ?? [])
        .filter(({ id }) => id !== self)
        .slice(-MAX_DUPLICATES)
        .map(({ title }) => title),
      titleTf: terms.map(({ lexemes }) => rankOf(timesIn(row.title, lexemes))),
      restTf: terms.map(({ lexemes }) => rankOf(timesIn(row.rest, lexemes))),
      commentTf: terms.map(({ lexemes }) =>
        this.#options.comments ? Math.max(0, ...row.comments.map((comment) => rankOf(timesIn(comment, lexemes)))) : 0,
      ),
      size: row.size,
    }));
    return { hits, behind: scored.slice(CLOSELY).map(({ row }) => row.text.id) };
  }
}

/** Every `every`th question is asked. */
async function main(folder: string, every: number): Promise<void> {
  for (const set of await testCollections(folder)) {
    const questions = set.questions.filter((_, index) => index % every === 0);
    const { duplicates = [] } = set;
    for (const comments of set.texts.some((text) => text.comments.length > 0) ? [true, false] : [false]) {
      for (const linked of duplicates.length > 0 ? [[], duplicates] : [[]]) {
        const model = new Model(set.texts, { comments, marks: true }, linked);
        const started = performance.now();
        const { recall, reciprocal } = await measureRanking({ ...set, questions }, 1, async (q, self) =>
          model.search(q, self),
        );
        const each = ((performance.now() - started) / questions.length).toFixed(1);
        const what = `${comments ? 'with comments' : ''} ${linked.length > 0 ? 'with duplicates' : ''}`;
        process.stdout.write(
          `${set.name.padEnd(10)} ${what.padEnd(30)} recall@10 ${recall.toFixed(3)}  MRR ${reciprocal.toFixed(3)}  ${questions.length} questions, ${each} ms each\n`,
        );
      }
    }
  }
}

if (import.meta.main) {
  const [folder = path.resolve(import.meta.dirname, '../../../shared/data'), every = '1'] = process.argv.slice(2);
  await main(folder, Number(every));
}
