/**
 * Bulk changes: up to 1000 independent items, each run by the command of the operation for a single record.
 *
 * No tables and no rules of its own: the commands decide what is allowed and which errors an item gets.
 */
import { defineModule } from '../module.ts';
import { bulkRoutes } from './routes.ts';

export const bulk = defineModule({
  name: 'bulk',
  dependsOn: ['objects', 'workflow'],
  operations: bulkRoutes,
});
