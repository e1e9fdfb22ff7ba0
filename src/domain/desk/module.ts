import { defineModule } from '../module.ts';
import { macrosSection } from './config.ts';
import { queuesImpact } from './impact.ts';
import { deskRoutes } from './routes.ts';

export const desk = defineModule({
  name: 'desk',
  dependsOn: [
    // Assignees are chosen among the holders of roles.
    'access',
    'identity',
    'metadata',
    // Macros and merging run the commands of a record's parts.
    'objects',
    'comments',
    'attachments',
    'relations',
    'reports',
    'workflow',
    // Lists are filtered by conditions and words.
    'search',
    'sla',
    // What waits for background work is shown in one place.
    'webhooks',
    // Lists show which records have something new.
    'notifications',
  ],
  tables: {
    desk_queues: 'Saved lists of one person.',
  },
  operations: deskRoutes,
  sections: [macrosSection],
  impact: [queuesImpact],
});
