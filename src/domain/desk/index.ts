/**
 * The desk: operations that only the console needs. They let it offer only what the service would allow, show names for ids,
 * save queues, and combine commands on one record: macros and merging.
 *
 * Invariants: a private queue is visible only to its owner, one of a group also to its members.
 * Changing a shared queue needs the right config.manage. Queues of others are visible only to users who may read every type
 * and field that they name. Nothing here grants rights: each operation checks them again.
 */
export { templateValues } from './template-values.ts';
