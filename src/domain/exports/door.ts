/**
 * Exports: records of a type as a JSON or CSV file, with what the caller may read and nothing else.
 *
 * No tables, no rules of its own about who sees what: every record comes through the one projection of its room.
 */
export { exportRoutes } from './routes.ts';
