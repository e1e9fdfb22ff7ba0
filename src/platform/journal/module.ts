/** The journal: its seals, the places of the changes feed, and the invariants that it shows. */
import { atMostEvery } from '../../lib/yielding.ts';
import { type Module, ServicePart, type Service } from '../module.ts';
import { IDLE_MS } from '../moments.ts';
import type { Task } from '../tasks.ts';
import { journalCheck } from '../audit/checks.ts';
import { consumersCheck } from './consumers.ts';
import { journalMetrics } from './metrics.ts';
import { PlaceWatch } from './place-watch.ts';
import { givePlaces, placesCheck } from './places.ts';
import { forgetPlaces, headPlace, writeHeads } from '../audit/seal-heads.ts';
import { type SealHead, sealJournal } from './seals.ts';

/** Interval at which the head of the audit chain is logged. */
const HEAD_LOG_MS = 600_000;

/** Tells that there are new places in the changes feed. */
export const placeWatch = new ServicePart(
  'new places of the changes feed',
  ({ db, changes }) => new PlaceWatch(db, changes),
);

export const journal: Module = {
  name: 'journal',
  tables: {
    journal: 'Sealed: docket audit verify.',
    journal_places: 'Each committed row of the journal has one place (I14).',
    journal_placing: 'Progress of giving places, compared with them (I14).',
    journal_consumers: 'Places of the consumers, compared with the places of the journal (I14).',
    journal_epochs: 'When places of the changes feed could be lost; nothing is restored from it.',
    journal_seals: 'Sealed: docket audit verify.',
    journal_sealing: 'Sealed: docket audit verify.',
    audit_heads: 'How far heads were written; the heads themselves stand elsewhere.',
  },
  tasks: journalTasks,
  checks: [journalCheck, placesCheck, consumersCheck],
  metrics: journalMetrics,
  stop: async ({ get }) => get(placeWatch).stop(),
};

function journalTasks({ db, clock, settings, outbound, log, wake }: Service): Task[] {
  const onSealed = headLogger(log);
  const heads = settings.auditHeads === undefined ? undefined : headPlace(settings.auditHeads, outbound);
  return [
    // While there are subscriptions, or readers of the changes feed in this process, commits wake it. A pass costs the database about
    // 1 ms of CPU time and a commit, as much as several changes, so under load it takes those of 20 ms together. Otherwise it takes
    // those of 100 ms.
    { name: 'places', everyMs: 100, idleMs: IDLE_MS, gapMs: 20, run: () => givePlaces(db, () => wake('dispatch')) },
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
  ];
}

/** Writes the head of the audit chain to the log at intervals. If logs are stored elsewhere, a forged chain can be detected. */
function headLogger(log: Service['log']): (head: SealHead) => void {
  const isDue = atMostEvery(HEAD_LOG_MS, Number.NEGATIVE_INFINITY);
  return ({ number, hash }) => {
    if (isDue()) log.info({ seal: number, hash }, 'audit log sealed');
  };
}
