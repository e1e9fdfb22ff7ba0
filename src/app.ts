/** The composition root: the only file that names every room, and introduces rooms and drivers to each other. */
import type { Logger } from 'pino';
import type { ConfigSection } from './mechanisms/config-section.ts';
import { bundleRoutes } from './bundle/routes.ts';
import { addItem } from './bundle/single.ts';
import { reconcileFieldIndexes } from './bundle/field-indexes.ts';
import type { Settings } from './config.ts';
import { buildDocument } from './contract/openapi.ts';
import type { Operation } from './contract/operation.ts';
import {
  Authenticator,
  accessRoutes,
  anonymousActor,
  purgeSessions,
  sessionFollower,
  systemActor,
  touchKeys,
} from './domain/access/door.ts';
import { rolesSection } from './domain/access/config.ts';
import { catalogsSection, servicesSection } from './domain/catalog/config.ts';
import { catalogRoutes } from './domain/catalog/door.ts';
import { groupsSection, orgUnitsSection, usersSection } from './domain/identity/config.ts';
import { identityRoutes } from './domain/identity/door.ts';
import { importDefinitionsSection } from './domain/imports/config.ts';
import { integrationsSection } from './domain/inbound/config.ts';
import { inboundRoutes, purgeRuns } from './domain/inbound/door.ts';
import { knowledgeBasesSection } from './domain/knowledge/config.ts';
import { settingsSection, typesSection } from './domain/metadata/config.ts';
import { recordProbe } from './domain/objects/config.ts';
import { relationDefinitionsSection } from './domain/relations/config.ts';
import { calendarsSection, slaPoliciesSection } from './domain/sla/config.ts';
import { signingSecretsSection, webhooksSection } from './domain/webhooks/config.ts';
import { workflowsSection } from './domain/workflow/config.ts';
import { ensureNumbering, metadataRoutes, typeSlice } from './domain/metadata/door.ts';
import { attachmentRoutes, attachmentUse } from './domain/attachments/door.ts';
import { bulkRoutes } from './domain/bulk/door.ts';
import { exportRoutes } from './domain/exports/door.ts';
import { importRoutes } from './domain/imports/door.ts';
import { commentEvents, commentRoutes, readComment } from './domain/comments/door.ts';
import { imageUse, objectRoutes } from './domain/objects/door.ts';
import { relationEvents, relationRoutes } from './domain/relations/door.ts';
import { dueTimeMover, fireDue, slaFollower, slaRoutes } from './domain/sla/door.ts';
import {
  Deliverer,
  type DeliveryLimits,
  dispatchEvents,
  purgeDeliveries,
  webhookRoutes,
} from './domain/webhooks/door.ts';
import { workflowRoutes } from './domain/workflow/door.ts';
import { buildServer } from './http/server.ts';
import { inputReader } from './http/validate.ts';
import type { BoundOperation } from './mechanisms/binding.ts';
import type { BlobUse } from './mechanisms/blobs/register.ts';
import { ContentHolder, type ContentParts } from './mechanisms/blobs/serve.ts';
import type { BlobStore } from './mechanisms/blobs/store.ts';
import { sweepBlobs } from './mechanisms/blobs/sweep.ts';
import type { Actor } from './mechanisms/context.ts';
import { type Clock, instant, newId, systemClock } from './mechanisms/clock.ts';
import type { Follower } from './mechanisms/context.ts';
import type { Database } from './mechanisms/db/pool.ts';
import { Epoch } from './mechanisms/epoch.ts';
import { purgeIdempotency } from './mechanisms/idempotency.ts';
import { Outbound, type OutboundOptions } from './mechanisms/outbound.ts';
import { SecretBox } from './mechanisms/secrets.ts';
import type { ConfigSnapshot } from './mechanisms/snapshot.ts';
import { Wake } from './mechanisms/wake.ts';
import { type Caller, Work } from './mechanisms/work.ts';
import { type Loop, startLoop, type Task } from './worker/loop.ts';

/** The sections of the configuration bundle, in the order in which they are applied and exported. */
export const configSections: readonly ConfigSection[] = [
  settingsSection,
  usersSection,
  groupsSection,
  orgUnitsSection,
  workflowsSection(recordProbe),
  typesSection(recordProbe),
  rolesSection,
  calendarsSection,
  slaPoliciesSection,
  relationDefinitionsSection,
  servicesSection,
  catalogsSection,
  knowledgeBasesSection,
  signingSecretsSection,
  webhooksSection,
  integrationsSection,
  importDefinitionsSection,
];

/** What the rooms' handlers need beyond their context. */
export interface Parts extends ContentParts<Caller> {
  secrets: SecretBox;
  outbound: Pick<Outbound, 'refusal'>;
  /** The rights of a person who is ACTIVE, for what is done on their behalf; undefined for anybody else. */
  actorOf(userId: string): Promise<Actor | undefined>;
}

/** Bytes of files that answers may hold in memory at once. */
const HELD_BYTES = 128 * 1024 * 1024;

/** How long finished deliveries are kept beyond the last 100 of a subscription. */
const DELIVERIES_KEPT_MS = 14 * 86_400_000;

/** Where content of the blob store is referred to; what nothing refers to is swept. */
export const BLOB_USES: readonly BlobUse[] = [attachmentUse, imageUse];

/** Rooms that react to others' events inside the same unit, in this order. Whatever writes records must have them. */
export const FOLLOWERS: readonly Follower[] = [sessionFollower, slaFollower];

/** How long, and how many of each integration, the log of calls from outside is kept. */
const RUNS_KEPT_MS = 30 * 86_400_000;
const RUNS_KEPT = 1000;

/** Every operation of the service, in the order in which the documents show them. */
export function bindings(parts: Parts): BoundOperation[] {
  return [
    ...metadataRoutes,
    ...objectRoutes([commentEvents, relationEvents], parts),
    ...commentRoutes,
    ...attachmentRoutes(parts),
    ...relationRoutes,
    ...workflowRoutes,
    ...bulkRoutes,
    ...slaRoutes,
    ...importRoutes(parts, (ctx, item) => addItem(ctx, configSections, importDefinitionsSection.key, item)),
    ...exportRoutes(parts.freshCaller),
    ...catalogRoutes(parts.actorOf),
    ...webhookRoutes(parts.secrets, parts.outbound),
    ...identityRoutes,
    ...inboundRoutes(inputReader),
    ...accessRoutes,
    ...bundleRoutes(configSections),
  ];
}

export function operations(): Operation[] {
  // Declarations do not depend on what handlers are given; nothing of this is called.
  const none = (): never => {
    throw new Error('operations are declarations here');
  };
  const blobs: BlobStore = { put: none, read: none, remove: none, list: none, check: none };
  const holder = new ContentHolder(0);
  const secrets = new SecretBox('declarations seal nothing');
  const parts: Parts = { blobs, holder, secrets, outbound: { refusal: none }, freshCaller: none, actorOf: none };
  return bindings(parts).map((bound) => bound.operation);
}
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
}

/** The service in this process: what serves HTTP, what works in the background, and what both stand on. */
export interface App {
  server: ReturnType<typeof buildServer>;
  work: Work;
  epoch: Epoch;
  /** The service itself as a caller: command line and background work. */
  system(): Caller;
  startWorker(): Loop;
  stop(): Promise<void>;
}

/** Unique constraints that a client can run into, and what to tell it. */
export const CONSTRAINTS: ReadonlyMap<string, { code: string; field?: string }> = new Map([
  ['objects_pkey', { code: 'ALREADY_EXISTS', field: 'objectId' }],
  ['users_login', { code: 'ALREADY_EXISTS', field: 'login' }],
  ['users_email', { code: 'ALREADY_EXISTS', field: 'email' }],
  ['groups_code', { code: 'ALREADY_EXISTS', field: 'code' }],
  ['org_units_code', { code: 'ALREADY_EXISTS', field: 'code' }],
]);

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
  const work = new Work({ db, clock, blobs, followers: FOLLOWERS, constraints: CONSTRAINTS });
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
  const bound = bindings({
    blobs,
    holder: new ContentHolder(HELD_BYTES),
    secrets,
    outbound,
    freshCaller,
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
    documents: {
      public: buildDocument(described, { surface: 'public' }),
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
        parts: { filters: [commentEvents, relationEvents], comment: readComment },
        onError: (error) => onError('deliveries', error),
        onRoom: () => loop?.wake('deliveries'),
        limits: options.deliveries ?? {},
      });
      const delivery = deliveryTasks(db, clock, deliverer, () => loop?.wake('deliveries'));
      loop = startLoop([...delivery, ...tasks({ db, blobs, epoch, authenticator, clock, work })], onError);
      wake.listen(() => loop?.wake('outbox'));
      return loop;
    },
    stop: async () => {
      wake.stop();
      await loop?.stop();
      await outbound.close();
      epoch.stop();
    },
  };
}

/** The service itself, acting on its own configuration. */
export function systemCaller(config: ConfigSnapshot): Caller {
  return {
    actor: systemActor(config.get(typeSlice)),
    via: 'system',
    keyId: null,
    correlationId: newId(),
    config,
  };
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

/** The two stages of delivery: each is woken by what it waits for, and its timer makes up for words that were lost. */
function deliveryTasks(db: Database, clock: Clock, deliverer: Deliverer, wakeDelivery: () => void): Task[] {
  return [
    {
      name: 'outbox',
      everyMs: 500,
      gapMs: 10,
      run: async () => {
        const { made, more } = await dispatchEvents(db, clock);
        if (made > 0) wakeDelivery();
        return more;
      },
    },
    { name: 'deliveries', everyMs: 500, gapMs: 5, run: () => deliverer.turn(), stop: () => deliverer.stop() },
    {
      name: 'delivery-log',
      everyMs: 600_000,
      run: async () => (await purgeDeliveries(db, instant(clock.now() - DELIVERIES_KEPT_MS), 5000)) === 5000,
    },
  ];
}

interface TaskParts {
  db: Database;
  blobs: BlobStore;
  epoch: Epoch;
  authenticator: Authenticator;
  clock: Clock;
  work: Work;
}

function tasks({ db, blobs, epoch, authenticator, clock, work }: TaskParts): Task[] {
  const now = (): string => instant(clock.now());
  const moveDueTimes = dueTimeMover();
  return [
    { name: 'idempotency', everyMs: 600_000, run: async () => (await purgeIdempotency(db, now())) === 5000 },
    {
      name: 'sessions',
      everyMs: 3_600_000,
      run: async () => {
        await purgeSessions(db, now());
        return false;
      },
    },
    {
      name: 'inbound-runs',
      everyMs: 600_000,
      run: () => purgeRuns(db, instant(clock.now() - RUNS_KEPT_MS), RUNS_KEPT),
    },
    {
      name: 'key-uses',
      everyMs: 30_000,
      run: async () => {
        const uses = authenticator.takeUses();
        if (uses.size > 0) await touchKeys(db, uses);
        return false;
      },
    },
    {
      name: 'blobs',
      everyMs: 3_600_000,
      run: async () => {
        await sweepBlobs(db, blobs, BLOB_USES, clock.now());
        return false;
      },
    },
    {
      name: 'sla-timers',
      everyMs: 1000,
      run: () => fireDue(work, systemCaller(epoch.current())),
    },
    {
      name: 'sla-due-times',
      everyMs: 1000,
      run: () => moveDueTimes(work, systemCaller(epoch.current()), clock.now()),
    },
    {
      name: 'field-indexes',
      everyMs: 2000,
      run: async () => {
        await reconcileFieldIndexes(db, epoch.current().get(typeSlice));
        return false;
      },
    },
  ];
}
