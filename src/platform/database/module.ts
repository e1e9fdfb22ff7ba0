/** The database: budgets of requests that all processes share, and metrics of its connections and of the replica. */
import type { Module } from '../module.ts';
import { counter, type Gauge } from '../observability/gauges.ts';
import { purgeBudgets } from './rate-budgets.ts';
import type { Replica } from './replica.ts';

const CONNECTIONS = 'docket_db_connections';
const CONNECTIONS_HELP = 'Connections of the pool by state.';

export const database: Module = {
  name: 'database',
  tables: {
    rate_budgets: 'Counters of the last minute.',
    schema_migrations: 'Compared with the migrations of the package at each start.',
    master_key: 'A fingerprint of the key; docket doctor detects a wrong one.',
    rebuilds: 'Progress of rebuilds of derived data.',
  },
  tasks: ({ db }) => [{ name: 'rate-budgets', everyMs: 60_000, run: async () => (await purgeBudgets(db)) === 5000 }],
  gauges: ({ db, replica }) => {
    const pool = db.stats();
    return [
      { name: CONNECTIONS, help: CONNECTIONS_HELP, value: pool.total - pool.idle, labels: { state: 'used' } },
      { name: CONNECTIONS, help: CONNECTIONS_HELP, value: pool.idle, labels: { state: 'idle' } },
      { name: 'docket_db_connections_max', help: 'Maximum number of connections of the pool.', value: pool.most },
      { name: 'docket_db_connection_waiters', help: 'Callers that wait for a connection.', value: pool.waiting },
      ...(replica === undefined ? [] : replicaGauges(replica)),
    ];
  },
};

/** Metrics of the replica, if one is configured. */
export function replicaGauges(replica: Pick<Replica, 'metrics'>): Gauge[] {
  const { state, reads, waits, waitedMs, behindBytes, behindMs } = replica.metrics();
  const by =
    'Replica-safe reads by the server that answered; failed: started on the replica and repeated on the primary.';
  const used = 'State of the replica: used, lagging (too far behind to be used) or unavailable.';
  return [
    ...Object.entries(reads).map(([name, value]) => ({
      ...counter('docket_replica_reads_total', by, value),
      labels: { server: name },
    })),
    counter('docket_replica_waits_total', 'Reads that waited for the replica to catch up.', waits),
    counter('docket_replica_wait_seconds_total', 'Time that reads waited for the replica.', waitedMs / 1000),
    ...['used', 'lagging', 'unavailable'].map((one) => ({
      name: 'docket_replica_state',
      help: used,
      value: one === state ? 1 : 0,
      labels: { state: one },
    })),
    {
      name: 'docket_replica_lag_bytes',
      help: 'Bytes of the write-ahead log that the replica still needed, at the last check.',
      value: behindBytes,
    },
    {
      name: 'docket_replica_lag_seconds',
      help: 'Time for which the replica has been behind the position that it needs.',
      value: behindMs / 1000,
    },
  ];
}
