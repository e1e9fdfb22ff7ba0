import { defineModule } from '../module.ts';
import { importDefinitionsSection } from './config.ts';
import { importChecks, importMetrics } from './health.ts';
import { importRoutes } from './routes.ts';

export const imports = defineModule({
  name: 'imports',
  // A definition decides whether users are notified of what its imports write.
  dependsOn: ['objects', 'metadata', 'identity', 'notifications'],
  tables: ['external_ids', 'import_runs', 'import_rows'],
  operations: importRoutes,
  sections: [importDefinitionsSection],
  checks: importChecks,
  metrics: importMetrics,
});
