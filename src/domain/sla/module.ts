import { defineModule } from '../module.ts';
import { calendarsSection, slaPoliciesSection } from './config.ts';
import { slaFollower } from './follow.ts';
import { slaChecks, timerMetrics } from './health.ts';
import { slaImpact } from './impact.ts';
import { slaTasks } from './jobs.ts';
import { slaRoutes } from './routes.ts';
import { slaMoment } from './store.ts';

export const sla = defineModule({
  name: 'sla',
  dependsOn: ['objects', 'metadata'],
  tables: {
    calendar_versions: 'Compiled from the configuration.',
    sla_instances: 'Computed from the history of the record; docket doctor checks that each has its record.',
  },
  operations: slaRoutes,
  sections: [calendarsSection, slaPoliciesSection],
  followers: () => [slaFollower],
  tasks: slaTasks,
  moments: [slaMoment],
  checks: slaChecks,
  metrics: timerMetrics,
  impact: [slaImpact],
});
