/** Composition root: creates the modules and adapters and connects them. */
import type { Logger } from 'pino';
import type { AppOptions } from './app-options.ts';
import type { OidcSettings } from './settings.ts';
import { readExamples } from './contract/examples.ts';
import { buildDocument } from './contract/openapi.ts';
import { Authenticator, anonymousActor, DEVICE_COOKIE, Oidc, OIDC_PATH, SignIns } from './domain/access/index.ts';
import { ensureNumbering } from './domain/metadata/index.ts';
import { readComment } from './domain/comments/index.ts';
import { articleEvent } from './domain/knowledge/index.ts';
import { notificationJobs } from './domain/notifications/index.ts';
import { mailJobs, TOKEN_KEY } from './domain/mail/index.ts';
import { reportJobs } from './domain/reports/index.ts';
import { ruleReaction } from './domain/rules/index.ts';
import { comparedCodes, MemorySearcher, searchJobs } from './domain/search/index.ts';
import { Deliverer, EVENTS, secretText } from './domain/webhooks/index.ts';
import { buildServer, metricsOf } from './http/server.ts';
import { SharedRateLimiter } from './http/rate-shared.ts';
import { loggable } from './http/errors.ts';
import type { Readiness, RedirectPage } from './http/types.ts';
import { BlobHealth, type BlobHealthOptions } from './platform/blobs/health.ts';
import { ContentHolder } from './platform/blobs/serve.ts';
import { type Clock, DatabaseClock, newId } from './platform/clock.ts';
import { Replica } from './platform/database/replica.ts';
import { VersionWatcher } from './platform/unit-of-work/versions.ts';
import { Outbound } from './platform/outbound/outbound.ts';
import { settleBudgets } from './platform/database/rate-budgets.ts';
import { type FailureCause, Outages } from './platform/observability/outages.ts';
import { PlaceWatch } from './platform/journal/place-watch.ts';
import { headPlace } from './platform/audit/seal-heads.ts';
import type { SealHead } from './platform/journal/seals.ts';
import { Changes } from './platform/unit-of-work/changes.ts';
import { Notifier } from './platform/unit-of-work/notifier.ts';
import type { Caller } from './platform/unit-of-work/context.ts';
import { Work } from './platform/unit-of-work/work.ts';
import { type Loop, startLoop } from './worker/loop.ts';
import { momentTask } from './worker/moments.ts';
import { metricsReader } from './metrics.ts';
import {
  bindings,
  CONSTRAINTS,
  effectsBy,
  followers,
  HISTORY_FILTERS,
  MOMENTS,
  searchParts,
  systemCaller,
} from './modules.ts';
import { deliveryTasks, tasks } from './background.ts';
import { atMostEvery } from './lib/yielding.ts';

/** Bytes of file content that answers may hold in memory at once. */
const HELD_BYTES = 128 * 1024 * 1024;

/** The service in this process: the HTTP server, the background worker, and what both use. */
export interface App {
  server: ReturnType<typeof buildServer>;
  work: Work;
  versions: VersionWatcher;
  replica: Replica | undefined;
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
  const { settings, db, blobs, secrets, log, clock = new DatabaseClock() } = options;
  const outbound = new Outbound({
    allowPrivate: settings.webhookAllowPrivate,
    tracer: options.tracer,
    ...options.outbound,
  });
  db.tracer = options.tracer;
  const wake = new Notifier(db);
  const changes = new Changes();
  const places = new PlaceWatch(db, changes);
  const replica =
    options.readDb === undefined
      ? undefined
      : new Replica({
          primary: db,
          replica: options.readDb,
          onChange: (state) => log.info({ state }, 'replica state changed'),
        });
  let loop: Loop | undefined;
  const versions: VersionWatcher = new VersionWatcher({
    db,
    clock,
    patienceMs: options.patienceMs,
    prepare: async (snapshot) => {
      await ensureNumbering(db, snapshot);
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
  /** Failed runs by task, and by cause. */
  const failures = new Map<string, Record<FailureCause, number>>([['none', { database: 0, own: 0 }]]);
  const outages = new Outages({
    log,
    probe: () => versions.refresh(),
    onFailure: (task, cause) => {
      const counts = failures.get(task) ?? { database: 0, own: 0 };
      counts[cause]++;
      failures.set(task, counts);
    },
  });
  const memory =
    options.searchMemory === undefined
      ? undefined
      : new MemorySearcher({ ...options.searchMemory, onChange: (what, details) => log.info(details, what) });
  const search = searchParts(memory);
  const work = new Work({
    db,
    clock,
    blobs,
    followers: followers(search, { oidc: options.oidc !== undefined }),
    reaction: ruleReaction(
      (userId) => authenticator.actorOf(userId),
      (rules) => log.warn({ rules }, 'change refused because its rules fire each other'),
    ),
    actorOf: (userId) => authenticator.actorOf(userId),
    constraints: CONSTRAINTS,
    replica,
    ...(settings.groupSize === undefined ? {} : { groupSize: settings.groupSize }),
  });
  work.onInvalidated = (unit) => versions.onCommitted(unit);
  const authenticator = new Authenticator({ db, versions, clock, onLoaded: async () => await replica?.advance() });
  const freshCaller = async (caller: Caller): Promise<Caller> => {
    if (caller.actor.isTraced === true) return caller;
    const { userId } = caller.actor;
    const actor = userId === null ? caller.actor : await authenticator.actorOf(userId);
    return { ...caller, actor: actor ?? anonymousActor(), config: await versions.fresh() };
  };
  let emittedAt = Number.NEGATIVE_INFINITY;
  work.onEmitted = () => {
    changes.signal();
    loop?.written();
    if (places.isUsed) loop?.wake('places');
    // Processes that do background work look rarely while nothing is written.
    const wasQuiet = performance.now() - emittedAt >= QUIET_MS;
    emittedAt = performance.now();
    if (wasQuiet || deliversNow(versions)) wake.notify();
  };
  const notifying = {
    actorsOf: (userIds: readonly string[]) => authenticator.actorsOf(userIds),
    sendsMail: settings.smtp !== undefined,
  };
  const signIns = new SignIns({ secrets, db, clock });
  const holder = new ContentHolder(HELD_BYTES);
  const bound = bindings({
    blobs,
    holder,
    secrets,
    signIns,
    outbound,
    freshCaller,
    search,
    oidc: options.oidc === undefined ? null : new URL(options.oidc.issuer).host,
    actorOf: (userId) => authenticator.actorOf(userId),
    notifying,
    changes,
    places,
  });
  const limiter =
    settings.rateLimit === 'off'
      ? undefined
      : new SharedRateLimiter(settings.rateLimit, {
          settle: (interval, list) => settleBudgets(db, interval, list),
          patienceMs: options.patienceMs,
        });
  const health = new BlobHealth(blobs, { ...options.blobProbes, onChange: storeLogger(log) });
  const described = bound.map((binding) => binding.operation);
  const examples = readExamples();
  const server = buildServer({
    bindings: bound,
    authenticate: (credentials) => {
      versions.used();
      return authenticator.authenticate(credentials);
    },
    device: { cookie: DEVICE_COOKIE, read: (value) => signIns.deviceOf(value) },
    anonymous: async () => ({
      actor: anonymousActor(),
      via: 'console',
      keyId: null,
      config: await versions.fresh(),
    }),
    work,
    effects: effectsBy(notifying),
    log,
    replicated: replica !== undefined,
    version: options.version,
    tracer: options.tracer,
    limits: {
      ratePerMinute: settings.rateLimit,
      trustedProxies: settings.trustedProxies,
      metricsAllow: settings.metricsAllow,
      running: db.stats().most * RUNNING_PER_CONNECTION,
    },
    health: { ready: () => readiness(versions, health) },
    ...(limiter === undefined ? {} : { rateLimiter: limiter }),
    ...(options.exposition === undefined ? {} : { exposition: options.exposition }),
    gauges: metricsReader({
      db,
      clock,
      versions,
      authenticator,
      failures,
      replica,
      holder,
      searchMemory: memory,
      work,
    }),
    consoleFolder: options.consoleFolder,
    publicUrl: settings.publicUrl,
    securityContact: settings.securityContact,
    redirects:
      options.oidc === undefined ? [] : oidcPages(options.oidc, { ...options, clock }, { signIns, work, versions }),
    documents: {
      public: buildDocument(described, { surface: 'public', events: EVENTS, examples }),
      console: buildDocument(described, { surface: 'console', examples }),
    },
  });
  // Last, so that no timers remain if the service cannot be built.
  await versions.start();
  replica?.start();
  memory?.start(comparedCodes(await versions.fresh()));
  // A wrong setting is logged at once, not only when the first file is uploaded.
  void health.state();
  return {
    server,
    work,
    versions,
    replica,
    searchMemory: memory,
    system: () => systemCaller(versions.current()),
    metrics: () => metricsOf(server),
    startWorker: () => {
      const deliverer = new Deliverer({
        db,
        work,
        clock,
        outbound,
        secrets,
        callerOf: async (userId) => {
          const actor = await authenticator.actorOf(userId);
          return actor === undefined ? undefined : { ...systemCaller(await versions.fresh()), actor };
        },
        parts: { filters: HISTORY_FILTERS, comment: readComment, article: articleEvent },
        onError: (error) => void outages.failed('deliveries', error),
        onRoom: () => loop?.wake('deliveries'),
        limits: options.deliveries ?? {},
      });
      const delivery = deliveryTasks({
        db,
        clock,
        deliverer,
        wake: (task) => loop?.wake(task),
        everyMs: options.deliveryEveryMs,
      });
      const system = async (): Promise<Caller> => systemCaller(await versions.fresh());
      const heads = settings.auditHeads === undefined ? undefined : headPlace(settings.auditHeads, outbound);
      const common = { db, clock, work, system };
      const all = [
        ...delivery,
        momentTask({ db, clock }, MOMENTS, (task) => loop?.wake(task)),
        ...tasks({ db, blobs, versions, authenticator, clock, work, onSealed: headLogger(log), heads }),
        ...searchJobs(db, work, system, search),
        ...reportJobs(db, work, system),
        ...notificationJobs({ ...common, refresh: () => versions.refresh(), ...notifying }),
        ...mailJobs({
          ...common,
          settings,
          tokenKey: secrets.deriveKey(TOKEN_KEY),
          actorOf: (userId) => authenticator.actorOf(userId),
          secretOf: (code) => secretText(db, secrets, code),
          outbound: options.outbound,
          onError: (mailboxId, error) => void outages.failed('imap', error, mailboxId),
          onRead: (mailboxId) => outages.succeeded('imap', mailboxId),
        }),
      ];
      const { tracer } = options;
      const apart = all.map((task) =>
        tracer === undefined ? task : { ...task, run: () => tracer.alone(() => task.run()) },
      );
      loop = startLoop(apart, outages);
      wake.listen(() => {
        versions.used();
        loop?.wake('places');
      });
      return loop;
    },
    stop: async () => {
      wake.stop();
      places.stop();
      await loop?.stop();
      await outbound.close();
      await limiter?.stop();
      versions.stop();
      replica?.stop();
      await memory?.stop();
    },
  };
}

/** A process that has not written for so long tells the others when it writes again. */
const QUIET_MS = 1000;
/** A request does not use the database all the time. Admitting more would only make them wait for a connection. */
const RUNNING_PER_CONNECTION = 2;
/** Load balancers wait about this long for readiness. A database that is only slow must not make a process unready. */
const READY_PATIENCE_MS = 5000;
/** Interval at which the head of the audit chain is logged. */
const HEAD_LOG_MS = 600_000;

/** Writes the head of the audit chain to the log at intervals. If logs are stored elsewhere, a forged chain can be detected. */
function headLogger(log: Logger): (head: SealHead) => void {
  const isDue = atMostEvery(HEAD_LOG_MS, Number.NEGATIVE_INFINITY);
  return ({ number, hash }) => {
    if (isDue()) log.info({ seal: number, hash }, 'audit log sealed');
  };
}

/** The two pages of an OpenID Connect sign-in: the redirect to the provider, and the callback. */
function oidcPages(
  settings: OidcSettings,
  options: AppOptions & { clock: Clock },
  { signIns, work, versions }: { signIns: SignIns; work: Work; versions: VersionWatcher },
): RedirectPage[] {
  const oidc = new Oidc({
    ...settings,
    secrets: options.secrets,
    signIns,
    work,
    clock: options.clock,
    caller: async () => ({
      actor: anonymousActor(),
      via: 'console',
      keyId: null,
      correlationId: newId(),
      config: await versions.fresh(),
    }),
    onError: (error) => options.log.warn({ err: error }, 'OpenID Connect sign-in failed'),
  });
  return [
    { path: OIDC_PATH, id: 'session.oidc', answer: (request) => oidc.startSignIn(request) },
    { path: `${OIDC_PATH}/callback`, id: 'session.oidcCallback', answer: (request) => oidc.handleCallback(request) },
  ];
}

/** Logs when the file store becomes unavailable, with the reason, and when it is available again. */
function storeLogger(log: Logger): BlobHealthOptions['onChange'] {
  return (state, error) => {
    if (state === 'ok') log.info('file store available again');
    else log.warn({ err: loggable(error) }, `file store unavailable: ${(error as Error).message}`);
  };
}

/**
 * A process is ready if the database answers. An unavailable file store only fails calls that need files, so the process stays
 * ready. If the store never answered since the start, its settings are probably wrong, and the process is not ready.
 */
async function readiness(versions: VersionWatcher, health: BlobHealth): Promise<Readiness> {
  try {
    await versions.fresh(READY_PATIENCE_MS);
  } catch {
    return { ok: false, degraded: [], checks: { database: 'unavailable' } };
  }
  const state = await health.state();
  const checks = { database: 'ok', blobs: state === 'ok' ? 'ok' : 'unavailable' };
  return { ok: state !== 'never', degraded: state === 'ok' ? [] : ['blobs'], checks };
}

/**
 * True if there is a webhook subscription. Without one, no notification is needed. Also true if the configuration is
 * unavailable.
 */
function deliversNow(versions: VersionWatcher): boolean {
  try {
    return versions.current().items('webhooks').length > 0;
  } catch {
    return true;
  }
}
