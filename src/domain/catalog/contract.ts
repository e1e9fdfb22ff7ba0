/** The API contract of services and the catalogue (docs/spec/catalogue-and-knowledge.md#catalogue). */
import { RULE_FAULTS } from '../../lib/fault-codes.ts';
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, Instant, localeQuery, nullable, Values } from '../../contract/schemas.ts';
import { FieldSchema } from '../metadata/index.ts';
import { WorkflowState } from '../objects/index.ts';

const tag = 'Catalogue';
const query = closed(localeQuery);
const Service = Type.Object(
  { id: Id, code: Type.String(), name: Type.String(), description: nullable(Type.String()) },
  { $id: 'Service' },
);

const CatalogSchema = Type.Object(
  {
    id: Id,
    code: Type.String(),
    name: Type.String(),
    categories: Type.Array(
      Type.Object(
        { id: Id, code: Type.String(), name: Type.String(), parentId: nullable(Id) },
        { $id: 'CatalogCategory' },
      ),
    ),
    items: Type.Array(
      Type.Object(
        {
          id: Id,
          code: Type.String(),
          name: Type.String(),
          description: nullable(Type.String()),
          categoryId: Id,
          serviceId: nullable(Id),
          fields: Type.Array(FieldSchema, { description: 'The fields of the request form.' }),
          assetTypes: nullable(
            Type.Array(Type.String(), {
              description: 'Codes of the record types that `assetId` may refer to; null if a request takes no asset.',
            }),
          ),
        },
        { $id: 'CatalogItem' },
      ),
    ),
  },
  { $id: 'Catalog' },
);

export const listServices = defineOperation({
  id: 'services.list',
  method: 'GET',
  path: '/services',
  growth: 'few',
  access: 'catalog:read',
  unit: 'read',
  status: 200,
  tag,
  summary: 'List the services that are available to the caller, by name',
  description: 'Services whose audience includes the caller, in the requested locale.',
  query,
  answer: Type.Array(Service),
  faults: [],
});

export const getService = defineOperation({
  id: 'services.get',
  method: 'GET',
  path: '/services/{serviceId}',
  growth: 'few',
  access: 'catalog:read',
  unit: 'read',
  status: 200,
  tag,
  summary: 'Read a service',
  description: 'A service whose audience does not include the caller is 404.',
  params: closed({ serviceId: Id }),
  query,
  answer: Service,
  faults: ['NOT_FOUND'],
});

export const getCatalog = defineOperation({
  id: 'catalog.get',
  method: 'GET',
  path: '/catalog',
  growth: 'few',
  access: 'catalog:read',
  unit: 'read',
  status: 200,
  tag,
  summary: 'Read the active catalogue',
  description:
    'Items that are not available to the caller, and empty categories, are left out. Null if no catalogue is active.',
  query,
  answer: nullable(CatalogSchema),
  faults: [],
});

export const requestItem = defineOperation({
  id: 'catalog.request',
  method: 'POST',
  path: '/catalog/items/{itemId}/requests',
  access: 'catalog:impersonate',
  unit: 'write',
  via: 'catalog',
  idempotent: true,
  status: 201,
  tag,
  summary: 'Make a request, for oneself or on behalf of another user',
  description:
    'A `requesterId` other than the owner of the key or session needs the right `catalog.impersonate`. Availability, the right to create, values and asset are checked with the requester’s rights. The history names both users. `values` accepts only the fields of the item’s form.',
  params: closed({ itemId: Id }),
  body: closed({ requesterId: Id, values: Values, assetId: Type.Optional(Id) }),
  answer: Type.Object(
    {
      id: Id,
      number: nullable(Type.String()),
      title: nullable(Type.String()),
      state: Type.Union([Type.Literal('ACTIVE'), Type.Literal('ARCHIVED')]),
      workflowState: nullable(WorkflowState),
      createdAt: Instant,
    },
    { $id: 'CatalogRequest', description: 'The fields of a created request that the portal shows.' },
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'INVALID_VALUES', 'FIELD_READ_ONLY', ...RULE_FAULTS],
});
