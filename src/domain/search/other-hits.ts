/**
 * The hits of kinds other than records. Users, groups, units and services are few and short, so they are matched in memory. Their
 * analysed names are cached until the database reports a change.
 */
import { fold } from '../../lib/text.ts';
import type { Analysis } from '../../lib/words.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { localized, registry } from '../metadata/index.ts';
import type { Kind } from './contract.ts';
import { bestFirst, type Scored } from './query.ts';
import { rankPlan, type Tier } from './ranking.ts';
import { ENOUGH, type Hits, NOTHING, RANKED, required, squashed } from './record-hits.ts';
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
import { isWithinOneEdit, mayHoldTypo, readingOf, type Term } from './terms.ts';

export interface OtherSources {
  analysis: Analysis;
  directory: Directory;
  articles: ArticleSource;
  services: ServiceSource;
}

interface Entry extends Listed {
  kind: Kind;
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
function matchEntries(entries: readonly Entry[], terms: readonly Term[]): Scored[] {
  if (terms.length === 0) return [];
  const hits: Scored[] = [];
  for (const entry of entries) {
    const met = terms.map((term) => meets(entry, term));
    const sum = met.reduce((a, b) => a + b, 0);
    if (sum === 0) continue;
    const tier = met.every((one) => one === 1) ? 3 : met.includes(1) ? 2 : 1;
    const share = sum / terms.length;
    const score = Math.round((tier + (0.9 * share) / (1 + entry.words.size / 50)) * 1e6) / 1e6;
    hits.push({ id: entry.id, score });
  }
  return hits.sort(bestFirst);
}

async function textHits(
  ctx: ReadContext,
  kind: Kind,
  source: TextSource | null,
  terms: readonly Term[],
): Promise<Hits> {
  if (source === null) return { ...NOTHING, kind };
  const ranked: Scored[] = [];
  const tiers: [Tier, 'AND' | 'OR'][] = [
    ['all', 'AND'],
    ['any', 'OR'],
    ['near', 'OR'],
  ];
  for (const [tier, together] of tiers) {
    if (ranked.length >= ENOUGH) break;
    const wanted = tier === 'all' ? required(terms) : terms;
    const plan = rankPlan(wanted.map((term) => ({ ...term, share: 0.01 })));
    const readings = wanted.map((term) => readingOf([''], term, tier));
    const except = ranked.map(({ id }) => id);
    const found = await matchTexts(ctx, source, readings, together, plan, except, RANKED + 1 - ranked.length);
    ranked.push(...found.map((one) => squashed(tier, one)));
  }
  return {
    ...NOTHING,
    kind,
    ranked: ranked.slice(0, RANKED),
    count: ranked.length,
    complete: ranked.length <= RANKED,
  };
}

/** People of all kinds, or services. */
export async function entriesOf(
  ctx: ReadContext,
  { analysis, directory, services }: OtherSources,
  kind: Exclude<Kind, 'object' | 'comment' | 'article'>,
): Promise<Entry[]> {
  if (kind !== 'service') return await directory.people(ctx, analysis);
  return (await services.services(ctx)).map((service) => entryOf(analysis, 'service', service));
}

/** The hits of a kind other than records. */
export async function otherHits(
  ctx: ReadContext,
  sources: OtherSources,
  kind: Exclude<Kind, 'object'>,
  terms: readonly Term[],
): Promise<Hits> {
  switch (kind) {
    case 'comment':
      return await textHits(ctx, kind, commentSource(ctx), terms);
    case 'article':
      return await textHits(ctx, kind, articleSource(ctx, sources.articles), terms);
    default: {
      const entries = (await entriesOf(ctx, sources, kind)).filter((entry) => entry.kind === kind);
      const found = matchEntries(entries, terms);
      return {
        ...NOTHING,
        kind,
        ranked: found.slice(0, RANKED),
        count: found.length,
        complete: found.length <= RANKED,
      };
    }
  }
}
