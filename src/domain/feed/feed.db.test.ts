/** The changes feed: late commits, several processes, rights, scopes, cursors and epochs. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { raw } from 'sql-template-tag';
import { startTestApp } from '../../../test/support/app.ts';
import { type FeedEvent, type FeedFixture, startFeedFixture } from '../../../test/support/feed-fixture.ts';
import { givePlaces } from '../../platform/journal/places.ts';
import { duringTransaction } from '../../../test/support/database.ts';

let feed: FeedFixture;

const kinds = (events: readonly FeedEvent[]): string => events.map(({ eventType }) => eventType).join(' ');
const revisions = (events: readonly FeedEvent[]): unknown[] => events.map(({ revision }) => revision);
const objects = (events: readonly FeedEvent[]): unknown[] => events.map(({ objectId }) => objectId);
const eventIds = (events: readonly FeedEvent[]): string[] => events.map(({ eventId }) => eventId);

describe('the changes feed', () => {
  before(async () => {
    feed = await startFeedFixture();
  });
  after(() => feed.close());

  it('shows every event once, in pages of any size', async () => {
    const start = await feed.now();
    const id = await feed.make('one', { open: true });
    for (let revision = 1; revision < 8; revision++) await feed.change(id, revision, { title: `title ${revision}` });
    await feed.now();
    const whole = await feed.readAll('chief', start);
    assert.deepEqual(revisions(whole.events), [1, 2, 3, 4, 5, 6, 7, 8]);
    for (const limit of [1, 3]) {
      const parts = await feed.readAll('chief', start, limit);
      assert.deepEqual(eventIds(parts.events), eventIds(whole.events));
    }
    const from = whole.events[2]?.cursor;
    assert.deepEqual(revisions((await feed.readAll('reader', from)).events), [4, 5, 6, 7, 8]);
    assert.notEqual(from, (await feed.page('chief', `?after=${from}`)).next);
    assert.equal(new Set([await feed.now(), await feed.now()]).size, 2, 'cursors of one place differ');
  });

  it('shows a change that was committed late, and delays no other', async () => {
    const start = await feed.now();
    const { late, next } = await duringTransaction(feed.app.db, async (client) => {
      const { rows } = await client.query<{ id: string }>(
        `INSERT INTO journal (id, at, type, via, hash, object_id, revision)
          SELECT gen_random_uuid(), now(), 'ObjectUpdated', 'api', '', id, revision FROM objects LIMIT 1 RETURNING id`,
      );
      const first = await feed.make('committed first');
      await feed.now();
      const read = await feed.readAll('chief', start);
      assert.deepEqual(objects(read.events), [first]);
      await client.query('COMMIT');
      return { late: rows[0]?.id, next: read.next };
    });
    const second = await feed.make('committed last');
    await feed.now();
    const rest = (await feed.readAll('chief', next)).events;
    assert.equal(rest.length, 2);
    assert.ok(rest.some(({ eventId }) => eventId === late));
    assert.ok(rest.some(({ objectId }) => objectId === second));
  });

  it('gives each row one place while several processes write and give places', async () => {
    const start = await feed.now();
    const other = await startTestApp({ on: feed.app });
    let isDone = false;
    const giving = [feed.app.db, other.db, feed.app.db].map(async (db) => {
      while (!isDone) await givePlaces(db);
    });
    const writers = Array.from({ length: 6 }, async (_, index) => {
      const id = await feed.make(`writer ${index}`);
      for (let revision = 1; revision < 10; revision++)
        await feed.change(id, revision, { title: `${index} ${revision}` });
      return id;
    });
    const seen: FeedEvent[] = [];
    const reading = (async () => {
      for (let next = start; ; ) {
        const found = await feed.readAll('chief', next, 7);
        seen.push(...found.events);
        next = found.next;
        if (isDone && found.events.length === 0) return;
      }
    })();
    const ids = await Promise.all(writers);
    isDone = true;
    await Promise.all(giving);
    await feed.now();
    await reading;
    await other.close();
    seen.push(...(await feed.readAll('chief', seen.at(-1)?.cursor)).events);
    for (const id of ids) {
      const revisions = seen.filter(({ objectId }) => objectId === id).map(({ revision }) => revision);
      assert.deepEqual(revisions, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
    assert.equal(new Set(eventIds(seen)).size, seen.length);
  });

  it('shows each caller what the history would show', async () => {
    const start = await feed.now();
    const shown = await feed.make('shown', { open: true, secret: 'a' });
    const hidden = await feed.make('hidden', { open: false });
    await feed.change(shown, 1, { secret: 'b' });
    await feed.change(shown, 2, { title: 'changed', secret: 'c' });
    await feed.post(`/objects/${shown}/comments`, { body: 'said', visibility: 'public' });
    await feed.post(`/objects/${shown}/comments`, { body: 'among us', visibility: 'internal' });
    const definition = (
      await feed.app.request('GET', '/api/v1/relation-definitions', { key: feed.keys['chief'] as string })
    ).body;
    const definitionId = definition.data[0].id;
    await feed.post(`/objects/${shown}/relations`, { definitionId, targetObjectId: hidden });
    await feed.make('third', {}, 'other');
    await feed.now();
    const all = (await feed.readAll('chief', start)).events;
    const CREATED_TWICE = 'ObjectCreated ObjectCreated ObjectUpdated ObjectUpdated';
    assert.equal(kinds(all), `${CREATED_TWICE} CommentAdded CommentAdded RelationAdded ObjectCreated`);
    const readers = (await feed.readAll('reader', start)).events;
    assert.equal(kinds(readers), 'ObjectCreated ObjectUpdated CommentAdded');
    assert.deepEqual(
      readers[1]?.changes.map(({ field }) => field),
      ['title'],
    );
    const key = feed.keys['reader'] as string;
    const history = (await feed.app.request('GET', `/api/v1/objects/${shown}/history`, { key })).body.data;
    assert.deepEqual(
      eventIds(readers),
      history.map((event: { id: string }) => event.id),
    );
    assert.deepEqual((await feed.readAll('nobody', start)).events, []);
    const [first] = (await feed.page('reader', `?after=${start}&include=object&limit=1`)).events;
    const record = await feed.app.request('GET', `/api/v1/objects/${shown}`, { key });
    assert.deepEqual(first?.object, record.body.data);
    await feed.change(shown, 3, { open: false });
    assert.deepEqual((await feed.readAll('reader', start)).events, []);
  });

  it('selects kinds and types, and asks for the scopes of kinds', async () => {
    const start = await feed.now();
    const id = await feed.make('one');
    await feed.make('two', {}, 'other');
    await feed.post(`/objects/${id}/comments`, { body: 'said', visibility: 'public' });
    await feed.now();
    assert.equal(kinds((await feed.page('bare', `?after=${start}`)).events), 'ObjectCreated ObjectCreated');
    const query = `?after=${start}&types=thing`;
    assert.equal(kinds((await feed.page('chief', query)).events), 'ObjectCreated CommentAdded');
    assert.equal(
      kinds((await feed.page('chief', `${query}&eventTypes=CommentAdded,SlaStarted`)).events),
      'CommentAdded',
    );
    const refused = await feed.get('bare', '?eventTypes=ObjectCreated,CommentAdded');
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
      const { status, body } = await feed.get('chief', `?${wrong}`);
      assert.deepEqual([status, body.error.code], [400, 'INVALID_REQUEST'], wrong);
    }
    assert.equal((await feed.get('reader', '?types=other')).status, 400);
  });

  it('shows articles to those whom the audience includes', async () => {
    const start = await feed.now();
    const base = { baseId: 'it', sectionId: 'all', locale: 'en-US' };
    const { versionId } = await feed.post('/kb/articles', {
      ...base,
      code: 'one',
      title: 'One',
      body: 'Text',
      visibility: 'internal',
    });
    await feed.sqlOf(`UPDATE kb_versions SET audience_ids = '{00000000-0000-0000-0000-000000000000}'`);
    await feed.sqlOf(`INSERT INTO journal (id, at, type, via, hash, data) VALUES (gen_random_uuid(), now(), 'ArticlePublished', 'api', '',
      '{"articleId":"${versionId}","versionId":"${versionId}","replacedVersionId":"${start.slice(0, 8)}","code":"one","locale":"en-US","title":"One"}')`);
    await feed.now();
    assert.equal(kinds((await feed.readAll('chief', start)).events), '', 'a draft');
    await feed.sqlOf(`UPDATE kb_versions SET state = 'ACTIVE', draft_locale = NULL, active_locale = locale`);
    const [event] = (await feed.readAll('chief', start)).events;
    assert.equal(event?.eventType, 'ArticlePublished');
    assert.equal(event?.objectId, undefined);
    assert.deepEqual(Object.keys(event?.data ?? {}).sort(), ['articleId', 'code', 'locale', 'title', 'versionId']);
    assert.deepEqual((await feed.page('chief', `?after=${start}&types=thing`)).events, []);
    assert.deepEqual((await feed.readAll('reader', start)).events, []);
    assert.equal(kinds((await feed.page('bare', `?after=${start}`)).events), '');
  });

  it('ends a page early if its events are large', async () => {
    const start = await feed.now();
    const id = await feed.make('large', { secret: 'long' });
    // The same stored size as of long texts, with less work for the test.
    await feed.sqlOf(`UPDATE journal SET changes = jsonb_build_object('secret', jsonb_build_array(null,
      (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 4000) n))) WHERE object_id = '${id}'`);
    const [row] = await feed.sqlOf<{ seq: number }>(`SELECT seq FROM journal WHERE object_id = '${id}'`);
    await feed.sqlOf(`INSERT INTO journal (id, at, type, object_id, revision, via, changes, hash)
      SELECT gen_random_uuid(), at, 'ObjectUpdated', object_id, 1, via, changes, hash
      FROM journal, generate_series(1, 149) WHERE seq = ${row?.seq}`);
    await feed.now();
    const first = await feed.page('chief', `?after=${start}&limit=1000`);
    assert.deepEqual([first.events.length, first.caughtUp], [100, false]);
    assert.equal((await feed.readAll('chief', first.next)).events.length, 50);
  });

  it('passes over many hidden changes with few statements', async () => {
    const id = await feed.make('busy', { open: true });
    const start = await feed.now();
    await feed.sqlOf(`INSERT INTO journal (id, at, type, via, hash, object_id, revision, changes)
      SELECT gen_random_uuid(), now(), 'ObjectUpdated', 'api', '', '${id}', 1, '{"secret":["a","b"]}' FROM generate_series(1, 3000)`);
    await feed.change(id, 1, { title: 'seen' });
    await feed.now();
    let statements = 0;
    const { query } = feed.app.db;
    feed.app.db.query = async (statement, options) => {
      if (statement.text.includes('journal_places')) statements++;
      return (await query.call(feed.app.db, statement, options)) as never;
    };
    const { events } = await feed.readAll('reader', start, 1);
    feed.app.db.query = query;
    assert.equal(events.length, 1);
    assert.ok(statements > 0 && statements <= 12, `${statements} statements`);
  });

  it('gives places durably where commits are not', async () => {
    await feed.sqlOf(`CREATE TABLE durability AS SELECT 'none' AS seen`);
    await feed.sqlOf(`CREATE FUNCTION note_durability() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO public.durability VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$`);
    await feed.sqlOf('CREATE TRIGGER noted AFTER INSERT ON journal_places EXECUTE FUNCTION note_durability()');
    await feed.make('one');
    await feed.app.db.transaction('BEGIN', async (tx) => {
      await tx.query(raw(`SET LOCAL synchronous_commit = off`));
      const inside = { query: tx.query.bind(tx), transaction: async (_: unknown, fn: any) => await fn(tx) };
      await givePlaces(inside as never);
    });
    const rows = await feed.sqlOf<{ seen: string }>('SELECT seen FROM durability');
    await feed.sqlOf('DROP TRIGGER noted ON journal_places');
    await feed.sqlOf('DROP FUNCTION note_durability');
    await feed.sqlOf('DROP TABLE durability');
    assert.deepEqual([...new Set(rows.map(({ seen }) => seen))], ['none', 'on']);
  });

  it('refuses what is no cursor', async () => {
    const cursor = await feed.now();
    const changed = `${cursor.slice(0, 20)}${cursor[20] === 'A' ? 'B' : 'A'}${cursor.slice(21)}`;
    for (const wrong of ['x', changed, cursor.slice(1), `${cursor}A`, '%20', 'A'.repeat(201), 'A'.repeat(5000)]) {
      const { status, body } = await feed.get('chief', `?after=${wrong}`);
      assert.deepEqual([status, body.error.code], [400, 'INVALID_CURSOR'], wrong);
    }
  });

  it('gives no cursor of now while earlier events have no place', async () => {
    await feed.now();
    const refused = async (): Promise<void> => {
      const answer = await feed.get('chief', '?after=now&wait=1');
      assert.deepEqual([answer.status, answer.body.error?.code], [503, 'OVERLOADED']);
      assert.equal(answer.headers.get('retry-after'), '1');
      assert.equal((await feed.page('chief')).caughtUp, false);
    };
    // An upgrade, a pass of several batches, and a restored backup before its first pass.
    for (const state of ['done = NULL', `target = done`, `storage = 'elsewhere'`]) {
      await feed.sqlOf(`UPDATE journal_placing SET ${state}`);
      await refused();
      await feed.make('after the refusal');
      const start = await feed.now();
      assert.deepEqual((await feed.page('chief', `?after=${start}`)).events, [], state);
    }
  });

  it('names the last common event after commits were lost', async () => {
    const start = await feed.now();
    await feed.make('kept');
    const kept = await feed.now();
    const [state] = await feed.sqlOf<{ place: number; last: number }>(
      `SELECT place, (SELECT max(seq) FROM journal) AS last FROM journal_placing`,
    );
    await feed.make('lost');
    const lost = await feed.now();
    const keptEvent = (await feed.page('chief', `?after=${start}`)).events[0];
    // What a restored backup looks like: the rows are not there, and the tables are in other storage.
    await feed.sqlOf(`DELETE FROM journal WHERE seq > ${state?.last}`);
    await feed.sqlOf(`DELETE FROM journal_places WHERE place > ${state?.place}`);
    await feed.sqlOf(`UPDATE journal_placing SET place = ${state?.place}, storage = 'elsewhere'`);
    const before = await feed.get('chief', `?after=${lost}`);
    await feed.make('after the restore');
    await feed.make('and another');
    await feed.now();
    for (const refused of [before, await feed.get('chief', `?after=${lost}`)]) {
      assert.deepEqual([refused.status, refused.body.error.code], [409, 'CURSOR_REWOUND']);
      const { resume, lostAfter, lastEventId } = refused.body.error.details;
      assert.equal(lastEventId, keptEvent?.eventId);
      assert.equal(typeof lostAfter, 'string');
      assert.equal(kinds((await feed.readAll('chief', resume)).events), 'ObjectCreated ObjectCreated');
    }
    assert.equal((await feed.readAll('chief', kept)).events.length, 2, 'a cursor before the loss goes on');
    const ofReader = await feed.get('nobody', `?after=${lost}`);
    assert.deepEqual([ofReader.body.error.details.lostAfter, ofReader.body.error.details.lastEventId], [null, null]);
  });

  it('finds the last common place of a cursor from an epoch that was lost', async () => {
    const kept = await feed.now();
    await feed.sqlOf(`UPDATE journal_placing SET run = 'another'`);
    await feed.make('in the epoch that is lost');
    const lost = await feed.now();
    await feed.sqlOf(`DELETE FROM journal_epochs WHERE number = (SELECT max(number) FROM journal_epochs)`);
    await feed.sqlOf(`WITH last AS (DELETE FROM journal_places WHERE place = (SELECT max(place) FROM journal_places) RETURNING *),
      gone AS (DELETE FROM journal j USING last l WHERE j.seq = l.seq) UPDATE journal_placing SET place = place - 1, run = 'third'`);
    await feed.make('in its place');
    await feed.now();
    const refused = await feed.get('chief', `?after=${lost}`);
    assert.equal(refused.body.error.code, 'CURSOR_REWOUND');
    const resumed = (await feed.readAll('chief', refused.body.error.details.resume)).events;
    assert.deepEqual(eventIds(resumed), eventIds((await feed.readAll('chief', kept)).events));
    assert.equal(resumed.length, 1);
  });

  it('finds the last common place after several epochs were lost', async () => {
    await feed.make('before');
    await feed.now();
    const [kept] = await feed.sqlOf<{ place: number; last: number; epoch: number }>(
      'SELECT place, (SELECT max(seq) FROM journal) AS last, (SELECT max(number) FROM journal_epochs) AS epoch FROM journal_placing',
    );
    for (let run = 0; run < 5; run++) {
      await feed.sqlOf(`UPDATE journal_placing SET run = 'run ${run}'`);
      await feed.make('lost');
      await feed.now();
    }
    const lost = await feed.now();
    await feed.sqlOf(`DELETE FROM journal WHERE seq > ${kept?.last}`);
    await feed.sqlOf(`DELETE FROM journal_places WHERE place > ${kept?.place}`);
    await feed.sqlOf(`DELETE FROM journal_epochs WHERE number > ${kept?.epoch}`);
    for (const run of ['restored', 'restarted', 'again']) {
      await feed.sqlOf(`UPDATE journal_placing SET place = ${kept?.place}, run = '${run}'`);
      await feed.now();
    }
    const epochs = await feed.sqlOf(`SELECT FROM journal_epochs WHERE number > ${kept?.epoch}`);
    assert.equal(epochs.length, 1, 'an epoch without places is replaced');
    await feed.make('after the restore');
    await feed.now();
    const { code, details } = (await feed.get('chief', `?after=${lost}`)).body.error;
    assert.equal(code, 'CURSOR_REWOUND');
    assert.equal((await feed.readAll('chief', details.resume)).events.length, 1);
  });

  it('shows events under the present codes, as the history does', async () => {
    const configuration = (field: string, option: string, state: string, transition: string): string => `
types:
  - code: case
    name: Case
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true }
      - { ${field}, dataType: enum, constraints: { options: [{ ${option}, name: High }, { code: low, name: Low }] } }
workflows:
  - code: flow
    name: Flow
    initial: new
    states: [{ code: new, name: New, category: open }, { ${state}, name: Done, category: done }]
    transitions: [{ ${transition}, name: Close, from: [new], to: ${/^code: (\w+)/u.exec(state)?.[1]} }]`;
    const reading = (field: string): string => `
roles:
  - code: witness
    name: Witness
    records: [{ type: case, actions: [read, history], fields: { read: [title, ${field}] } }]
    assignedTo: { users: [nobody] }`;
    const apply = async (text: string): Promise<unknown> => await feed.app.apply([{ name: 'case.yaml', text }]);
    await apply(configuration('code: impact', 'code: high', 'code: done', 'code: close') + reading('impact'));
    const start = await feed.now();
    const id = await feed.make('one', { impact: 'low' }, 'case');
    await feed.change(id, 1, { impact: 'high' });
    await apply(
      configuration(
        'code: severity, was: impact',
        'code: urgent, was: high',
        'code: finished, was: done',
        'code: finish, was: close',
      ) + reading('severity'),
    );
    await feed.now();
    for (const who of ['chief', 'nobody']) {
      const key = feed.keys[who] as string;
      const history = (await feed.app.request('GET', `/api/v1/objects/${id}/history`, { key })).body.data;
      const { events } = await feed.readAll(who, start);
      assert.deepEqual(
        events.map(({ eventId, changes, data }) => ({ id: eventId, changes, data })),
        history.map((event: any) => ({ id: event.id, changes: event.changes, data: event.data })),
      );
      assert.equal(events.length, 2);
      assert.equal(events[1]?.changes[0]?.field, 'severity');
    }
  });
});
