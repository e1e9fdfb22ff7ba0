/** The composition root: introduces rooms and drivers to each other. */
import type { Logger } from 'pino';
import type { OidcSettings, Settings } from './config.ts';
import { buildDocument } from './contract/openapi.ts';
import { Authenticator, anonymousActor, Oidc, OIDC_PATH } from './domain/access/door.ts';
import { ensureNumbering } from './domain/metadata/door.ts';
import { commentEvents, readComment } from './domain/comments/door.ts';
import { articleEvent, TextReader } from './domain/knowledge/door.ts';
import { relationEvents } from './domain/relations/door.ts';
import { searchJobs } from './domain/search/door.ts';
import { Deliverer, type DeliveryLimits, EVENTS } from './domain/webhooks/door.ts';
import { buildServer, figuresOf } from './http/server.ts';
import type { RedirectPage } from './http/types.ts';
import { ContentHolder } from './mechanisms/blobs/serve.ts';
import type { BlobStore } from './mechanisms/blobs/store.ts';
import { type Clock, newId, systemClock } from './mechanisms/clock.ts';
import type { Database } from './mechanisms/db/pool.ts';
import { Epoch } from './mechanisms/epoch.ts';
import { Outbound, type OutboundOptions } from './mechanisms/outbound.ts';
import type { SecretBox } from './mechanisms/secrets.ts';
import { Wake } from './mechanisms/wake.ts';
import { type Caller, Work } from './mechanisms/work.ts';
import { type Loop, startLoop } from './worker/loop.ts';

import { bindings, CONSTRAINTS, followers, searchParts, systemCaller } from './rooms.ts';
import { deliveryTasks, tasks } from './background.ts';

/** Bytes of files that answers may hold in memory at once. */
const HELD_BYTES = 128 * 1024 * 1024;

export interface AppOptions {
  settings: Pick<Settings, 'rateLimit' | 'trustedProxies' | 'metricsAllow' | 'webhookAllowPrivate'>;
  db: Database;
  blobs: BlobStore;
  secrets: SecretBox;
  /** How calls to the outside differ from the usual; for tests. */
  outbound?: Partial<OutboundOptions>;
  /** How deliveries differ from the usual; for tests. */
  deliveries?: Partial<DeliveryLimits>;
  log: Logger;
  clock?: Clock;
  /** The provider that people can sign in to the console with. */
  oidc?: OidcSettings | undefined;
  /** Gives the figures of several processes in place of this one's, for `/metrics`. */
  exposition?: () => Promise<string>;
  /** The folder of the built web console; without it none is served. */
  consoleFolder?: string | undefined;
}

/** The service in this process: what serves HTTP, what works in the background, and what both stand on. */
export interface App {
  server: ReturnType<typeof buildServer>;
  work: Work;
  epoch: Epoch;
  /** The service itself as a caller: command line and background work. */
  system(): Caller;
  startWorker(): Loop;
  /** The figures of this process, as `/metrics` gives them. */
  figures(): Promise<string>;
  stop(): Promise<void>;
}

/** Builds the service on a migrated database and starts to follow rights and configuration. */
export async function buildApp(options: AppOptions): Promise<App> {
  const { settings, db, blobs, secrets, log, clock = systemClock } = options;
  const outbound = new Outbound({ allowPrivate: settings.webhookAllowPrivate, ...options.outbound });
  const wake = new Wake(db);
  const epoch = new Epoch({
    db,
    clock,
    prepare: (snapshot) => ensureNumbering(db, snapshot),
    onError: (error) => log.warn({ err: error }, 'the epoch could not be read'),
  });
  const search = searchParts();
  const work = new Work({ db, clock, blobs, followers: followers(search), constraints: CONSTRAINTS });
  work.onRaised = () => epoch.refresh();
  const authenticator = new Authenticator({ db, epoch, clock });
  const freshCaller = async (caller: Caller): Promise<Caller> => {
    const { userId } = caller.actor;
    const actor = userId === null ? caller.actor : await authenticator.actorOf(userId);
    return { ...caller, actor: actor ?? anonymousActor(), config: epoch.current() };
  };
  work.onEmitted = () => {
    if (deliversNow(epoch)) wake.poke();
  };
  const texts = new TextReader();
  const bound = bindings({
    texts,
    blobs,
    holder: new ContentHolder(HELD_BYTES),
    secrets,
    outbound,
    freshCaller,
    search,
    oidc: options.oidc === undefined ? null : new URL(options.oidc.issuer).host,
    actorOf: (userId) => authenticator.actorOf(userId),
  });
  const described = bound.map((binding) => binding.operation);
  const server = buildServer({
    bindings: bound,
    authenticate: (credentials) => authenticator.authenticate(credentials),
    anonymous: () => ({ actor: anonymousActor(), via: 'console', keyId: null, config: epoch.current() }),
    work,
    log,
    limits: {
      ratePerMinute: settings.rateLimit,
      trustedProxies: settings.trustedProxies,
      metricsAllow: settings.metricsAllow,
    },
    health: { ready: () => readiness(db, epoch, blobs) },
    ...(options.exposition === undefined ? {} : { exposition: options.exposition }),
    consoleFolder: options.consoleFolder,
    redirects: options.oidc === undefined ? [] : signInElsewhere(options.oidc, options, work, epoch),
    documents: {
      public: buildDocument(described, { surface: 'public', events: EVENTS }),
      console: buildDocument(described, { surface: 'console' }),
    },
  });
  // Last, so that nothing runs on where the service cannot be built.
  await epoch.start();
  let loop: Loop | undefined;
  return {
    server,
    work,
    epoch,
    system: () => systemCaller(epoch.current()),
    figures: async () => figuresOf(server),
    startWorker: () => {
      const onError = (task: string, error: unknown): void =>
        log.warn({ err: error, task }, 'background work failed and will be tried again');
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
      const delivery = deliveryTasks(db, clock, deliverer, () => loop?.wake('deliveries'));
      const system = (): Caller => systemCaller(epoch.current());
      const all = [
        ...delivery,
        ...tasks({ db, blobs, epoch, authenticator, clock, work }),
        ...searchJobs(db, work, system, search),
      ];
      loop = startLoop(all, onError);
      wake.listen(() => loop?.wake('outbox'));
      return loop;
    },
    stop: async () => {
      wake.stop();
      await loop?.stop();
      await outbound.close();
      await texts.close();
      epoch.stop();
    },
  };
}

/** The two pages of a sign-in elsewhere: leaving, and coming back. */
function signInElsewhere(settings: OidcSettings, options: AppOptions, work: Work, epoch: Epoch): RedirectPage[] {
  const oidc = new Oidc({
    ...settings,
    secrets: options.secrets,
    work,
    clock: options.clock ?? systemClock,
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
