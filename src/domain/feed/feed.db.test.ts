/** The changes feed: late commits, several processes, rights, scopes, cursors and epochs. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { raw } from 'sql-template-tag';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { readEvents } from '../../../test/harness/event-stream.ts';
import { watchAnswers } from '../../../test/harness/response-check.ts';
import { ACTIONS, bundle, changeRights } from '../../../test/harness/small-configuration.ts';
import { givePlaces } from '../../platform/audit/places.ts';
import type { Loop } from '../../worker/loop.ts';

const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: thing
    name: Thing
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: open, dataType: boolean }
      - { code: secret, dataType: string }
  - code: other
    name: Other
    title: title
    fields: [{ code: title, dataType: string, required: true }]
relationDefinitions:
  - { code: near, name: Near, inverseName: Near, sourceTypes: [thing], targetTypes: [thing], cardinality: many-to-many, acyclic: false, active: true }
knowledgeBases: [{ code: it, name: IT, visibility: internal, locales: [en-US], sections: [{ code: all, name: All }] }]
roles:
  - code: chief
    name: Chief
    rights: [config.manage, key.manage, role.assign, user.administer, kb.read, kb.write, kb.publish]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
  - code: reader
    name: Reader
    records:
      - { type: thing, where: { field: open, operator: equals, value: true }, actions: [read, history], fields: { read: [title, open] } }
    assignedTo: { users: [reader] }
users: [${['chief', 'reader', 'nobody'].map((login) => `{ login: ${login}, displayName: ${login} }`).join(', ')}]`;

interface Event {
  cursor: string;
  eventId: string;
  eventType: string;
  objectId?: string;
  revision?: number;
  changes: { field: string }[];
  object?: unknown;
}

let app: TestApp;
let undocumented: readonly unknown[];
const keys: Record<string, string> = {};

async function get(who: string, query = ''): Promise<any> {
  return await app.request('GET', `/api/v1/changes${query}`, { key: keys[who] as string });
}

async function page(who: string, query = ''): Promise<{ events: Event[]; next: string; caughtUp: boolean }> {
  const { status, body } = await get(who, query);
  assert.equal(status, 200, JSON.stringify(body));
  return body.data;
}

/** Everything after the cursor, in pages of that size. */
async function readAll(
  who: string,
  cursor: string | undefined,
  limit = 1000,
): Promise<{ events: Event[]; next: string }> {
  const events: Event[] = [];
  for (let next = cursor; ; ) {
    const found = await page(who, `?limit=${limit}${next === undefined ? '' : `&after=${next}`}`);
    events.push(...found.events);
    next = found.next;
    if (found.caughtUp) return { events, next };
  }
}

async function post(path: string, body: unknown, status = 201): Promise<any> {
  const answer = await app.request('POST', `/api/v1${path}`, { key: keys['chief'] as string, body });
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  return answer.body.data;
}

async function make(title: string, values: Record<string, unknown> = {}, typeDefinitionId = 'thing'): Promise<string> {
  return (await post('/objects', { typeDefinitionId, values: { title, ...values } })).id;
}

async function change(id: string, expectedRevision: number, changes: Record<string, unknown>): Promise<void> {
  const path = `/api/v1/objects/${id}`;
  const answer = await app.request('PATCH', path, {
    key: keys['chief'] as string,
    body: { expectedRevision, changes },
  });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

/** Gives places to all that is committed, and the cursor behind it. */
async function now(): Promise<string> {
  while (await givePlaces(app.db));
  return (await page('chief', '?after=now')).next;
}

async function sqlOf<Row>(text: string): Promise<Row[]> {
  return await app.db.query<Row>(raw(text));
}

const kinds = (events: readonly Event[]): string => events.map(({ eventType }) => eventType).join(' ');

describe('the changes feed', () => {
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    undocumented = watchAnswers(app);
    for (const login of ['chief', 'reader', 'nobody']) keys[login] = (await app.createKey({ login })).key;
    keys['bare'] = (await app.createKey({ login: 'chief', scopes: ['objects:read'] })).key;
  });
  after(async () => {
    await app.close();
    assert.deepEqual(undocumented, []);
  });

  it('shows every event once, in pages of any size', async () => {
    const start = await now();
    const id = await make('one', { open: true });
    for (let revision = 1; revision < 8; revision++) await change(id, revision, { title: `title ${revision}` });
    await now();
    const whole = await readAll('chief', start);
    assert.deepEqual(
      whole.events.map(({ revision }) => revision),
      [1, 2, 3, 4, 5, 6, 7, 8],
    );
    for (const limit of [1, 3]) {
      const parts = await readAll('chief', start, limit);
      assert.deepEqual(
        parts.events.map(({ eventId }) => eventId),
        whole.events.map(({ eventId }) => eventId),
      );
    }
    const from = whole.events[2]?.cursor;
    assert.deepEqual(
      (await readAll('reader', from)).events.map(({ revision }) => revision),
      [4, 5, 6, 7, 8],
    );
    assert.notEqual(from, (await page('chief', `?after=${from}`)).next);
    assert.equal(new Set([await now(), await now()]).size, 2, 'cursors of one place differ');
  });

  it('shows a change that was committed late, and delays no other', async () => {
    const start = await now();
    let eventOfLate: string | undefined;
    const held = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const late = app.db.transaction('BEGIN', async (tx) => {
      const [row] = await tx.query<{ id: string }>(
        raw(`INSERT INTO journal (id, at, type, via, hash, object_id, revision)
          SELECT gen_random_uuid(), now(), 'ObjectUpdated', 'api', '', id, revision FROM objects LIMIT 1 RETURNING id`),
      );
      eventOfLate = row?.id;
      written.resolve();
      await held.promise;
    });
    await written.promise;
    const first = await make('committed first');
    await now();
    const read = await readAll('chief', start);
    assert.deepEqual(
      read.events.map(({ objectId }) => objectId),
      [first],
    );
    held.resolve();
    await late;
    const second = await make('committed last');
    await now();
    const rest = (await readAll('chief', read.next)).events;
    assert.equal(rest.length, 2);
    assert.ok(rest.some(({ eventId }) => eventId === eventOfLate));
    assert.ok(rest.some(({ objectId }) => objectId === second));
  });

  it('gives each row one place while several processes write and give places', async () => {
    const start = await now();
    const other = await startTestApp({ on: app });
    let isDone = false;
    const giving = [app.db, other.db, app.db].map(async (db) => {
      while (!isDone) await givePlaces(db);
    });
    const writers = Array.from({ length: 6 }, async (_, index) => {
      const id = await make(`writer ${index}`);
      for (let revision = 1; revision < 10; revision++) await change(id, revision, { title: `${index} ${revision}` });
      return id;
    });
    const seen: Event[] = [];
    const reading = (async () => {
      for (let next = start; ; ) {
        const found = await readAll('chief', next, 7);
        seen.push(...found.events);
        next = found.next;
        if (isDone && found.events.length === 0) return;
      }
    })();
    const ids = await Promise.all(writers);
    isDone = true;
    await Promise.all(giving);
    await now();
    await reading;
    await other.close();
    seen.push(...(await readAll('chief', seen.at(-1)?.cursor)).events);
    for (const id of ids) {
      const revisions = seen.filter(({ objectId }) => objectId === id).map(({ revision }) => revision);
      assert.deepEqual(revisions, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
    assert.equal(new Set(seen.map(({ eventId }) => eventId)).size, seen.length);
  });

  it('shows each caller what the history would show', async () => {
    const start = await now();
    const shown = await make('shown', { open: true, secret: 'a' });
    const hidden = await make('hidden', { open: false });
    await change(shown, 1, { secret: 'b' });
    await change(shown, 2, { title: 'changed', secret: 'c' });
    await post(`/objects/${shown}/comments`, { body: 'said', visibility: 'public' });
    await post(`/objects/${shown}/comments`, { body: 'among us', visibility: 'internal' });
    const definition = (await app.request('GET', '/api/v1/relation-definitions', { key: keys['chief'] as string }))
      .body;
    const definitionId = definition.data[0].id;
    await post(`/objects/${shown}/relations`, { definitionId, targetObjectId: hidden });
    await make('third', {}, 'other');
    await now();
    const all = (await readAll('chief', start)).events;
    const CREATED_TWICE = 'ObjectCreated ObjectCreated ObjectUpdated ObjectUpdated';
    assert.equal(kinds(all), `${CREATED_TWICE} CommentAdded CommentAdded RelationAdded ObjectCreated`);
    const readers = (await readAll('reader', start)).events;
    assert.equal(kinds(readers), 'ObjectCreated ObjectUpdated CommentAdded');
    assert.deepEqual(
      readers[1]?.changes.map(({ field }) => field),
      ['title'],
    );
    const history = await app.request('GET', `/api/v1/objects/${shown}/history`, { key: keys['reader'] as string });
    assert.deepEqual(
      readers.map(({ eventId }) => eventId),
      history.body.data.map((event: { id: string }) => event.id),
    );
    assert.deepEqual((await readAll('nobody', start)).events, []);
    const [first] = (await page('reader', `?after=${start}&include=object&limit=1`)).events;
    const record = await app.request('GET', `/api/v1/objects/${shown}`, { key: keys['reader'] as string });
    assert.deepEqual(first?.object, record.body.data);
    await change(shown, 3, { open: false });
    assert.deepEqual((await readAll('reader', start)).events, []);
  });

  it('selects kinds and types, and asks for the scopes of kinds', async () => {
    const start = await now();
    const id = await make('one');
    await make('two', {}, 'other');
    await post(`/objects/${id}/comments`, { body: 'said', visibility: 'public' });
    await now();
    assert.equal(kinds((await page('bare', `?after=${start}`)).events), 'ObjectCreated ObjectCreated');
    const query = `?after=${start}&types=thing`;
    assert.equal(kinds((await page('chief', query)).events), 'ObjectCreated CommentAdded');
    assert.equal(kinds((await page('chief', `${query}&eventTypes=CommentAdded,SlaStarted`)).events), 'CommentAdded');
    const refused = await get('bare', '?eventTypes=ObjectCreated,CommentAdded');
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'SCOPE_MISSING']);
    assert.deepEqual(refused.body.error.details, { scope: 'comments:read' });
    for (const wrong of [
      'eventTypes=KeyCreated',
      'eventTypes=',
      'types=none',
      'limit=1001',
      'limit=0',
      'include=all',
    ]) {
      const { status, body } = await get('chief', `?${wrong}`);
      assert.deepEqual([status, body.error.code], [400, 'INVALID_REQUEST'], wrong);
    }
    assert.equal((await get('reader', '?types=other')).status, 400);
  });

  it('shows articles to those whom the audience includes', async () => {
    const start = await now();
    const base = { baseId: 'it', sectionId: 'all', locale: 'en-US' };
    const { versionId } = await post('/kb/articles', {
      ...base,
      code: 'one',
      title: 'One',
      body: 'Text',
      visibility: 'internal',
    });
    await sqlOf(`UPDATE kb_versions SET audience_ids = '{00000000-0000-0000-0000-000000000000}'`);
    await sqlOf(`INSERT INTO journal (id, at, type, via, hash, data) VALUES (gen_random_uuid(), now(), 'ArticlePublished', 'api', '',
      '{"articleId":"${versionId}","versionId":"${versionId}","code":"one","locale":"en-US","title":"One"}')`);
    await now();
    assert.equal(kinds((await readAll('chief', start)).events), '', 'a draft');
    await sqlOf(`UPDATE kb_versions SET state = 'ACTIVE', draft_locale = NULL, active_locale = locale`);
    const [event] = (await readAll('chief', start)).events;
    assert.equal(event?.eventType, 'ArticlePublished');
    assert.equal(event?.objectId, undefined);
    assert.deepEqual((await page('chief', `?after=${start}&types=thing`)).events, []);
    assert.deepEqual((await readAll('reader', start)).events, []);
    assert.equal(kinds((await page('bare', `?after=${start}`)).events), '');
  });

  it('refuses what is no cursor', async () => {
    const cursor = await now();
    const changed = `${cursor.slice(0, 20)}${cursor[20] === 'A' ? 'B' : 'A'}${cursor.slice(21)}`;
    for (const wrong of ['x', changed, cursor.slice(1), `${cursor}A`, '%20']) {
      const { status, body } = await get('chief', `?after=${wrong}`);
      assert.deepEqual([status, body.error.code], [400, 'INVALID_CURSOR'], wrong);
    }
  });

  it('names the last common event after commits were lost', async () => {
    const start = await now();
    await make('kept');
    const kept = await now();
    const [state] = await sqlOf<{ place: number; last: number }>(
      `SELECT place, (SELECT max(seq) FROM journal) AS last FROM journal_placing`,
    );
    await make('lost');
    const lost = await now();
    const keptEvent = (await page('chief', `?after=${start}`)).events[0];
    // What a restored backup looks like: the rows are not there, and the tables are in other storage.
    await sqlOf(`DELETE FROM journal WHERE seq > ${state?.last}`);
    await sqlOf(`DELETE FROM journal_places WHERE place > ${state?.place}`);
    await sqlOf(`UPDATE journal_placing SET place = ${state?.place}, storage = 'elsewhere'`);
    const before = await get('chief', `?after=${lost}`);
    await make('after the restore');
    await make('and another');
    await now();
    for (const refused of [before, await get('chief', `?after=${lost}`)]) {
      assert.deepEqual([refused.status, refused.body.error.code], [409, 'CURSOR_REWOUND']);
      const { resume, lostAfter, lastEventId } = refused.body.error.details;
      assert.equal(lastEventId, keptEvent?.eventId);
      assert.equal(typeof lostAfter, 'string');
      assert.equal(kinds((await readAll('chief', resume)).events), 'ObjectCreated ObjectCreated');
    }
    assert.equal((await readAll('chief', kept)).events.length, 2, 'a cursor before the loss goes on');
    const ofReader = await get('nobody', `?after=${lost}`);
    assert.deepEqual([ofReader.body.error.details.lostAfter, ofReader.body.error.details.lastEventId], [null, null]);
  });

  it('finds the last common place of a cursor from an epoch that was lost', async () => {
    const kept = await now();
    await sqlOf(`UPDATE journal_placing SET run = 'another'`);
    await make('in the epoch that is lost');
    const lost = await now();
    await sqlOf(`DELETE FROM journal_epochs WHERE number = (SELECT max(number) FROM journal_epochs)`);
    await sqlOf(`WITH last AS (DELETE FROM journal_places WHERE place = (SELECT max(place) FROM journal_places) RETURNING *),
      gone AS (DELETE FROM journal j USING last l WHERE j.seq = l.seq) UPDATE journal_placing SET place = place - 1, run = 'third'`);
    await make('in its place');
    await now();
    const refused = await get('chief', `?after=${lost}`);
    assert.equal(refused.body.error.code, 'CURSOR_REWOUND');
    const resumed = (await readAll('chief', refused.body.error.details.resume)).events;
    assert.deepEqual(
      resumed.map(({ eventId }) => eventId),
      (await readAll('chief', kept)).events.map(({ eventId }) => eventId),
    );
    assert.equal(resumed.length, 1);
  });

  describe('to readers that wait', () => {
    let other: TestApp;
    let worker: Loop;

    /** Opens a stream, on the process without a background worker. */
    const follow = async (
      key: string | undefined,
      query: string,
      headers: Record<string, string> = {},
    ): Promise<Response> =>
      await fetch(`${other.url}/api/v1/changes${query}`, {
        headers: { Authorization: `Bearer ${key}`, Accept: 'text/event-stream', ...headers },
      });
    const poll = async (who: string, query: string): Promise<{ events: Event[]; next: string; ms: number }> => {
      const began = performance.now();
      const { status, body } = await other.request('GET', `/api/v1/changes${query}`, { key: keys[who] as string });
      assert.equal(status, 200, JSON.stringify(body));
      return { ...body.data, ms: performance.now() - began };
    };

    before(async () => {
      other = await startTestApp({ on: app });
      await now();
      worker = app.app.startWorker();
    });
    after(async () => {
      await worker.stop();
      await other.close();
    });

    it('answers at the first event that the caller may see', async () => {
      const waiting = poll('reader', '?after=now&wait=20');
      await sleep(300);
      for (let count = 0; count < 5; count++) await make('hidden', { open: false });
      await sleep(300);
      const began = performance.now();
      const id = await make('shown', { open: true });
      const { events } = await waiting;
      assert.deepEqual(
        events.map(({ objectId }) => objectId),
        [id],
      );
      assert.ok(performance.now() - began < 5000);
    });

    it('waits as long for hidden events as for none', async () => {
      const waiting = poll('reader', '?after=now&wait=2');
      for (let count = 0; count < 5; count++) await make('hidden', { open: false });
      const { events, next, ms } = await waiting;
      assert.deepEqual(events, []);
      assert.ok(ms >= 1990, `${ms} ms`);
      const id = await make('after the wait', { open: true });
      const found = await poll('reader', `?after=${next}&wait=20`);
      assert.deepEqual(
        found.events.map(({ objectId }) => objectId),
        [id],
      );
    });

    it('sends no statement for those that wait', async () => {
      const waiting = Array.from({ length: 60 }, () => poll('chief', '?after=now&wait=3'));
      await sleep(1500);
      let statements = 0;
      const { query } = other.db;
      other.db.query = async (statement, options) => {
        if (statement.text.includes('journal_pla')) statements++;
        return (await query.call(other.db, statement, options)) as never;
      };
      await sleep(1000);
      other.db.query = query;
      assert.equal(statements, 0);
      assert.ok((await Promise.all(waiting)).every(({ events }) => events.length === 0));
    });

    it('streams events and goes on after the last one', async () => {
      const stream = readEvents(await follow(keys['reader'], '?after=now'));
      await sleep(200);
      const first = await make('streamed', { open: true });
      await make('hidden', { open: false });
      const event = await stream.next(20_000);
      assert.equal(event?.event, 'ObjectCreated');
      const data = JSON.parse(event.data);
      assert.deepEqual([data.objectId, data.cursor], [first, event.id]);
      stream.close();
      await change(first, 1, { title: 'changed' });
      await make('another', { open: true });
      const again = readEvents(await follow(keys['reader'], '?after=now', { 'Last-Event-ID': event.id as string }));
      assert.equal((await again.next(20_000))?.event, 'ObjectUpdated');
      assert.equal((await again.next(20_000))?.event, 'ObjectCreated');
      again.close();
      const refused = await follow(keys['reader'], '', { 'Last-Event-ID': 'x' });
      assert.deepEqual([refused.status, ((await refused.json()) as any).error.code], [400, 'INVALID_CURSOR']);
    });

    it('ends a stream when its key is revoked, and narrows it when a right is withdrawn', async () => {
      const key = await app.createKey({ login: 'reader' });
      const ending = readEvents(await follow(key.key, '?after=now'));
      const kept = readEvents(await follow(keys['reader'], '?after=now'));
      const began = performance.now();
      await changeRights(app, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [key.id]);
      await make('hidden', { open: false });
      await Promise.race([ending.ended, sleep(10_000)]);
      assert.ok(performance.now() - began < 5000, 'the stream of the revoked key ended');
      const id = await make('seen', { open: true });
      assert.equal(JSON.parse((await kept.next(20_000))?.data ?? '{}').objectId, id);
      await app.apply([{ name: 'roles.yaml', text: 'roles: [{ code: reader, name: Reader, records: [] }]' }]);
      // Other processes know of changed rights within a second.
      await sleep(1000);
      await make('not seen', { open: true });
      assert.equal(await kept.next(1500), undefined);
      kept.close();
    });
  });
});
