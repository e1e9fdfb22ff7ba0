/**
 * Write commands on articles. Every change of a version is conditional on the article's revision, so concurrent changes cannot
 * both succeed.
 */
import type { EventType } from '../../contract/events.ts';
import { codeFromTitle } from '../../lib/code-from-title.ts';
import { Fault, faultAt, type FaultDetail } from '../../lib/fault.ts';
import { findByIdOrCode } from '../../contract/schemas.ts';
import { deepEqualJson } from '../../lib/json.ts';
import { problem, problemAt } from '../../lib/problem.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import type { InlineImage } from '../metadata/index.ts';
import { checkAudiences, type GivenAudience } from './audiences.ts';
import { type Base, bases, type Visibility } from './registry.ts';
import {
  articleStateToken,
  type Content,
  type ContentInput,
  planContent,
  requireAudience,
  requireDraft,
  requireOneBody,
  requireToken,
} from './rules.ts';
import {
  changeArticle,
  changeDraft,
  EVERYONE,
  findArticle,
  findArticleById,
  findPrincipals,
  findVersion,
  insertArticle,
  insertVersion,
  listCodesLike,
  listCurrent,
  listImages,
  moveVersion,
  setReviewDate,
  useImage,
  type VersionRow,
} from './store.ts';
import { readLongText, type ReadText } from './text.ts';
import { type LoadedVersion, noArticle, rememberVersion, requireVersion } from './versions.ts';

/** The answer of the commands that change a version. */
interface VersionAnswer {
  id: string;
  versionId: string;
  state: string;
  title: string;
}

/** @throws Fault INVALID_REQUEST */
function requireBase(ctx: WriteContext, idOrCode: string): Base {
  const base = findByIdOrCode(bases(ctx), idOrCode);
  if (base === undefined) throw faultAt('INVALID_REQUEST', '/baseId', 'NO_BASE');
  return base;
}

function wrongVisibility(base: Base, visibility: Visibility | undefined): FaultDetail[] {
  if (visibility === undefined || visibility === base.visibility) return [];
  return [problemAt('/visibility', 'VISIBILITY_OF_BASE', { visibility: base.visibility })];
}

async function wrongResponsible(ctx: WriteContext, id: string | null | undefined): Promise<FaultDetail[]> {
  if (id === undefined || id === null) return [];
  const found = await findPrincipals(ctx, [id]);
  if (found.some(({ kind, active }) => kind === 'user' && active)) return [];
  return [problemAt('/responsibleId', 'NO_RESPONSIBLE')];
}

function storeImages(ctx: WriteContext, articleId: string, images: readonly InlineImage[]): void {
  for (const { sha256, mediaType, bytes } of images) {
    ctx.storeBlob(sha256, bytes);
    ctx.plan(useImage, { articleId, sha256, mediaType, size: bytes.length });
  }
}

async function knownImages(ctx: WriteContext, articleId: string | undefined): Promise<Set<string>> {
  const images = articleId === undefined ? [] : await listImages(ctx, articleId);
  return new Set(images.map(({ sha256 }) => sha256));
}

/** Parses the text. It is called only after the caller's right to write was checked. @throws Fault OVERLOADED */
async function textOf(ctx: WriteContext, input: ContentInput): Promise<ReadText | undefined> {
  if (input.body === undefined && input.bodyDocument === undefined) return undefined;
  return await readLongText(input, ctx.actor.userId);
}

/** Writes an event to the audit log. Event types of the specification are also sent to webhooks. */
function emitArticleEvent(
  ctx: WriteContext,
  type: Extract<EventType, `Article${string}`>,
  version: VersionRow,
  more: Record<string, unknown> = {},
): void {
  const { articleId, id, code, locale, title } = version;
  ctx.emit({ type, subject: `article:${articleId}`, data: { articleId, versionId: id, code, locale, title, ...more } });
}

interface ArticleInput extends ContentInput {
  baseId: string;
  sectionId: string;
  code: string;
  title: string;
  locale: string;
  visibility: Visibility;
  /** The audience of the draft; nobody by default. */
  audiences?: readonly GivenAudience[];
}

/**
 * Creates a draft (docs/spec/catalogue-and-knowledge.md#articles). If the code exists in the base, it is a draft of a new
 * version of that article; otherwise a new article is created.
 *
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST, ALREADY_EXISTS (the locale has a draft), INVALID_VALUES
 */
export async function createArticle(ctx: WriteContext, input: ArticleInput): Promise<VersionAnswer> {
  ctx.actor.require('kb.write');
  requireOneBody(input, true);
  const base = requireBase(ctx, input.baseId);
  const article = await findArticle(ctx, base.id, input.code, input.locale);
  if (article?.hasDraft === true) {
    throw new Fault('ALREADY_EXISTS', problem('DRAFT_EXISTS'), {
      field: 'code',
    });
  }
  return answer(await planDraft(ctx, input, base, article));
}

/** Plans the draft: of a new version of the article, or of a new article if none is given. @throws Fault INVALID_VALUES */
async function planDraft(
  ctx: WriteContext,
  input: ArticleInput,
  base: Base,
  article?: { id: string; revision: number },
): Promise<LoadedVersion> {
  const section = findByIdOrCode(base.sections, input.sectionId);
  const checked = await checkAudiences(ctx, input.audiences ?? []);
  const { audiences } = checked;
  const problems = [
    ...wrongVisibility(base, input.visibility),
    ...(await wrongResponsible(ctx, input.responsibleId)),
    ...checked.problems,
  ];
  if (section === undefined) {
    problems.push(problemAt('/sectionId', 'NO_BASE_SECTION'));
  }
  if (!base.locales.includes(input.locale)) {
    problems.push(problemAt('/locale', 'NO_BASE_LOCALE', { known: base.locales }));
  }
  const { content, images } = planContent(
    input,
    await textOf(ctx, input),
    await knownImages(ctx, article?.id),
    problems,
  );
  const articleId = article?.id ?? ctx.newId();
  const version: LoadedVersion = {
    id: ctx.newId(),
    articleId,
    baseId: base.id,
    code: input.code,
    revision: (article?.revision ?? 0) + 1,
    sectionId: section?.id ?? '',
    locale: input.locale,
    state: 'DRAFT',
    ...complete(content),
    responsibleName: null,
    visibility: input.visibility,
    audiences,
    stateToken: '',
    createdAt: ctx.now,
    updatedAt: ctx.now,
    publishedAt: null,
    archivedAt: null,
    reviewOn: null,
  };
  if (article === undefined) {
    ctx.plan(insertArticle, {
      id: articleId,
      baseId: base.id,
      code: input.code,
      createdAt: ctx.now,
      createdBy: ctx.actor.userId,
    });
  } else ctx.plan(changeArticle, { id: articleId, revision: article.revision + 1 });
  ctx.plan(insertVersion, {
    ...written(ctx, version),
    articleId,
    sectionId: version.sectionId,
    locale: version.locale,
    audiences: [...audiences],
    audienceIds: audiences.map(({ id }) => id ?? EVERYONE),
  });
  storeImages(ctx, articleId, images);
  rememberVersion(ctx, version);
  emitArticleEvent(ctx, 'ArticleDrafted', version, audiences.length === 0 ? {} : { audiences });
  return version;
}

/**
 * Creates a new article as a draft, with a code made from its title. If another article takes the code meanwhile, the unit of
 * work is retried with the next one.
 *
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST, INVALID_VALUES
 */
export async function draftArticle(
  ctx: WriteContext,
  input: Omit<ArticleInput, 'code' | 'visibility'>,
): Promise<VersionAnswer & { code: string }> {
  ctx.actor.require('kb.write');
  requireOneBody(input, true);
  const base = requireBase(ctx, input.baseId);
  const stem = codeFromTitle(input.title);
  const taken = new Set(await listCodesLike(ctx, base.id, stem));
  let code = stem;
  for (let number = 2; taken.has(code); number++) code = `${stem}-${number}`;
  return { ...answer(await planDraft(ctx, { ...input, code, visibility: base.visibility }, base)), code };
}

/**
 * Sets or removes the review date of an article.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND
 */
export async function setReview(ctx: WriteContext, articleId: string, reviewOn: string | null) {
  ctx.actor.require('kb.write');
  const article = await findArticleById(ctx, articleId);
  if (article === undefined || !bases(ctx).some(({ id }) => id === article.baseId)) throw noArticle();
  if (article.reviewOn !== reviewOn) {
    ctx.plan(setReviewDate, { id: articleId, revision: article.revision + 1, reviewOn });
    const data = { articleId, before: article.reviewOn, after: reviewOn };
    ctx.emit({ type: 'ArticleReviewSet', subject: `article:${articleId}`, data });
  }
  return { id: articleId, reviewOn };
}

/**
 * Fills in defaults for the optional parts. Expects content with a title and a text, as `planContent` returns it for a create.
 */
function complete(
  content: Content,
): Pick<LoadedVersion, 'title' | 'summary' | 'tags' | 'responsibleId' | 'document' | 'body'> {
  const { title, summary = null, tags = [], responsibleId = null, document, body } = content;
  if (title === undefined || document === undefined || body === undefined) throw new Error('a draft lacks its text');
  return { title, summary, tags: [...tags], responsibleId, document, body };
}

function written(ctx: WriteContext, version: LoadedVersion) {
  const { id, title, summary, tags, responsibleId, visibility, document, body } = version;
  const content = { title, summary, tags, responsibleId, visibility, document, body };
  return { id, ...content, updatedAt: ctx.now, updatedBy: ctx.actor.userId };
}

function answer({ articleId, id, state, title }: VersionRow): VersionAnswer {
  return { id: articleId, versionId: id, state, title };
}

interface DraftInput extends ContentInput {
  versionId: string;
  visibility?: Visibility;
}

/**
 * Changes a draft (docs/spec/catalogue-and-knowledge.md#articles). If nothing differs from the stored draft, no event is
 * emitted.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, NOT_A_DRAFT, INVALID_VALUES
 */
export async function editDraft(ctx: WriteContext, input: DraftInput): Promise<VersionAnswer> {
  ctx.actor.require('kb.write');
  requireOneBody(input, false);
  const { version, base } = await requireVersion(ctx, input.versionId);
  requireDraft(version);
  const problems = wrongVisibility(base, input.visibility);
  if (input.responsibleId !== version.responsibleId)
    problems.push(...(await wrongResponsible(ctx, input.responsibleId)));
  const { content, images } = planContent(
    input,
    await textOf(ctx, input),
    await knownImages(ctx, version.articleId),
    problems,
  );
  const next: LoadedVersion = {
    ...version,
    ...complete({ ...version, ...content }),
    visibility: input.visibility ?? version.visibility,
    updatedAt: ctx.now,
  };
  if (deepEqualJson(written(ctx, version), written(ctx, next))) return answer(version);
  ctx.plan(changeArticle, { id: version.articleId, revision: version.revision + 1 });
  ctx.plan(changeDraft, written(ctx, next));
  storeImages(ctx, version.articleId, images);
  rememberVersion(ctx, next);
  emitArticleEvent(ctx, 'ArticleDraftChanged', next);
  return answer(next);
}

/** Plans the change of a version's state. */
function move(ctx: WriteContext, version: LoadedVersion, to: VersionRow['state']): LoadedVersion {
  ctx.plan(moveVersion, { id: version.id, from: version.state, to, updatedAt: ctx.now, updatedBy: ctx.actor.userId });
  const next: LoadedVersion = { ...version, state: to, updatedAt: ctx.now };
  if (to === 'ACTIVE') next.publishedAt = ctx.now;
  rememberVersion(ctx, next);
  return next;
}

/** Loads a version with its text. */
async function loadWithText(ctx: WriteContext, row: VersionRow | undefined): Promise<LoadedVersion | undefined> {
  return row === undefined ? undefined : await findVersion(ctx, row.id);
}

/**
 * Publishes a draft (docs/spec/catalogue-and-knowledge.md#articles). The active version of the same locale is archived in the
 * same transaction.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, NOT_A_DRAFT, AUDIENCE_MISSING, INVALID_VALUES (the visibility of the base has
 *   changed)
 */
export async function publishVersion(ctx: WriteContext, versionId: string): Promise<Omit<VersionAnswer, 'title'>> {
  ctx.actor.require('kb.publish');
  const { version, base } = await requireVersion(ctx, versionId);
  requireDraft(version);
  requireAudience(version);
  const problems = wrongVisibility(base, version.visibility);
  if (problems.length > 0)
    throw new Fault(
      'INVALID_VALUES',
      'The version no longer matches its knowledge base. Correct each problem in details.',
      problems,
    );
  const current = await listCurrent(ctx, version.articleId, version.locale);
  const before = await loadWithText(
    ctx,
    current.find(({ state }) => state === 'ACTIVE'),
  );
  ctx.plan(changeArticle, { id: version.articleId, revision: version.revision + 1 });
  if (before !== undefined) move(ctx, before, 'ARCHIVED');
  const next = move(ctx, version, 'ACTIVE');
  emitArticleEvent(ctx, 'ArticlePublished', next, before === undefined ? {} : { replacedVersionId: before.id });
  return { id: next.articleId, versionId: next.id, state: next.state };
}

interface ArchiveInput {
  versionId: string;
  /** The opaque token of the article state in this locale. */
  version: string;
}

/**
 * Archives the active version and the draft of an article in the version's locale
 * (docs/spec/catalogue-and-knowledge.md#articles). Webhooks are notified only of the active version.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED, VERSION_TOKEN_STALE
 */
export async function archiveArticle(ctx: WriteContext, input: ArchiveInput): Promise<Omit<VersionAnswer, 'title'>> {
  ctx.actor.require('kb.write');
  const { version } = await requireVersion(ctx, input.versionId);
  const current = await listCurrent(ctx, version.articleId, version.locale);
  if (current.length === 0) throw new Fault('ARCHIVED', 'The article is already archived in this locale.');
  requireToken(articleStateToken(version.locale, current), input.version);
  ctx.plan(changeArticle, { id: version.articleId, revision: version.revision + 1 });
  for (const row of current) {
    const archived = move(ctx, (await loadWithText(ctx, row)) as LoadedVersion, 'ARCHIVED');
    emitArticleEvent(ctx, row.state === 'ACTIVE' ? 'ArticleArchived' : 'ArticleDraftArchived', archived);
  }
  return { id: version.articleId, versionId: version.id, state: 'ARCHIVED' };
}

/**
 * Turns an archived version into a draft again, with the audience that it had. Only the administration API offers this.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, STATE_CONFLICT (it is not archived), ALREADY_EXISTS (the locale has a draft)
 */
export async function restoreVersion(ctx: WriteContext, versionId: string): Promise<VersionAnswer> {
  ctx.actor.require('kb.write');
  const { version } = await requireVersion(ctx, versionId);
  if (version.state !== 'ARCHIVED') throw new Fault('STATE_CONFLICT', problem('NOT_ARCHIVED'));
  const current = await listCurrent(ctx, version.articleId, version.locale);
  if (current.some(({ state }) => state === 'DRAFT')) {
    throw new Fault('ALREADY_EXISTS', problem('DRAFT_EXISTS'), { field: 'locale' });
  }
  ctx.plan(changeArticle, { id: version.articleId, revision: version.revision + 1 });
  const next = move(ctx, version, 'DRAFT');
  emitArticleEvent(ctx, 'ArticleRestored', next);
  return answer(next);
}
