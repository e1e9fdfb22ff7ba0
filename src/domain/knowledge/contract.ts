/**
 * Operations and schemas of articles, for readers and authors (docs/spec/catalogue-and-knowledge.md#articles). Those that only
 * the administration API offers to readers are here too; those for authors are in `contract-administration.ts`.
 */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { pagingQuery } from '../../contract/paging.ts';
import { closed, Id, IdOrCode, Instant, localeQuery, nullable } from '../../contract/schemas.ts';

export const TAG = 'Knowledge base';

export const VisibilitySchema = Type.Union([Type.Literal('internal'), Type.Literal('portal')]);
export const VersionStateSchema = Type.Union([Type.Literal('DRAFT'), Type.Literal('ACTIVE'), Type.Literal('ARCHIVED')]);

export const listed = {
  id: Id,
  versionId: Id,
  code: Type.String(),
  baseId: Id,
  sectionId: Id,
  locale: Type.String(),
  title: Type.String(),
  summary: nullable(Type.String()),
  tags: Type.Array(Type.String()),
  visibility: VisibilitySchema,
  state: VersionStateSchema,
  responsibleId: nullable(Id),
  publishedAt: nullable(Instant),
  updatedAt: Instant,
};

export const ArticleSchema = Type.Object(listed, { $id: 'Article' });

const DocumentAnswer = Type.Record(Type.String(), Type.Unknown(), {
  description: 'The text as a ProseMirror document. Images refer to `blob:<sha256>`.',
});

export const text = {
  body: Type.String({ description: 'The text as Markdown.' }),
  bodyDocument: DocumentAnswer,
};

const VersionAnswer = Type.Object(
  { id: Id, versionId: Id, state: VersionStateSchema, title: Type.String() },
  { $id: 'ArticleVersion' },
);

export const content = {
  summary: Type.Optional(nullable(Type.String({ maxLength: 2000 }))),
  tags: Type.Optional(nullable(Type.Array(Type.String(), { maxItems: 50 }))),
  responsibleId: Type.Optional(nullable(Id)),
  body: Type.Optional(Type.String({ description: 'The text as Markdown. Give either `body` or `bodyDocument`.' })),
  bodyDocument: Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 63 }), Type.Unknown(), { description: 'ProseMirror JSON.' }),
  ),
};

const kb = { tag: TAG } as const;

export const listArticles = defineOperation({
  ...kb,
  id: 'kb.list',
  replicaSafe: true,
  method: 'GET',
  path: '/kb/articles',
  growth: 'whole',
  access: 'kb:read',
  right: 'kb.read',
  unit: 'read',
  status: 200,
  summary: 'List published articles, last published first',
  description:
    'Active versions whose audience includes the caller; one version for each article, in the requested locale if there is one. In the administration API, callers with kb.portal instead of kb.read get portal articles only.',
  query: closed(localeQuery),
  answer: Type.Array(ArticleSchema),
  faults: ['RIGHT_MISSING'],
});

export const getArticle = defineOperation({
  ...kb,
  id: 'kb.get',
  method: 'GET',
  path: '/kb/articles/{articleId}',
  growth: 'record',
  access: 'kb:read',
  right: 'kb.read',
  unit: 'snapshot',
  status: 200,
  summary: 'Read a published article',
  description:
    'Returns the active version in the requested locale, or in the default locale, or in any. An article whose audience does not include the caller is 404.',
  params: closed({ articleId: Id }),
  query: closed(localeQuery),
  answer: Type.Object(
    {
      ...listed,
      ...text,
      responsible: nullable(Type.Object({ id: Id, displayName: Type.String() })),
      locales: Type.Array(Type.String(), { description: 'The translations that the caller may read.' }),
    },
    { $id: 'ArticleText' },
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const readImage = defineOperation({
  ...kb,
  id: 'kb.image',
  method: 'GET',
  path: '/kb/articles/{articleId}/images/{sha256}',
  growth: 'record',
  access: 'kb:read',
  right: 'kb.read',
  unit: 'own',
  status: 200,
  summary: 'Read an image of an article',
  description:
    'The image can be read by callers who may read a version that contains it, and by callers with the right kb.write.',
  params: closed({ articleId: Id, sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
  answer: Type.Unknown(),
  raw: { mediaTypes: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] },
  alsoAnswers: [304],
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const createArticle = defineOperation({
  ...kb,
  id: 'kb.create',
  method: 'POST',
  path: '/kb/articles',
  access: 'kb:write',
  right: 'kb.write',
  unit: 'write',
  status: 201,
  summary: 'Create a draft of an article',
  description:
    'Creates the first draft of a new article, or, if `code` exists in the base, a draft of a new version. The visibility must be that of the base, the locale one of its locales. The text comes in `body` or in `bodyDocument`.',
  body: closed({
    baseId: IdOrCode,
    sectionId: IdOrCode,
    code: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$', description: 'a code such as vpn-setup' }),
    title: Type.String(),
    locale: Type.String({ maxLength: 64 }),
    visibility: VisibilitySchema,
    ...content,
  }),
  answer: VersionAnswer,
  faults: ['RIGHT_MISSING', 'ALREADY_EXISTS', 'INVALID_VALUES'],
});

export const editDraft = defineOperation({
  ...kb,
  id: 'kb.edit',
  method: 'PATCH',
  path: '/kb/article-versions/{versionId}',
  access: 'kb:write',
  right: 'kb.write',
  unit: 'write',
  status: 200,
  summary: 'Change a draft',
  description:
    'Omitted properties keep their values; null clears a property. Section, code and locale of a version cannot be changed.',
  params: closed({ versionId: Id }),
  body: closed(
    { title: Type.Optional(Type.String()), visibility: Type.Optional(VisibilitySchema), ...content },
    { minProperties: 1 },
  ),
  answer: VersionAnswer,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'NOT_A_DRAFT', 'INVALID_VALUES'],
});

const Moved = Type.Object({ id: Id, versionId: Id, state: VersionStateSchema }, { $id: 'ArticleState' });

export const publishVersion = defineOperation({
  ...kb,
  id: 'kb.publish',
  method: 'POST',
  path: '/kb/articles/publish',
  access: 'kb:write',
  right: 'kb.publish',
  unit: 'write',
  status: 200,
  summary: 'Publish a draft',
  description:
    'The version needs an audience. The version that was active in this locale is archived in the same transaction.',
  body: closed({ versionId: Id }),
  answer: Moved,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'NOT_A_DRAFT', 'AUDIENCE_MISSING', 'INVALID_VALUES'],
});

export const archiveArticle = defineOperation({
  ...kb,
  id: 'kb.archive',
  method: 'POST',
  path: '/kb/articles/archive',
  access: 'kb:write',
  right: 'kb.write',
  unit: 'write',
  status: 200,
  summary: 'Archive an article in one locale',
  description:
    'Archives the active version and the draft of one locale. `version` is the token that `GET /kb/articles/{articleId}/material` returns; if the article was changed since, the call is refused with VERSION_TOKEN_STALE. `confirmed` must be true.',
  body: closed({
    versionId: Id,
    version: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'The opaque token of the article state, from the administration API.',
    }),
    confirmed: Type.Literal(true),
  }),
  answer: Moved,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'VERSION_TOKEN_STALE'],
});

// ---------------------------------------------------------------- readers, in the administration API

const reading = { access: 'console', right: 'kb.read', tag: TAG } as const;

const articles = Type.Integer({ description: 'Articles that the caller may read, without those of sections below.' });

export const getContents = defineOperation({
  ...reading,
  id: 'kb.contents',
  replicaSafe: true,
  method: 'GET',
  path: '/kb/contents',
  growth: 'whole',
  unit: 'read',
  status: 200,
  summary: 'List the bases and sections that have articles for the caller',
  description:
    'Names are in the requested locale. A section is listed if the caller may read an article of it or of a section below it. Callers with kb.portal instead of kb.read get portal articles only.',
  query: closed(localeQuery),
  answer: Type.Array(
    Type.Object(
      {
        id: Id,
        code: Type.String(),
        name: Type.String(),
        visibility: VisibilitySchema,
        sections: Type.Array(
          Type.Object({ id: Id, code: Type.String(), name: Type.String(), parentId: nullable(Id), articles }),
        ),
      },
      { $id: 'KnowledgeContents' },
    ),
  ),
  faults: ['RIGHT_MISSING'],
});

export const browseArticles = defineOperation({
  ...reading,
  id: 'kb.browse',
  replicaSafe: true,
  method: 'GET',
  path: '/kb/browse',
  unit: 'read',
  status: 200,
  summary: 'List published articles by section, popularity, or likeness to an article',
  description:
    'One version for each article, as `GET /kb/articles` returns it. `sectionId` includes the sections below. `sort` is `title` (default), `newest`, or `popular`: by the views of the last 90 days and the votes. `relatedTo` lists articles that share tags, words of the title or the section with this one, the most alike first.',
  query: closed({
    sectionId: Type.Optional(Id),
    relatedTo: Type.Optional(Id),
    sort: Type.Optional(Type.Union([Type.Literal('title'), Type.Literal('newest'), Type.Literal('popular')])),
    ...localeQuery,
    ...pagingQuery,
  }),
  answer: Type.Object({
    rows: Type.Array(ArticleSchema),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
  }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

const oneArticle = closed({ articleId: Id });
const OwnVote = Type.Object(
  { helpful: nullable(Type.Boolean({ description: 'Whether the article helped the caller; null without a vote.' })) },
  { $id: 'ArticleVote' },
);

export const viewArticle = defineOperation({
  ...reading,
  id: 'kb.view',
  method: 'POST',
  path: '/kb/articles/{articleId}/views',
  unit: 'write',
  status: 200,
  summary: 'Count a view of an article, and read the vote of the caller',
  description:
    'The console calls this when a reader opens an article. A view is counted once for each user and day (UTC). An article that the caller may not read is 404.',
  params: oneArticle,
  answer: OwnVote,
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const voteOnArticle = defineOperation({
  ...reading,
  id: 'kb.vote',
  method: 'PUT',
  path: '/kb/articles/{articleId}/vote',
  unit: 'write',
  status: 200,
  summary: 'Say whether an article helped',
  description:
    'Replaces the vote of the caller; null removes it. Authors see only the counts. An article that the caller may not read is 404.',
  params: oneArticle,
  body: closed({ helpful: nullable(Type.Boolean()) }),
  answer: OwnVote,
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});
