import { defineModule } from '../module.ts';
import { dashboardsSection } from './config.ts';
import { reportFollower } from './follow.ts';
import { reportChecks } from './health.ts';
import { reportJobs } from './jobs.ts';
import { reportRoutes } from './routes.ts';

export const reports = defineModule({
  name: 'reports',
  // A report takes the conditions of searches, and counts the outcomes of SLA instances.
  dependsOn: ['identity', 'objects', 'comments', 'metadata', 'search', 'sla'],
  tables: {
    report_dashboards: 'Saved reports of one person.',
    report_facts: 'Derived from the history of records; a rebuild recomputes it.',
    report_cells: 'Counts of records; docket doctor --deep compares them (I11).',
    report_counted: 'How each record was counted (I11).',
    report_counted_types: 'Progress of counting.',
  },
  operations: reportRoutes,
  sections: [dashboardsSection],
  followers: () => [reportFollower],
  tasks: ({ db, work, system }) => reportJobs(db, work, system),
  checks: reportChecks,
});
