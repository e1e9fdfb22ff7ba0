/** What other rooms are handed of articles, by `app.ts`: search what versions say and who may read them, webhooks what goes out. */
import type { ReadContext } from '../../mechanisms/context.ts';
import { richTextPlain } from '../metadata/door.ts';
import { plannedVersion } from './load.ts';
import { reachOf } from './reach.ts';
import { isReached, listActiveIds } from './store-reach.ts';

export const articleSource = {
  /** The text of a version as it will stand after this unit; undefined when it is not (or no longer) active. */
  activeText: async (ctx: ReadContext, versionId: string) => {
    const version = await plannedVersion(ctx, versionId);
    if (version?.state !== 'ACTIVE') return undefined;
    const { articleId, title, summary, tags, document, updatedAt } = version;
    return { articleId, title, summary: summary ?? '', tags, body: richTextPlain(document), updatedAt };
  },
  /** Ids of active versions from `after` on, in order. */
  activeIds: listActiveIds,
  /** The predicate that the caller may read the version whose id stands in `column`. The right kb.read is asked before. */
  visible: (ctx: ReadContext, column: Parameters<typeof isReached>[0]) => isReached(column, reachOf(ctx)),
};

/**
 * What goes out of an event about an article; undefined where the caller may not read that version, or might not have while it
 * was active.
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
