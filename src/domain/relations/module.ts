import { defineModule } from '../module.ts';
import { relationDefinitionsSection } from './config.ts';
import { relationChecks } from './health.ts';
import { relationEvents } from './queries.ts';
import { relationRoutes } from './routes.ts';

export const relations = defineModule({
  name: 'relations',
  dependsOn: ['objects', 'metadata'],
  tables: {
    relations: { rows: 'Relations between records.', replayed: true },
  },
  operations: relationRoutes,
  sections: [relationDefinitionsSection],
  checks: relationChecks,
  historyFilters: [relationEvents],
});
