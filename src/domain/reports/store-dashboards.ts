/** SQL on the table `report_dashboards`. */
import sql, { type Sql } from 'sql-template-tag';
import { withCurrentCodes } from '../../configuration/current-codes.ts';
import type { NamingSchema } from '../../configuration/naming.ts';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';
import type { Tile } from './contract-dashboards.ts';

export interface DashboardRow {
  id: string;
  ownerId: string;
  name: string;
  tiles: Tile[];
  sharedRoles: string[];
  sharedGroups: string[];
  revision: number;
  updatedAt: string;
}

/** Who asks. With `all`, every shared dashboard is found. */
export interface Viewer {
  userId: string;
  roles: readonly string[];
  groups: readonly string[];
  all: boolean;
}

const COLUMNS = sql`d.id, d.owner_id AS "ownerId", d.name, d.tiles, d.shared_roles AS "sharedRoles",
  d.shared_groups AS "sharedGroups", d.revision, d.updated_at AS "updatedAt"`;

/** What the codes in tiles mean. */
const TILE_NAMES: NamingSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      query: {
        type: 'object',
        typesAt: 'types',
        properties: {
          types: { names: { kind: 'item', section: 'types' } },
          filter: { names: { kind: 'condition' } },
          groupBy: { names: { kind: 'groups' } },
          calendar: { names: { kind: 'item', section: 'calendars' } },
        },
      },
    },
  },
};

/** Private dashboards of other users are never returned. */
async function select(ctx: ReadContext, viewer: Viewer, more: Sql): Promise<DashboardRow[]> {
  const shared = viewer.all
    ? sql`d.shared_roles <> '{}' OR d.shared_groups <> '{}'`
    : sql`d.shared_roles && ${[...viewer.roles]}::uuid[] OR d.shared_groups && ${[...viewer.groups]}::uuid[]`;
  const rows = await ctx.query<DashboardRow>(sql`
    SELECT ${COLUMNS} FROM report_dashboards d WHERE (d.owner_id = ${viewer.userId}::uuid OR ${shared}) ${more}`);
  return rows.map((row) => ({ ...row, tiles: withCurrentCodes(ctx, TILE_NAMES, row.tiles) }));
}

/** The viewer's own dashboards first, then by name. */
export async function listDashboards(
  ctx: ReadContext,
  viewer: Viewer,
  limit: number,
  offset: number,
): Promise<DashboardRow[]> {
  return await select(
    ctx,
    viewer,
    sql`ORDER BY d.owner_id = ${viewer.userId}::uuid DESC, d.name COLLATE "und-x-icu", d.id
      LIMIT ${limit}::int OFFSET ${offset}::int`,
  );
}

export async function findDashboard(ctx: ReadContext, id: string, viewer: Viewer): Promise<DashboardRow | undefined> {
  const [row] = await select(ctx, viewer, sql`AND d.id = ${id}::uuid`);
  return row;
}

export interface DashboardWrite {
  id: string;
  owner_id: string;
  name: string;
  tiles: readonly Tile[];
  shared_roles: readonly string[];
  shared_groups: readonly string[];
  expected: number;
  at: string;
}

export const insertDashboard: TableWrite<DashboardWrite> = {
  name: 'insert_dashboard',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO report_dashboards (id, owner_id, name, tiles, shared_roles, shared_groups, revision, created_at, updated_at)
    SELECT id, owner_id, name, tiles, shared_roles, shared_groups, 1, at, at FROM jsonb_to_recordset(${rows})
      AS r (id uuid, owner_id uuid, name text, tiles jsonb, shared_roles uuid[], shared_groups uuid[], at timestamptz)
    RETURNING 1`,
};

export const updateDashboard: TableWrite<DashboardWrite> = {
  name: 'update_dashboard',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE report_dashboards d SET name = r.name, tiles = r.tiles, shared_roles = r.shared_roles,
      shared_groups = r.shared_groups, revision = d.revision + 1, updated_at = r.at
    FROM jsonb_to_recordset(${rows})
      AS r (id uuid, name text, tiles jsonb, shared_roles uuid[], shared_groups uuid[], expected integer, at timestamptz)
    WHERE d.id = r.id AND d.revision = r.expected RETURNING 1`,
};

export const removeDashboard: TableWrite<{ id: string; expected: number }> = {
  name: 'remove_dashboard',
  guard: true,
  sql: (rows: Sql) => sql`
    DELETE FROM report_dashboards d USING jsonb_to_recordset(${rows}) AS r (id uuid, expected integer)
    WHERE d.id = r.id AND d.revision = r.expected RETURNING 1`,
};
