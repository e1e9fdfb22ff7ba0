/** Attachments through HTTP, rule by rule (docs/spec/around-records.md). */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdir, truncate, unlink } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  type RecordFixture,
  assertSameError,
  duringUncommittedChange,
  type Made,
  type FixtureUser,
  assertRejected,
  startRecordFixture,
  countOutcomes,
  concurrently,
} from '../../../test/support/record-fixture.ts';
import { changeRights, idOf } from '../../../test/support/small-configuration.ts';
import type { BlobStore } from '../../platform/blobs/store.ts';

let around: RecordFixture;
/** Called after the storage is read and before the answer is sent. */
let between: (() => Promise<void>) | undefined;

const files = (made: Made): string => `/objects/${made.id}/attachments`;
const base64 = (content: string | Uint8Array): string => Buffer.from(content as string).toString('base64');
const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

async function upload(
  made: Made,
  content: string | Uint8Array,
  more: object = {},
  who: FixtureUser = 'chief',
): Promise<any> {
  return await around.ok(who, 'POST', files(made), { filename: 'a.bin', contentBase64: base64(content), ...more });
}

/** The raw response. */
async function download(
  id: string,
  who: FixtureUser = 'chief',
  headers: Record<string, string> = {},
): Promise<Response> {
  const authorization = `Bearer ${around.keys[who]}`;
  return await fetch(`${around.app.url}/api/v1/attachments/${id}/content`, { headers: { authorization, ...headers } });
}

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

/** Keys of all content in the blob store. */
async function kept(): Promise<string[]> {
  const names = await readdir(around.app.blobFolder, { recursive: true });
  return names.map((name) => path.basename(name)).filter((name) => name.length === 64);
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

describe('attachments', () => {
  before(async () => {
    around = await startRecordFixture({ blobs: looking });
  });
  after(() => around.close());

  it('return the uploaded bytes and metadata unchanged', async () => {
    const made = await around.make();
    for (const size of [1, 3, 1000, 100_000]) {
      const content = randomBytes(size);
      const file = await upload(made, content, { filename: 'Отчёт №5.pdf', mediaType: 'application/pdf' });
      const { id, createdAt, createdBy, ...rest } = file;
      assert.deepEqual(rest, {
        objectId: made.id,
        originalFilename: 'Отчёт №5.pdf',
        mediaType: 'application/pdf',
        size,
        sha256: sha256(content),
        revision: 1,
        state: 'ACTIVE',
      });
      assert.ok(createdAt <= new Date().toISOString() && createdBy.displayName === 'Person chief');
      const answer = await download(id);
      assert.equal(answer.status, 200);
      assert.deepEqual(await bytesOf(answer), content);
    }
    const listed = await around.ok('chief', 'GET', files(made));
    assert.deepEqual(
      listed.map(({ size }: { size: number }) => size),
      [1, 3, 1000, 100_000],
    );
    assert.equal((await around.ok('chief', 'GET', `/objects/${made.id}`)).revision, 1);
  });

  it('are served as downloads only, with headers that prevent execution', async () => {
    const made = await around.make();
    const content = '<script>alert(1)</script>';
    const { id } = await upload(made, content, { filename: 'a.html', mediaType: 'text/html' });
    const { headers } = await download(id);
    assert.equal(headers.get('content-type'), 'application/octet-stream');
    assert.equal(headers.get('content-disposition'), `attachment; filename="a.html"; filename*=UTF-8''a.html`);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('content-security-policy'), 'sandbox');
    assert.equal(headers.get('cache-control'), 'private, no-store');
    assert.equal(headers.get('content-length'), String(content.length));
    assert.equal(headers.get('accept-ranges'), 'bytes');
    assert.equal(headers.get('etag'), `"${sha256(Buffer.from(content))}"`);
    assert.match(headers.get('x-correlation-id') ?? '', /^[0-9a-f-]{36}$/);
  });

  it('support range requests and conditional requests', async () => {
    const made = await around.make();
    const content = randomBytes(5000);
    const { id } = await upload(made, content);
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 0],
      ['bytes=100-199', 100, 199],
      ['bytes=4990-', 4990, 4999],
      ['bytes=-10', 4990, 4999],
      ['bytes=4000-9999', 4000, 4999],
    ] as const) {
      const answer = await download(id, 'chief', { range });
      assert.equal(answer.status, 206, range);
      assert.equal(answer.headers.get('content-range'), `bytes ${start}-${end}/5000`);
      assert.equal(answer.headers.get('content-length'), String(end - start + 1));
      assert.deepEqual(await bytesOf(answer), content.subarray(start, end + 1));
    }
    for (const range of ['bytes=5000-', 'bytes=5000-5009', `bytes=${'9'.repeat(30)}-`, 'bytes=-0']) {
      const answer = await download(id, 'chief', { range });
      assert.equal(answer.status, 416, range);
      assert.equal(answer.headers.get('content-range'), 'bytes */5000');
      assert.equal(((await answer.json()) as any).error.code, 'RANGE_NOT_SATISFIABLE');
    }
    for (const range of ['bytes=9-5', 'bytes=0-1,5-6', 'items=0-1', 'bytes=a-b']) {
      const answer = await download(id, 'chief', { range });
      assert.equal(answer.status, 200, range);
      assert.deepEqual(await bytesOf(answer), content);
    }
    const etag = `"${sha256(content)}"`;
    for (const other of ['"other"', `W/${etag}`, 'Sat, 21 Nov 2026 09:15:00 GMT']) {
      const conditional = await download(id, 'chief', { range: 'bytes=9999-', 'if-range': other });
      assert.equal(conditional.status, 200, other);
      await conditional.arrayBuffer();
    }
    const goingOn = await download(id, 'chief', { range: 'bytes=4000-', 'if-range': etag });
    assert.equal(goingOn.status, 206);
    assert.deepEqual(await bytesOf(goingOn), content.subarray(4000));
    const head = await fetch(`${around.app.url}/api/v1/attachments/${id}/content`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${around.keys.chief}`, range: 'bytes=0-9' },
    });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, '5000']);
    const hidden = await download(id, 'stranger', { range: 'bytes=9999-' });
    assert.equal(hidden.status, 404);
    await hidden.arrayBuffer();
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await download(id, 'chief', { 'if-none-match': known });
      assert.equal(answer.status, 304, known);
      assert.equal((await bytesOf(answer)).length, 0);
    }
    const other = await download(id, 'chief', { 'if-none-match': '"x"' });
    assert.equal(other.status, 200);
    await other.arrayBuffer();
    const refusal = await download(id, 'stranger', { 'if-none-match': etag });
    assert.equal(refusal.status, 404);
    await refusal.arrayBuffer();
  });

  it('are rejected if empty, too large, malformed or badly named, and then nothing is stored', async () => {
    const made = await around.make();
    const before = (await kept()).length;
    const good = { filename: 'a.bin', contentBase64: 'YQ==' };
    const bad: [object, number, string, string?][] = [
      [{ ...good, contentBase64: '' }, 400, 'ATTACHMENT_EMPTY'],
      [{ ...good, contentBase64: base64(randomBytes(100_001)) }, 413, 'ATTACHMENT_TOO_LARGE', '/contentBase64'],
      [{ ...good, contentBase64: 'YQ' }, 400, 'INVALID_REQUEST', '/contentBase64'],
      [{ ...good, contentBase64: 'data:text/plain;base64,YQ==' }, 400, 'INVALID_REQUEST', '/contentBase64'],
      [{ ...good, contentBase64: null }, 400, 'INVALID_REQUEST', '/contentBase64'],
      [{ filename: 'a.bin' }, 400, 'INVALID_REQUEST', '/contentBase64'],
      [{ contentBase64: 'YQ==' }, 400, 'INVALID_REQUEST', '/filename'],
      [{ ...good, filename: '../a' }, 400, 'INVALID_REQUEST', '/filename'],
      [{ ...good, filename: 'a\r\nX: 1' }, 400, 'INVALID_REQUEST', '/filename'],
      [{ ...good, filename: 'x'.repeat(256) }, 400, 'INVALID_REQUEST', '/filename'],
      [{ ...good, filename: 'x'.repeat(2000) }, 400, 'INVALID_REQUEST', '/filename'],
      [{ ...good, mediaType: 'nothing' }, 400, 'INVALID_REQUEST', '/mediaType'],
      [{ ...good, objectId: randomUUID() }, 400, 'INVALID_REQUEST', '/objectId'],
      [{ ...good, size: 1 }, 400, 'INVALID_REQUEST', '/size'],
    ];
    for (const [body, status, code, where] of bad) {
      const answer = await around.call('chief', 'POST', files(made), body);
      assertRejected(answer, status, code);
      if (where !== undefined) assert.equal(answer.body.error.details[0].path, where);
    }
    assert.equal((await kept()).length, before);
    assert.deepEqual(await around.ok('chief', 'GET', files(made)), []);
    assert.equal((await upload(made, 'a', { objectId: made.id })).mediaType, 'application/octet-stream');
  });

  it('have their own revision and are archived, not deleted', async () => {
    const made = await around.make();
    const { id } = await upload(made, 'once');
    const one = `/attachments/${id}`;
    assertRejected(await around.call('chief', 'DELETE', one, { expectedRevision: 2 }), 409, 'REVISION_CONFLICT');
    const answers = await concurrently(8, () => around.call('chief', 'DELETE', one, { expectedRevision: 1 }));
    assert.deepEqual(countOutcomes(answers), { 200: 1, '409 ARCHIVED': 7 });
    const done = answers.find(({ status }) => status === 200);
    assert.deepEqual(done?.body.data, { id, state: 'ARCHIVED', revision: 2 });
    assert.deepEqual(await around.ok('chief', 'GET', files(made)), []);
    assertRejected(await around.call('chief', 'GET', `${one}/content`), 404, 'NOT_FOUND');
    const events = await around.ok<{ type: string; data: any }[]>('chief', 'GET', `/objects/${made.id}/history`);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ObjectCreated', 'AttachmentAdded', 'AttachmentArchived'],
    );
    assert.deepEqual([events[1]?.data.attachmentId, events[1]?.data.size, events[2]?.data.attachmentId], [id, 4, id]);
    assert.ok((await kept()).includes(sha256(Buffer.from('once'))), 'the content stays');
  });

  it('check access to the record, then the right, before anything is stored', async () => {
    const hidden = await around.make({ kind: 'b' });
    const { id } = await upload(hidden, 'hidden');
    const absent = { id: randomUUID() } as Made;
    const fresh = { filename: 'a', contentBase64: base64('never stored') };
    for (const [method, seen, gone, body] of [
      ['GET', files(hidden), files(absent), undefined],
      ['POST', files(hidden), files(absent), fresh],
      ['GET', `/attachments/${id}/content`, `/attachments/${absent.id}/content`, undefined],
      ['DELETE', `/attachments/${id}`, `/attachments/${absent.id}`, { expectedRevision: 1 }],
    ] as const) {
      const answer = await around.call('viewer', method, seen, body);
      assertRejected(answer, 404, 'NOT_FOUND');
      assertSameError(answer, await around.call('viewer', method, gone, body));
    }
    const made = await around.make();
    const theirs = await upload(made, 'theirs');
    assertRejected(await around.call('viewer', 'POST', files(made), fresh), 403, 'RIGHT_MISSING');
    assertRejected(
      await around.call('viewer', 'DELETE', `/attachments/${theirs.id}`, { expectedRevision: 5 }),
      403,
      'RIGHT_MISSING',
    );
    assert.equal((await around.ok('viewer', 'GET', files(made))).length, 1);
    assert.equal((await bytesOf(await download(theirs.id, 'viewer'))).toString(), 'theirs');
    assert.ok(!(await kept()).includes(sha256(Buffer.from('never stored'))));
  });

  it('are not sent if the right is withdrawn while storage is read, 50 times', async () => {
    const agent = await idOf(around.app, 'users', 'agent');
    const roles = await around.rows<{ role_id: string }>('SELECT role_id FROM role_assignments WHERE member_id = $1', [
      agent,
    ]);
    const [role] = roles;
    const rights = async (statement: string, values: unknown[]): Promise<void> => {
      await changeRights(around.app, statement, values);
      await around.app.app.versions.refresh();
    };
    const ways: ((made: Made, id: string) => { take(): Promise<void>; give(): Promise<void> })[] = [
      () => ({
        take: () => rights('DELETE FROM role_assignments WHERE member_id = $1', [agent]),
        give: () => rights(`INSERT INTO role_assignments VALUES ($1, 'user', $2)`, [role?.role_id, agent]),
      }),
      () => ({
        take: () => rights(`UPDATE users SET state = 'ARCHIVED' WHERE id = $1`, [agent]),
        give: () => rights(`UPDATE users SET state = 'ACTIVE' WHERE id = $1`, [agent]),
      }),
      (_, id) => ({
        take: async () => void (await around.ok('chief', 'DELETE', `/attachments/${id}`, { expectedRevision: 1 })),
        give: async () => {},
      }),
    ];
    for (let round = 0; round < 50; round++) {
      const made = await around.make();
      const content = randomBytes(2000);
      const { id } = await upload(made, content);
      const { take, give } = (ways[round % ways.length] as (typeof ways)[number])(made, id);
      let asked = 0;
      between = async () => {
        asked++;
        await take();
      };
      const answer = await download(id, 'agent', round % 2 === 0 ? {} : { range: 'bytes=0-99' });
      between = undefined;
      const sent = await bytesOf(answer);
      assert.equal(asked, 1);
      assert.equal(answer.status, 404, `round ${round}`);
      assert.ok(!sent.includes(content.subarray(0, 8)), 'nothing of the content is sent');
      assert.equal(JSON.parse(sent.toString()).error.code, 'NOT_FOUND');
      for (const header of ['content-disposition', 'etag', 'content-range'])
        assert.equal(answer.headers.get(header), null);
      await give();
    }
  });

  it('are not sent if the record becomes hidden while storage is read', async () => {
    const made = await around.make();
    const { id } = await upload(made, 'out of sight');
    between = async () => {
      await around.ok('chief', 'PATCH', `/objects/${made.id}`, { expectedRevision: 1, changes: { kind: 'b' } });
    };
    const answer = await download(id, 'viewer');
    between = undefined;
    assert.equal(answer.status, 404);
    assert.ok(!(await answer.text()).includes('out of sight'));
  });

  it('of an archived record can be read, but not added or archived', async () => {
    const made = await around.make();
    const { id } = await upload(made, 'before');
    await around.archive(made);
    assertRejected(
      await around.call('chief', 'POST', files(made), { filename: 'a', contentBase64: 'YQ==' }),
      409,
      'ARCHIVED',
    );
    assertRejected(
      await around.call('chief', 'DELETE', `/attachments/${id}`, { expectedRevision: 1 }),
      409,
      'ARCHIVED',
    );
    assert.equal((await bytesOf(await download(id))).toString(), 'before');
    const late = await around.make();
    const archived = `UPDATE objects SET state = 'ARCHIVED', revision = revision + 1, archived_at = now() WHERE id = $1`;
    const answer = await duringUncommittedChange(around, archived, [late.id], () =>
      around.call('chief', 'POST', files(late), { filename: 'late', contentBase64: base64('late') }),
    );
    assertRejected(answer, 409, 'ARCHIVED');
  });

  it('are added once per Idempotency-Key', async () => {
    const made = await around.make();
    const options = { idempotencyKey: 'file' };
    const body = { filename: 'once.txt', contentBase64: base64('once only') };
    const answers = await concurrently(8, () => around.call('agent', 'POST', files(made), body, options));
    assert.deepEqual(countOutcomes(answers), { 201: 8 });
    assert.equal(new Set(answers.map((answer) => answer.body.data.id)).size, 1);
    assert.equal((await around.ok('chief', 'GET', files(made))).length, 1);
    const other = { ...body, filename: 'twice.txt' };
    assertRejected(await around.call('agent', 'POST', files(made), other, options), 409, 'IDEMPOTENCY_KEY_REUSED');
    const { id } = answers[0]?.body.data ?? {};
    await around.ok('chief', 'DELETE', `/attachments/${id}`, { expectedRevision: 1 });
    const again = await around.ok('agent', 'POST', files(made), body, options);
    assert.equal(again.id, id);
    assert.equal((await around.ok('chief', 'GET', files(made))).length, 0);
  });

  it('share equal content under any number of names', async () => {
    const made = await around.make();
    const content = randomBytes(3000);
    const names = await concurrently(16, async (turn) => (await upload(made, content, { filename: `${turn}.bin` })).id);
    assert.equal((await kept()).filter((key) => key === sha256(content)).length, 1);
    await around.ok('chief', 'DELETE', `/attachments/${names[0]}`, { expectedRevision: 1 });
    assert.deepEqual(await bytesOf(await download(names[1] as string)), content);
  });

  it('lost from disk, whole or in part, cause an error and never a truncated file', async () => {
    const made = await around.make();
    const content = randomBytes(4000);
    const { id } = await upload(made, content);
    const key = sha256(content);
    const file = path.join(around.app.blobFolder, key.slice(0, 2), key);
    await truncate(file, 100);
    for (const range of [{}, { range: 'bytes=50-199' }]) {
      const answer = await download(id, 'chief', range);
      assert.equal(answer.status, 500);
      const text = await answer.text();
      assert.equal(JSON.parse(text).error.code, 'INTERNAL');
      assert.ok(!text.includes(key) && !text.includes(around.app.blobFolder));
    }
    await unlink(file);
    const answer = await download(id);
    assert.equal(answer.status, 500);
    await answer.text();
    await upload(made, content, { filename: 'again' });
    assert.deepEqual(await bytesOf(await download(id)), content);
  });
});
