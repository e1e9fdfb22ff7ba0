/**
 * Loads versions: for readers whom the audience includes, for authors, and for the modules to which `app.ts` passes them (text
 * and readers of active versions to search, event payloads to webhooks).
 */
import { DEFAULT_REQUEST_LOCALE } from '../../contract/schemas.ts';
import { Fault } from '../../lib/fault.ts';
import type { Actor, ReadContext } from '../../platform/unit-of-work/context.ts';
import { registry, richTextPlain } from '../metadata/index.ts';
import { type Base, bases } from './registry.ts';
import { EVERYONE, findVersion, listActiveIds, type VersionRow, type VersionText } from './store.ts';
import { type AudienceFilter, isReadable, type Preference, wasReadable } from './store-reading.ts';

// ---------------------------------------------------------------- readers

/** The audience ids that include the user: everyone, the user, their groups, their unit and all units above it. */
function admittedIds({ userId, variables, unitsAbove }: Actor): string[] {
  return [EVERYONE, ...(userId === null ? [] : [userId]), ...variables.groups, ...unitsAbove];
}

function audienceFilterOf(ctx: ReadContext): AudienceFilter {
  return { bases: bases(ctx), admitted: admittedIds(ctx.actor), portalOnly: false };
}

/**
 * What the caller may read. `kb.read` covers both visibilities. `kb.portal` covers only portal articles, and only in the
 * administration API, so that an API key does not become a reader through a role of requesters.
 *
 * @throws Fault RIGHT_MISSING
 */
export function readerFilter(ctx: ReadContext): AudienceFilter {
  const filter = audienceFilterOf(ctx);
  if (ctx.actor.has('kb.read')) return filter;
  if (ctx.surface !== 'console' || !ctx.actor.has('kb.portal')) ctx.actor.require('kb.read');
  return { ...filter, bases: filter.bases.filter(({ visibility }) => visibility === 'portal'), portalOnly: true };
}

/** The given locale (ru-RU by default), then the default locale of the service, then the order of the base. */
export function preferenceOf(ctx: ReadContext, asked: string | undefined): Preference {
  return { asked: asked ?? DEFAULT_REQUEST_LOCALE, fallback: registry(ctx).settings.defaultLocale };
}

// ---------------------------------------------------------------- authors

export type LoadedVersion = VersionRow & VersionText;

export function noArticle(): Fault {
  return new Fault('NOT_FOUND', 'There is no such article, or you may not see it.');
}

/** @throws Fault NOT_FOUND */
export async function requireVersion(ctx: ReadContext, id: string): Promise<{ version: LoadedVersion; base: Base }> {
  const version = await findVersion(ctx, id);
  const base = bases(ctx).find((one) => one.id === version?.baseId);
  if (version === undefined || base === undefined) {
    throw new Fault('NOT_FOUND', 'There is no such version of an article.');
  }
  return { version, base };
}

/** Caches a version as planned for the rest of the unit of work, for code that reacts to the change. */
export function rememberVersion(ctx: ReadContext, version: LoadedVersion): void {
  ctx.memo.set(`knowledge:${version.id}`, version);
}

/** The version as it will be after this unit of work, without a check of read access. */
async function plannedVersion(ctx: ReadContext, id: string): Promise<LoadedVersion | undefined> {
  return (ctx.memo.get(`knowledge:${id}`) as LoadedVersion | undefined) ?? (await findVersion(ctx, id));
}

// ---------------------------------------------------------------- search and webhooks

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
  /** @throws Fault RIGHT_MISSING */
  requireReader: (ctx: ReadContext) => void readerFilter(ctx),
  /**
   * Predicate: the caller may read the version whose id is in `column`.
   *
   * @throws Fault RIGHT_MISSING
   */
  visible: (ctx: ReadContext, column: Parameters<typeof isReadable>[0]) => isReadable(column, readerFilter(ctx)),
  /** Predicate: the caller may read events of the version whose id is in `column` (as `articleEvent`). Null if none. */
  wasVisible: (ctx: ReadContext, column: Parameters<typeof isReadable>[0]) =>
    ctx.actor.has('kb.read') ? wasReadable(column, audienceFilterOf(ctx)) : null,
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
  const { bases, admitted } = audienceFilterOf(ctx);
  if (version === undefined || version.state === 'DRAFT' || !bases.some(({ id }) => id === version.baseId))
    return undefined;
  if (!version.audiences.some(({ kind, id }) => kind === 'everyone' || admitted.includes(id ?? ''))) return undefined;
  return articleEventData({ ...version, versionId: version.id });
}

/** What an event about an article shows. Other data of the event can name versions that the reader may not read. */
export function articleEventData(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { articleId, versionId, code, locale, title } = data;
  return { articleId, versionId, code, locale, title };
}
