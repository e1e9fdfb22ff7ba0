import { defineModule } from '../module.ts';
import { commentChecks } from './health.ts';
import { commentEvents } from './queries.ts';
import { commentRoutes } from './routes.ts';

export const comments = defineModule({
  name: 'comments',
  // A public comment of the requester can fire a transition.
  dependsOn: ['objects', 'workflow'],
  tables: {
    comments: { rows: 'Comments on records.', replayed: true },
  },
  operations: commentRoutes,
  checks: commentChecks,
  historyFilters: [commentEvents],
});
