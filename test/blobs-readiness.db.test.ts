/**
 * A file store that rejects calls, goes down and recovers: the effect on `/readyz`, on calls that need files, and on the log.
 */
import assert from 'node:assert/strict';
import { rename, writeFile, rm } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { S3Blobs } from '../src/platform/blobs/s3.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { FakeS3 } from './support/fake-s3.ts';
import { setCredentials } from './support/s3.ts';

const WAIT_MS = 60_000;
const PROBES = { everyMs: 100, failedEveryMs: 100 };

/** Polls until the response satisfies `right`. */
async function until(app: TestApp, right: (ready: TestAnswer) => boolean): Promise<TestAnswer> {
  for (const began = performance.now(); ; await sleep(100)) {
    const answer = await app.request('GET', '/readyz');
    if (right(answer)) return answer;
    if (performance.now() - began > WAIT_MS) throw new Error(`/readyz stays ${JSON.stringify(answer.body)}`);
  }
}

const well = (ready: TestAnswer): boolean => ready.status === 200 && ready.body.degraded.length === 0;
const degraded = (ready: TestAnswer): boolean => ready.status === 200 && ready.body.degraded[0] === 'blobs';

interface Files {
  objectId: string;
  key: string;
  upload(text: string): Promise<TestAnswer>;
  download(id: string): Promise<TestAnswer>;
}

async function withRecord(app: TestApp): Promise<Files> {
  const { key } = await app.createKey({ login: 'admin' });
  const body = { typeDefinitionId: 'incident', values: { title: 'files', priority: 'p3' } };
  const objectId = (await app.request('POST', '/api/v1/objects', { key, body })).body.data.id;
  const path = `/api/v1/objects/${objectId}/attachments`;
  return {
    objectId,
    key,
    upload: (text) => {
      const contentBase64 = Buffer.from(text).toString('base64');
      return app.request('POST', path, { key, body: { filename: 'a.txt', mediaType: 'text/plain', contentBase64 } });
    },
    download: (id) => app.request('GET', `/api/v1/attachments/${id}/content`, { key }),
  };
}

function refused(answer: TestAnswer): void {
  assert.deepEqual([answer.status, answer.body.error?.code], [503, 'OVERLOADED'], JSON.stringify(answer.body));
  assert.match(answer.body.error.message, /file store/);
  assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
}

describe('an S3 store with least privilege', () => {
  let fake: FakeS3;
  let restore: () => void;
  let app: TestApp;
  let files: Files;
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });

  before(async () => {
    fake = await FakeS3.start();
    restore = setCredentials();
    app = await startTestApp({ blobs: () => S3Blobs.at(fake.setting), blobProbes: PROBES, log });
    files = await withRecord(app);
  });
  after(async () => {
    await app?.close();
    await fake?.close();
    restore?.();
  });

  it('is ready and needs no further permission', async () => {
    for (let i = 0; i < 3; i++) {
      assert.deepEqual((await until(app, well)).body.checks, { database: 'ok', blobs: 'ok' });
      // `/readyz` caches its result for a second.
      await sleep(1100);
    }
    assert.ok(fake.asked.length > 6, 'it was probed again');
    assert.deepEqual(
      fake.asked.filter((one) => !/^(?:PUT|GET|DELETE) \/docket\/files\/\.probe-[0-9a-f-]{36}$/.test(one)),
      [],
    );
    assert.equal((await files.upload('kept')).status, 201);
    assert.deepEqual(
      [...fake.objects.keys()].filter((key) => key.includes('probe')),
      [],
    );
  });

  for (const mood of ['away', 'denied', 'broken'] as const) {
    it(`${mood}: fails calls that need files and keeps the process ready`, async () => {
      const kept = (await files.upload(`before ${mood}`)).body.data.id;
      lines.length = 0;
      fake.mood = mood;
      await until(app, degraded);
      refused(await files.upload(`while ${mood}`));
      refused(await files.download(kept));
      assert.equal((await app.request('GET', `/api/v1/objects/${files.objectId}`, files)).status, 200);
      const reason = { away: /PutObject of s3:\/\/docket\/files\/\.probe/, denied: /AccessDenied, 403/, broken: /500/ };
      const said = lines.filter((line) => line.includes('file store unavailable'));
      assert.match(said.join(''), reason[mood]);
      assert.equal(said.length, 1, 'once, regardless of the number of requests');
      fake.mood = 'fair';
      await until(app, well);
      assert.ok(lines.some((line) => line.includes('file store available again')));
      assert.equal((await files.upload(`after ${mood}`)).status, 201);
      assert.equal((await files.download(kept)).body, `before ${mood}`);
    });
  }

  it('makes a process unready only if it never responded', async () => {
    fake.mood = 'denied';
    const fresh = await startTestApp({ on: app, blobs: () => S3Blobs.at(fake.setting), blobProbes: PROBES });
    try {
      const unfit = await fresh.request('GET', '/readyz');
      assert.deepEqual([unfit.status, unfit.body.checks.blobs], [503, 'unavailable']);
      fake.mood = 'fair';
      await until(fresh, well);
      fake.mood = 'denied';
      await until(fresh, degraded);
    } finally {
      fake.mood = 'fair';
      await fresh.close();
    }
  });
});

describe('a store in the file system', () => {
  let app: TestApp;
  let files: Files;
  before(async () => {
    app = await startTestApp({ blobProbes: PROBES });
    files = await withRecord(app);
  });
  after(() => app?.close());

  it('fails calls that need files while it is unusable, and recovers', async () => {
    const kept = (await files.upload('kept')).body.data.id;
    await until(app, well);
    // As a disk that is no longer there; a user who is root may write anywhere.
    await rename(app.blobFolder, `${app.blobFolder}.away`);
    await writeFile(app.blobFolder, '');
    await until(app, degraded);
    refused(await files.upload('more'));
    refused(await files.download(kept));
    await rm(app.blobFolder);
    await rename(`${app.blobFolder}.away`, app.blobFolder);
    await until(app, well);
    assert.equal((await files.upload('more')).status, 201);
    assert.equal((await files.download(kept)).body, 'kept');
  });
});
