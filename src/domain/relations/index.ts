/**
 * Relations between records. Each has a configured definition with source and target types, cardinality and an optional rule
 * against cycles.
 *
 * Invariants, enforced by unique indexes, locks and guards:
 * - At most one active relation of a definition between the same source and target.
 * - No more relations at an end than the cardinality allows.
 * - No cycle if the definition forbids cycles.
 *
 * A relation to a record that the caller may not read behaves as if it did not exist.
 */
export { addRelation } from './commands.ts';
export { definitions, type KnownDefinition, type RelationDefinition } from './definitions.ts';
export { duplicatesOf } from './store.ts';
