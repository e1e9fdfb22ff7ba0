/** The composition root: introduces rooms and drivers to each other. */
import type { Logger } from 'pino';
import type { OidcSettings, Settings } from './config.ts';
import { readExamples } from './contract/examples.ts';
import { buildDocument } from './contract/openapi.ts';
import { Authenticator, anonymousActor, DEVICE_COOKIE, Oidc, OIDC_PATH, SignIns } from './domain/access/door.ts';
import { ensureNumbering } from './domain/metadata/door.ts';
import { commentEvents, readComment } from './domain/comments/door.ts';
import { articleEvent } from './domain/knowledge/door.ts';
import { relationEvents } from './domain/relations/door.ts';
import { searchJobs } from './domain/search/door.ts';
import { Deliverer, type DeliveryLimits, EVENTS } from './domain/webhooks/door.ts';
import { buildServer, figuresOf } from './http/server.ts';
import { SharedRateLimiter } from './http/rate-shared.ts';
import type { RedirectPage } from './http/types.ts';
import { ContentHolder } from './mechanisms/blobs/serve.ts';
import type { BlobStore } from './mechanisms/blobs/store.ts';
import { type Clock, DatabaseClock, newId } from './mechanisms/clock.ts';
import type { Database } from './mechanisms/db/pool.ts';
import { Replica } from './mechanisms/db/replica.ts';
import { Epoch } from './mechanisms/epoch.ts';
import { Outbound, type OutboundOptions } from './mechanisms/outbound.ts';
import { settleBudgets } from './mechanisms/rate-budgets.ts';
import type { SecretBox } from './mechanisms/secrets.ts';
import { headPlace } from './mechanisms/seal-heads.ts';
import type { SealHead } from './mechanisms/seals.ts';
import type { Tracer } from './mechanisms/traces.ts';
import { Wake } from './mechanisms/wake.ts';
import { type Caller, Work } from './mechanisms/work.ts';
import { type Loop, startLoop } from './worker/loop.ts';

import { watcher } from './watch.ts';
import { bindings, CONSTRAINTS, followers, searchParts, systemCaller } from './rooms.ts';
import { deliveryTasks, tasks } from './background.ts';

/** Bytes of files that answers may hold in memory at once. */
const HELD_BYTES = 128 * 1024 * 1024;

export interface AppOptions {
  settings: Pick<Settings, 'rateLimit' | 'trustedProxies' | 'metricsAllow' | 'webhookAllowPrivate'> &
    Partial<Pick<Settings, 'auditHeads' | 'publicUrl' | 'securityContact'>>;
  db: Database;
  blobs: BlobStore;
  secrets: SecretBox;
  /** How calls to the outside differ from the usual; for tests. */
  outbound?: Partial<OutboundOptions>;
  /** How deliveries differ from the usual; for tests. */
  deliveries?: Partial<DeliveryLimits>;
  log: Logger;
  /** Where spans go; none are made without it. */
  tracer?: Tracer | undefined;
  /** The database's unless given. */
  clock?: Clock;
  /** How long a request waits for rights that are due to be read, and for a lease of its budget; for tests. */
  patienceMs?: number | undefined;
  /** How often deliveries are looked for where nobody wakes them; for tests. */
  deliveryEveryMs?: number | undefined;
  /** A streaming replica of `db`, for reads that may come from one. */
  readDb?: Database | undefined;
  /** The provider that people can sign in to the console with. */
  oidc?: OidcSettings | undefined;
  /** Gives the figures of several processes in place of this one's, for `/metrics`. */
  exposition?: (() => Promise<string>) | undefined;
  /** The folder of the built web console; without it none is served. */
  consoleFolder?: string | undefined;
}

/** The service in this process: what serves HTTP, what works in the background, and what both stand on. */
export interface App {
  server: ReturnType<typeof buildServer>;
  work: Work;
  epoch: Epoch;
  replica: Replica | undefined;
  /** The service itself as a caller: command line and background work. */
  system(): Caller;
  startWorker(): Loop;
  /** The figures of this process, as `/metrics` gives them. */
  figures(): Promise<string>;
  stop(): Promise<void>;
}

/** Builds the service on a migrated database and starts to follow rights and configuration. */
export async function buildApp(options: AppOptions): Promise<App> {
  const { settings, db, blobs, secrets, log, clock = new DatabaseClock() } = options;
  const outbound = new Outbound({
    allowPrivate: settings.webhookAllowPrivate,
    tracer: options.tracer,
    ...options.outbound,
  });
  db.tracer = options.tracer;
  const wake = new Wake(db);
  const replica =
    options.readDb === undefined
      ? undefined
      : new Replica({
          primary: db,
          replica: options.readDb,
          onChange: (state) => log.info({ state }, 'the replica for reads'),
        });
  const epoch = new Epoch({
    db,
    clock,
    patienceMs: options.patienceMs,
    prepare: async (snapshot) => {
      await ensureNumbering(db, snapshot);
      // The configuration may be newer than the epoch that it was read for.
      await replica?.advance();
    },
    ...(replica === undefined ? {} : { onPosition: (position) => replica.saw(position) }),
    onError: (error) => log.warn({ err: error }, 'the epoch could not be read'),
  });
  const search = searchParts();
  const work = new Work({
    db,
    clock,
    blobs,
    followers: followers(search, { oidc: options.oidc !== undefined }),
    constraints: CONSTRAINTS,
    replica,
  });
  work.onRaised = () => epoch.refresh();
  const authenticator = new Authenticator({ db, epoch, clock, onLoaded: async () => await replica?.advance() });
  const freshCaller = async (caller: Caller): Promise<Caller> => {
    const { userId } = caller.actor;
    const actor = userId === null ? caller.actor : await authenticator.actorOf(userId);
    return { ...caller, actor: actor ?? anonymousActor(), config: epoch.current() };
  };
  work.onEmitted = () => {
    if (deliversNow(epoch)) wake.poke();
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
  });
  /** Task → how often it failed. */
  const failures = new Map<string, number>([['none', 0]]);
  const limiter =
    settings.rateLimit === 'off'
      ? undefined
      : new SharedRateLimiter(settings.rateLimit, {
          settle: (interval, list) => settleBudgets(db, interval, list),
          patienceMs: options.patienceMs,
        });
  const described = bound.map((binding) => binding.operation);
  const examples = readExamples();
  const server = buildServer({
    bindings: bound,
    authenticate: (credentials) => authenticator.authenticate(credentials),
    device: { cookie: DEVICE_COOKIE, read: (value) => signIns.deviceOf(value) },
    anonymous: () => ({ actor: anonymousActor(), via: 'console', keyId: null, config: epoch.current() }),
    work,
    log,
    replicated: replica !== undefined,
    tracer: options.tracer,
    limits: {
      ratePerMinute: settings.rateLimit,
      trustedProxies: settings.trustedProxies,
      metricsAllow: settings.metricsAllow,
      running: db.stats().most * RUNNING_PER_CONNECTION,
    },
    health: { ready: () => readiness(db, epoch, blobs) },
    ...(limiter === undefined ? {} : { rateLimiter: limiter }),
    ...(options.exposition === undefined ? {} : { exposition: options.exposition }),
    gauges: watcher({ db, clock, epoch, authenticator, failures, replica, holder }),
    consoleFolder: options.consoleFolder,
    publicUrl: settings.publicUrl,
    securityContact: settings.securityContact,
    redirects:
      options.oidc === undefined ? [] : signInElsewhere(options.oidc, { ...options, clock }, { signIns, work, epoch }),
    documents: {
      public: buildDocument(described, { surface: 'public', events: EVENTS, examples }),
      console: buildDocument(described, { surface: 'console', examples }),
    },
  });
  // Last, so that nothing runs on where the service cannot be built.
  await epoch.start();
  replica?.start();
  let loop: Loop | undefined;
  return {
    server,
    work,
    epoch,
    replica,
    system: () => systemCaller(epoch.current()),
    figures: () => figuresOf(server),
    startWorker: () => {
      const onError = (task: string, error: unknown): void => {
        failures.set(task, (failures.get(task) ?? 0) + 1);
        log.warn({ err: error, task }, 'background work failed and will be tried again');
      };
      const deliverer = new Deliverer({
        db,
        work,
        clock,
        outbound,
        secrets,
        callerOf: async (userId) => {
          const actor = await authenticator.actorOf(userId);
          return actor === undefined ? undefined : { ...systemCaller(await epoch.fresh()), actor };
        },
        parts: { filters: [commentEvents, relationEvents], comment: readComment, article: articleEvent },
        onError: (error) => onError('deliveries', error),
        onRoom: () => loop?.wake('deliveries'),
        limits: options.deliveries ?? {},
      });
      const delivery = deliveryTasks({
        db,
        clock,
        deliverer,
        wakeDelivery: () => loop?.wake('deliveries'),
        everyMs: options.deliveryEveryMs,
      });
      const system = (): Caller => systemCaller(epoch.current());
      const heads = settings.auditHeads === undefined ? undefined : headPlace(settings.auditHeads, outbound);
      const all = [
        ...delivery,
        ...tasks({ db, blobs, epoch, authenticator, clock, work, onSealed: headTeller(log), heads }),
        ...searchJobs(db, work, system, search),
      ];
      const { tracer } = options;
      const apart = all.map((task) =>
        tracer === undefined ? task : { ...task, run: () => tracer.alone(() => task.run()) },
      );
      loop = startLoop(apart, onError);
      wake.listen(() => loop?.wake('outbox'));
      return loop;
    },
    stop: async () => {
      wake.stop();
      await loop?.stop();
      await outbound.close();
      await limiter?.stop();
      epoch.stop();
      replica?.stop();
    },
  };
}

/** A request is not at the database all the time; more at once would only wait for a connection. */
const RUNNING_PER_CONNECTION = 2;
/** How often the head of the chain over the journal is told. */
const HEAD_TOLD_MS = 600_000;

/** Puts the head into the log now and then: logs that are kept elsewhere tell a chain that was made anew. */
function headTeller(log: Logger): (head: SealHead) => void {
  let told = Number.NEGATIVE_INFINITY;
  return ({ number, hash }) => {
    if (performance.now() - told < HEAD_TOLD_MS) return;
    told = performance.now();
    log.info({ seal: number, hash }, 'the audit log is sealed up to here');
  };
}

/** The two pages of a sign-in elsewhere: leaving, and coming back. */
function signInElsewhere(
  settings: OidcSettings,
  options: AppOptions & { clock: Clock },
  { signIns, work, epoch }: { signIns: SignIns; work: Work; epoch: Epoch },
): RedirectPage[] {
  const oidc = new Oidc({
    ...settings,
    secrets: options.secrets,
    signIns,
    work,
    clock: options.clock,
    caller: () => ({
      actor: anonymousActor(),
      via: 'console',
      keyId: null,
      correlationId: newId(),
      config: epoch.current(),
    }),
    onError: (error) => options.log.warn({ err: error }, 'a sign-in by OpenID Connect failed'),
  });
  return [
    { path: OIDC_PATH, id: 'session.oidc', answer: (asked) => oidc.leave(asked) },
    { path: `${OIDC_PATH}/callback`, id: 'session.oidcCallback', answer: (asked) => oidc.comeBack(asked) },
  ];
}

async function readiness(
  db: Database,
  epoch: Epoch,
  blobs: BlobStore,
): Promise<{ ok: boolean; checks: Record<string, unknown> }> {
  try {
    epoch.current();
    await db.facts();
  } catch {
    return { ok: false, checks: { database: 'unavailable' } };
  }
  try {
    await blobs.check();
    return { ok: true, checks: { database: 'ok', blobs: 'ok' } };
  } catch {
    return { ok: false, checks: { database: 'ok', blobs: 'unavailable' } };
  }
}

/** Whether a subscription waits for events; without one, nobody need be told of them. */
function deliversNow(epoch: Epoch): boolean {
  try {
    return epoch.current().items('webhooks').length > 0;
  } catch {
    return true;
  }
}
