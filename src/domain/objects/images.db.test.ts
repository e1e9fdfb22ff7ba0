/** Images in rich text through HTTP (docs/spec/records.md#data-types). */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type RecordFixture,
  assertSameError,
  type Made,
  type FixtureUser,
  assertRejected,
  startRecordFixture,
} from '../../../test/support/record-fixture.ts';
import type { BlobStore } from '../../platform/blobs/store.ts';

const HEADS: Readonly<Record<string, Buffer>> = {
  png: Buffer.from('89504e470d0a1a0a', 'hex'),
  jpeg: Buffer.from('ffd8ffe0', 'hex'),
  gif: Buffer.from('GIF89a'),
  webp: Buffer.from('RIFF\0\0\0\0WEBP'),
};
const MAX = 2_097_152;

let around: RecordFixture;
let between: (() => Promise<void>) | undefined;

/** Random content with the first bytes of the given image type. */
function picture(kind = 'png', size = 100): Buffer {
  const head = HEADS[kind] as Buffer;
  return Buffer.concat([head, randomBytes(size - head.length)]);
}

const keyOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const dataUrl = (bytes: Buffer, kind = 'png'): string => `data:image/${kind};base64,${bytes.toString('base64')}`;
const doc = (...sources: string[]) => ({
  type: 'doc',
  content: sources.map((src) => ({ type: 'image', attrs: { src } })),
});
const handle = (bytes: Uint8Array): string => `blob:${keyOf(bytes)}`;
const imagePath = (made: Made, bytes: Uint8Array): string => `/objects/${made.id}/images/${keyOf(bytes)}`;

async function fetchImage(
  made: Made,
  bytes: Uint8Array,
  who: FixtureUser = 'chief',
  headers: Record<string, string> = {},
): Promise<Response> {
  const authorization = `Bearer ${around.keys[who]}`;
  return await fetch(`${around.app.url}/api/v1${imagePath(made, bytes)}`, { headers: { authorization, ...headers } });
}

/** Whether the user can read the image. A refusal must reveal nothing. */
async function sees(made: Made, bytes: Buffer, who: FixtureUser = 'chief'): Promise<boolean> {
  const answer = await fetchImage(made, bytes, who);
  const content = Buffer.from(await answer.arrayBuffer());
  if (answer.status === 200) assert.deepEqual(content, bytes);
  else assert.equal(answer.status, 404);
  return answer.status === 200;
}

function looking(inner: BlobStore): BlobStore {
  return {
    put: (key, bytes) => inner.put(key, bytes),
    read: (key) => inner.read(key),
    bytes: async (key, size) => {
      const bytes = await inner.bytes(key, size);
      await between?.();
      return bytes;
    },
    remove: (key) => inner.remove(key),
    list: (age, now) => inner.list(age, now),
    check: () => inner.check(),
  };
}

const patch = (made: Made, expectedRevision: number, changes: object, who: FixtureUser = 'chief') =>
  around.call(who, 'PATCH', `/objects/${made.id}`, { expectedRevision, changes });

describe('images in rich text', () => {
  before(async () => {
    around = await startRecordFixture({ blobs: looking });
  });
  after(() => around.close());

  it('are separated from the text and served with their media type', async () => {
    for (const kind of Object.keys(HEADS)) {
      const bytes = picture(kind);
      const made = await around.make({ body: doc(dataUrl(bytes, kind)) });
      const { values } = await around.ok('chief', 'GET', `/objects/${made.id}`);
      assert.deepEqual(values.body, doc(handle(bytes)));
      const answer = await fetchImage(made, bytes);
      assert.equal(answer.headers.get('content-type'), `image/${kind}`);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(answer.headers.get('content-security-policy'), 'sandbox');
      assert.equal(answer.headers.get('cache-control'), 'private, no-cache');
      assert.equal(answer.headers.get('etag'), `"${keyOf(bytes)}"`);
      assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes);
      const again = await fetchImage(made, bytes, 'chief', { 'if-none-match': `"${keyOf(bytes)}"` });
      assert.equal(again.status, 304);
      await again.arrayBuffer();
    }
    const bytes = picture();
    const html = await around.make({ body: `<p>See</p><img src="${dataUrl(bytes)}" alt="a">` });
    assert.ok(await sees(html, bytes));
    const stored = await around.rows<{ text: string }>(
      `SELECT "values"::text || (SELECT string_agg(changes::text, '') FROM journal WHERE object_id = o.id) AS text FROM objects o`,
    );
    assert.ok(
      stored.every(({ text }) => !text.includes('base64')),
      'no data URL is in the database',
    );
  });

  it('can be read by callers who may read a field that shows them', async () => {
    const open = picture();
    const hidden = picture();
    const made = await around.make({ body: doc(dataUrl(open)), hidden: doc(dataUrl(hidden)) });
    assert.deepEqual([await sees(made, open), await sees(made, hidden)], [true, true]);
    assert.deepEqual([await sees(made, open, 'agent'), await sees(made, hidden, 'agent')], [true, false]);
    assert.deepEqual([await sees(made, open, 'viewer'), await sees(made, open, 'stranger')], [false, false]);
    const unseen = await around.call('agent', 'GET', imagePath(made, hidden));
    assertSameError(unseen, await around.call('agent', 'GET', imagePath(made, picture())));
    const other = await around.make();
    assert.equal(await sees(other, open), false, 'an image belongs to the records that show it');
    for (const name of ['x', keyOf(open).toUpperCase(), `${keyOf(open)}0`, randomUUID()]) {
      assertRejected(await around.call('chief', 'GET', `/objects/${made.id}/images/${name}`), 404, 'NOT_FOUND');
    }
  });

  it('are not attachments', async () => {
    const bytes = picture();
    const made = await around.make({ body: doc(dataUrl(bytes)) });
    assert.deepEqual(await around.ok('chief', 'GET', `/objects/${made.id}/attachments`), []);
    for (const id of [keyOf(bytes), made.id]) {
      assertRejected(await around.call('chief', 'GET', `/attachments/${id}/content`), 404, 'NOT_FOUND');
      assertRejected(
        await around.call('chief', 'DELETE', `/attachments/${id}`, { expectedRevision: 1 }),
        404,
        'NOT_FOUND',
      );
    }
  });

  it('cannot be accessed by guessing their handle', async () => {
    const secret = picture();
    const made = await around.make({ hidden: doc(dataUrl(secret)), body: doc(dataUrl(picture())) });
    const theft = doc(handle(secret));
    const steal = [
      await around.call('chief', 'POST', '/objects', { typeDefinitionId: 'case', values: { title: 'x', body: theft } }),
      await patch(await around.make(), 1, { body: theft }),
      await patch(made, 1, { body: theft }, 'agent'),
      await patch(made, 1, { body: doc(handle(picture())) }),
    ];
    for (const answer of steal) {
      assertRejected(answer, 400, 'INVALID_VALUES');
      assert.equal(answer.body.error.details[0].code, 'UNKNOWN_IMAGE');
      assert.match(answer.body.error.details[0].path, /^\/(?:values|changes)\/body$/);
    }
    assert.deepEqual({ ...steal[2]?.body.error }, { ...steal[3]?.body.error }, 'a hidden image is an absent one');
    await around.ok('agent', 'PATCH', `/objects/${made.id}`, {
      expectedRevision: 1,
      changes: { note: `blob:${keyOf(secret)}` },
    });
    await around.ok('agent', 'PATCH', `/objects/${made.id}`, {
      expectedRevision: 2,
      changes: { note: JSON.stringify(theft) },
    });
    assert.equal(await sees(made, secret, 'agent'), false, 'a handle in other text is no image');
    const work = await around.make({ hidden: doc(dataUrl(secret)) });
    const body = { transitionId: around.id('take'), expectedRevision: 1, expectedStateId: work.stateId };
    await around.ok('chief', 'POST', `/objects/${work.id}/transitions`, body);
    const values = { $reason: handle(secret) };
    const hold = { transitionId: around.id('hold'), expectedRevision: 2, expectedStateId: around.id('work'), values };
    await around.ok('agent', 'POST', `/objects/${work.id}/transitions`, hold);
    assert.equal(await sees(work, secret, 'agent'), false);
  });

  it('are kept when the text is sent back unchanged, and may move within the record', async () => {
    const bytes = picture();
    const made = await around.make({ body: doc(dataUrl(bytes)) });
    const { values } = await around.ok('chief', 'GET', `/objects/${made.id}`);
    assert.equal(
      (
        await around.ok('chief', 'PATCH', `/objects/${made.id}`, {
          expectedRevision: 1,
          changes: { body: values.body },
        })
      ).revision,
      1,
    );
    const same = await patch(made, 1, { body: doc(dataUrl(bytes)) });
    assert.equal(same.body.data.revision, 1, 'the same image is no change');
    const moved = await patch(made, 1, { hidden: values.body, body: null });
    assert.equal(moved.body.data.revision, 2);
    assert.equal(await sees(made, bytes), true);
    const fresh = picture();
    const both = await patch(made, 2, { hidden: doc(handle(bytes), dataUrl(fresh), handle(fresh)) });
    assert.deepEqual(both.body.data.values.hidden, doc(handle(bytes), handle(fresh), handle(fresh)));
    assert.ok((await sees(made, fresh)) && (await sees(made, bytes)));
  });

  it('that were removed remain in the history for callers who may read it', async () => {
    const bytes = picture();
    const made = await around.make({ body: doc(dataUrl(bytes)) });
    await around.ok('chief', 'PATCH', `/objects/${made.id}`, { expectedRevision: 1, changes: { body: null } });
    assert.deepEqual([await sees(made, bytes, 'agent'), await sees(made, bytes, 'viewer')], [true, false]);
    const hidden = picture();
    const other = await around.make({ hidden: doc(dataUrl(hidden)) });
    await around.ok('chief', 'PATCH', `/objects/${other.id}`, { expectedRevision: 1, changes: { hidden: null } });
    assert.deepEqual([await sees(other, hidden), await sees(other, hidden, 'agent')], [true, false]);
  });

  it('of a decision report can be read by callers who may read the history', async () => {
    const bytes = picture('jpeg');
    const made = await around.make();
    const move = (code: string, revision: number, state: string, values: object) =>
      around.call('chief', 'POST', `/objects/${made.id}/transitions`, {
        transitionId: around.id(code),
        expectedRevision: revision,
        expectedStateId: around.id(state),
        values,
      });
    assert.equal((await move('take', 1, 'new', {})).status, 200);
    const values = { solution: 'x', secret: 's', $decisionReport: doc(dataUrl(bytes, 'jpeg')) };
    const strange = await move('finish', 2, 'work', { ...values, $decisionReport: doc(handle(picture())) });
    assertRejected(strange, 400, 'INVALID_VALUES');
    assert.equal((await move('finish', 2, 'work', values)).status, 200);
    const events = await around.ok<any[]>('chief', 'GET', `/objects/${made.id}/history`);
    assert.deepEqual(events.at(-1).data.decisionReport, doc(handle(bytes)));
    assert.deepEqual([await sees(made, bytes), await sees(made, bytes, 'agent')], [true, true]);
    assert.deepEqual([await sees(made, bytes, 'viewer'), await sees(made, bytes, 'stranger')], [false, false]);
  });

  it('are rejected if invalid, too large or malformed, and a failed change stores nothing', async () => {
    const largest = picture('png', MAX);
    const made = await around.make({ body: doc(dataUrl(largest)) });
    assert.ok(await sees(made, largest));
    const svg = 'data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+';
    const bad = [
      dataUrl(picture('png', MAX + 1)),
      dataUrl(picture('gif')),
      svg,
      'data:text/html;base64,YQ==',
      'https://example.org/a.png',
    ];
    for (const src of [...bad, 'data:image/png;base64,!!!!', 'data:image/png,abc', 'javascript:alert(1)', 'blob:x']) {
      assertRejected(await patch(made, 1, { body: doc(src) }), 400, 'INVALID_VALUES', src.slice(0, 40));
    }
    const unused = picture();
    assertRejected(await patch(made, 1, { body: doc(dataUrl(unused)), count: -1 }), 400, 'INVALID_VALUES');
    assertRejected(await patch(made, 7, { body: doc(dataUrl(unused)) }), 409, 'REVISION_CONFLICT');
    assert.equal((await around.rows('SELECT 1 FROM inline_images WHERE object_id = $1', [made.id])).length, 1);
    assert.equal((await around.rows('SELECT 1 FROM blobs WHERE sha256 = $1', [keyOf(unused)])).length, 0);
  });

  it('are accepted in bulk calls, each for its record', async () => {
    const [one, two, three] = [await around.make(), await around.make(), await around.make()];
    const shared = picture();
    const lost = picture();
    const results = await around.ok<any[]>('chief', 'POST', '/bulk', {
      operation: 'update',
      items: [
        { objectId: one.id, expectedRevision: 1, changes: { body: doc(dataUrl(shared)) } },
        { objectId: two.id, expectedRevision: 1, changes: { body: doc(dataUrl(lost)), count: -1 } },
        { objectId: three.id, expectedRevision: 1, changes: { body: doc(dataUrl(shared)) } },
      ],
    });
    assert.deepEqual(
      results.map(({ status }) => status),
      ['SUCCEEDED', 'FAILED', 'SUCCEEDED'],
    );
    assert.deepEqual(
      [await sees(one, shared), await sees(two, shared), await sees(three, shared)],
      [true, false, true],
    );
    assert.equal((await around.rows('SELECT 1 FROM blobs WHERE sha256 = $1', [keyOf(lost)])).length, 0);
  });

  it('are not sent if access is withdrawn while storage is read', async () => {
    for (let round = 0; round < 10; round++) {
      const bytes = picture();
      const made = await around.make({ body: doc(dataUrl(bytes)) });
      between = async () => {
        const changes = { kind: 'b' };
        await around.ok('chief', 'PATCH', `/objects/${made.id}`, { expectedRevision: 1, changes });
        await around.rows(
          `UPDATE config_items SET compiled = jsonb_set(compiled, '{records,0,where}', '{"field":"kind","operator":"equals","value":"a"}') WHERE section = 'roles' AND code = 'agent'`,
        );
        await around.rows('UPDATE cache_versions SET config = config + 1, rights = rights + 1');
        await around.app.app.versions.refresh();
      };
      const answer = await fetchImage(made, bytes, 'agent');
      between = undefined;
      const sent = Buffer.from(await answer.arrayBuffer());
      assert.equal(answer.status, 404, `round ${round}`);
      assert.ok(!sent.includes(bytes.subarray(20, 30)));
      await around.rows(
        `UPDATE config_items SET compiled = compiled #- '{records,0,where}' WHERE section = 'roles' AND code = 'agent'`,
      );
      await around.rows('UPDATE cache_versions SET config = config + 1, rights = rights + 1');
      await around.app.app.versions.refresh();
    }
  });
});
