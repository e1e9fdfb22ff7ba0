/** The results for hits other than records. */
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { findVisibleComments } from '../comments/index.ts';
import { readableTitle } from '../objects/index.ts';
import type { Kind } from './contract.ts';
import { type Entry, serviceEntries } from './directory.ts';
import type { SearchParts } from './parts.ts';
import type { SearchResult, Snippets } from './results.ts';
import type { Found } from './sources.ts';
import { findArticleHits } from './store-texts.ts';

type Put = (hit: Found, result: Omit<SearchResult, 'kind' | 'id' | 'score'> & { id?: string }) => void;

/** By kind and id of the hit. Items that were deleted meanwhile are left out. */
export async function otherResults(
  ctx: ReadContext,
  parts: SearchParts,
  found: readonly Found[],
  snippets: Snippets,
): Promise<Map<string, SearchResult>> {
  const results = new Map<string, SearchResult>();
  const put: Put = ({ kind, id, score }, result) => {
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
  const entries: Entry[] = [
    ...(people.length === 0 ? [] : await parts.directory.people(ctx, parts.analysis)),
    ...(services.length === 0 ? [] : serviceEntries(parts.analysis, await parts.services.services(ctx))),
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
  parts: SearchParts,
  found: readonly Found[],
  snippets: Snippets,
  put: Put,
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
