/**
 * Exports: records of a type as a JSON or CSV file, limited to what the caller may read.
 *
 * No tables and no visibility rules of its own: every record uses the projection of the objects module.
 */
import { defineModule } from '../module.ts';
import { exportRoutes } from './routes.ts';

export const recordExports = defineModule({
  name: 'exports',
  dependsOn: ['objects', 'metadata'],
  operations: exportRoutes,
});
