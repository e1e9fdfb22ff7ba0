/** Metrics beyond HTTP requests: the connection pool, caches, background tasks, and metrics computed from the database. */
import type { Authenticator } from './domain/access/index.ts';
import type { Gauge } from './http/metrics.ts';
import type { ContentHolder } from './platform/blobs/serve.ts';
import type { Clock } from './platform/clock.ts';
import type { Database } from './platform/database/pool.ts';
import type { Replica } from './platform/database/replica.ts';
import type { VersionWatcher } from './platform/unit-of-work/versions.ts';
import { DatabaseMetrics } from './platform/observability/database-metrics.ts';
import { DATABASE_METRICS } from './modules.ts';

interface WatchParts {
  db: Database;
  clock: Clock;
  versions: VersionWatcher;
  authenticator: Authenticator;
  /** Number of failures per task. */
  failures: ReadonlyMap<string, number>;
  replica: Replica | undefined;
  holder: Pick<ContentHolder, 'errors'>;
}

const CONNECTIONS = 'docket_db_connections';
const CONNECTIONS_HELP = 'Connections of the pool, by what they are at.';
const REMEMBERED = 'docket_rights_cache_total';
const REMEMBERED_HELP = 'Questions for keys and rights: answered from memory (hit), or asked of the database (miss).';

const CONTENT_ERRORS = 'docket_content_errors_total';
const CONTENT_ERRORS_HELP =
  'Files that could not be served: the file store lost them (missing) or changed their bytes (damaged).';

/** Returns the function that each scrape calls. */
export function watcher({
  db,
  clock,
  versions,
  authenticator,
  failures,
  replica,
  holder,
}: WatchParts): () => Promise<Gauge[]> {
  const metrics = new DatabaseMetrics({ db, clock, metrics: DATABASE_METRICS });
  return async () => {
    // Read before the metrics queries, so that their own connection is not counted.
    const pool = db.stats();
    return [
      { name: CONNECTIONS, help: CONNECTIONS_HELP, value: pool.total - pool.idle, labels: { state: 'used' } },
      { name: CONNECTIONS, help: CONNECTIONS_HELP, value: pool.idle, labels: { state: 'idle' } },
      { name: 'docket_db_connections_most', help: 'Connections that the pool may have.', value: pool.most },
      { name: 'docket_db_waiting', help: 'Callers that wait for a connection of the pool.', value: pool.waiting },
      { ...counter(REMEMBERED, REMEMBERED_HELP, authenticator.memory.hits), labels: { result: 'hit' } },
      { ...counter(REMEMBERED, REMEMBERED_HELP, authenticator.memory.misses), labels: { result: 'miss' } },
      counter('docket_config_reads_total', 'How often the configuration was read anew.', versions.reads.config),
      counter(
        'docket_rights_drops_total',
        'How often remembered keys and rights were forgotten.',
        versions.reads.rights,
      ),
      {
        name: 'docket_epoch_age_seconds',
        help: 'For how long rights and configuration are known to hold; past 1 requests wait until they are read.',
        value: Math.max(0, versions.age / 1000),
      },
      ...[...failures].map(([task, value]) => ({
        ...counter('docket_background_failures_total', 'Turns of background work that failed.', value),
        labels: { task },
      })),
      ...Object.entries(holder.errors).map(([error, value]) => ({
        ...counter(CONTENT_ERRORS, CONTENT_ERRORS_HELP, value),
        labels: { error },
      })),
      ...(replica === undefined ? [] : ofReplica(replica)),
      ...(await metrics.read()),
    ];
  };
}

/** Metrics of the replica, if one is configured. */
export function ofReplica(replica: Pick<Replica, 'metrics'>): Gauge[] {
  const { state, reads, waits, waitedMs, behindBytes, behindMs } = replica.metrics();
  const by = 'Reads that a replica may answer, by who did; failed: begun there, and repeated on the primary.';
  const used = 'Whether the replica is used; late: too far behind to be asked; gone: it does not answer.';
  return [
    ...Object.entries(reads).map(([name, value]) => ({
      ...counter('docket_replica_reads_total', by, value),
      labels: { by: name },
    })),
    counter('docket_replica_waits_total', 'Reads that waited for the replica to get far enough.', waits),
    counter('docket_replica_waited_seconds_total', 'Time that reads waited for the replica.', waitedMs / 1000),
    ...['used', 'late', 'gone'].map((one) => ({
      name: 'docket_replica_state',
      help: used,
      value: one === state ? 1 : 0,
      labels: { state: one },
    })),
    {
      name: 'docket_replica_behind_bytes',
      help: 'Bytes of the log that the replica lacked of what it must have, when last asked.',
      value: behindBytes,
    },
    {
      name: 'docket_replica_behind_seconds',
      help: 'For how long the replica has lacked something that it must have.',
      value: behindMs / 1000,
    },
  ];
}

function counter(name: string, help: string, value: number): Gauge {
  return { name, help, value, type: 'counter' };
}
