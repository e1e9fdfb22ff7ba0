/**
 * Inbound: integrations, and external calls that run one configured command each.
 *
 * Integrations are configuration items. Invariants: a call runs the command of the corresponding API
 * operation with the rights of the key's owner, never with those of the configured principal. It is validated and refused like
 * that operation. An integration changes only while it is disabled. Every call adds one row to the log; a failed call stores
 * its reason there and nothing else.
 */
import { instant } from '../../platform/clock.ts';
import { defineModule } from '../module.ts';
import { integrationsSection } from './config.ts';
import { inboundChecks } from './health.ts';
import { inboundRoutes } from './routes.ts';
import { purgeRuns } from './store.ts';

/** Retention of the log of inbound integration calls, and the maximum per integration. */
const RUNS_KEPT_MS = 30 * 86_400_000;
const RUNS_KEPT = 1000;

export const inbound = defineModule({
  name: 'inbound',
  // The context carries the rights of the key's owner.
  dependsOn: ['objects', 'comments', 'attachments', 'identity'],
  tables: {
    inbound_runs: 'A log of calls, purged by age.',
  },
  operations: inboundRoutes,
  sections: [integrationsSection],
  checks: inboundChecks,
  tasks: ({ db, clock }) => [
    {
      name: 'inbound-runs',
      everyMs: 600_000,
      run: () => purgeRuns(db, instant(clock.now() - RUNS_KEPT_MS), RUNS_KEPT),
    },
  ],
});
