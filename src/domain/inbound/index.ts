/**
 * Inbound: integrations, and external calls that run one configured command each.
 *
 * Own table: `inbound_runs`; integrations are configuration items. Invariants: a call runs the command of the corresponding API
 * operation with the rights of the key's owner, never with those of the configured principal. It is validated and refused like
 * that operation. An integration changes only while it is disabled. Every call adds one row to the log; a failed call stores
 * its reason there and nothing else.
 */
export { inboundChecks } from './health.ts';
export { inboundRoutes } from './routes.ts';
export { purgeRuns } from './store.ts';
