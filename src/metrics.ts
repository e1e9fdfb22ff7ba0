/** Metrics beyond HTTP requests: the connection pool, caches, background tasks, and metrics computed from the database. */
import type { Authenticator } from './domain/access/index.ts';
import type { MemorySearcher } from './domain/search/index.ts';
import { counter, type Gauge } from './http/metrics.ts';
import type { ContentHolder } from './platform/blobs/serve.ts';
import type { Clock } from './platform/clock.ts';
import type { Database } from './platform/database/pool.ts';
import type { Replica } from './platform/database/replica.ts';
import type { Work } from './platform/unit-of-work/work.ts';
import type { VersionWatcher } from './platform/unit-of-work/versions.ts';
import { DatabaseMetrics } from './platform/observability/database-metrics.ts';
import type { FailureCause } from './platform/observability/outages.ts';
import { DATABASE_METRICS } from './modules.ts';

interface MetricsParts {
  db: Database;
  clock: Clock;
  versions: VersionWatcher;
  authenticator: Authenticator;
  /** Number of failures by task and cause. */
  failures: ReadonlyMap<string, Readonly<Record<FailureCause, number>>>;
  replica: Replica | undefined;
  holder: Pick<ContentHolder, 'errors'>;
  searchMemory: MemorySearcher | undefined;
  work: Pick<Work, 'counts'>;
}

const CONNECTIONS = 'docket_db_connections';
const CONNECTIONS_HELP = 'Connections of the pool by state.';
const RIGHTS_CACHE = 'docket_rights_cache_total';
const RIGHTS_CACHE_HELP = 'Lookups of keys and rights: from the cache (hit) or from the database (miss).';

const FAILURES = 'docket_background_failures_total';
const FAILURES_HELP = 'Failed runs of background tasks; cause: database if it did not respond, else own.';

const CONTENT_ERRORS = 'docket_content_errors_total';
const CONTENT_ERRORS_HELP = 'Files that could not be served: missing in the file store, or damaged there.';

/** Returns the function that each scrape calls. */
export function metricsReader({
  db,
  clock,
  versions,
  authenticator,
  failures,
  replica,
  holder,
  searchMemory,
  work,
}: MetricsParts): () => Promise<Gauge[]> {
  const metrics = new DatabaseMetrics({ db, clock, metrics: DATABASE_METRICS });
  return async () => {
    // Read before the metrics queries, so that their own connection is not counted.
    const pool = db.stats();
    return [
      { name: CONNECTIONS, help: CONNECTIONS_HELP, value: pool.total - pool.idle, labels: { state: 'used' } },
      { name: CONNECTIONS, help: CONNECTIONS_HELP, value: pool.idle, labels: { state: 'idle' } },
      { name: 'docket_db_connections_max', help: 'Maximum number of connections of the pool.', value: pool.most },
      { name: 'docket_db_connection_waiters', help: 'Callers that wait for a connection.', value: pool.waiting },
      { ...counter(RIGHTS_CACHE, RIGHTS_CACHE_HELP, authenticator.memory.hits), labels: { result: 'hit' } },
      { ...counter(RIGHTS_CACHE, RIGHTS_CACHE_HELP, authenticator.memory.misses), labels: { result: 'miss' } },
      counter('docket_config_loads_total', 'Number of times the configuration was reloaded.', versions.reads.config),
      counter(
        'docket_rights_cache_invalidations_total',
        'Number of times the cache of keys and rights was dropped.',
        versions.reads.rights,
      ),
      {
        name: 'docket_cache_version_age_seconds',
        help: 'Time since the versions of rights and configuration were last read; above 1, requests wait for the next read.',
        value: Math.max(0, versions.age / 1000),
      },
      ...[...failures].flatMap(([task, counts]) =>
        Object.entries(counts).map(([cause, value]) => ({
          ...counter(FAILURES, FAILURES_HELP, value),
          labels: { task, cause },
        })),
      ),
      ...Object.entries(holder.errors).map(([error, value]) => ({
        ...counter(CONTENT_ERRORS, CONTENT_ERRORS_HELP, value),
        labels: { error },
      })),
      counter('docket_written_units_total', 'Units of work that were written.', work.counts.units),
      counter('docket_write_statements_total', 'Statements that wrote them (group commit).', work.counts.statements),
      counter(
        'docket_write_groups_refused_total',
        'Groups that the database refused; their units were written alone.',
        work.counts.refused,
      ),
      ...(replica === undefined ? [] : replicaGauges(replica)),
      ...(searchMemory === undefined ? [] : searchGauges(searchMemory)),
      ...(await metrics.read()),
    ];
  };
}

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

function searchGauges({ state, answers }: Pick<MemorySearcher, 'state' | 'answers'>): Gauge[] {
  const help = 'Steps of searches by what answered them: the index in memory, or a statement that it left them to.';
  return [
    {
      name: 'docket_search_memory_documents',
      help: 'Records in the search index in memory; 0 while it loads.',
      value: state.state === 'ready' ? state.documents : 0,
    },
    { name: 'docket_search_memory_bytes', help: 'Memory of the search index in memory, in bytes.', value: state.bytes },
    ...Object.entries(answers).map(([by, value]) => ({
      ...counter('docket_search_memory_answers_total', help, value),
      labels: { by },
    })),
  ];
}
