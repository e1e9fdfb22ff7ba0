/** The results of the page, limited to what the caller may read. */
import type { Analysis } from '../../lib/words.ts';
import { Yielder } from '../../lib/yielding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { plainText } from '../metadata/index.ts';
import { type ObjectAnswer, project, type VisibleObject, readableTitle } from '../objects/index.ts';
import type { Kind } from './contract.ts';
import { hitsIn, makeWanted, snippetOf, type Wanted } from './snippet.ts';
import type { Term } from './terms.ts';
import type { ItemState } from '../../contract/state.ts';
import { findVisibleComments } from '../comments/index.ts';
import { entriesOf, type OtherSources } from './other-hits.ts';
import { findArticleHits } from './store-texts.ts';

/** A hit of any kind. */
export interface Found {
  kind: Kind;
  id: string;
  score: number;
}

export interface SearchResult {
  kind: Kind;
  id: string;
  title: string | null;
  snippet: string | null;
  score: number;
  updatedAt: string;
  typeDefinitionId?: string;
  typeCode?: string;
  number?: string | null;
  state?: ItemState;
  workflowState?: ObjectAnswer['workflowState'];
  revision?: number;
  values?: Record<string, unknown>;
  /** Only for comments: the record. */
  objectId?: string;
  /** Only for articles: the version that was found. */
  versionId?: string;
}

export function wantedOf(terms: readonly Term[]): Wanted {
  const lexemes = new Set(
    terms.flatMap(({ lexemes, near, completions, synonyms }) => [...lexemes, ...near, ...completions, ...synonyms]),
  );
  const beginnings = terms.flatMap(({ beginnings }) => beginnings);
  return makeWanted(lexemes, beginnings);
}

/** The snippets of one answer. Together they yield to other requests, however many there are. */
export class Snippets {
  readonly #analysis: Analysis;
  readonly #wanted: Wanted;
  readonly yielder = new Yielder();

  constructor(analysis: Analysis, terms: readonly Term[]) {
    this.#analysis = analysis;
    this.#wanted = wantedOf(terms);
  }

  /** The snippet of the text with the most hits. Without hits, the beginning of the first text; null if there is none. */
  async best(texts: readonly string[]): Promise<string | null> {
    let best: { text: string; hits: ReturnType<typeof hitsIn> } | undefined;
    for (const text of texts) {
      if (text === '') continue;
      await this.yielder.next();
      const hits = hitsIn(this.#analysis, text, this.#wanted);
      if (best === undefined || hits.length > best.hits.length) best = { text, hits };
    }
    return best === undefined ? null : snippetOf(best.text, best.hits);
  }
}

export async function recordResult(
  ctx: ReadContext,
  object: VisibleObject,
  snippets: Snippets,
  score: number,
): Promise<SearchResult> {
  const { version, right, row } = object;
  const answer = project(ctx, object);
  const fields = [...version.fields.values()].filter(
    ({ code }) => right.canRead(code) && Object.hasOwn(row.values, code),
  );
  const shown = fields.filter(({ search }) => search.text || search.filter || search.facet);
  // The title is shown beside the snippet, so other texts take precedence if they have as many hits.
  const searched = fields
    .filter(({ search }) => search.text)
    .sort((a, b) => Number(a.code === version.titleField) - Number(b.code === version.titleField));
  const texts = searched.map((field) => plainText(field, row.values[field.code]));
  return {
    kind: 'object',
    id: row.id,
    title: answer.title,
    snippet: await snippets.best(texts),
    score,
    updatedAt: row.updatedAt,
    typeDefinitionId: answer.typeDefinitionId,
    typeCode: answer.typeCode,
    number: answer.number,
    state: answer.state,
    workflowState: answer.workflowState,
    revision: answer.revision,
    values: Object.fromEntries(shown.map(({ code }) => [code, row.values[code]])),
  };
}

export interface Facets {
  [name: string]: { value: unknown; count: number }[];
}

/** Facets of every search. They hide field facets with the same code. */
const OWN_FACETS: readonly string[] = ['kind', 'typeCode', 'state', 'workflowState'];

/** Counted on the page, most frequent first, then by value. */
export function facetsOf(results: readonly SearchResult[], objects: ReadonlyMap<string, VisibleObject>): Facets {
  const counts = new Map<string, Map<string, { value: unknown; count: number }>>();
  const count = (name: string, value: unknown): void => {
    const of = counts.get(name) ?? new Map<string, { value: unknown; count: number }>();
    counts.set(name, of);
    const key = JSON.stringify(value);
    const known = of.get(key);
    if (known === undefined) of.set(key, { value, count: 1 });
    else known.count++;
  };
  for (const result of results) {
    count('kind', result.kind);
    const object = objects.get(result.id);
    if (object === undefined) continue;
    count('typeCode', result.typeCode);
    count('state', result.state);
    if (result.workflowState !== null && result.workflowState !== undefined) {
      count('workflowState', result.workflowState.code);
    }
    for (const field of object.version.fields.values()) {
      const { code } = field;
      if (!field.search.facet || OWN_FACETS.includes(code) || !object.right.canRead(code)) continue;
      const value = Object.hasOwn(object.row.values, code) ? object.row.values[code] : [];
      for (const one of Array.isArray(value) ? value : [value]) count(code, one);
    }
  }
  const facets: Facets = {};
  for (const name of OWN_FACETS) facets[name] = [];
  for (const [name, of] of counts) {
    facets[name] = [...of.values()].sort(
      (a, b) => b.count - a.count || (JSON.stringify(a.value) < JSON.stringify(b.value) ? -1 : 1),
    );
  }
  return facets;
}

type AddResult = (hit: Found, result: Omit<SearchResult, 'kind' | 'id' | 'score'> & { id?: string }) => void;

/** By kind and id of the hit. Items that were deleted meanwhile are left out. */
export async function otherResults(
  ctx: ReadContext,
  parts: OtherSources,
  found: readonly Found[],
  snippets: Snippets,
): Promise<Map<string, SearchResult>> {
  const results = new Map<string, SearchResult>();
  const put: AddResult = ({ kind, id, score }, result) => {
    results.set(`${kind} ${id}`, { kind, id, ...result, score });
  };
  const of = (...kinds: Kind[]): Found[] => found.filter(({ kind }) => kinds.includes(kind));
  const comments = of('comment');
  const readable = await findVisibleComments(
    ctx,
    comments.map(({ id }) => id),
  );
  for (const hit of comments) {
    const comment = readable.get(hit.id);
    if (comment === undefined) continue;
    const { row, object } = comment;
    put(hit, {
      title: readableTitle(object),
      snippet: await snippets.best([row.body]),
      updatedAt: row.updatedAt,
      objectId: row.objectId,
    });
  }
  await putArticles(ctx, parts, of('article'), snippets, put);
  const people = of('user', 'group', 'org-unit');
  const services = of('service');
  const entries = [
    ...(people.length === 0 ? [] : await entriesOf(ctx, parts, 'user')),
    ...(services.length === 0 ? [] : await entriesOf(ctx, parts, 'service')),
  ];
  const byId = new Map(entries.map((entry) => [`${entry.kind} ${entry.id}`, entry]));
  for (const hit of [...people, ...services]) {
    const entry = byId.get(`${hit.kind} ${hit.id}`);
    if (entry === undefined) continue;
    const snippet = await snippets.best([...entry.texts, entry.title]);
    put(hit, { title: entry.title, snippet, updatedAt: entry.updatedAt });
  }
  return results;
}

async function putArticles(
  ctx: ReadContext,
  parts: OtherSources,
  found: readonly Found[],
  snippets: Snippets,
  put: AddResult,
): Promise<void> {
  if (found.length === 0) return;
  const articles = new Map(
    (
      await findArticleHits(
        ctx,
        found.map(({ id }) => id),
      )
    ).map((one) => [one.id, one]),
  );
  for (const hit of found) {
    const article = articles.get(hit.id);
    const text = article === undefined ? undefined : await parts.articles.activeText(ctx, hit.id);
    if (article === undefined || text === undefined) continue;
    put(hit, {
      id: article.articleId,
      title: article.title,
      snippet: await snippets.best([text.body, article.summary, article.title]),
      updatedAt: article.updatedAt,
      versionId: hit.id,
    });
  }
}
