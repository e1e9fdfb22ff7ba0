import { defineModule } from '../module.ts';
import { importDefinitionsSection } from './config.ts';
import { importChecks, importMetrics } from './health.ts';
import { importRoutes } from './routes.ts';

export const imports = defineModule({
  name: 'imports',
  // A definition decides whether users are notified of what its imports write.
  dependsOn: ['objects', 'metadata', 'identity', 'notifications'],
  tables: {
    external_ids: 'Which imported row became which record: work data of imports.',
    import_runs: 'Results of imports; counts are checked (I4).',
    import_rows: 'Results of imports; counts are checked (I4).',
  },
  operations: importRoutes,
  sections: [importDefinitionsSection],
  checks: importChecks,
  metrics: importMetrics,
});
