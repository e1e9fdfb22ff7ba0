/** The composition root: the only file that names every room, and introduces rooms and drivers to each other. */
import type { Logger } from 'pino';
import type { ConfigSection } from './mechanisms/config-section.ts';
import { bundleRoutes } from './bundle/routes.ts';
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
import { knowledgeBasesSection } from './domain/knowledge/config.ts';
import { articleImageUse, knowledgeRoutes } from './domain/knowledge/door.ts';
import { settingsSection, typesSection } from './domain/metadata/config.ts';
import { recordProbe } from './domain/objects/config.ts';
import { relationDefinitionsSection } from './domain/relations/config.ts';
import { calendarsSection, slaPoliciesSection } from './domain/sla/config.ts';
import { signingSecretsSection, webhooksSection } from './domain/webhooks/config.ts';
import { workflowsSection } from './domain/workflow/config.ts';
import { ensureNumbering, metadataRoutes, typeSlice } from './domain/metadata/door.ts';
import { attachmentRoutes, attachmentUse } from './domain/attachments/door.ts';
import { bulkRoutes } from './domain/bulk/door.ts';
import { commentEvents, commentRoutes } from './domain/comments/door.ts';
import { imageUse, objectRoutes } from './domain/objects/door.ts';
import { relationEvents, relationRoutes } from './domain/relations/door.ts';
import { workflowRoutes } from './domain/workflow/door.ts';
import { buildServer } from './http/server.ts';
import type { BoundOperation } from './mechanisms/binding.ts';
import type { BlobUse } from './mechanisms/blobs/register.ts';
import { ContentHolder, type ContentParts } from './mechanisms/blobs/serve.ts';
import type { BlobStore } from './mechanisms/blobs/store.ts';
import { sweepBlobs } from './mechanisms/blobs/sweep.ts';
import { type Clock, instant, newId, systemClock } from './mechanisms/clock.ts';
import type { Actor, Follower } from './mechanisms/context.ts';
import type { Database } from './mechanisms/db/pool.ts';
import { Epoch } from './mechanisms/epoch.ts';
import { purgeIdempotency } from './mechanisms/idempotency.ts';
import { drainOutbox } from './mechanisms/journal.ts';
import type { ConfigSnapshot } from './mechanisms/snapshot.ts';
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
  /** The rights of a person who is ACTIVE, for what is done on their behalf; undefined for anybody else. */
  actorOf(userId: string): Promise<Actor | undefined>;
}
/** Bytes of files that answers may hold in memory at once. */
const HELD_BYTES = 128 * 1024 * 1024;

/** Where content of the blob store is referred to; what nothing refers to is swept. */
export const BLOB_USES: readonly BlobUse[] = [attachmentUse, imageUse, articleImageUse];

/** Rooms that react to others' events in the same unit of work, in this order. */
export const FOLLOWERS: readonly Follower[] = [sessionFollower];

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
    ...catalogRoutes(parts.actorOf),
    ...knowledgeRoutes(parts),
    ...identityRoutes,
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
  return bindings({ blobs, holder: new ContentHolder(0), freshCaller: none, actorOf: none }).map(
    (bound) => bound.operation,
  );
}
export interface AppOptions {
  settings: Pick<Settings, 'rateLimit' | 'trustedProxies' | 'metricsAllow'>;
  db: Database;
  blobs: BlobStore;
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
const CONSTRAINTS: ReadonlyMap<string, { code: string; field?: string }> = new Map([
  ['objects_pkey', { code: 'ALREADY_EXISTS', field: 'objectId' }],
  ['kb_versions_draft', { code: 'ALREADY_EXISTS', field: 'code' }],
  ['users_login', { code: 'ALREADY_EXISTS', field: 'login' }],
  ['users_email', { code: 'ALREADY_EXISTS', field: 'email' }],
  ['groups_code', { code: 'ALREADY_EXISTS', field: 'code' }],
  ['org_units_code', { code: 'ALREADY_EXISTS', field: 'code' }],
]);

/** Builds the service on a migrated database and starts to follow rights and configuration. */
export async function buildApp({ settings, db, blobs, log, clock = systemClock }: AppOptions): Promise<App> {
  const epoch = new Epoch({
    db,
    clock,
    prepare: (snapshot) => ensureNumbering(db, snapshot),
    onError: (error) => log.warn({ err: error }, 'the epoch could not be read'),
  });
  const work = new Work({ db, clock, blobs, followers: FOLLOWERS, constraints: CONSTRAINTS });
  work.onRaised = () => epoch.refresh();
  const authenticator = new Authenticator({ db, epoch, clock });
  await epoch.start();
  const freshCaller = async (caller: Caller): Promise<Caller> => {
    const { userId } = caller.actor;
    const actor = userId === null ? caller.actor : await authenticator.actorOf(userId);
    return { ...caller, actor: actor ?? anonymousActor(), config: epoch.current() };
  };
  const bound = bindings({
    blobs,
    holder: new ContentHolder(HELD_BYTES),
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
  let loop: Loop | undefined;
  return {
    server,
    work,
    epoch,
    system: () => systemCaller(epoch.current()),
    startWorker: () => {
      loop = startLoop(tasks(db, blobs, epoch, authenticator, clock), (task, error) =>
        log.warn({ err: error, task }, 'background work failed and will be tried again'),
      );
      return loop;
    },
    stop: async () => {
      await loop?.stop();
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

function tasks(db: Database, blobs: BlobStore, epoch: Epoch, authenticator: Authenticator, clock: Clock): Task[] {
  const now = (): string => instant(clock.now());
  return [
    {
      // Nobody subscribes yet: what is claimed has no receiver, and the event itself stays in the journal.
      name: 'outbox',
      everyMs: 1000,
      run: async () => (await drainOutbox(db, 1000, async () => {})) === 1000,
    },
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
      name: 'field-indexes',
      everyMs: 2000,
      run: async () => {
        await reconcileFieldIndexes(db, epoch.current().get(typeSlice));
        return false;
      },
    },
  ];
}
