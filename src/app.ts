/** Composition root: makes the adapters, connects the modules, and builds the server and the worker on them. */
import type { AppOptions } from './app-options.ts';
import { buildDocuments } from './contract/openapi.ts';
import { anonymousActor, authenticator, DEVICE_COOKIE, signIns } from './domain/access/index.ts';
import { type MemorySearcher, memoryOptions, searchMemory } from './domain/search/index.ts';
import { deliveryLimits } from './domain/webhooks/index.ts';
import { SharedRateLimiter } from './http/rate-shared.ts';
import { buildServer, metricsOf } from './http/server.ts';
import { MODULES } from './modules.ts';
import { placeWatch } from './platform/journal/module.ts';
import { BlobHealth, storeLogger } from './platform/blobs/health.ts';
import { ContentHolder } from './platform/blobs/serve.ts';
import { DatabaseClock } from './platform/clock.ts';
import { settleBudgets } from './platform/database/rate-budgets.ts';
import { Replica } from './platform/database/replica.ts';
import { collect, connect, dryRunEffects, operationsOf, people, type Service } from './platform/module.ts';
import { DatabaseMetrics } from './platform/observability/database-metrics.ts';
import { Outages } from './platform/observability/outages.ts';
import { readiness } from './platform/observability/readiness.ts';
import { Outbound } from './platform/outbound/outbound.ts';
import { Changes } from './platform/unit-of-work/changes.ts';
import type { Caller } from './platform/unit-of-work/context.ts';
import { Notifier } from './platform/unit-of-work/notifier.ts';
import { VersionWatcher } from './platform/unit-of-work/versions.ts';
import { type Loop, startLoop } from './worker/loop.ts';
import { momentTask } from './worker/moments.ts';

/** Bytes of file content that answers may hold in memory at once. */
const HELD_BYTES = 128 * 1024 * 1024;
/** A request does not use the database all the time. Admitting more would only make them wait for a connection. */
const RUNNING_PER_CONNECTION = 2;

const built = new WeakMap<object, ReturnType<typeof buildDocuments>>();

/** The OpenAPI documents depend on the code alone: services in one process, as in tests, share them. */
function documents(): ReturnType<typeof buildDocuments> {
  const known = built.get(MODULES) ?? buildDocuments(operationsOf(MODULES), collect(MODULES, 'events'));
  built.set(MODULES, known);
  return known;
}

/** The service in this process: the HTTP server, the background worker, and what both use. */
export interface App extends Pick<Service, 'work' | 'versions' | 'replica'> {
  server: ReturnType<typeof buildServer>;
  /** The search index in memory; undefined if it is turned off. */
  searchMemory: MemorySearcher | undefined;
  /** The system user as a caller, for the command line and background tasks. */
  system(): Caller;
  startWorker(): Loop;
  /** The metrics of this process, as in `/metrics`. */
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

/** Builds the service on a migrated database and starts to poll the rights and configuration versions. */
export async function buildApp(options: AppOptions): Promise<App> {
  const { settings, db, readDb, blobs, secrets, log, tracer, patienceMs, clock = new DatabaseClock() } = options;
  db.tracer = tracer;
  const outbound = new Outbound({ allowPrivate: settings.webhookAllowPrivate, tracer, ...options.outbound });
  const notifier = new Notifier(db);
  const changes = new Changes();
  let loop: Loop | undefined;
  const wake = (task: string): void => loop?.wake(task);
  const onChange = (state: string): void => log.info({ state }, 'replica state changed');
  const replica = readDb === undefined ? undefined : new Replica({ primary: db, replica: readDb, onChange });
  const versions: VersionWatcher = new VersionWatcher({
    db,
    clock,
    patienceMs,
    prepare: async (config) => {
      for (const module of MODULES) await module.prepare?.(db, config);
      // The configuration may be newer than the version it was read for.
      await replica?.advance();
    },
    ...(replica === undefined ? {} : { onPosition: (position) => replica.saw(position) }),
    onJournal: (reading) => {
      outages.pollSucceeded();
      if (!changes.read(reading)) return;
      versions.used();
      loop?.written();
    },
    isListened: () => changes.isListened,
    onError: (error) => outages.pollFailed(error),
  });
  const outages = new Outages({ log, probe: () => versions.refresh() });
  const holder = new ContentHolder(HELD_BYTES);
  const adapters = { db, clock, blobs, holder, secrets, outbound, settings, versions, replica, changes, log, outages };
  const service = connect(
    MODULES,
    { ...adapters, outboundOptions: options.outbound, wake },
    {
      groupSize: settings.groupSize,
      provided: [
        memoryOptions.by(() => options.searchMemory),
        deliveryLimits.by(() => ({ limits: options.deliveries ?? {}, everyMs: options.deliveryEveryMs ?? 500 })),
      ],
    },
  );
  const { work, get, operations } = service;
  work.onInvalidated = (unit) => versions.onCommitted(unit);
  work.onEmitted = () => {
    changes.signal();
    loop?.written();
    if (get(placeWatch).isUsed) wake('places');
    const config = versions.recent();
    notifier.emitted(() => config === undefined || MODULES.some((module) => module.isUrgent?.(config) === true));
  };
  const limiter =
    settings.rateLimit === 'off'
      ? undefined
      : new SharedRateLimiter(settings.rateLimit, {
          settle: (interval, list) => settleBudgets(db, interval, list),
          patienceMs,
        });
  const health = new BlobHealth(blobs, { ...options.blobProbes, onChange: storeLogger(log) });
  const metrics = new DatabaseMetrics({ db, clock, metrics: collect(MODULES, 'metrics') });
  const server = buildServer({
    bindings: operations,
    authenticate: (credentials) => {
      versions.used();
      return get(authenticator).authenticate(credentials);
    },
    device: { cookie: DEVICE_COOKIE, read: (value) => get(signIns).deviceOf(value) },
    anonymous: async () => ({ actor: anonymousActor(), via: 'console', keyId: null, config: await versions.fresh() }),
    work,
    effects: get(dryRunEffects),
    log,
    replicated: replica !== undefined,
    version: options.version,
    tracer,
    limits: {
      ratePerMinute: settings.rateLimit,
      trustedProxies: settings.trustedProxies,
      metricsAllow: settings.metricsAllow,
      running: db.stats().most * RUNNING_PER_CONNECTION,
    },
    health: { ready: () => readiness(versions, health) },
    rateLimiter: limiter,
    exposition: options.exposition,
    // Those of the process before those of the database, so that the connection of their statement is not counted.
    gauges: async () => [...MODULES.flatMap((module) => module.gauges?.(service) ?? []), ...(await metrics.read())],
    consoleFolder: options.consoleFolder,
    publicUrl: settings.publicUrl,
    securityContact: settings.securityContact,
    redirects: MODULES.flatMap((module) => module.pages?.(service) ?? []),
    documents: documents(),
  });
  // Last, so that no timers remain if the service cannot be built.
  await versions.start();
  replica?.start();
  for (const module of MODULES) await module.start?.(service);
  // A wrong setting is logged at once, not only when the first file is uploaded.
  void health.state();
  return {
    server,
    work,
    versions,
    replica,
    searchMemory: get(searchMemory),
    system: () => get(people).systemCaller(versions.current()),
    metrics: () => metricsOf(server),
    startWorker: () => {
      const moments = momentTask({ db, clock }, collect(MODULES, 'moments'), wake);
      const tasks = [...MODULES.flatMap((module) => module.tasks?.(service) ?? []), moments];
      loop = startLoop(tasks, outages, tracer === undefined ? undefined : (run) => tracer.alone(run));
      notifier.listen(() => {
        versions.used();
        wake('places');
      });
      return loop;
    },
    stop: async () => {
      notifier.stop();
      await loop?.stop();
      await outbound.close();
      await limiter?.stop();
      versions.stop();
      replica?.stop();
      for (const module of MODULES) await module.stop?.(service);
    },
  };
}
