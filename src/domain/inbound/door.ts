/**
 * Inbound: integrations, and calls from outside that run one configured command each.
 *
 * Own table: `inbound_runs`; integrations are configuration items. Invariants: a call runs through the command of its own
 * endpoint with the rights of the key's owner, never with those of the configured principal; it is checked, and refused, as
 * that endpoint does; an integration changes only while it is disabled; every call leaves a row in the log, a failed one the
 * reason too, and nothing else.
 */
export { inboundRoutes } from './routes.ts';
export { inboundChecks } from './store-checks.ts';
export { purgeRuns } from './store.ts';
