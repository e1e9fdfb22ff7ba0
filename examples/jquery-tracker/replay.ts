/** Opens the tickets and replays their histories, several tickets at once, each in its own order. */
import { type Answer, type Client, granted } from './client.ts';
import { TYPE } from './configure.ts';
import type { Journal } from './journal.ts';
import type { Patch, TicketPlan } from './plan.ts';
import { inParallel, type Progress } from './progress.ts';

interface Written {
  id: string;
  revision: number;
}

/** A call that the service refused; the ticket stays as it is and the report names it. */
export interface Refusal {
  ticket: string;
  call: string;
  status: number;
  error: unknown;
}

export interface ReplayCounts {
  created: number;
  /** Creates answered from an earlier call with the same idempotency key. */
  replayedCreates: number;
  patches: number;
  /** Patches that a run before this one had made. */
  skippedPatches: number;
  /** Conflicts that were our own earlier try, found out by reading the record. */
  ownConflicts: number;
  rows: number;
  tickets: number;
}

export class Replay {
  readonly #client: Client;
  readonly #journal: Journal;
  /** By handle. */
  readonly #keys: ReadonlyMap<string, string>;
  readonly #reader: string;
  readonly refusals: Refusal[] = [];
  readonly counts: ReplayCounts = {
    created: 0,
    replayedCreates: 0,
    patches: 0,
    skippedPatches: 0,
    ownConflicts: 0,
    rows: 0,
    tickets: 0,
  };

  constructor(client: Client, journal: Journal, keys: ReadonlyMap<string, string>, reader: string) {
    this.#client = client;
    this.#journal = journal;
    this.#keys = keys;
    this.#reader = reader;
  }

  /** @throws Error when the service stays away or fails; what it refuses is in `refusals` */
  async run(plans: readonly TicketPlan[], workers: number, progress: Progress): Promise<void> {
    await inParallel(plans, workers, async (plan) => {
      const steps = 1 + plan.patches.length;
      if (this.#journal.replayed.has(plan.ticket)) {
        this.counts.skippedPatches += plan.patches.length;
        progress.add(steps);
        return;
      }
      await this.#ticket(plan, progress);
    });
  }

  async #ticket(plan: TicketPlan, progress: Progress): Promise<void> {
    const known = this.#journal.created.get(plan.ticket);
    const record = known === undefined ? await this.#create(plan) : { ...(await this.#read(known)), resumed: true };
    progress.add();
    if (record === undefined) {
      progress.add(plan.patches.length);
      return;
    }
    // A run before this one may have gone further than its journal says: the record itself knows.
    const reached = record.resumed ? record.revision : 0;
    let { revision } = record;
    for (const patch of plan.patches) {
      progress.add();
      if (patch.revision <= reached) {
        this.counts.skippedPatches++;
        continue;
      }
      const next = await this.#patch(plan, patch, record.id, revision);
      if (next === undefined) return;
      revision = next;
      this.counts.patches++;
      this.counts.rows += patch.rows;
    }
    this.counts.tickets++;
    this.#journal.write({ kind: 'replayed', ticket: plan.ticket });
  }

  async #create(plan: TicketPlan): Promise<(Written & { resumed: boolean }) | undefined> {
    const answer = await this.#client.call<Written>({
      name: 'create',
      method: 'POST',
      path: '/api/v1/objects',
      key: this.#keyOf(plan.reporter),
      idempotencyKey: `jquery-tracker/create/${plan.ticket}`,
      body: { typeDefinitionId: TYPE, values: plan.opening },
    });
    if (answer.data === undefined) return this.#refuse(plan, 'create', answer);
    if (answer.replayed) this.counts.replayedCreates++;
    else this.counts.created++;
    this.#journal.write({ kind: 'created', ticket: plan.ticket, id: answer.data.id });
    // The answer that was kept is of the moment of the creation; the record may have changed since.
    return answer.replayed
      ? { ...(await this.#read(answer.data.id)), resumed: true }
      : { ...answer.data, resumed: false };
  }

  async #read(id: string): Promise<Written> {
    const call = { name: 'resume', method: 'GET', path: `/api/v1/objects/${id}`, key: this.#reader } as const;
    return granted(call, await this.#client.call<Written>(call));
  }

  /** @returns the revision afterwards; undefined when the change was refused */
  async #patch(plan: TicketPlan, patch: Patch, id: string, expectedRevision: number): Promise<number | undefined> {
    const answer = await this.#client.call<Written>({
      name: 'change',
      method: 'PATCH',
      path: `/api/v1/objects/${id}`,
      key: this.#keyOf(patch.author),
      body: { expectedRevision, changes: patch.changes },
    });
    if (answer.data !== undefined) return answer.data.revision;
    if (answer.code === 'REVISION_CONFLICT' && answer.repeated) {
      // PATCH has no idempotency key: a try whose answer was lost may have had its effect. Nobody else writes here.
      const { revision } = await this.#read(id);
      if (revision === patch.revision) {
        this.counts.ownConflicts++;
        return revision;
      }
    }
    return this.#refuse(plan, 'change', answer);
  }

  #refuse(plan: TicketPlan, call: string, { status, error }: Answer): undefined {
    this.refusals.push({ ticket: plan.ticket, call, status, error });
    return undefined;
  }

  #keyOf(handle: string): string {
    const key = this.#keys.get(handle);
    if (key === undefined) throw new Error(`${handle} has no key`);
    return key;
  }
}
