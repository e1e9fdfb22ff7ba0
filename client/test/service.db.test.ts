/** The client on a real service over HTTP, and webhook deliveries as the OpenAPI document describes them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { buildDocument } from '../../src/contract/openapi.ts';
import { WEBHOOK_EVENTS } from '../../src/contract/events.ts';
import { MODULES } from '../../src/modules.ts';
import { collect, operationsOf } from '../../src/platform/module.ts';
import { type WebhookFixture, startWebhookFixture } from '../../test/support/webhook-fixture.ts';
import { stored } from '../../test/support/small-configuration.ts';
import { deliveryProblems } from '../../test/support/response-check.ts';
import {
  type AnswerInfo,
  CursorRewound,
  Docket,
  Forbidden,
  InvalidRequest,
  NotFound,
  RevisionConflict,
  verifyWebhook,
} from '../src/index.ts';

/** As `docket types` writes them. */
interface Types {
  [code: string]: { values: object; create: object; changes: object; state: string; transition: string };
  thing: {
    values: { title?: string; kind?: 'a' | 'b'; amount?: string };
    create: { title: string; kind?: 'a' | 'b'; amount?: string };
    changes: { title?: string; kind?: 'a' | 'b'; amount?: string | null };
    state: 'begun' | 'ended';
    transition: 'end';
  };
}

let fixture: WebhookFixture;
let docket: Docket<Types>;
let limited: Docket<Types>;
let admin: Docket<Types>;
let offset = 0;

/** Waits until the background worker has given every event its place. */
async function placed(): Promise<void> {
  const pending = 'SELECT FROM journal j WHERE NOT EXISTS (SELECT FROM journal_places p WHERE p.seq = j.seq) LIMIT 1';
  while ((await stored(fixture.app, pending)).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('the client', () => {
  before(async () => {
    fixture = await startWebhookFixture({ clock: { now: () => Date.now() + offset } });
    const { url } = fixture.app;
    docket = new Docket({ url, key: fixture.keys.boss });
    limited = new Docket({ url, key: fixture.keys.limited });
    admin = new Docket({ url: `${url}/`, key: fixture.adminKeys.boss });
  });
  after(() => fixture.close());

  it('creates, updates, transitions and archives records of a type', async () => {
    const things = docket.records('thing');
    const made = await things.create({ title: 'Принтер', amount: '1.50' });
    assert.deepEqual([made.revision, made.values.amount, made.values.kind], [1, '1.5', 'a']);
    const changed = await things.update(made.id, 1, { amount: null });
    assert.ok(!Object.hasOwn(changed.values, 'amount'));
    const ended = await things.transition(changed, 'end', { $reason: 'done' });
    assert.equal(ended.workflowState?.code, 'ended');
    await assert.rejects(things.transition(ended, 'end'), /cannot end now; open: none/);
    await things.archive(made.id, ended.revision);
    assert.equal((await things.get(made.id)).state, 'ARCHIVED');
    await admin.admin.objects.restore(made.id);
    assert.equal((await things.get(made.id)).state, 'ACTIVE');
  });

  it('follows the changes feed, and continues where it was rewound to', async () => {
    const things = docket.records('thing');
    const titles = (events: readonly { object?: { title: string | null } }[]): unknown[] =>
      events.map(({ object }) => object?.title);
    await placed();
    const { next: start } = await docket.feed.read({ after: 'now' });
    for (const title of ['one', 'two', 'three']) await things.create({ title });
    await placed();
    const query = { after: start, include: 'object', types: 'thing' } as const;
    const pages = await Array.fromAsync(docket.feed.pages({ ...query, limit: 2, wait: 0 }));
    assert.deepEqual(
      pages.flatMap(({ events }) => titles(events)),
      ['one', 'two', 'three'],
    );
    const stop = new AbortController();
    const seen: unknown[] = [];
    const following = async (): Promise<void> => {
      for await (const event of docket.feed.each(query, { signal: stop.signal })) {
        seen.push(...titles([event]));
        if (seen.length === 4) stop.abort(new Error('enough'));
      }
    };
    const stopped = assert.rejects(following(), /enough/);
    await things.create({ title: 'four' });
    await placed();
    await stopped;
    assert.deepEqual(seen, ['one', 'two', 'three', 'four']);
    // What a restored backup looks like: the last events are gone, and the tables are in other storage.
    const last = pages.at(-1)?.next as string;
    const [, second] = pages.flatMap(({ events }) => events);
    await stored(
      fixture.app,
      `DELETE FROM journal_places WHERE seq > (SELECT seq FROM journal WHERE id = '${second?.eventId}');
       UPDATE journal_placing SET storage = 'elsewhere', place = (SELECT max(place) FROM journal_places)`,
    );
    await placed();
    const lost = await docket.feed.read({ after: last }).catch((error: unknown) => error);
    assert.ok(lost instanceof CursorRewound);
    await assert.rejects(Array.fromAsync(docket.feed.pages({ after: last, wait: 0 })), CursorRewound);
    const rewinds: unknown[] = [];
    const onRewound = ({ resume, lastEventId }: CursorRewound): string => {
      rewinds.push(lastEventId);
      return resume;
    };
    const again = await Array.fromAsync(docket.feed.each({ ...query, after: last, wait: 0 }, { onRewound }));
    assert.deepEqual([rewinds, titles(again)], [[second?.eventId], ['three', 'four']]);
  });

  it('lets the program resolve a conflict and never resolves it itself', async () => {
    const things = docket.records('thing');
    const { id } = await things.create({ title: 'v1', amount: '10' });
    await things.update(id, 1, { amount: '11' });
    const late = await things.update(id, 1, { title: 'v2' }).catch((error) => error);
    assert.ok(late instanceof RevisionConflict);
    assert.deepEqual(
      late.changedSince.map(({ field }) => field),
      ['amount'],
    );
    assert.equal((await late.current()).revision, 2);
    // Twenty concurrent calls add one each; every addition is computed from the current value.
    const asked: number[] = [];
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        things.edit(
          id,
          ({ values }, meanwhile) => {
            asked[at] = (asked[at] ?? 0) + 1;
            if (asked[at] > 1) assert.deepEqual([...new Set(meanwhile.map(({ field }) => field))], ['amount']);
            return { amount: String(Number(values.amount) + 1) };
          },
          { decisions: 100 },
        ),
      ),
    );
    assert.equal((await things.get(id)).values.amount, '31');
    assert.ok(
      asked.some((times) => times > 1),
      'some were late',
    );
    assert.equal((await things.edit(id, () => undefined)).revision, 22);
  });

  it('creates a record once per Idempotency-Key', async () => {
    const answers: AnswerInfo[] = [];
    const options = { idempotencyKey: 'client-1', onAnswer: (answer: AnswerInfo) => answers.push(answer) };
    const first = await docket.records('thing').create({ title: 'Once' }, options);
    const second = await docket.records('thing').create({ title: 'Once' }, options);
    assert.equal(second.id, first.id);
    assert.deepEqual(
      answers.map(({ status, replayed }) => [status, replayed]),
      [
        [201, false],
        [201, true],
      ],
    );
  });

  it('iterates over all pages of lists and searches', async () => {
    const made = new Set<string>();
    const items = Array.from({ length: 120 }, (_, at) => ({ title: `Seite ${at} walkable` }));
    for (const item of items) made.add((await docket.records('thing').create(item)).id);
    const listed: string[] = [];
    for await (const { id } of docket.records('thing').each({ pageSize: 50 })) listed.push(id);
    assert.equal(new Set(listed).size, listed.length);
    for (const id of made) assert.ok(listed.includes(id));
    const found: string[] = [];
    for await (const hit of docket.records('thing').search({ q: 'walkable' })) found.push(hit.id);
    assert.deepEqual(found.sort(), [...made].sort());
    const some: string[] = [];
    for await (const { id } of docket.objects.each({ typeId: 'thing' })) {
      some.push(id);
      if (some.length === 3) break;
    }
    assert.deepEqual(some, listed.slice(0, 3));
  });

  it('changes any number of records in bulk and reports each result', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 7; count++) ids.push((await docket.records('thing').create({ title: `b${count}` })).id);
    async function* changes() {
      for (const [at, objectId] of ids.entries()) {
        yield { objectId, expectedRevision: at === 3 ? 9 : 1, changes: { title: 'bulk' } };
      }
    }
    const results = [];
    for await (const result of docket.bulk.each('update', changes(), { chunk: 3 })) results.push(result);
    assert.deepEqual(
      results.map(({ objectId }) => objectId),
      ids,
    );
    assert.deepEqual(
      results.map(({ status, error }) => error?.code ?? status),
      ids.map((_, at) => (at === 3 ? 'REVISION_CONFLICT' : 'SUCCEEDED')),
    );
  });

  it('uploads and downloads attachments in every supported form', async () => {
    const { id } = await docket.records('thing').create({ title: 'With files' });
    const bytes = Uint8Array.from({ length: 100_003 }, (_, at) => (at * 7) % 256);
    async function* parts() {
      for (let at = 0; at < bytes.length; at += 999) yield bytes.subarray(at, at + 999);
    }
    const forms = [bytes, bytes.buffer, new Blob([bytes], { type: 'image/png' }), new Blob([bytes]).stream(), parts()];
    for (const [at, content] of forms.entries()) {
      const file = await docket.attachments.upload(id, content, { filename: `Отчёт "${at}".bin` });
      assert.equal(file.size, bytes.length);
      const download = await docket.attachments.download(file.id);
      assert.equal(download.filename, `Отчёт "${at}".bin`);
      assert.equal(download.size, bytes.length);
      assert.equal(download.mediaType.startsWith('image/png'), at === 2);
      assert.deepEqual(await download.bytes(), bytes);
    }
    const [first] = await docket.attachments.list(id);
    const streamed = await docket.attachments.download(first?.id ?? '');
    let size = 0;
    for await (const part of streamed.stream()) size += part.length;
    assert.equal(size, bytes.length);
    await assert.rejects(docket.attachments.upload(id, new Uint8Array(), { filename: 'x' }), {
      code: 'ATTACHMENT_EMPTY',
    });
  });

  it('exports records, returns its document, and maps errors to classes', async () => {
    const file = await docket.exports.create({ typeDefinitionId: 'thing', format: 'CSV', limit: 2 });
    assert.match(file.filename ?? '', /\.csv$/);
    assert.match(await file.text(), /^id,number,revision/);
    const document = await (await docket.openapi.read()).json<{ openapi: string }>();
    assert.equal(document.openapi, '3.1.0');
    const hidden = await docket.records('thing').create({ title: 'Hidden', kind: 'b' });
    await assert.rejects(limited.objects.get(hidden.id), NotFound);
    await assert.rejects(limited.records('thing').create({ title: 'x' }), Forbidden);
    const wrong = await docket.objects.create({ typeDefinitionId: 'thing', values: { kind: 'z' } }).catch((e) => e);
    assert.ok(wrong instanceof InvalidRequest);
    assert.deepEqual(wrong.places.map(({ path }) => path).sort(), ['/values/kind', '/values/title']);
  });

  it('receives every kind of event as the OpenAPI document describes it, and verifies each', async () => {
    const document = buildDocument(operationsOf(MODULES), { surface: 'public', events: collect(MODULES, 'events') });
    // The person whose rights the subscription has may read everything.
    const subscription = await fixture.subscribe({ as: 'boss', eventTypes: [...WEBHOOK_EVENTS] });
    fixture.receiver.received.length = 0;
    const thing = await docket.records('thing').create({ title: 'Told of' });
    const other = await docket.records('thing').create({ title: 'Near' });
    await docket.records('thing').update(thing.id, 1, { title: 'Told of again' });
    const moved = await docket.records('thing').transition(await docket.records('thing').get(thing.id), 'end');
    const comment = await docket.comments.add(thing.id, { body: 'Words', visibility: 'internal' });
    await docket.comments.edit(comment.id, { expectedRevision: 1, body: 'Other words', visibility: 'public' });
    await docket.comments.archive(comment.id, { expectedRevision: 2 });
    const file = await docket.attachments.upload(thing.id, new Uint8Array([1]), { filename: 'a' });
    await docket.attachments.archive(file.id, { expectedRevision: 1 });
    const [near] = await docket.relations.definitions();
    const { relation } = await docket.relations.add(thing.id, {
      definitionId: near?.id ?? '',
      targetObjectId: other.id,
    });
    await docket.relations.archive(relation.id, { expectedRevision: 1 });
    await docket.objects.archive(thing.id, { expectedRevision: moved.revision });
    await admin.admin.objects.restore(thing.id);
    const timed = await docket.records('other').create({ title: 'Timed' });
    const [instance] = await docket.sla.list(timed.id);
    const sla = instance?.id ?? '';
    for (const command of ['pause', 'resume', 'recalculate'] as const) await docket.sla.command(sla, command, {});
    offset = 8 * 24 * 3_600_000;
    const article = await docket.kb.create({
      baseId: 'it',
      sectionId: 'net',
      code: 'how',
      title: 'How to',
      locale: 'en-US',
      body: 'Text',
      visibility: 'internal',
    });
    await admin.admin.kb.setAudiences(article.versionId, { audiences: [{ kind: 'everyone' }] });
    await docket.kb.publish({ versionId: article.versionId });
    const { version } = await admin.admin.kb.material(article.id);
    await docket.kb.archive({ versionId: article.versionId, version, confirmed: true });
    const breached = async (): Promise<boolean> => (await docket.sla.list(timed.id))[0]?.breachedAt !== undefined;
    for (
      let tries = 0;
      tries < 100 && !fixture.receiver.received.some(({ body }) => body.eventType === 'SlaBreached');
      tries++
    )
      await new Promise((resolve) => setTimeout(resolve, 100));
    assert.ok(await breached());
    await docket.sla.command(sla, 'stop', {});
    await fixture.settled(subscription.id, 20);
    const seen = new Set<string>();
    for (const { headers, raw } of fixture.receiver.received) {
      const event = await verifyWebhook({
        secrets: fixture.secret,
        headers,
        body: raw,
        toleranceSeconds: 60,
        now: Date.now() + offset,
      }).catch(() => verifyWebhook({ secrets: fixture.secret, headers, body: raw, toleranceSeconds: 60 }));
      assert.deepEqual(deliveryProblems(document, event), []);
      seen.add(event.eventType);
      // The types of the events lead to their data.
      if (event.eventType === 'ObjectTransitioned') assert.equal(event.data.transition.code, 'end');
      if (event.eventType === 'ArticlePublished') assert.equal(event.data.title, 'How to');
    }
    // The policy of this world warns of nothing.
    assert.deepEqual([...seen].sort(), WEBHOOK_EVENTS.filter((kind) => kind !== 'SlaWarning').sort());
  });
});
