/**
 * Fits the weights of the second pass (`rerank`) and of letters over the text, with cross-validation over five folds of the
 * questions. Results: docs/benchmarks/2026-11-23-search-weights.md.
 *
 *     node bench/search-quality/fit.ts [folder of the sets [every Nth question of the largest set [letters of a text]]]
 */
import path from 'node:path';
import { type RerankTerm, timesOf, weightOf } from '../../src/domain/search/ranking.ts';
import { makeAnalysis } from '../../src/lib/words.ts';
import { Model, type Pool } from './model.ts';
import { testCollections } from './test-collections.ts';

const FOLDS = 5;
const ROUNDS = 3;
/** Sets with more questions are sampled. */
const MANY = 1000;
const LEAST_LIKENESS = 0.45;
const SHORTEST_LIKE_WORD = 4;
/** A smaller gain does not change a weight. */
const LEAST_GAIN = 1e-4;

const WEIGHTS = {
  title: { now: 3, tried: [1.5, 2, 2.5, 3, 4, 5] },
  comment: { now: 0.7, tried: [0.3, 0.5, 0.7, 1, 1.3] },
  saturation: { now: 1.2, tried: [0.6, 0.9, 1.2, 1.6, 2.2] },
  titleLength: { now: 0.3, tried: [0.1, 0.3, 0.5, 0.7] },
  textLength: { now: 0.75, tried: [0.3, 0.5, 0.75, 0.9] },
  likeWord: { now: 0.5, tried: [0.3, 0.5, 0.7] },
  letters: { now: 0.2, tried: [0, 0.05, 0.1, 0.2, 0.3, 0.4] },
  lettersLength: { now: 0.6, tried: [0.3, 0.6, 0.8] },
  textLetters: { now: 0, tried: [0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4] },
  textLettersLength: { now: 0.6, tried: [0.1, 0.3, 0.5, 0.7] },
} as const;
type WeightName = keyof typeof WEIGHTS;
type Weights = Record<WeightName, number>;

const NAMES = Object.keys(WEIGHTS) as WeightName[];
const NOW = Object.fromEntries(NAMES.map((name) => [name, WEIGHTS[name].now])) as Weights;

/** A title compared with the question. */
interface TitleFacts {
  times: number[];
  like: number[];
  /** Lengths are relative to the average of the pool. */
  length: number;
  letters: number;
  lettersLength: number;
}

interface HitFacts {
  id: string;
  /** The record's own title, then those of its duplicates. */
  titles: TitleFacts[];
  rest: number[];
  comments: number[];
  size: number;
  textLetters: number;
  textLettersLength: number;
}

interface Asked {
  set: string;
  fold: number;
  right: string;
  self: string | undefined;
  /** By word. */
  weights: number[];
  pools: { hits: HitFacts[]; behind: number }[];
}

/** Recall and reciprocal rank of one question. */
type Result = readonly [recall: number, reciprocal: number];

const analysis = makeAnalysis();

function wordsOf(text: string): string[] {
  return [...analysis.tokens(text)].flatMap(({ lexemes }) => lexemes);
}

function folded(text: string): string {
  const letters = text
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replace(/[^\p{L}\p{N}]+/gu, ' ');
  return ` ${letters.trim()} `;
}

function groupsOf(text: string, length: number): Set<string> {
  const found = new Set<string>();
  for (let at = 0; at + length <= text.length; at++) found.add(text.slice(at, at + length));
  return found;
}

const gramsOf = (word: string): Set<string> => groupsOf(` ${word} `, 3).add(` ${word[0] ?? ''}`);

/** At least 1, since it is used as a divisor. */
const averageOf = (values: readonly number[]): number =>
  Math.max(1, values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));

/** The weight of groups of letters that a text shares with the question: groups in few of the texts weigh more. */
function sharing(
  asked: ReadonlySet<string>,
  texts: readonly ReadonlySet<string>[],
): (text: ReadonlySet<string>) => number {
  const weights = [...asked].map((group) => {
    const holding = texts.filter((text) => text.has(group)).length;
    return [group, Math.log(1 + (texts.length - holding + 0.5) / (holding + 0.5))] as const;
  });
  return (text) => weights.reduce((sum, [group, weight]) => sum + (text.has(group) ? weight : 0), 0);
}

/** For each word of the question, the best similarity with a word of the title. */
function likeWords(terms: readonly RerankTerm[]): (words: readonly string[]) => number[] {
  const asked = terms.map(({ lexemes }) =>
    lexemes.filter(({ length }) => length >= SHORTEST_LIKE_WORD).map((lexeme) => gramsOf(lexeme)),
  );
  const known = new Map<string, number[]>();
  const likeness = (word: string): number[] => {
    const grams = gramsOf(word);
    return asked.map((lexemes) => {
      const dice = lexemes.map((own) => (2 * own.intersection(grams).size) / (own.size + grams.size));
      const best = Math.max(0, ...dice);
      return best >= LEAST_LIKENESS ? best : 0;
    });
  };
  return (words) => {
    const best = terms.map(() => 0);
    for (const word of words.filter(({ length }) => length >= SHORTEST_LIKE_WORD)) {
      const like = known.get(word) ?? likeness(word);
      known.set(word, like);
      for (const [index, one] of like.entries()) best[index] = Math.max(best[index] ?? 0, one);
    }
    return best;
  };
}

function factsOf({ hits }: Pool, terms: readonly RerankTerm[], q: string, letters: number): HitFacts[] {
  const titles = hits.map(({ title }) => wordsOf(title ?? ''));
  const [averageTitle, averageSize] = [
    averageOf(titles.map(({ length }) => length)),
    averageOf(hits.map(({ size }) => size)),
  ];
  const like = likeWords(terms);
  const titleGroups = hits.map(({ title }) => groupsOf(folded(title ?? ''), 3));
  const textGroups = hits.map(({ title, text }) => groupsOf(folded(`${title} ${text.slice(0, letters)}`), 4));
  const [inTitle, inText] = [sharing(groupsOf(folded(q), 3), titleGroups), sharing(groupsOf(folded(q), 4), textGroups)];
  const [averageGroups, averageTextGroups] = [titleGroups, textGroups].map((all) =>
    averageOf(all.map(({ size }) => size)),
  ) as [number, number];
  const compared = (words: readonly string[], title: string, times: number[]): TitleFacts => {
    const groups = groupsOf(folded(title), 3);
    const [length, lettersLength] = [words.length / averageTitle, groups.size / averageGroups];
    return { times, like: like(words), length, letters: inTitle(groups), lettersLength };
  };
  return hits.map((hit, at) => {
    const others = hit.duplicateTitles.map((title) => {
      const words = wordsOf(title ?? '');
      const times = terms.map(({ lexemes }) => words.filter((word) => lexemes.includes(word)).length);
      return compared(words, title ?? '', times);
    });
    const groups = textGroups[at] ?? new Set();
    return {
      id: hit.id,
      titles: [compared(titles[at] ?? [], hit.title ?? '', Array.from(hit.titleTf, timesOf)), ...others],
      rest: Array.from(hit.restTf, timesOf),
      comments: Array.from(hit.commentTf, timesOf),
      size: hit.size / averageSize,
      textLetters: inText(groups),
      textLettersLength: groups.size / averageTextGroups,
    };
  });
}

const normed = (strength: number, length: number): number => 1 - strength + strength * length;

function scoreOf(hit: HitFacts, words: readonly number[], weights: Weights): number {
  const text = normed(weights.textLength, hit.size);
  const ofTitles = hit.titles.map((title) => {
    let score = (weights.letters * title.letters) / normed(weights.lettersLength, title.lettersLength);
    const length = normed(weights.titleLength, title.length);
    for (const [index, weight] of words.entries()) {
      const times = title.times[index] || weights.likeWord * (title.like[index] ?? 0);
      const comments = weights.comment * (hit.comments[index] ?? 0);
      const all = (weights.title * times) / length + (hit.rest[index] ?? 0) / text + comments;
      score += (weight * all * (weights.saturation + 1)) / (all + weights.saturation);
    }
    return score;
  });
  const letters = (weights.textLetters * hit.textLetters) / normed(weights.textLettersLength, hit.textLettersLength);
  return Math.max(...ofTitles) + letters;
}

function resultOf({ pools, right, self, weights: words }: Asked, weights: Weights): Result {
  let before = 0;
  for (const { hits, behind } of pools) {
    const others = hits.filter(({ id }) => id !== self);
    const found = others.find(({ id }) => id === right);
    if (found !== undefined) {
      const score = scoreOf(found, words, weights);
      const place = before + 1 + others.filter((hit) => scoreOf(hit, words, weights) > score).length;
      return place <= 10 ? [1, 1 / place] : [0, 0];
    }
    before += others.length + behind;
    if (before >= 10) break;
  }
  return [0, 0];
}

/** Results of all questions, computed once for the same weights. */
class Trials {
  readonly #asked: readonly Asked[];
  readonly #known = new Map<string, readonly Result[]>();

  constructor(asked: readonly Asked[]) {
    this.#asked = asked;
  }

  of(weights: Weights): readonly Result[] {
    const key = JSON.stringify(weights);
    const results = this.#known.get(key) ?? this.#asked.map((one) => resultOf(one, weights));
    this.#known.set(key, results);
    return results;
  }

  /** Mean over the sets of recall and reciprocal rank. */
  #score(weights: Weights, withoutFold: number | null): number {
    const results = this.of(weights);
    const sums = new Map<string, { sum: number; count: number }>();
    for (const [at, { set, fold }] of this.#asked.entries()) {
      if (fold === withoutFold) continue;
      const known = sums.get(set) ?? { sum: 0, count: 0 };
      const [recall, reciprocal] = results[at] ?? [0, 0];
      sums.set(set, { sum: known.sum + recall + reciprocal, count: known.count + 1 });
    }
    return [...sums.values()].reduce((total, { sum, count }) => total + sum / count, 0) / (2 * sums.size);
  }

  /** Changes one weight after the other as long as that helps. */
  fitted(withoutFold: number | null): Weights {
    let best = NOW;
    let score = this.#score(best, withoutFold);
    for (let round = 0; round < ROUNDS; round++) {
      const before = score;
      for (const name of NAMES) {
        for (const value of WEIGHTS[name].tried) {
          const weights = { ...best, [name]: value };
          const next = this.#score(weights, withoutFold);
          if (next > score + LEAST_GAIN) [best, score] = [weights, next];
        }
      }
      if (score - before < LEAST_GAIN) break;
    }
    return best;
  }
}

async function askedIn(folder: string, every: number, letters: number): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const set of await testCollections(folder)) {
    const questions = set.questions.filter((_, index) => set.questions.length < MANY || index % every === 0);
    for (const comments of set.texts.some((text) => text.comments.length > 0) ? [true, false] : [false]) {
      const model = new Model(set.texts, { comments, marks: true }, set.duplicates ?? []);
      for (const [index, { text, self, right }] of questions.entries()) {
        const { terms, pools } = model.pools(text, self);
        const facts = pools.map((pool) => ({
          hits: factsOf(pool, terms, text, letters),
          behind: pool.behind.filter((id) => id !== self).length,
        }));
        const name = comments ? `${set.name}, comments` : set.name;
        asked.push({ set: name, fold: index % FOLDS, right, self, weights: terms.map(weightOf), pools: facts });
      }
    }
  }
  return asked;
}

function said(asked: readonly Asked[], results: readonly Result[], what: string): string {
  const sets = [...new Set(asked.map(({ set }) => set))].map((set) => {
    const own = results.filter((_, at) => asked[at]?.set === set);
    const mean = (part: 0 | 1): string => (own.reduce((sum, result) => sum + result[part], 0) / own.length).toFixed(3);
    return `${set} ${mean(0)} / ${mean(1)}`;
  });
  return `${what.padEnd(24)} ${sets.join('  ')}\n`;
}

async function main(folder: string, every: number, letters: number): Promise<void> {
  const asked = await askedIn(folder, every, letters);
  const trials = new Trials(asked);
  const say = (what: string, results: readonly Result[]): boolean => process.stdout.write(said(asked, results, what));
  say('in use', trials.of(NOW));
  for (const textLetters of [0.05, 0.1, 0.2, 0.3]) {
    say(`letters of texts ${textLetters}`, trials.of({ ...NOW, textLetters }));
  }
  const whole = trials.fitted(null);
  say('fitted', trials.of(whole));
  process.stdout.write(`${JSON.stringify(whole)}\n`);
  const folds = Array.from({ length: FOLDS }, (_, fold) => trials.fitted(fold));
  for (const weights of folds) process.stdout.write(`${JSON.stringify(weights)}\n`);
  const held = folds.map((weights) => trials.of(weights));
  say(
    'fitted, held-out folds',
    asked.map(({ fold }, at) => held[fold]?.[at] ?? [0, 0]),
  );
}

const [folder = path.resolve(import.meta.dirname, '../../../shared/data'), every = '8', letters = '2000'] =
  process.argv.slice(2);
await main(folder, Number(every), Number(letters));
