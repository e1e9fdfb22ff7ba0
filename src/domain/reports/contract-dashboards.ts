/** The API contract of dashboards (docs/reference/reports.md#dashboards). */
import Type, { type Static } from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, Instant, nullable, oneOf, Revision } from '../../contract/schemas.ts';
import { MAX_TILES, TILE_KINDS, WIDEST } from '../../lib/report-query.ts';
import { ReportQuery } from './contract.ts';

export const Width = Type.Integer({ minimum: 1, maximum: WIDEST, description: 'Quarters of a row.' });

const TileSchema = closed({
  kind: oneOf(TILE_KINDS),
  title: Type.String({ minLength: 1, maxLength: 200 }),
  query: ReportQuery,
  width: Width,
});
export type Tile = Static<typeof TileSchema>;

const Tiles = Type.Array(TileSchema, {
  maxItems: MAX_TILES,
  description:
    '`query` is the body of POST /reports/query. `number` takes no `groupBy`, the charts need one: `line` and `area` by a moment. Charts with two groups take one measure.',
});

const ids = () => Type.Array(Id, { maxItems: 100, uniqueItems: true });
const SharedWith = closed({ roles: ids(), groups: ids() });

const Dashboard = Type.Object(
  {
    id: Id,
    code: nullable(Type.String({ description: 'Null for a dashboard that is not part of the configuration.' })),
    name: Type.String(),
    owner: nullable(Type.Object({ id: Id, displayName: Type.String() })),
    shared: Type.Boolean(),
    sharedWith: nullable(
      Type.Object(
        { roles: Type.Array(Id), groups: Type.Array(Id) },
        {
          description: 'Null for callers who may not change it.',
        },
      ),
    ),
    mayChange: Type.Boolean(),
    tiles: Tiles,
    revision: nullable(Revision),
    updatedAt: nullable(Instant),
  },
  { $id: 'Dashboard' },
);

const console = { access: 'console', tag: 'Reports' } as const;
const params = closed({ dashboardId: Id });
const Name = Type.String({ minLength: 1, maxLength: 100 });

export const listDashboards = defineOperation({
  ...console,
  id: 'dashboards.list',
  method: 'GET',
  path: '/dashboards',
  growth: 'few',
  unit: 'snapshot',
  status: 200,
  summary: "List the caller's own and shared dashboards",
  description:
    'Dashboards of the configuration and those that users made. Shared ones are listed for holders of their roles, members of their groups and holders of config.manage. A tile of the configuration that names a type or field that the caller can never read is left out; a dashboard of another user with such a tile is left out.',
  answer: Type.Array(Dashboard),
  faults: [],
});

export const createDashboard = defineOperation({
  ...console,
  id: 'dashboards.create',
  method: 'POST',
  path: '/dashboards',
  unit: 'write',
  status: 201,
  summary: 'Create a dashboard',
  description: 'To share it needs the right config.manage.',
  body: closed({ name: Name, tiles: Tiles, sharedWith: Type.Optional(SharedWith) }),
  answer: Dashboard,
  faults: ['RIGHT_MISSING', 'INVALID_FILTER'],
});

export const changeDashboard = defineOperation({
  ...console,
  id: 'dashboards.change',
  method: 'PATCH',
  path: '/dashboards/{dashboardId}',
  unit: 'write',
  status: 200,
  summary: 'Change a dashboard',
  description:
    'Omitted properties keep their values. A private dashboard can be changed by its owner, a shared one by callers with the right config.manage. Dashboards of the configuration are changed in the bundle.',
  params,
  body: closed({
    expectedRevision: Revision,
    name: Type.Optional(Name),
    tiles: Type.Optional(Tiles),
    sharedWith: Type.Optional(SharedWith),
  }),
  answer: Dashboard,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'REVISION_CONFLICT', 'INVALID_FILTER'],
});

export const deleteDashboard = defineOperation({
  ...console,
  id: 'dashboards.delete',
  method: 'DELETE',
  path: '/dashboards/{dashboardId}',
  unit: 'write',
  status: 200,
  summary: 'Delete a dashboard',
  description:
    'A private dashboard can be deleted by its owner, a shared one by callers with the right config.manage. Records are not changed.',
  params,
  body: closed({ expectedRevision: Revision }),
  ifMatch: true,
  answer: Type.Object({ id: Id }),
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'REVISION_CONFLICT'],
});
