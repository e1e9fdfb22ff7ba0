/** Opens the tickets and replays their history, several tickets at a time, each in its own order; then links the duplicates. */
import { type CommentStep, contentOf, type FileStep, type LifePlan } from './timeline.ts';
import { type Answer, type Client, granted } from './client.ts';
import { TYPE } from './configure.ts';
import type { RelationRow } from './data.ts';
import type { Journal } from './journal.ts';
import { Moves } from './transitions.ts';
import type { Change } from './plan.ts';
import { inParallel, type Progress } from './progress.ts';
import type { Move } from './workflow.ts';

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
  transitions: number;
  /** Patches and transitions that a run before this one had made. */
  skippedChanges: number;
  /** Conflicts that were our own earlier try, found out by reading the record. */
  ownConflicts: number;
  rows: number;
  comments: number;
  files: number;
  /** Of the files sent. */
  fileBytes: number;
  relations: number;
  /** Comments, files and relations answered from an earlier call with the same idempotency key, or known as done. */
  replayedAround: number;
  /** Relations that the service had already. */
  relationsThereAlready: number;
  tickets: number;
}

export class Replay {
  readonly #client: Client;
  readonly #journal: Journal;
  /** By handle. */
  readonly #keys: ReadonlyMap<string, string>;
  readonly #reader: string;
  readonly #moves: Moves;
  readonly refusals: Refusal[] = [];
  readonly counts: ReplayCounts = {
    created: 0,
    replayedCreates: 0,
    patches: 0,
    transitions: 0,
    skippedChanges: 0,
    ownConflicts: 0,
    rows: 0,
    comments: 0,
    files: 0,
    fileBytes: 0,
    relations: 0,
    replayedAround: 0,
    relationsThereAlready: 0,
    tickets: 0,
  };

  constructor(client: Client, journal: Journal, keys: ReadonlyMap<string, string>, reader: string) {
    this.#client = client;
    this.#journal = journal;
    this.#keys = keys;
    this.#reader = reader;
    this.#moves = new Moves(client);
  }

  /** @throws Error if the service is unavailable or fails; rejected calls are in `refusals` */
  async run(plans: readonly LifePlan[], workers: number, progress: Progress): Promise<void> {
    await inParallel(plans, workers, async (plan) => {
      if (this.#journal.replayed.has(plan.ticket)) {
        this.counts.skippedChanges += plan.changes.length;
        this.counts.replayedAround += plan.steps.length - plan.changes.length;
        progress.add(1 + plan.steps.length);
        return;
      }
      await this.#ticket(plan, progress);
    });
  }

  async #ticket(plan: LifePlan, progress: Progress): Promise<void> {
    const known = this.#journal.created.get(plan.ticket);
    const record = known === undefined ? await this.#create(plan) : { ...(await this.#read(known)), resumed: true };
    progress.add();
    if (record === undefined) {
      progress.add(plan.steps.length);
      return;
    }
    const refused = this.refusals.length;
    // An earlier run may have done more than its log states; the record shows it.
    const reached = record.resumed ? record.revision : 0;
    let { revision } = record;
    for (const step of plan.steps) {
      progress.add();
      if (step.kind === 'comment') await this.#comment(plan, step, record.id);
      else if (step.kind === 'file') await this.#file(plan, step, record.id);
      else if (step.revision <= reached) this.counts.skippedChanges++;
      else {
        const next = await this.#change(plan, step, record.id, revision);
        if (next === undefined) return;
        revision = next;
        if (step.move === undefined) this.counts.patches++;
        else this.counts.transitions++;
        this.counts.rows += step.rows;
      }
    }
    if (this.refusals.slice(refused).some(({ ticket }) => ticket === plan.ticket)) return;
    this.counts.tickets++;
    this.#journal.write({ kind: 'replayed', ticket: plan.ticket });
  }

  async #create(plan: LifePlan): Promise<(Written & { resumed: boolean }) | undefined> {
    const answer = await this.#client.call<Written>({
      name: 'create',
      method: 'POST',
      path: '/api/v1/objects',
      key: this.#keyOf(plan.reporter),
      idempotencyKey: `jquery-tracker/create/${plan.ticket}`,
      body: { typeDefinitionId: TYPE, values: plan.opening },
    });
    if (answer.data === undefined) return this.#refuse(plan.ticket, 'create', answer);
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
  async #change(plan: LifePlan, change: Change, id: string, revision: number): Promise<number | undefined> {
    const answer =
      change.move === undefined
        ? await this.#patch(change, id, revision)
        : await this.#transition(change, change.move, id, revision);
    if (answer.data !== undefined) return answer.data.revision;
    if (answer.code === 'REVISION_CONFLICT' && answer.repeated) {
      // Neither has an Idempotency-Key: a lost attempt may have had its effect. No other client writes here.
      const record = await this.#read(id);
      if (record.revision === change.revision) {
        this.counts.ownConflicts++;
        return record.revision;
      }
    }
    return this.#refuse(plan.ticket, change.move === undefined ? 'change' : 'transition', answer);
  }

  async #patch(change: Change, id: string, expectedRevision: number): Promise<Answer<Written>> {
    return await this.#client.call<Written>({
      name: 'change',
      method: 'PATCH',
      path: `/api/v1/objects/${id}`,
      key: this.#keyOf(change.author),
      body: { expectedRevision, changes: change.values },
    });
  }

  async #transition(change: Change, move: Move, id: string, expectedRevision: number): Promise<Answer<Written>> {
    const key = this.#keyOf(change.author);
    const ids = await this.#moves.idsOf(move, id, key);
    if (ids === undefined) throw new Error(`record ${id} has no transition from ${move.from} to ${move.to}`);
    const answer = await this.#client.call<{ object: Written }>({
      name: 'transition',
      method: 'POST',
      path: `/api/v1/objects/${id}/transitions`,
      key,
      body: { ...ids, expectedRevision, values: change.values },
    });
    return { ...answer, data: answer.data?.object };
  }

  async #comment(plan: LifePlan, { author, body, slot }: CommentStep, id: string): Promise<void> {
    const answer = await this.#client.call({
      name: 'comment',
      method: 'POST',
      path: `/api/v1/objects/${id}/comments`,
      key: this.#keyOf(author),
      idempotencyKey: `jquery-tracker/comment/${plan.ticket}/${slot}`,
      body: { body, visibility: 'public' },
    });
    if (answer.data === undefined) this.#refuse(plan.ticket, 'comment', answer);
    else if (answer.replayed) this.counts.replayedAround++;
    else this.counts.comments++;
  }

  async #file(plan: LifePlan, step: FileStep, id: string): Promise<void> {
    const { filename, mediaType } = step;
    const answer = await this.#client.call({
      name: 'attach',
      method: 'POST',
      path: `/api/v1/objects/${id}/attachments`,
      key: this.#keyOf(step.author),
      idempotencyKey: `jquery-tracker/file/${plan.ticket}/${step.slot}`,
      body: { filename, mediaType, contentBase64: contentOf(plan.ticket, step).toString('base64') },
    });
    if (answer.data === undefined) this.#refuse(plan.ticket, 'attach', answer);
    else if (answer.replayed) this.counts.replayedAround++;
    else {
      this.counts.files++;
      this.counts.fileBytes += step.size;
    }
  }

  /**
   * Links each ticket to the one that it duplicates. Both must exist, so it runs after `run`.
   *
   * @param definitionId of the relation definition
   */
  async relate(rows: readonly RelationRow[], definitionId: string, workers: number, progress: Progress): Promise<void> {
    await inParallel(rows, workers, async (row) => {
      progress.add();
      const source = this.#journal.created.get(row.source_id);
      const targetObjectId = this.#journal.created.get(row.target_id);
      // A rejected ticket is reported as a refusal, and the comparison reports the missing link.
      if (source === undefined || targetObjectId === undefined) return;
      if (this.#journal.related.has(row.source_id)) {
        this.counts.replayedAround++;
        return;
      }
      const answer = await this.#client.call<{ idempotent: boolean }>({
        name: 'relate',
        method: 'POST',
        path: `/api/v1/objects/${source}/relations`,
        key: this.#keyOf(row.author),
        idempotencyKey: `jquery-tracker/duplicate/${row.source_id}/${row.target_id}`,
        body: { definitionId, targetObjectId },
      });
      if (answer.data === undefined) {
        this.#refuse(row.source_id, 'relate', answer);
        return;
      }
      if (answer.replayed) this.counts.replayedAround++;
      else if (answer.data.idempotent) this.counts.relationsThereAlready++;
      else this.counts.relations++;
      this.#journal.write({ kind: 'related', ticket: row.source_id });
    });
  }

  #refuse(ticket: string, call: string, { status, error }: Answer): undefined {
    this.refusals.push({ ticket, call, status, error });
    return undefined;
  }

  #keyOf(handle: string): string {
    const key = this.#keys.get(handle);
    if (key === undefined) throw new Error(`${handle} has no key`);
    return key;
  }
}
