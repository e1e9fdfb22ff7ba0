/** Readers of the changes feed that wait: long polls and streams, in a process without a background worker. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { readEvents } from '../../../test/support/event-stream.ts';
import { type FeedEvent, type FeedFixture, startFeedFixture } from '../../../test/support/feed-fixture.ts';
import { changeRights } from '../../../test/support/small-configuration.ts';
import type { Loop } from '../../worker/loop.ts';

let feed: FeedFixture;

describe('readers of the changes feed that wait', () => {
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
  const poll = async (who: string, query: string): Promise<{ events: FeedEvent[]; next: string; ms: number }> => {
    const began = performance.now();
    const { status, body } = await other.request('GET', `/api/v1/changes${query}`, { key: feed.keys[who] as string });
    assert.equal(status, 200, JSON.stringify(body));
    return { ...body.data, ms: performance.now() - began };
  };

  before(async () => {
    feed = await startFeedFixture();
    other = await startTestApp({ on: feed.app });
    await feed.now();
    worker = feed.app.app.startWorker();
  });
  after(async () => {
    await worker.stop();
    await other.close();
    await feed.close();
  });

  it('answers at the first event that the caller may see', async () => {
    const waiting = poll('reader', '?after=now&wait=20');
    await sleep(300);
    for (let count = 0; count < 5; count++) await feed.make('hidden', { open: false });
    await sleep(300);
    const id = await feed.make('shown', { open: true });
    const { events, ms } = await waiting;
    assert.deepEqual(
      events.map(({ objectId }) => objectId),
      [id],
    );
    assert.ok(ms < 20_000, 'before the end of the wait');
  });

  it('waits as long for hidden events as for none', async () => {
    const waiting = poll('reader', '?after=now&wait=2');
    for (let count = 0; count < 5; count++) await feed.make('hidden', { open: false });
    const { events, next, ms } = await waiting;
    assert.deepEqual(events, []);
    assert.ok(ms >= 1990, `${ms} ms`);
    const id = await feed.make('after the wait', { open: true });
    const found = await poll('reader', `?after=${next}&wait=20`);
    assert.deepEqual(
      found.events.map(({ objectId }) => objectId),
      [id],
    );
  });

  it('sends no statement for those that wait', async () => {
    const waiting = Array.from({ length: 60 }, () => poll('chief', '?after=now&wait=20'));
    let statements = 0;
    const { query } = other.db;
    other.db.query = async (statement, options) => {
      if (statement.text.includes('journal_pla')) statements++;
      return (await query.call(other.db, statement, options)) as never;
    };
    // All wait some time after they were sent.
    let during = Number.POSITIVE_INFINITY;
    for (let seconds = 0; seconds < 10 && during > 0; seconds++) {
      const before = statements;
      await sleep(1000);
      during = statements - before;
    }
    other.db.query = query;
    assert.ok(statements >= 1, 'statements are counted');
    assert.equal(during, 0);
    const id = await feed.make('the end of the wait', { open: true });
    for (const { events } of await Promise.all(waiting)) assert.equal(events[0]?.objectId, id);
  });

  it('streams events and goes on after the last one', async () => {
    const stream = readEvents(await follow(feed.keys['reader'], '?after=now'));
    await sleep(200);
    const first = await feed.make('streamed', { open: true });
    await feed.make('hidden', { open: false });
    const event = await stream.next(20_000);
    assert.equal(event?.event, 'ObjectCreated');
    const data = JSON.parse(event.data);
    assert.deepEqual([data.objectId, data.cursor], [first, event.id]);
    stream.close();
    await feed.change(first, 1, { title: 'changed' });
    await feed.make('another', { open: true });
    const again = readEvents(await follow(feed.keys['reader'], '?after=now', { 'Last-Event-ID': event.id as string }));
    assert.equal((await again.next(20_000))?.event, 'ObjectUpdated');
    assert.equal((await again.next(20_000))?.event, 'ObjectCreated');
    again.close();
    const refused = await follow(feed.keys['reader'], '', { 'Last-Event-ID': 'x' });
    assert.deepEqual([refused.status, ((await refused.json()) as any).error.code], [400, 'INVALID_CURSOR']);
  });

  it('tells a stream without events where to go on', async () => {
    const stream = readEvents(await follow(feed.keys['reader'], '?after=now'));
    for (let tries = 0; stream.lastId() === undefined && tries < 100; tries++) await sleep(50);
    const id = stream.lastId();
    assert.ok(id !== undefined);
    stream.close();
    const made = await feed.make('between two streams', { open: true });
    await sleep(300);
    const again = readEvents(await follow(feed.keys['reader'], '?after=now', { 'Last-Event-ID': id }));
    assert.equal(JSON.parse((await again.next(20_000))?.data ?? '{}').objectId, made);
    again.close();
  });

  it('ends a stream when its key is revoked, and narrows it when a right is withdrawn', async () => {
    const key = await feed.app.createKey({ login: 'reader' });
    const ending = readEvents(await follow(key.key, '?after=now'));
    const kept = readEvents(await follow(feed.keys['reader'], '?after=now'));
    await changeRights(feed.app, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [key.id]);
    await feed.make('hidden', { open: false });
    // The stream of the revoked key ends.
    await ending.ended;
    const id = await feed.make('seen', { open: true });
    assert.equal(JSON.parse((await kept.next(20_000))?.data ?? '{}').objectId, id);
    await feed.app.apply([{ name: 'roles.yaml', text: 'roles: [{ code: reader, name: Reader, records: [] }]' }]);
    // Other processes know of changed rights within a second.
    await sleep(1000);
    await feed.make('not seen', { open: true });
    assert.equal(await kept.next(1500), undefined);
    kept.close();
  });
});
