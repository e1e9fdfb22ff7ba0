/**
 * Operations and schemas of articles: for readers and authors (docs/spec/catalogue-and-knowledge.md#articles), and in the
 * administration API (docs/spec/configuration.md#administration-api).
 */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { pagingQuery } from '../../contract/paging.ts';
import { closed, Id, IdOrCode, Instant, localeQuery, nullable } from '../../contract/schemas.ts';

const TAG = 'Knowledge base';

const VisibilitySchema = Type.Union([Type.Literal('internal'), Type.Literal('portal')]);
const VersionStateSchema = Type.Union([Type.Literal('DRAFT'), Type.Literal('ACTIVE'), Type.Literal('ARCHIVED')]);

const listed = {
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

const DocumentAnswer = Type.Record(Type.String(), Type.Unknown(), {
  description: 'The text as a ProseMirror document. Images refer to `blob:<sha256>`.',
});

const text = {
  body: Type.String({ description: 'The text as Markdown.' }),
  bodyDocument: DocumentAnswer,
};

const VersionAnswer = Type.Object(
  { id: Id, versionId: Id, state: VersionStateSchema, title: Type.String() },
  { $id: 'ArticleVersion' },
);

const content = {
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
  access: 'kb:read',
  right: 'kb.read',
  unit: 'read',
  status: 200,
  summary: 'List published articles, last published first',
  description:
    'Active versions whose audience includes the caller; one version for each article, in the requested locale if there is one. In the administration API, callers with kb.portal instead of kb.read get portal articles only.',
  query: closed(localeQuery),
  answer: Type.Array(Type.Object(listed, { $id: 'Article' })),
  faults: ['RIGHT_MISSING'],
});

export const getArticle = defineOperation({
  ...kb,
  id: 'kb.get',
  method: 'GET',
  path: '/kb/articles/{articleId}',
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

// ---------------------------------------------------------------- administration API

const admin = { access: 'console', right: 'kb.write', tag: TAG } as const;

const KindSchema = Type.Union([
  Type.Literal('everyone'),
  Type.Literal('group'),
  Type.Literal('orgUnit'),
  Type.Literal('user'),
]);
const audiences = Type.Array(Type.Object({ kind: KindSchema, id: Type.Optional(Id) }));

const all = { ...listed, createdAt: Instant, archivedAt: nullable(Instant), audiences };

const NamedAudiences = Type.Object(
  {
    versionId: Id,
    audiences: Type.Array(
      Type.Object({
        kind: KindSchema,
        id: Type.Optional(Id),
        name: nullable(
          Type.String({
            description: 'Null for the audience "everyone", and if the user, group or unit no longer exists.',
          }),
        ),
      }),
    ),
  },
  { $id: 'ArticleAudiences' },
);

const Named = { id: Id, code: Type.String(), name: Type.String() };

export const listBases = defineOperation({
  ...admin,
  id: 'kb.bases',
  method: 'GET',
  path: '/kb/bases',
  unit: 'read',
  status: 200,
  summary: 'List the knowledge bases with their sections',
  description: 'Names are in the requested locale.',
  query: closed(localeQuery),
  answer: Type.Array(
    Type.Object(
      {
        ...Named,
        visibility: VisibilitySchema,
        locales: Type.Array(Type.String()),
        sections: Type.Array(Type.Object({ ...Named, parentId: nullable(Id) })),
      },
      { $id: 'KnowledgeBase' },
    ),
  ),
  faults: ['RIGHT_MISSING'],
});

export const listVersions = defineOperation({
  ...admin,
  id: 'kb.versions',
  method: 'GET',
  path: '/kb/article-versions',
  unit: 'read',
  status: 200,
  summary: 'List versions of articles, drafts too, last changed first',
  description: 'Filter by state, base or article. Without filters all versions are listed.',
  query: closed({
    state: Type.Optional(VersionStateSchema),
    baseId: Type.Optional(IdOrCode),
    articleId: Type.Optional(Id),
    ...pagingQuery,
  }),
  answer: Type.Object({
    rows: Type.Array(Type.Object(all, { $id: 'AnyArticleVersion' })),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
  }),
  faults: ['RIGHT_MISSING'],
});

const params = closed({ versionId: Id });

export const getVersion = defineOperation({
  ...admin,
  id: 'kb.version',
  method: 'GET',
  path: '/kb/article-versions/{versionId}',
  unit: 'read',
  status: 200,
  summary: 'Read a version of an article in any state',
  description: 'Drafts, active and archived versions, with their text.',
  params,
  answer: Type.Object({ ...all, ...text }, { $id: 'ArticleVersionText' }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const getAudiences = defineOperation({
  ...admin,
  id: 'kb.audiences',
  method: 'GET',
  path: '/kb/article-versions/{versionId}/audiences',
  unit: 'snapshot',
  status: 200,
  summary: 'Read the audience of a version',
  description: 'An empty list means that nobody can read the version.',
  params,
  answer: NamedAudiences,
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const setAudiences = defineOperation({
  ...admin,
  id: 'kb.set-audiences',
  method: 'PUT',
  path: '/kb/article-versions/{versionId}/audiences',
  unit: 'write',
  status: 200,
  summary: 'Set the audience of a version',
  description:
    'Replaces the whole audience. For an active version the caller also needs kb.publish, and the audience cannot be empty.',
  params,
  body: closed({
    audiences: Type.Array(closed({ kind: KindSchema, id: Type.Optional(nullable(Id)) }), { maxItems: 1000 }),
  }),
  answer: NamedAudiences,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'AUDIENCE_MISSING', 'INVALID_VALUES'],
});

export const restoreVersion = defineOperation({
  ...admin,
  id: 'kb.restore',
  method: 'POST',
  path: '/kb/article-versions/{versionId}/restore',
  unit: 'write',
  status: 200,
  summary: 'Turn an archived version into a draft',
  description:
    'The archived version becomes a draft again. Refused when the article already has a draft in that locale.',
  params,
  answer: Type.Object({ id: Id, versionId: Id, state: VersionStateSchema, title: Type.String() }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'STATE_CONFLICT', 'ALREADY_EXISTS'],
});

export const getArticleState = defineOperation({
  ...admin,
  id: 'kb.material',
  method: 'GET',
  path: '/kb/articles/{articleId}/material',
  unit: 'read',
  status: 200,
  summary: 'Read the opaque token that archiving needs',
  description:
    'The token stands for the versions that the article has in one locale. It becomes stale when one of them changes.',
  params: closed({ articleId: Id }),
  query: closed(localeQuery),
  answer: Type.Object(
    { versionId: Id, version: Type.String(), locale: Type.String(), state: VersionStateSchema },
    { $id: 'ArticleMaterial' },
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});
