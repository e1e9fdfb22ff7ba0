/** The audience of a version: who may read it once it is published. */
import { Fault, type FaultDetail } from '../../lib/fault.ts';
import { problemAt } from '../../lib/problem.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { type AudienceAnswer, withNames } from './queries.ts';
import { requireAudience } from './rules.ts';
import { type Audience, changeArticle, EVERYONE, findPrincipals, type Principal, setAudiences } from './store.ts';
import { requireVersion } from './versions.ts';

/** An audience as given in a request. */
export interface GivenAudience {
  kind: Audience['kind'];
  id?: string | null;
}

/** Without duplicates, in the order of their first occurrence. */
function distinct(audiences: readonly Audience[]): Audience[] {
  return [...new Map(audiences.map((one) => [`${one.kind} ${one.id ?? ''}`, one])).values()];
}

function problemOf(audience: Audience, path: string, found: readonly Principal[]): FaultDetail[] {
  const { kind, id } = audience;
  if (kind === 'everyone') {
    if (id === undefined) return [];
    return [problemAt(`${path}/id`, 'AUDIENCE_WITH_ID')];
  }
  if (id === undefined) return [problemAt(`${path}/id`, 'REQUIRED')];
  if (found.some((one) => one.kind === kind && one.id === id && one.active)) return [];
  return [problemAt(`${path}/id`, 'NO_AUDIENCE_MEMBER')];
}

/** The given audiences without duplicates, what they name, and what is wrong with them. */
export async function checkAudiences(
  ctx: ReadContext,
  said: readonly GivenAudience[],
): Promise<{ audiences: Audience[]; found: Principal[]; problems: FaultDetail[] }> {
  const given = said.map(({ kind, id }): Audience => (id === undefined || id === null ? { kind } : { kind, id }));
  const found = await findPrincipals(
    ctx,
    given.flatMap(({ id }) => id ?? []),
  );
  const problems = given.flatMap((audience, index) => problemOf(audience, `/audiences/${index}`, found));
  return { audiences: distinct(given), found, problems };
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
  const { version } = await requireVersion(ctx, versionId);
  if (version.state === 'ACTIVE') ctx.actor.require('kb.publish');
  if (version.state === 'ARCHIVED')
    throw new Fault('ARCHIVED', 'The version is archived and cannot be changed. Restore it first.');
  const { audiences, found, problems } = await checkAudiences(ctx, said);
  if (problems.length > 0)
    throw new Fault('INVALID_VALUES', 'Some audiences are invalid. Correct each problem in details.', problems);
  if (version.state === 'ACTIVE') requireAudience({ audiences });
  ctx.plan(changeArticle, { id: version.articleId, revision: version.revision + 1 });
  ctx.plan(setAudiences, {
    id: version.id,
    state: version.state,
    audiences,
    audienceIds: audiences.map(({ id }) => id ?? EVERYONE),
    updatedAt: ctx.now,
    updatedBy: ctx.actor.userId,
  });
  ctx.emit({
    type: 'ArticleAudiencesSet',
    subject: `article:${version.articleId}`,
    data: { articleId: version.articleId, versionId, before: version.audiences, after: audiences },
  });
  return { versionId, audiences: withNames(ctx, audiences, found) };
}
