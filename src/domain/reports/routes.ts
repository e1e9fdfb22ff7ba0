import { bind, type Binding } from '../../platform/module.ts';
import * as dashboards from './contract-dashboards.ts';
import * as contract from './contract.ts';
import { changeDashboard, createDashboard, deleteDashboard, listDashboards } from './dashboards.ts';
import { listCalendars, queryReport } from './queries.ts';

export const reportRoutes: readonly Binding[] = [
  bind(contract.queryReport, (ctx, { body }) => queryReport(ctx, body)),
  bind(contract.listCalendars, (ctx) => listCalendars(ctx)),
  bind(dashboards.listDashboards, (ctx) => listDashboards(ctx)),
  bind(dashboards.createDashboard, (ctx, { body }) => createDashboard(ctx, body)),
  bind(dashboards.changeDashboard, (ctx, { params, body }) => changeDashboard(ctx, params.dashboardId, body)),
  bind(dashboards.deleteDashboard, (ctx, { params, body }) =>
    deleteDashboard(ctx, params.dashboardId, body.expectedRevision),
  ),
];
