/**
 * Clients that do every kind of write during a fault and record the responses. Each client alone changes its records, so it
 * knows the expected content; a request without a response may or may not have taken effect.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExpectedRecord, Known, WorkloadJournal } from './fault-journal.ts';
import type { FaultIds } from './fault-configuration.ts';
import { attempt, type LoadAnswer } from './fault-client.ts';

export interface WorkloadOptions {
  urls: readonly string[];
  key: string;
  ids: FaultIds;
  /** Distinguishes this client's keys and texts. */
  name: string;
  random: () => number;
  journal: WorkloadJournal;
  running: () => boolean;
  /** Aborted when the service is given up; pending requests then have no response. */
  patient: () => boolean;
  /** Error responses allowed by the current fault, in addition to those that every fault allows. */
  excused?: readonly string[];
  /** Milliseconds: time limit of one attempt. */
  tryMs?: number;
  /** Milliseconds between two writes of one client. */
  pauseMs?: number;
  /** Receives the duration of each acknowledged write. */
  onAnswer?: (ms: number) => void;
}

const PASSING = ['DATABASE_UNAVAILABLE', 'OVERLOADED', 'IDEMPOTENCY_IN_PROGRESS'];
const MAX_OWN = 40;

type Body = Record<string, unknown>;

class MixClient {
  readonly #options: WorkloadOptions;
  readonly #own: Known[] = [];
  readonly #rows: string[] = [];
  readonly #excused: ReadonlySet<string>;
  #turn = 0;

  constructor(options: WorkloadOptions) {
    this.#options = options;
    this.#excused = new Set([...PASSING, ...(options.excused ?? [])]);
  }

  async run(): Promise<void> {
    const writes: [number, () => Promise<void>][] = [
      [20, () => this.#create()],
      [6, () => this.#inboundCreate()],
      [6, () => this.#request()],
      [20, () => this.#patch()],
      [8, () => this.#inboundUpdate()],
      [10, () => this.#transition()],
      [8, () => this.#bulk()],
      [3, () => this.#archive()],
      [7, () => this.#comment()],
      [5, () => this.#attach()],
      [5, () => this.#relate()],
      [4, () => this.#import()],
    ];
    const total = writes.reduce((sum, [weight]) => sum + weight, 0);
    await this.#create();
    while (this.#options.running()) {
      this.#turn++;
      let at = this.#options.random() * total;
      const [, write] = writes.find(([weight]) => {
        at -= weight;
        return at < 0;
      }) ?? [0, () => this.#create()];
      await write();
      if (this.#options.pauseMs !== undefined) await sleep(this.#options.pauseMs * (0.5 + this.#options.random()));
    }
  }

  #tag(): string {
    return `${this.#options.name}-${this.#turn}`;
  }

  #pick(): Known | undefined {
    const ready = this.#own.filter((record) => !record.archived);
    return ready[Math.floor(this.#options.random() * ready.length)];
  }

  async #send(
    what: string,
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<LoadAnswer | undefined> {
    const { urls, journal, random } = this.#options;
    const url = urls[Math.floor(random() * urls.length)] as string;
    const began = performance.now();
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    const answer = await attempt(url, this.#options.key, method, `/api/v1${path}`, body, headers, this.#options.tryMs);
    const ms = performance.now() - began;
    if (answer === undefined) journal.unanswered++;
    else if (answer.status < 300) {
      if (method !== 'GET') {
        journal.acknowledged.set(what, (journal.acknowledged.get(what) ?? 0) + 1);
        this.#options.onAnswer?.(ms);
      }
    } else this.#refused(what, answer, ms);
    return answer;
  }

  #refused(what: string, answer: LoadAnswer, ms: number): void {
    const { journal } = this.#options;
    const code = answer.body.error?.code ?? '';
    journal.refused++;
    journal.codes.set(code, (journal.codes.get(code) ?? 0) + 1);
    journal.slowest = Math.max(journal.slowest, ms);
    if (code === 'REVISION_CONFLICT' || code === 'STATE_CONFLICT' || code === 'ARCHIVED') return;
    if (!this.#excused.has(code)) this.#surprise(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
    else if (answer.headers.get('retry-after') === null) this.#surprise(`${what}: ${code} without Retry-After`);
  }

  #surprise(text: string): void {
    this.#options.journal.surprises.push(`${this.#options.name} ${text}`);
  }

  async #wait(): Promise<void> {
    await sleep(20 + this.#options.random() * 60);
  }

  /** Retries until success; every successful response must be the same. */
  async #certainly(what: string, path: string, body: unknown, key?: string): Promise<Body | undefined> {
    while (this.#options.patient()) {
      const answer = await this.#send(what, 'POST', path, body, key);
      if (answer !== undefined && answer.status < 300) return answer.body.data;
      if (answer !== undefined && !this.#excused.has(answer.body.error?.code ?? '')) {
        this.#surprise(`${what} ${path}: ${answer.body.error?.code}`);
        return undefined;
      }
      await this.#wait();
    }
    this.#surprise(`${what} was never answered`);
    return undefined;
  }

  #made(id: unknown, tag: string, title: string, revision = 1): void {
    const record: Known = {
      id: String(id),
      tag,
      title,
      revision,
      note: null,
      archived: false,
      taken: false,
      perhaps: undefined,
    };
    this.#options.journal.records.push(record);
    this.#own.push(record);
    if (this.#own.length > MAX_OWN) this.#own.shift();
  }

  async #create(): Promise<void> {
    const tag = this.#tag();
    const data = await this.#certainly(
      'create',
      '/objects',
      { typeDefinitionId: 'thing', values: { title: tag, tag } },
      tag,
    );
    if (data !== undefined) this.#made(data['id'], tag, tag);
  }

  async #inboundCreate(): Promise<void> {
    const tag = this.#tag();
    const data = await this.#certainly('inbound', `/inbound/${this.#options.ids.make}`, { name: tag, tag }, tag);
    if (data !== undefined) this.#made(data['id'], tag, tag);
  }

  async #request(): Promise<void> {
    const tag = this.#tag();
    const { ids } = this.#options;
    const body = { requesterId: ids.alice, values: { title: tag, tag } };
    const data = await this.#certainly('catalogue', `/catalog/items/${ids.item}/requests`, body, tag);
    if (data !== undefined) this.#made(data['id'], tag, tag);
  }

  async #patch(): Promise<void> {
    const record = this.#pick();
    if (record === undefined) return;
    const title = `${record.tag} ${this.#turn}`;
    await this.#change('update', record, { title }, () =>
      this.#send('update', 'PATCH', `/objects/${record.id}`, {
        expectedRevision: record.revision,
        changes: { title },
      }),
    );
  }

  async #inboundUpdate(): Promise<void> {
    const record = this.#pick();
    if (record === undefined) return;
    const note = `inbound ${this.#turn}`;
    await this.#change('inbound update', record, { note }, () =>
      this.#send('inbound update', 'POST', `/inbound/${this.#options.ids.alter}`, {
        id: record.id,
        at: record.revision,
        note,
      }),
    );
  }

  async #archive(): Promise<void> {
    const record = this.#pick();
    if (record === undefined) return;
    await this.#change('archive', record, { archived: true }, () =>
      this.#send('archive', 'DELETE', `/objects/${record.id}`, { expectedRevision: record.revision }),
    );
  }

  async #transition(): Promise<void> {
    const record = this.#pick();
    if (record === undefined) return;
    const read = await this.#send('workflow', 'GET', `/objects/${record.id}/workflow`);
    const state = read?.body.data?.['state'] as { id: string } | undefined;
    if (state === undefined) return;
    const { take, drop } = this.#options.ids;
    await this.#change('transition', record, { taken: !record.taken }, () =>
      this.#send('transition', 'POST', `/objects/${record.id}/transitions`, {
        transitionId: record.taken ? drop : take,
        expectedRevision: record.revision,
        expectedStateId: state.id,
      }),
    );
  }

  /** One change of an own record and the resulting knowledge about it. */
  async #change(
    what: string,
    record: Known,
    change: Partial<ExpectedRecord>,
    send: () => Promise<LoadAnswer | undefined>,
  ): Promise<void> {
    const answer = await send();
    if (answer !== undefined && answer.status < 300) {
      if (record.perhaps?.revision === record.revision + 1) record.perhaps = undefined;
      Object.assign(record, change, { revision: record.revision + 1 });
      return;
    }
    const after = { ...holding(record), ...change, revision: record.revision + 1 };
    await this.#settle(what, record, answer === undefined || answer.status >= 500 ? after : undefined);
  }

  async #bulk(): Promise<void> {
    const chosen = new Set<Known>();
    for (let turn = 0; turn < 4; turn++) {
      const record = this.#pick();
      if (record !== undefined) chosen.add(record);
    }
    if (chosen.size === 0) return;
    const records = [...chosen];
    const note = `bulk ${this.#turn}`;
    const items = records.map(({ id, revision }) => ({ objectId: id, expectedRevision: revision, changes: { note } }));
    const answer = await this.#send('bulk', 'POST', '/bulk', { operation: 'update', items });
    const results = answer?.body.data as unknown as { status: string; error?: { code: string } }[] | undefined;
    for (const [turn, record] of records.entries()) {
      const result = answer !== undefined && answer.status < 300 ? results?.[turn] : undefined;
      if (result?.status === 'SUCCEEDED') {
        if (record.perhaps?.revision === record.revision + 1) record.perhaps = undefined;
        record.note = note;
        record.revision++;
        continue;
      }
      const code = result?.error?.code ?? '';
      const excused = result === undefined || this.#excused.has(code) || code === 'REVISION_CONFLICT';
      if (!excused && code !== 'ARCHIVED') this.#surprise(`bulk: ${JSON.stringify(result)}`);
      const sure = code === 'REVISION_CONFLICT' || code === 'ARCHIVED';
      const after = sure ? undefined : { ...holding(record), note, revision: record.revision + 1 };
      await this.#settle('bulk', record, after);
    }
  }

  /** After an unacknowledged change: the current state, and what may still take effect. */
  async #settle(what: string, record: Known, after: ExpectedRecord | undefined): Promise<void> {
    while (this.#options.patient()) {
      const found = await this.#send(`read after ${what}`, 'GET', `/objects/${record.id}`);
      if (found?.status !== 200) {
        await this.#wait();
        continue;
      }
      const revision = Number(found.body.data?.['revision']);
      const options = [holding(record), record.perhaps, after];
      const now = options.find((option) => option?.revision === revision);
      const values = found.body.data?.['values'] as Body | undefined;
      const title = values?.['title'] ?? found.body.data?.['title'];
      // Two unacknowledged changes of one revision: at most one took effect; the title or the note shows which.
      const fits = options.find(
        (option) =>
          option?.revision === revision && option.title === title && option.note === (values?.['note'] ?? null),
      );
      if (now === undefined || fits === undefined) {
        const said = JSON.stringify({ revision, title, note: values?.['note'] });
        this.#surprise(`after ${what} of ${record.tag}: ${said} is none of ${JSON.stringify(options)}`);
        record.perhaps = undefined;
        return;
      }
      Object.assign(record, fits);
      record.perhaps = after !== undefined && revision < after.revision ? after : undefined;
      if (after === undefined && revision === options[0]?.revision && what !== 'transition' && fits === options[0])
        this.#surprise(`${what} of ${record.tag} was refused though nothing had changed`);
      return;
    }
    record.perhaps = after ?? record.perhaps;
  }

  async #comment(): Promise<void> {
    const record = this.#pick();
    if (record === undefined) return;
    const key = this.#tag();
    const data = await this.#certainly(
      'comment',
      `/objects/${record.id}/comments`,
      { body: key, visibility: 'public' },
      key,
    );
    if (data !== undefined) this.#options.journal.comments.push({ key, id: String(data['id']), objectId: record.id });
  }

  async #attach(): Promise<void> {
    const record = this.#pick();
    if (record === undefined) return;
    const key = this.#tag();
    const bytes = Buffer.from(`${key} `.repeat(1 + Math.floor(this.#options.random() * 200)));
    const body = { filename: `${key}.txt`, contentBase64: bytes.toString('base64'), mediaType: 'text/plain' };
    const data = await this.#certainly('attach', `/objects/${record.id}/attachments`, body, key);
    if (data === undefined) return;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const id = String(data['id']);
    this.#options.journal.attachments.push({ key, id, objectId: record.id, sha256, size: bytes.length });
  }

  async #relate(): Promise<void> {
    const [source, target] = [this.#pick(), this.#pick()];
    if (source === undefined || target === undefined || source === target) return;
    const body = { definitionId: this.#options.ids.about, targetObjectId: target.id };
    const data = await this.#certainly('relate', `/objects/${source.id}/relations`, body, this.#tag());
    const relation = data?.['relation'] as { id: string } | undefined;
    const known = this.#options.journal.relations.some(({ id }) => id === relation?.id);
    if (relation !== undefined && !known)
      this.#options.journal.relations.push({ id: relation.id, sourceId: source.id, targetId: target.id });
  }

  async #import(): Promise<void> {
    const again = this.#rows.length > 0 && this.#options.random() < 0.5;
    const tags = again ? this.#rows.slice(-5) : Array.from({ length: 5 }, (_, turn) => `${this.#tag()}-r${turn}`);
    const note = `import ${this.#turn}`;
    const content = JSON.stringify(tags.map((ext) => ({ ext, name: ext, note })));
    while (this.#options.patient()) {
      const data = await this.#certainly('import', '/imports/run', {
        definitionId: this.#options.ids.rows,
        content,
        dryRun: false,
      });
      if (data === undefined) return;
      const rows = data['rows'] as { status: string; errors: { code: string }[] }[];
      const failed = rows.filter(({ status }) => status === 'FAILED');
      const bad = failed.find(({ errors }) => !errors.every(({ code }) => this.#excused.has(code)));
      if (bad !== undefined) this.#surprise(`import: ${JSON.stringify(bad)}`);
      if (failed.length === 0) break;
    }
    for (const tag of tags) this.#options.journal.imported.set(tag, note);
    if (!again) this.#rows.push(...tags);
  }
}

function holding({ revision, title, note, archived, taken }: Known): ExpectedRecord {
  return { revision, title, note, archived, taken };
}

/** Writes of every kind until the end; then waits for pending requests. */
export async function runWorkloadClient(options: WorkloadOptions): Promise<void> {
  await new MixClient(options).run();
}
