/** Operations of the administration API for authors of articles (docs/spec/configuration.md#administration-api). */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { pagingQuery } from '../../contract/paging.ts';
import { closed, Id, IdOrCode, Instant, localeQuery, nullable } from '../../contract/schemas.ts';
import { content, listed, TAG, text, VersionStateSchema, VisibilitySchema } from './contract.ts';

const admin = { access: 'console', right: 'kb.write', tag: TAG } as const;

const KindSchema = Type.Union([
  Type.Literal('everyone'),
  Type.Literal('group'),
  Type.Literal('orgUnit'),
  Type.Literal('user'),
]);
const audiences = Type.Array(Type.Object({ kind: KindSchema, id: Type.Optional(Id) }));

const all = {
  ...listed,
  createdAt: Instant,
  archivedAt: nullable(Instant),
  audiences,
  reviewOn: nullable(Type.String({ format: 'date', description: 'When the article should be checked again.' })),
  feedback: Type.Object(
    {
      views: Type.Integer({ description: 'Views of the last 90 days: one for each user and day.' }),
      helpful: Type.Integer({ description: 'Users whom the article helped.' }),
      notHelpful: Type.Integer({ description: 'Users whom it did not help.' }),
    },
    { $id: 'ArticleFeedback', description: 'Of the article, in all its versions and locales.' },
  ),
};

const givenAudiences = Type.Array(closed({ kind: KindSchema, id: Type.Optional(nullable(Id)) }), { maxItems: 1000 });

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
  growth: 'few',
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
  unit: 'snapshot',
  status: 200,
  summary: 'List versions of articles, drafts too, last changed first',
  description:
    'Filter by state, base or article. `own=true` keeps the versions that the caller created, changed last or is responsible for; `reviewDue=true` those of articles whose review date has come. Without filters all versions are listed.',
  query: closed({
    state: Type.Optional(VersionStateSchema),
    baseId: Type.Optional(IdOrCode),
    articleId: Type.Optional(Id),
    own: Type.Optional(Type.Literal('true')),
    reviewDue: Type.Optional(Type.Literal('true')),
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
  growth: 'record',
  unit: 'snapshot',
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
  growth: 'record',
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
  body: closed({ audiences: givenAudiences }),
  answer: NamedAudiences,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'AUDIENCE_MISSING', 'INVALID_VALUES'],
});

export const draftArticle = defineOperation({
  ...admin,
  id: 'kb.draft',
  method: 'POST',
  path: '/kb/drafts',
  unit: 'write',
  idempotent: true,
  status: 201,
  summary: 'Create a new article as a draft, with a code made from its title',
  description:
    'As `POST /kb/articles`, but always a new article: the code is the transliterated title, with a number if it is taken. The visibility is that of the base. The draft can be given its audience at once.',
  body: closed({
    baseId: IdOrCode,
    sectionId: IdOrCode,
    title: Type.String(),
    locale: Type.String({ maxLength: 64 }),
    audiences: Type.Optional(givenAudiences),
    ...content,
  }),
  answer: Type.Object({ id: Id, versionId: Id, code: Type.String(), state: VersionStateSchema, title: Type.String() }),
  faults: ['RIGHT_MISSING', 'INVALID_VALUES'],
});

export const setReview = defineOperation({
  ...admin,
  id: 'kb.review',
  method: 'PUT',
  path: '/kb/articles/{articleId}/review',
  unit: 'write',
  status: 200,
  summary: 'Set the date on which an article should be checked again',
  description: 'The date belongs to the article, not to a version; null removes it.',
  params: closed({ articleId: Id }),
  body: closed({ reviewOn: nullable(Type.String({ format: 'date', pattern: '^2[0-9]{3}-', maxLength: 10 })) }),
  answer: Type.Object({ id: Id, reviewOn: nullable(Type.String({ format: 'date' })) }, { $id: 'ArticleReview' }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
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
  growth: 'record',
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
