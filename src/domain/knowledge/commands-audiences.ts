/** Audiences of versions. They are set only in the administration interface (docs/spec/configuration.md#administration-api). */
import { Fault, type FaultDetail } from '../../lib/fault.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { requireVersion } from './load.ts';
import { type AudienceAnswer, namedAudiences } from './queries-admin.ts';
import { requireAudience } from './rules.ts';
import { type Audience, changeArticle, EVERYONE, setAudiences } from './store.ts';
import { findNamed, type Named } from './store-named.ts';

/** An audience as given in a request. */
export interface GivenAudience {
  kind: Audience['kind'];
  id?: string | null;
}

/** Without duplicates, in the order of their first occurrence. */
function distinct(audiences: readonly Audience[]): Audience[] {
  return [...new Map(audiences.map((one) => [`${one.kind} ${one.id ?? ''}`, one])).values()];
}

function problemOf(audience: Audience, path: string, found: readonly Named[]): FaultDetail[] {
  const { kind, id } = audience;
  if (kind === 'everyone') {
    if (id === undefined) return [];
    return [{ path: `${path}/id`, code: 'NOT_ALLOWED', message: 'Everyone has no id; leave it out.' }];
  }
  if (id === undefined) return [{ path: `${path}/id`, code: 'REQUIRED', message: 'A value is required.' }];
  if (found.some((one) => one.kind === kind && one.id === id && one.active)) return [];
  return [{ path: `${path}/id`, code: 'UNKNOWN_REFERENCE', message: 'The id names nobody who is there and active.' }];
}

/**
 * Replaces the audience of a version. The audience of an active version cannot be empty, and changing it requires the right
 * `kb.publish`.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED, INVALID_VALUES, AUDIENCE_MISSING
 */
export async function changeAudiences(
  ctx: WriteContext,
  versionId: string,
  said: readonly GivenAudience[],
): Promise<{ versionId: string; audiences: AudienceAnswer[] }> {
  ctx.actor.require('kb.write');
  const given = said.map(({ kind, id }): Audience => (id === undefined || id === null ? { kind } : { kind, id }));
  const { version } = await requireVersion(ctx, versionId);
  if (version.state === 'ACTIVE') ctx.actor.require('kb.publish');
  if (version.state === 'ARCHIVED') throw new Fault('ARCHIVED', 'The version is archived and takes no change.');
  const found = await findNamed(
    ctx,
    given.flatMap(({ id }) => id ?? []),
  );
  const problems = given.flatMap((audience, index) => problemOf(audience, `/audiences/${index}`, found));
  if (problems.length > 0) throw new Fault('INVALID_VALUES', 'Some audiences are not acceptable.', problems);
  const audiences = distinct(given);
  if (version.state === 'ACTIVE') requireAudience({ audiences });
  ctx.plan(changeArticle, { id: version.articleId, expected: version.revision });
  ctx.plan(setAudiences, {
    id: version.id,
    state: version.state,
    audiences,
    admits: audiences.map(({ id }) => id ?? EVERYONE),
    at: ctx.now,
    by: ctx.actor.userId,
  });
  ctx.emit({
    type: 'ArticleAudiencesSet',
    subject: `article:${version.articleId}`,
    data: { articleId: version.articleId, versionId, before: version.audiences, after: audiences },
  });
  return { versionId, audiences: namedAudiences(ctx, audiences, found) };
}
