/**
 * State shared by all search requests of the process, and the hits of kinds other than records. Users,
 * groups, units and services are few and short, so they are matched in memory. Their analysed names are cached until the database
 * reports a change.
 */
import { type Analysis, makeAnalysis } from '../../lib/words.ts';
import { fold } from '../../lib/text.ts';
import { ServicePart } from '../../platform/module.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { serviceSource } from '../catalog/index.ts';
import { articleSource as articles } from '../knowledge/index.ts';
import { localized, registry } from '../metadata/index.ts';
import type { Kind } from './contract.ts';
import { ENOUGH, type Hits, NOTHING, RANKED } from './record-hits.ts';
import { rankPlan, type Tier } from './ranking.ts';
import {
  articleSource,
  type ArticleSource,
  commentSource,
  type Listed,
  listPeople,
  matchTexts,
  peopleState,
  type ServiceSource,
  type TextSource,
} from './store-texts.ts';
import { type Term, isWithinOneEdit, mayHoldTypo, termQuery } from './terms.ts';
import { MemorySearcher, type SearcherOptions } from './memory/searcher.ts';
import { IndexUpToDate } from './indexing/profile.ts';
import { SearchStatistics } from './sql/match.ts';

export interface Entry {
  kind: Kind;
  id: string;
  title: string;
  texts: readonly string[];
  updatedAt: string;
  words: ReadonlySet<string>;
}

function entryOf(analysis: Analysis, kind: Kind, one: Listed): Entry {
  const texts = [one.title, ...one.texts];
  const words = new Set(texts.flatMap((text) => analysis.indexLexemes(text).map(({ lexeme }) => lexeme)));
  // Logins and codes are also matched as a whole.
  for (const text of texts) words.add(fold(text));
  return { kind, ...one, words };
}

export class Directory {
  #state = '';
  #people: Promise<Entry[]> | undefined;

  async people(ctx: ReadContext, analysis: Analysis): Promise<Entry[]> {
    const state = `${ctx.config.version} ${await peopleState(ctx)}`;
    if (this.#people === undefined || this.#state !== state) {
      this.#state = state;
      this.#people = loadPeople(ctx, analysis);
      this.#people.catch(() => {
        this.#state = '';
      });
    }
    return await this.#people;
  }
}

async function loadPeople(ctx: ReadContext, analysis: Analysis): Promise<Entry[]> {
  const { defaultLocale } = registry(ctx).settings;
  const people = await listPeople(ctx);
  return people.map(({ kind, id, title, texts, updatedAt }) => {
    const name = localized(title, defaultLocale, defaultLocale);
    // Names in all locales are matched.
    const others = typeof title === 'string' ? [] : Object.values(title);
    return entryOf(analysis, kind, {
      id,
      title: name,
      texts: [...texts.filter((text) => text !== null), ...others],
      updatedAt,
    });
  });
}

export function serviceEntries(analysis: Analysis, services: readonly Listed[]): Entry[] {
  return services.map((service) => entryOf(analysis, 'service', service));
}

/** Match quality of a word: 1 for the whole word, less for a synonym or prefix, least with a typo, 0 for no match. */
function meets(entry: Entry, term: Term): number {
  if (term.lexemes.some((lexeme) => entry.words.has(lexeme)) || entry.words.has(term.raw)) return 1;
  let best = term.synonyms.some((lexeme) => entry.words.has(lexeme)) ? 0.75 : 0;
  const typos = mayHoldTypo(term.raw);
  for (const word of entry.words) {
    if (word.startsWith(term.raw)) return term.last ? 1 : Math.max(best, 0.5);
    if (typos && (isWithinOneEdit(word, term.raw) || term.lexemes.some((lexeme) => isWithinOneEdit(word, lexeme))))
      best = Math.max(best, 0.25);
  }
  return best;
}

/** Entries that match all words, then those that match some, then those with similar words; best first, ties by id. */
export function matchEntries(entries: readonly Entry[], terms: readonly Term[]): { entry: Entry; score: number }[] {
  if (terms.length === 0) return [];
  const hits: { entry: Entry; score: number }[] = [];
  for (const entry of entries) {
    const met = terms.map((term) => meets(entry, term));
    const sum = met.reduce((a, b) => a + b, 0);
    if (sum === 0) continue;
    const tier = met.every((one) => one === 1) ? 3 : met.includes(1) ? 2 : 1;
    const share = sum / terms.length;
    hits.push({ entry, score: Math.round((tier + (0.9 * share) / (1 + entry.words.size / 50)) * 1e6) / 1e6 });
  }
  return hits.sort((a, b) => b.score - a.score || (a.entry.id < b.entry.id ? 1 : -1));
}

export interface SearchParts {
  analysis: Analysis;
  upToDate: IndexUpToDate;
  statistics: SearchStatistics;
  directory: Directory;
  articles: ArticleSource;
  services: ServiceSource;
  /** The index in memory; undefined if it is turned off. */
  memory: MemorySearcher | undefined;
}

export function makeSearchParts(memory?: MemorySearcher): SearchParts {
  return {
    analysis: makeAnalysis(),
    upToDate: new IndexUpToDate(),
    statistics: new SearchStatistics(),
    directory: new Directory(),
    articles,
    services: serviceSource,
    memory,
  };
}

/** What the search index in memory is made of. The composition provides it where the index is turned on. */
export const memoryOptions = new ServicePart<Omit<SearcherOptions, 'onChange'> | undefined>(
  'the settings of the search index in memory',
  () => undefined,
);

/** The search index in memory; undefined if it is turned off. */
export const searchMemory = new ServicePart('the search index in memory', ({ get, log }) => {
  const options = get(memoryOptions);
  return options && new MemorySearcher({ ...options, onChange: (what, details) => log.info(details, what) });
});

export const searchState = new ServicePart('the state of search', (service) =>
  makeSearchParts(service.get(searchMemory)),
);

async function textHits(
  ctx: ReadContext,
  kind: Kind,
  source: TextSource | null,
  terms: readonly Term[],
): Promise<Hits> {
  if (source === null) return { ...NOTHING, kind };
  const free = { free: [''], classes: [] };
  const ranked: { id: string; score: number }[] = [];
  const tiers: [Tier, 'AND' | 'OR', number][] = [
    ['all', 'AND', 3],
    ['any', 'OR', 2],
    ['near', 'OR', 1],
  ];
  for (const [tier, together, base] of tiers) {
    if (ranked.length >= ENOUGH) break;
    const wanted = tier === 'all' ? terms.filter(({ required }) => required) : terms;
    const plan = rankPlan(
      wanted.map(({ last, count, required }) => ({ share: 0.01, last, count, required })),
      tier,
    );
    const queries = wanted.map((term) => termQuery(term, free, tier).free);
    const except = ranked.map(({ id }) => id);
    const found = await matchTexts(ctx, source, queries, together, plan, except, RANKED + 1 - ranked.length);
    ranked.push(
      ...found.map(({ id, score }) => ({ id, score: Math.round((base + score / (score + 20)) * 1e6) / 1e6 })),
    );
  }
  return {
    ...NOTHING,
    kind,
    ranked: ranked.slice(0, RANKED),
    count: ranked.length,
    complete: ranked.length <= RANKED,
  };
}

/** The hits of a kind other than records. */
export async function otherHits(
  ctx: ReadContext,
  parts: SearchParts,
  kind: Exclude<Kind, 'object'>,
  terms: readonly Term[],
): Promise<Hits> {
  switch (kind) {
    case 'comment':
      return await textHits(ctx, kind, commentSource(ctx), terms);
    case 'article':
      return await textHits(ctx, kind, articleSource(ctx, parts.articles), terms);
    default: {
      const entries =
        kind === 'service'
          ? serviceEntries(parts.analysis, await parts.services.services(ctx))
          : (await parts.directory.people(ctx, parts.analysis)).filter((entry) => entry.kind === kind);
      const found = matchEntries(entries, terms);
      const ranked = found.slice(0, RANKED).map(({ entry, score }) => ({ id: entry.id, score }));
      return { ...NOTHING, kind, ranked, count: found.length, complete: found.length <= RANKED };
    }
  }
}
