/** SQL on the table `report_dashboards`. */
import { allBut, columns, omit, type RowOf } from '../../platform/database/table.ts';
import { tables } from '../../platform/database/tables.ts';
import { deleteFrom, insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import sql, { type Sql } from 'sql-template-tag';
import { withCurrentCodes } from '../../configuration/current-codes.ts';
import type { NamingSchema } from '../../configuration/naming.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';

const DASHBOARD = omit(tables.report_dashboards, ['createdAt']);
export type DashboardRow = RowOf<typeof DASHBOARD>;

/** Who asks. With `all`, every shared dashboard is found. */
export interface Viewer {
  userId: string;
  roles: readonly string[];
  groups: readonly string[];
  all: boolean;
}

const COLUMNS = columns(DASHBOARD, 'd');

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

export const insertDashboard = insertInto(tables.report_dashboards, {
  name: 'insert_dashboard',
  set: { createdAt: sql`r."updatedAt"` },
});

export const updateDashboard = update(tables.report_dashboards, {
  name: 'update_dashboard',
  set: allBut(tables.report_dashboards, ['ownerId', 'createdAt']),
  next: 'revision',
});

export const removeDashboard = deleteFrom(tables.report_dashboards, {
  name: 'remove_dashboard',
  key: ['id', 'revision'],
});
