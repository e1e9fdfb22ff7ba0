/**
 * Exports: records of a type as a JSON or CSV file, limited to what the caller may read.
 *
 * No tables and no visibility rules of its own: every record uses the projection of the objects module.
 */
export { exportRoutes } from './routes.ts';
