/** What `app.ts` passes to other modules: the text of versions and their readers to search, event payloads to webhooks. */
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { richTextPlain } from '../metadata/index.ts';
import { plannedVersion } from './load.ts';
import { reachOf } from './audience.ts';
import { isReached, listActiveIds } from './store-audience.ts';

export const articleSource = {
  /** The text of a version as it will be after this unit of work; undefined if the version is not active. */
  activeText: async (ctx: ReadContext, versionId: string) => {
    const version = await plannedVersion(ctx, versionId);
    if (version?.state !== 'ACTIVE') return undefined;
    const { articleId, title, summary, tags, document, updatedAt } = version;
    return { articleId, title, summary: summary ?? '', tags, body: richTextPlain(document), updatedAt };
  },
  /** Ids of active versions after `after`, in order. */
  activeIds: listActiveIds,
  /** Predicate: the caller may read the version whose id is in `column`. The caller must check the right `kb.read` before. */
  visible: (ctx: ReadContext, column: Parameters<typeof isReached>[0]) => isReached(column, reachOf(ctx)),
};

/**
 * The webhook payload of an event about an article; undefined if the subscription's executor may not read the version, or could
 * not have read it while it was active.
 */
export async function articleEvent(
  ctx: ReadContext,
  about: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown> | undefined> {
  if (!ctx.actor.has('kb.read') || typeof about.versionId !== 'string') return undefined;
  const version = await plannedVersion(ctx, about.versionId);
  const { bases, admitted } = reachOf(ctx);
  if (version === undefined || version.state === 'DRAFT' || !bases.some(({ id }) => id === version.baseId))
    return undefined;
  if (!version.audiences.some(({ kind, id }) => kind === 'everyone' || admitted.includes(id ?? ''))) return undefined;
  const { articleId, id, code, locale, title } = version;
  return { articleId, versionId: id, code, locale, title };
}
