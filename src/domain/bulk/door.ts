/**
 * Bulk changes: up to 1000 items, each through the command of the single endpoint, independent of one another.
 *
 * No tables, no rules of its own: what an item may do, and what it is told when it may not, is decided where it always is.
 */
export { bulkRoutes } from './routes.ts';
