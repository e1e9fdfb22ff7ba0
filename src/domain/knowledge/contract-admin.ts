/** Operations and schemas of articles in the administration interface (docs/spec/configuration.md#administration-api). */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { pagingQuery } from '../../contract/paging.ts';
import { closed, Id, IdOrCode, Instant, nullable } from '../../contract/schemas.ts';
import { listed, localeQuery, tag, text, VersionStateSchema, VisibilitySchema } from './contract.ts';

const kb = { access: 'console', right: 'kb.write', tag } as const;

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
        name: nullable(Type.String({ description: 'Null of everyone, and of somebody who is there no more.' })),
      }),
    ),
  },
  { $id: 'ArticleAudiences' },
);

const Named = { id: Id, code: Type.String(), name: Type.String() };

export const listBases = defineOperation({
  ...kb,
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
  ...kb,
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
  ...kb,
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
  ...kb,
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
  ...kb,
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
  ...kb,
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

export const getMaterial = defineOperation({
  ...kb,
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
