/** The API contract of search (docs/spec/search.md#search). */
import type { GlobalRight } from '../../contract/rights.ts';
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { pagingQuery } from '../../contract/paging.ts';
import type { Scope } from '../../contract/scopes.ts';
import { closed, Id, Instant, nullable, Revision, Values } from '../../contract/schemas.ts';
import { WorkflowState } from '../objects/index.ts';

export const KINDS = ['object', 'comment', 'article', 'service', 'user', 'group', 'org-unit'] as const;
export type Kind = (typeof KINDS)[number];

/** The scope that other operations require for reading the kind. */
const SCOPE_OF: ReadonlyMap<string, Scope> = new Map([
  ['comment', 'comments:read'],
  ['article', 'kb:read'],
  ['service', 'catalog:read'],
  ['user', 'identity:read'],
  ['group', 'identity:read'],
  ['org-unit', 'identity:read'],
]);

/** The right that the kind requires, if it requires a global one. The rule for articles belongs to the knowledge base. */
export const RIGHT_OF: ReadonlyMap<string, GlobalRight> = new Map([
  ['user', 'user.administer'],
  ['group', 'user.administer'],
  ['org-unit', 'user.administer'],
]);

function scopesOf(query: Readonly<Record<string, unknown>>): Scope[] {
  const kinds = typeof query['kinds'] === 'string' ? query['kinds'].split(',') : [];
  return kinds.flatMap((kind) => SCOPE_OF.get(kind) ?? []);
}

const SearchResult = Type.Object(
  {
    kind: Type.Union(KINDS.map((kind) => Type.Literal(kind))),
    id: Id,
    title: nullable(Type.String()),
    snippet: nullable(Type.String({ description: 'HTML-escaped text with matches in <mark>.' })),
    score: Type.Number(),
    updatedAt: Instant,
    typeDefinitionId: Type.Optional(Id),
    typeCode: Type.Optional(Type.String()),
    number: Type.Optional(nullable(Type.String())),
    state: Type.Optional(Type.String()),
    workflowState: Type.Optional(nullable(WorkflowState)),
    revision: Type.Optional(Revision),
    values: Type.Optional(Values),
    objectId: Type.Optional(Id),
    versionId: Type.Optional(Id),
  },
  {
    $id: 'SearchResult',
    description:
      'The properties after `updatedAt` depend on the kind: `objectId` is the record of a comment, `versionId` the version of an article.',
  },
);

const Facet = Type.Array(Type.Object({ value: Type.Unknown(), count: Type.Integer() }));

export const search = defineOperation({
  id: 'search.search',
  replicaSafe: true,
  method: 'GET',
  path: '/search',
  access: 'search:read',
  moreScopes: scopesOf,
  unit: 'own',
  long: true,
  status: 200,
  tag: 'Objects',
  summary: 'Search',
  description:
    'By words (`q`), by a `filter` (JSON; records only), or both. Hits that match all words come first; if there are fewer than 25 of them, hits that match fewer words follow. With `q`, the 1,000 most recently updated matches are sorted by relevance and the others follow by last update. Without `q`, hits are sorted by last update, newest first.',
  query: closed({
    q: Type.Optional(Type.String({ maxLength: 4000, description: 'At least two letters or digits.' })),
    kinds: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: `Comma-separated: ${KINDS.join(', ')}; by default object.`,
      }),
    ),
    filter: Type.Optional(Type.String({ minLength: 1, maxLength: 100_000, description: 'A condition, as JSON.' })),
    ...pagingQuery,
  }),
  answer: Type.Object({
    results: Type.Array(SearchResult),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
    total: Type.Integer(),
    totalExact: Type.Boolean({ description: 'When false, `total` and `totalPages` are a lower estimate.' }),
    totalPages: Type.Integer(),
    facets: Type.Record(Type.String(), Facet, { description: 'Number of hits of each kind on this page.' }),
  }),
  faults: ['QUERY_TOO_SHORT', 'INVALID_FILTER', 'FILTER_TOO_EXPENSIVE', 'RIGHT_MISSING'],
});
