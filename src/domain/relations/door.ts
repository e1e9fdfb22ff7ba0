/**
 * Relations between records, each of a configured definition: direction, cardinality, freedom from cycles.
 *
 * Own table: `relations`. Invariants, decided by unique indexes, locks and guards: one active relation of a definition between
 * two records; no more at an end than the cardinality allows; no cycle where the definition forbids one. What leads to a record
 * that the caller cannot read is not there.
 */
export type { RelationDefinition } from './definitions.ts';
export { relationEvents } from './queries.ts';
export { relationRoutes } from './routes.ts';
export { relationChecks } from './store-checks.ts';
