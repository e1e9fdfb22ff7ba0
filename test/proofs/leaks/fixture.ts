/**
 * One of two services that must be indistinguishable for `low`: created by the same steps at the same times, except for hidden
 * data.
 */
import assert from 'node:assert/strict';
import type { Clock } from '../../../src/platform/clock.ts';
import { NOTIFYING } from '../../../src/domain/notifications/rules.ts';
import { startTestApp, type TestAnswer, type TestApp } from '../../support/app.ts';
import { RandomSource } from '../fuzz/random-source.ts';
import { notifyAll, testAuthenticator } from '../../support/notify-all.ts';
import { ACTIONS, bundle, RIGHTS, stored, user } from '../../support/small-configuration.ts';

/** What exists on one side only, or with other values. */
export interface Hidden {
  /** Deals the values that `low` may not read. */
  seed: number;
  /** Whether there are records, comments, files, relations, types, services, articles and groups that `low` may not see. */
  extras: boolean;
}

const ABSENT = 'ffffffff-0000-7000-8000-00000000dead';

function recordId(index: number): string {
  return `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`;
}

const FIELDS = `
      - { code: title, dataType: string, required: true, search: { text: true, filter: true } }
      - { code: kind, dataType: enum, default: open, constraints: { options: [{ code: open }, { code: shut }] }, search: { filter: true, facet: true } }
      - { code: region, dataType: enum, default: north, constraints: { options: [{ code: north }, { code: south }] }, search: { filter: true, facet: true } }
      - { code: score, dataType: integer, search: { filter: true } }
      - { code: tags, dataType: string, multiple: true, search: { text: true, filter: true, facet: true } }
      - { code: near, dataType: reference, constraints: { types: [ticket] } }
      - { code: secret, dataType: string, search: { text: true, filter: true, facet: true } }
      - { code: hush, dataType: string, search: { text: true, filter: true, facet: true } }`;

function text(extras: boolean): string {
  const vault = extras
    ? `  - { code: vault, name: Vault, title: name, fields: [{ code: name, dataType: string, required: true }] }\n`
    : '';
  const closed = extras ? `  - { code: closed, name: Closed service, audience: { users: [chief] } }\n` : '';
  const item = extras
    ? `      - { code: closed-item, name: Closed item, category: private, type: ticket, form: [{ code: title }], audience: { users: [chief] } }\n`
    : '';
  return `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: ticket
    name: Ticket
    title: title
    workflow: flow
    fields:${FIELDS}
${vault}workflows:
  - code: flow
    initial: new
    states: [{ code: new, category: open }, { code: done, category: done }]
    transitions: [{ code: end, from: [new], to: done }]
calendars: [{ code: always, timezone: UTC, week: { mon: ['00:00-24:00'], tue: ['00:00-24:00'] } }]
slaPolicies:
  - { code: soon, type: ticket, calendar: always, targets: [{ duration: PT1H }], start: { field: workflowState, operator: equals, value: new }, stop: { field: workflowState, operator: equals, value: done } }
relationDefinitions:
  - { code: near, name: Near, inverseName: Near too, sourceTypes: [ticket], targetTypes: [ticket], cardinality: many-to-many, acyclic: false, active: true }
services:
  - { code: open, name: Open service, audience: { everyone: true } }
${closed}catalogs:
  - code: shop
    categories: [{ code: all }, { code: private }]
    items:
      - { code: open-item, category: all, type: ticket, form: [{ code: title }, { code: secret }], audience: { everyone: true } }
${item}knowledgeBases:
  - { code: kb, name: KB, visibility: internal, locales: [en-US], sections: [{ code: first }] }
${extras ? 'groups: [{ code: conspirators, name: Conspirators, users: [chief] }]\n' : ''}roles:
  - code: everything
    rights: [${RIGHTS}]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
  - code: low
    rights: [kb.read, export.execute, import.execute, import.manage, catalog.impersonate, sla.control]
    records:
      - type: ticket
        where: { field: region, operator: equals, value: north }
        actions: [${ACTIONS.replace('Private Comment, ', '')}]
        fields: { read: [title, kind, region, score, tags, near], write: [title, score, near, hush] }
        transitions: '*'
      - type: ticket
        where: { logic: AND, conditions: [{ field: region, operator: equals, value: north }, { field: kind, operator: equals, value: open }] }
        actions: [read]
        fields: { read: [secret], write: [] }
    assignedTo: { users: [low] }
users:
${['chief', 'low'].map(user).join('')}`;
}

/** In every value that `low` may not read, and in nothing else. */
export const HIDDEN_MARKER = 'canary';

export const SHOWN = ['printer', 'принтер', 'network', 'broken', 'ёлка', '0042', 'jquery.ui'] as const;
export const CONCEALED = ['salary', 'зарплата', 'layoff', 'printer', 'secretive', 'zzz', '0042'] as const;

export class LeakFixture {
  readonly app: TestApp;
  readonly keys: Record<'chief' | 'low', string>;
  readonly lowAdmin: string;
  /** A common name on both sides → its id here. Something absent has no id. */
  readonly ids = new Map<string, string>();
  readonly #names = new Map<string, string>();
  /** Ids of the records that `low` may read; equal on both sides. */
  readonly readable: string[] = [];
  readonly #unreadable: string[] = [];

  private constructor(app: TestApp, keys: Record<'chief' | 'low', string>, lowAdmin: string) {
    this.app = app;
    this.keys = keys;
    this.lowAdmin = lowAdmin;
  }

  static async make(records: number, seed: number, hidden: Hidden): Promise<LeakFixture> {
    let now = Date.parse('2026-11-23T09:00:00.000Z');
    const clock: Clock = { now: () => now };
    const app = await startTestApp({ clock, bundle: bundle(text(hidden.extras)) });
    const keys = {
      chief: (await app.createKey({ login: 'chief' })).key,
      low: (await app.createKey({ login: 'low' })).key,
    };
    const fixture = new LeakFixture(app, keys, (await app.createKey({ login: 'low', scopes: ['admin:manage'] })).key);
    const random = new RandomSource(seed);
    const other = new RandomSource(hidden.seed);
    for (let index = 0; index < records; index++) {
      now += 1000;
      await fixture.#record(index, random, other, hidden.extras);
    }
    await fixture.#articles(hidden.extras);
    await fixture.#configured();
    await fixture.#notifications();
    now += 600_000;
    return fixture;
  }

  async #record(index: number, random: RandomSource, other: RandomSource, extras: boolean): Promise<void> {
    const words = (of: readonly string[], from: RandomSource): string =>
      Array.from({ length: 1 + from.below(4) }, () => from.pick(of)).join(' ');
    const region = random.once(3) ? 'south' : 'north';
    const kind = random.pick(['open', 'shut']);
    const readable = region === 'north';
    const conceal = (): string => `${words(CONCEALED, other)} ${HIDDEN_MARKER}`;
    const [shown, concealed] = [words(SHOWN, random), conceal()];
    const [score, hiddenScore] = [random.below(10), other.below(10)];
    const [secret, hush] = [words(SHOWN, random), conceal()];
    const hidden = conceal();
    const values = {
      kind,
      region,
      title: readable ? shown : concealed,
      score: readable ? score : hiddenScore,
      tags: [readable ? shown : concealed],
      secret: readable && kind === 'open' ? secret : hidden,
      hush,
    };
    const id = recordId(index);
    const roll = [random.below(3), random.below(4), random.below(4), random.below(5)];
    const target = this.readable.length === 0 ? undefined : random.pick(this.readable);
    // Hidden things do not exist on the side without extras; everything later is generated equally.
    if (!readable && !extras) return;
    await this.ok('POST', '/objects', { typeDefinitionId: 'ticket', objectId: id, values });
    if (readable) this.readable.push(id);
    else this.#unreadable.push(id);
    const [instance] = await this.ok('GET', `/objects/${id}/sla`);
    if (instance !== undefined) this.#name(`sla ${index}`, instance.id);
    if (roll[0] === 0) await this.#comment(index, id, shown, 'public');
    if (extras) await this.#comment(index, id, hidden, 'internal');
    if (roll[1] === 0) {
      const contentBase64 = Buffer.from(readable ? shown : concealed).toString('base64');
      const made = await this.ok('POST', `/objects/${id}/attachments`, { filename: 'a.txt', contentBase64 });
      this.#name(`file ${index}`, made.id);
    }
    if (roll[2] === 0) {
      const changes = { hush: `${hush} ${index}` };
      // A hidden field alone: both sides show the revision, neither shows the changed value.
      await this.ok('PATCH', `/objects/${id}`, { expectedRevision: 1, changes });
    }
    if (target !== undefined) await this.#relation(`relation ${index}`, id, target);
    const [unseen] = this.#unreadable;
    if (readable && unseen !== undefined && index % 3 === 0)
      await this.#relation(`unseen relation ${index}`, id, unseen);
  }

  async #relation(name: string, id: string, targetObjectId: string): Promise<void> {
    const [definition] = await this.ok('GET', '/relation-definitions');
    const made = await this.ok('POST', `/objects/${id}/relations`, { definitionId: definition.id, targetObjectId });
    this.#name(name, made.relation.id);
  }

  async #comment(index: number, id: string, body: string, visibility: string): Promise<void> {
    const made = await this.ok('POST', `/objects/${id}/comments`, { body, visibility });
    this.#name(`${visibility} comment ${index}`, made.id);
  }

  async #articles(extras: boolean): Promise<void> {
    const [low] = await stored<{ id: string }>(this.app, `SELECT id FROM users WHERE login = 'low'`);
    const [chief] = await stored<{ id: string }>(this.app, `SELECT id FROM users WHERE login = 'chief'`);
    for (const [code, reader] of [['shown', low], ...(extras ? [['concealed', chief] as const] : [])] as const) {
      const body = {
        baseId: 'kb',
        sectionId: 'first',
        code,
        title: `Article ${code} salary`,
        locale: 'en-US',
        body: `printer ${code}`,
        visibility: 'internal',
      };
      const made = await this.ok('POST', '/kb/articles', body);
      await stored(
        this.app,
        `UPDATE kb_versions SET audience_ids = ARRAY[$2::uuid], audiences = '[{"kind":"everyone"}]' WHERE id = $1`,
        [made.versionId, reader?.id],
      );
      await this.ok('POST', '/kb/articles/publish', { versionId: made.versionId });
      this.#name(`article ${code}`, made.id);
      this.#name(`version ${code}`, made.versionId);
    }
  }

  async #configured(): Promise<void> {
    for (const { section, code, id } of await stored<{ section: string; code: string; id: string }>(
      this.app,
      'SELECT section, code, id FROM config_items',
    )) {
      this.#name(`${section} ${code}`, id);
    }
    for (const { code, id } of await stored<{ code: string; id: string }>(this.app, 'SELECT code, id FROM config_ids'))
      this.#name(`inner ${code}`, id);
    for (const { login, id } of await stored<{ login: string; id: string }>(this.app, 'SELECT login, id FROM users'))
      this.#name(`user ${login}`, id);
  }

  /** `low` watches everything. Each event has a notification, as if `low` had lost rights after it was made. */
  async #notifications(): Promise<void> {
    const low = this.ids.get('user low');
    await stored(this.app, `INSERT INTO notification_watchers SELECT id, $1, now() FROM objects`, [low]);
    await notifyAll(this.app, testAuthenticator(this.app));
    await stored(
      this.app,
      `INSERT INTO notifications (id, user_id, event_id, event_type, place, kind, object_id, comment_id, fields, in_console, at)
        SELECT gen_random_uuid(), $1, j.id, j.type, p.place, 'watch', j.object_id, (j.data ->> 'commentId')::uuid,
          CASE WHEN j.type = 'ObjectUpdated' THEN ARRAY(SELECT jsonb_object_keys(j.changes)) END, true, j.at
        FROM journal j JOIN journal_places p ON p.seq = j.seq
        WHERE j.object_id IS NOT NULL AND j.type = ANY($2) ON CONFLICT DO NOTHING`,
      [low, NOTIFYING],
    );
  }

  #name(name: string, id: string): void {
    this.ids.set(name, id);
    this.#names.set(id, name);
  }

  /** As chief; must succeed. */
  async ok(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await this.app.request(method, `/api/v1${path}`, {
      key: this.keys.chief,
      ...(body === undefined ? {} : { body }),
    });
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  }

  /** Replaces names in braces by ids, or by an unknown id if absent here. Records have the same ids on both sides. */
  filled(text: string): string {
    return text.replaceAll(/\{\{(?:record (\d+)|([^}]+))\}\}/g, (_, record: string | undefined, name: string) =>
      record === undefined ? (this.ids.get(name) ?? ABSENT) : recordId(Number(record)),
    );
  }

  /** The response with ids replaced by names, so that both sides are comparable. */
  comparable(answer: TestAnswer): string {
    const { correlationId: _, ...meta } = answer.body?.meta ?? {};
    const body =
      typeof answer.body === 'object' && answer.body !== null && !Array.isArray(answer.body)
        ? { ...answer.body, meta }
        : answer.body;
    const headers = [...answer.headers].filter(([name]) => !['date', 'x-correlation-id'].includes(name));
    const order = new Map<string, string>();
    const named = (id: string): string => {
      const known = id.startsWith('00000000-0000-7000-') ? `record ${Number(id.slice(-12))}` : this.#names.get(id);
      if (known !== undefined) return known;
      if (!order.has(id)) order.set(id, `thing ${order.size}`);
      return order.get(id) as string;
    };
    const said = `${answer.status} ${JSON.stringify(headers)} ${typeof body === 'string' ? body : JSON.stringify(body)}`;
    return said.replaceAll(ABSENT, 'absent').replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, named);
  }
}
