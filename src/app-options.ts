/** What the composition root is given: settings, the database and the adapters. */
import type { Logger } from 'pino';
import type { Settings } from './settings.ts';
import type { SearcherOptions } from './domain/search/index.ts';
import type { DeliveryLimits } from './domain/webhooks/index.ts';
import type { BlobHealthOptions } from './platform/blobs/health.ts';
import type { BlobStore } from './platform/blobs/store.ts';
import type { Clock } from './platform/clock.ts';
import type { Database } from './platform/database/pool.ts';
import type { OutboundOptions } from './platform/outbound/outbound.ts';
import type { Tracer } from './platform/observability/traces.ts';
import type { SecretBox } from './platform/secrets.ts';

export interface AppOptions {
  settings: Pick<Settings, 'rateLimit' | 'trustedProxies' | 'metricsAllow' | 'webhookAllowPrivate'> & Partial<Settings>;
  db: Database;
  blobs: BlobStore;
  secrets: SecretBox;
  /** Overrides of outbound call settings, for tests. */
  outbound?: Partial<OutboundOptions>;
  /** Overrides of delivery limits, for tests. */
  deliveries?: Partial<DeliveryLimits>;
  log: Logger;
  /** Version of the service, for the header `Docket-Version` of the administration API. */
  version?: string | undefined;
  /** Exports spans; undefined disables tracing. */
  tracer?: Tracer | undefined;
  /** Default: the database's clock. */
  clock?: Clock;
  /**
   * Milliseconds that a request waits for an overdue read of the rights version, and for a lease of its rate budget; for tests.
   */
  patienceMs?: number | undefined;
  /** Poll interval of deliveries in milliseconds, used when a notification is lost; for tests. */
  deliveryEveryMs?: number | undefined;
  /** The search index in memory; undefined: statements answer every search. */
  searchMemory?: Omit<SearcherOptions, 'onChange'> | undefined;
  /** A streaming replica of `db`, for reads that may use one. */
  readDb?: Database | undefined;
  /** Replaces the metrics of this process in `/metrics`, where several processes share the address. */
  exposition?: (() => Promise<string>) | undefined;
  /** How often the file store is probed; for tests. */
  blobProbes?: Pick<BlobHealthOptions, 'everyMs' | 'failedEveryMs'> | undefined;
  /** The folder of the built web console; without it none is served. */
  consoleFolder?: string | undefined;
}
