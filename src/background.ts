/** The background tasks of the service and their intervals. */
import { reconcileFieldIndexes } from './configuration/field-indexes.ts';
import {
  type Authenticator,
  ownFieldView,
  purgeSessions,
  purgeSignIns,
  touchKeys,
  touchSessions,
} from './domain/access/index.ts';
import { purgeRuns } from './domain/inbound/index.ts';
import { countViewDays } from './domain/knowledge/index.ts';
import { purgeMessages } from './domain/mail/index.ts';
import { typeView } from './domain/metadata/index.ts';
import { fireDueRules, purgeRuleRuns, timerUpdater } from './domain/rules/index.ts';
import { dueTimeUpdater, fireDue } from './domain/sla/index.ts';
import { type Deliverer, dispatchEvents, purgeDeliveries } from './domain/webhooks/index.ts';
import type { BlobStore } from './platform/blobs/store.ts';
import { sweepDrafts } from './domain/attachments/index.ts';
import { sweepBlobs } from './platform/blobs/register.ts';
import { type Clock, instant } from './platform/clock.ts';
import type { Database } from './platform/database/pool.ts';
import type { VersionWatcher } from './platform/unit-of-work/versions.ts';
import { purgeIdempotency } from './platform/unit-of-work/idempotency.ts';
import { type SealHead, sealJournal } from './platform/journal/seals.ts';
import { givePlaces } from './platform/journal/places.ts';
import { forgetPlaces, type HeadPlace, writeHeads } from './platform/audit/seal-heads.ts';
import { purgeBudgets } from './platform/database/rate-budgets.ts';
import type { Work } from './platform/unit-of-work/work.ts';
import { IDLE_MS } from './platform/moments.ts';
import type { Task } from './worker/loop.ts';

import { BLOB_USES, systemCaller } from './modules.ts';

/** Retention of finished deliveries in milliseconds. The last 100 of a subscription are always kept. */
const DELIVERIES_KEPT_MS = 14 * 86_400_000;

/** Retention of the log of inbound integration calls, and the maximum per integration. */
const RUNS_KEPT_MS = 30 * 86_400_000;
const RUNS_KEPT = 1000;

/** Retention of received mails that were not used, and of the notes of used ones, by which repeated mails are recognised. */
const LISTED_MAILS_KEPT_MS = 30 * 86_400_000;
const USED_MAILS_KEPT_MS = 365 * 86_400_000;

interface DeliveryParts {
  db: Database;
  clock: Clock;
  deliverer: Deliverer;
  wake: (task: string) => void;
  /** Default 500. */
  everyMs?: number | undefined;
}

/** The stages of delivery: events get places, consumers of the journal make deliveries of them, deliveries are sent. Each wakes the next. */
export function deliveryTasks({ db, clock, deliverer, wake, everyMs = 500 }: DeliveryParts): Task[] {
  return [
    // While there are subscriptions, or readers of the changes feed in this process, commits wake it. A pass costs the database about
    // 1 ms of CPU time and a commit, as much as several changes, so under load it takes those of 50 ms together, and otherwise those of 100 ms.
    { name: 'places', everyMs: 100, idleMs: IDLE_MS, gapMs: 50, run: () => givePlaces(db, () => wake('dispatch')) },
    {
      name: 'dispatch',
      everyMs,
      idleMs: IDLE_MS,
      gapMs: 10,
      run: async () => {
        const { made, more } = await dispatchEvents(db, clock);
        if (made > 0) wake('deliveries');
        return more;
      },
    },
    {
      name: 'deliveries',
      everyMs,
      idleMs: IDLE_MS,
      gapMs: 5,
      run: () => deliverer.turn(),
      stop: () => deliverer.stop(),
    },
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
  versions: VersionWatcher;
  authenticator: Authenticator;
  clock: Clock;
  work: Work;
  /** Called with each new head of the audit chain. */
  onSealed: (head: SealHead) => void;
  /** External storage of the heads. Undefined: they are not stored outside the database. */
  heads: HeadPlace | undefined;
}

/** All other background tasks. They take no input: they read state and reconcile it. */
export function tasks({ db, blobs, versions, authenticator, clock, work, onSealed, heads }: TaskParts): Task[] {
  const now = (): string => instant(clock.now());
  const updateDueTimes = dueTimeUpdater();
  const updateTimers = timerUpdater();
  return [
    { name: 'idempotency', everyMs: 600_000, run: async () => (await purgeIdempotency(db, now())) === 5000 },
    {
      name: 'audit-seals',
      everyMs: 2000,
      idleMs: IDLE_MS,
      run: async () => {
        const sealed = await sealJournal(db, clock.now());
        if (sealed !== undefined) onSealed(sealed);
        return sealed?.more;
      },
    },
    {
      // Separate from sealing: an unreachable storage must not stop it.
      name: 'audit-heads',
      everyMs: heads === undefined ? 3_600_000 : 2000,
      ...(heads === undefined ? {} : { idleMs: IDLE_MS }),
      run: async () => {
        if (heads !== undefined) return await writeHeads(db, heads);
        await forgetPlaces(db);
        return false;
      },
    },
    {
      name: 'sessions',
      everyMs: 3_600_000,
      run: async () => {
        await purgeSessions(db, now());
        return false;
      },
    },
    { name: 'sign-ins', everyMs: 300_000, run: async () => (await purgeSignIns(db, now(), 5000)) === 5000 },
    { name: 'rate-budgets', everyMs: 60_000, run: async () => (await purgeBudgets(db)) === 5000 },
    {
      name: 'inbound-runs',
      everyMs: 600_000,
      run: () => purgeRuns(db, instant(clock.now() - RUNS_KEPT_MS), RUNS_KEPT),
    },
    { name: 'rule-runs', everyMs: 600_000, run: () => purgeRuleRuns(db) },
    {
      name: 'received-mails',
      everyMs: 600_000,
      run: () =>
        purgeMessages(db, instant(clock.now() - LISTED_MAILS_KEPT_MS), instant(clock.now() - USED_MAILS_KEPT_MS)),
    },
    {
      name: 'key-uses',
      everyMs: 30_000,
      run: async () => {
        const uses = authenticator.takeUses();
        if (uses.size > 0) await touchKeys(db, uses);
        const sessions = authenticator.takeSessionUses();
        if (sessions.size > 0) await touchSessions(db, sessions);
        return false;
      },
    },
    {
      name: 'article-views',
      everyMs: 3_600_000,
      run: () => countViewDays(db, now().slice(0, 10)),
    },
    {
      name: 'blobs',
      everyMs: 3_600_000,
      run: async () => {
        await sweepDrafts(db, now());
        await sweepBlobs(db, blobs, BLOB_USES, clock.now());
        return false;
      },
    },
    {
      name: 'sla-timers',
      everyMs: 1000,
      idleMs: IDLE_MS,
      run: async () => await fireDue(work, systemCaller(await versions.fresh())),
    },
    {
      name: 'sla-due-times',
      everyMs: 1000,
      idleMs: IDLE_MS,
      run: async () => await updateDueTimes(work, systemCaller(await versions.fresh()), clock.now()),
    },
    {
      name: 'rule-timers',
      everyMs: 1000,
      idleMs: IDLE_MS,
      run: async () => {
        const actorOf = (userId: string) => authenticator.actorOf(userId);
        return await fireDueRules(work, systemCaller(await versions.fresh()), actorOf);
      },
    },
    {
      name: 'rule-timer-updates',
      everyMs: 1000,
      idleMs: IDLE_MS,
      run: async () => await updateTimers(db, work, systemCaller(await versions.fresh()), clock.now()),
    },
    {
      name: 'field-indexes',
      everyMs: 2000,
      idleMs: IDLE_MS,
      run: async () => {
        const snapshot = await versions.fresh();
        await reconcileFieldIndexes(db, snapshot.get(typeView), snapshot.get(ownFieldView));
        return false;
      },
    },
  ];
}
