/**
 * Backups are taken during writes, restored into an empty database and store, and compared with the acknowledged writes.
 * Altered files are rejected.
 */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, open, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import sql, { raw, type Sql } from 'sql-template-tag';
import { ArchiveError, ArchiveWriter } from '../src/platform/backup/archive.ts';
import { dumpService } from '../src/platform/backup/dump.ts';
import { loadService, NotEmpty } from '../src/platform/backup/load.ts';
import { FileBlobs } from '../src/platform/blobs/filesystem.ts';
import type { BlobStore } from '../src/platform/blobs/store.ts';
import { sweepBlobs } from '../src/platform/blobs/register.ts';
import { Database } from '../src/platform/database/pool.ts';
import { verifyJournal } from '../src/platform/audit/seals-verify.ts';
import { givePlaces } from '../src/platform/journal/places.ts';
import { sealJournal } from '../src/platform/journal/seals.ts';
import { MODULES } from '../src/modules.ts';
import { backupSources, collect } from '../src/platform/module.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { type RecordFixture, startRecordFixture } from './support/record-fixture.ts';
import { sealAll } from './support/seal-all.ts';
import { idOf } from './support/small-configuration.ts';
import { createEmptyDatabase, type TestDatabase } from './support/database.ts';

const DAY_MS = 86_400_000;

interface Acknowledged {
  id: string;
  revision: number;
  sha256: string | undefined;
}

/** Empty database and empty store, as a new machine has them. */
interface Target {
  database: TestDatabase;
  db: Database;
  folder: string;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

async function contents(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.map((name) => path.basename(name)).filter((name) => /^[0-9a-f]{64}$/.test(name));
}

describe('backup and restore', () => {
  let fixture: RecordFixture;
  let app: TestApp;
  let folder: string;
  let file: string;
  let watched: BlobStore;
  const targets: Target[] = [];
  /** Writes acknowledged before the snapshot began. */
  let sure: Acknowledged[];

  const target = async (): Promise<Target> => {
    const database = await createEmptyDatabase();
    const made = {
      database,
      db: new Database({ url: database.url, max: 5 }),
      folder: await mkdtemp(path.join(folder, 'target-')),
    };
    targets.push(made);
    return made;
  };
  const load = (to: Target, from = file) =>
    loadService({ db: to.db, blobs: new FileBlobs(to.folder), file: from, onPart: () => {} });
  const dump = async (to: string, blobs: BlobStore = watched) => {
    const archive = await ArchiveWriter.create(to);
    const options = {
      db: app.db,
      blobs,
      uses: collect(MODULES, 'blobUses'),
      sources: backupSources(MODULES),
      archive,
      allowMissing: false,
      onPart: () => {},
    };
    return await dumpService({ ...options, at: new Date().toISOString() }).catch(async (error: unknown) => {
      await archive.abandon();
      throw error;
    });
  };

  /** One of many concurrent writers: a record with a comment, a change and an attachment. Returns what was acknowledged. */
  const write = async (number: number): Promise<Acknowledged> => {
    const { id } = await fixture.make({ title: `written ${number}`, kind: 'a' });
    await fixture.ok('chief', 'POST', `/objects/${id}/comments`, { body: `about ${number}`, visibility: 'public' });
    const changed = await fixture.ok('chief', 'PATCH', `/objects/${id}`, {
      expectedRevision: 1,
      changes: { count: number },
    });
    if (number % 3 !== 0) return { id, revision: changed.revision, sha256: undefined };
    const content = randomBytes(3000);
    const body = { filename: 'a.bin', contentBase64: content.toString('base64') };
    await fixture.ok('chief', 'POST', `/objects/${id}/attachments`, body);
    return { id, revision: changed.revision, sha256: sha256(content) };
  };

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'docket-backup-'));
    file = path.join(folder, 'service.docket');
    fixture = await startRecordFixture();
    app = fixture.app;
    watched = new FileBlobs(app.blobFolder);
    let stopped = false;
    let number = 0;
    const done: Acknowledged[] = [];
    const writers = Array.from({ length: 8 }, async () => {
      while (!stopped) done.push(await write(number++ % 1000));
    });
    let report: Awaited<ReturnType<typeof dump>>;
    try {
      while (done.length < 30) await Promise.race([sleep(10), Promise.all(writers)]);
      await sealJournal(app.db, Date.now());
      await givePlaces(app.db);
      sure = [...done];
      report = await dump(file);
    } finally {
      stopped = true;
    }
    // Writers went on the whole time: something came after the snapshot.
    await Promise.all(writers);
    assert.ok(done.length > sure.length);
    assert.ok(report.rows > 0 && report.files > 0);
  });
  after(async () => {
    for (const { db, database } of targets) {
      await db.close();
      await database.drop();
    }
    await fixture.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('restores everything acknowledged before the backup began, and nothing partially', async () => {
    const to = await target();
    const { head } = await load(to);
    assert.ok(head.migrations.length > 0);
    const rows = async <Row>(text: string): Promise<Row[]> => await to.db.query<Row>(raw(text));
    const objects = await rows<{ id: string; revision: number }>('SELECT id, revision FROM objects');
    const byId = new Map(objects.map((object) => [object.id, object.revision]));
    for (const { id, revision } of sure) assert.equal(byId.get(id), revision);
    // Each record with its history, its words for search and its event; a change is whole or not there.
    const halves = await rows(`
      SELECT o.id FROM objects o WHERE o.revision <> (SELECT count(*) FROM journal j
          WHERE j.object_id = o.id AND j.type IN ('ObjectCreated', 'ObjectUpdated', 'ObjectTransitioned', 'ObjectArchived'))
        OR NOT EXISTS (SELECT 1 FROM search_records s WHERE s.id = o.id)
      UNION ALL SELECT j.id FROM journal j WHERE j.object_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM objects o WHERE o.id = j.object_id)
      UNION ALL SELECT c.id FROM comments c WHERE NOT EXISTS (SELECT 1 FROM journal j WHERE j.object_id = c.object_id AND j.type = 'CommentAdded')`);
    assert.deepEqual(halves, []);
    const stored = new Set(await contents(to.folder));
    const named = await rows<{ sha256: string }>('SELECT sha256 FROM blobs');
    assert.deepEqual(new Set(named.map((row) => row.sha256)), stored);
    for (const { sha256: key } of sure) if (key !== undefined) assert.ok(stored.has(key));
    for (const key of [...stored].slice(0, 5)) {
      assert.equal(sha256(await readFile(path.join(to.folder, key.slice(0, 2), key))), key);
    }
  });

  it('continues after the restore: numbers, rights, search and the journal chain', async () => {
    const to = await target();
    await load(to);
    const [before] = await to.db.query<{ unsealed: number; seals: number; rows: number }>(sql`
      SELECT count(*) AS rows, count(*) FILTER (WHERE (j.txid, j.seq) > (s.txid, s.seq)) AS unsealed,
        (SELECT count(*) FROM journal_seals) AS seals FROM journal j CROSS JOIN journal_sealing s`);
    assert.ok((before?.unsealed ?? 0) > 0 && before?.seals === 1);
    assert.deepEqual((await verifyJournal(to.db)).findings, []);
    const there = await startTestApp({ on: { databaseUrl: to.database.url, blobFolder: to.folder } as TestApp });
    try {
      const { key } = await there.createKey({ login: 'chief' });
      const typeDefinitionId = await idOf(app, 'config_items', 'case');
      const body = { typeDefinitionId, values: { title: 'afterwards' } };
      const made = await there.request('POST', '/api/v1/objects', { key, body });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const [{ highest } = { highest: 0 }] = await to.db.query<{ highest: number }>(
        sql`SELECT max(substr(number, 5)::int) AS highest FROM objects WHERE id <> ${made.body.data.id}`,
      );
      assert.ok(Number(made.body.data.number.slice(4)) > highest);
      const found = await there.request('GET', '/api/v1/search?q=written', { key });
      assert.match(JSON.stringify(found.body.data), /<mark>written/);
      const sealed = await sealAll(to.db);
      assert.ok(sealed > 0);
      const verified = await verifyJournal(to.db);
      assert.deepEqual(verified.findings, []);
      assert.equal(verified.unsealed, 0);
      assert.equal(verified.seals, 1 + sealed);
    } finally {
      await there.close();
    }
  });

  it('tells readers of the changes feed which events the restore lost', async () => {
    while (await givePlaces(app.db));
    const read = async (call: (query: string) => Promise<any>, from = ''): Promise<{ ids: string[]; next: string }> => {
      const ids: string[] = [];
      for (let next = from; ; ) {
        const { data } = await call(`?limit=1000${next === '' ? '' : `&after=${next}`}`);
        for (const event of data.events) ids.push(event.eventId);
        next = data.next;
        if (data.caughtUp) return { ids, next };
      }
    };
    const mirror = await read(async (query) => (await fixture.call('chief', 'GET', `/changes${query}`)).body);
    const to = await target();
    await load(to);
    const there = await startTestApp({ on: { databaseUrl: to.database.url, blobFolder: to.folder } as TestApp });
    try {
      const { key } = await there.createKey({ login: 'chief' });
      const call = async (query: string) => (await there.request('GET', `/api/v1/changes${query}`, { key })).body;
      while (await givePlaces(to.db));
      const { error } = await call(`?after=${mirror.next}`);
      assert.equal(error?.code, 'CURSOR_REWOUND');
      const kept = mirror.ids.slice(0, mirror.ids.indexOf(error.details.lastEventId) + 1);
      assert.ok(kept.length > 0);
      const rest = await read(call, error.details.resume);
      const stored = await to.db.query<{ id: string }>(sql`SELECT id FROM journal WHERE object_id IS NOT NULL`);
      assert.deepEqual([...kept, ...rest.ids].sort(), stored.map(({ id }) => id).sort());
    } finally {
      await there.close();
    }
  });

  it('rejects a database that is not empty or in use', async () => {
    const to = await target();
    await load(to);
    await assert.rejects(load(to), NotEmpty);
    const strange = await target();
    await strange.db.query(sql`CREATE TABLE somebody_elses (id int)`);
    await assert.rejects(load(strange), NotEmpty);
    // An unused schema counts as empty.
    const fresh = await target();
    const other = path.join(folder, 'untouched.docket');
    await loadService({
      db: fresh.db,
      blobs: new FileBlobs(fresh.folder),
      file,
      onPart: () => {},
      inspect: refuse,
    }).catch(() => {});
    await copyFile(file, other);
    await load(fresh, other);
  });

  const refuse = async (): Promise<void> => {
    throw new Error('seen and refused');
  };

  it('leaves an empty database when it fails midway', async () => {
    const to = await target();
    let calls = 0;
    const blobs = {
      put: async () => {
        calls++;
        if (calls > 2) throw new Error('no room for files');
      },
    };
    await assert.rejects(loadService({ db: to.db, blobs, file, onPart: () => {} }), /no room for files/);
    const inspected = loadService({ db: to.db, blobs, file, onPart: () => {}, inspect: refuse });
    await assert.rejects(inspected, /seen and refused/);
    for (const table of ['objects', 'journal', 'users', 'config_items']) {
      const [row] = await to.db.query<{ rows: number }>(raw(`SELECT count(*) AS rows FROM ${table}`));
      assert.equal(row?.rows, 0, table);
    }
    await load(to);
  });

  it('rejects a truncated, altered or foreign file before it writes', async () => {
    const to = await target();
    const bytes = await readFile(file);
    const other = path.join(folder, 'other.docket');
    const refused = async (content: Uint8Array, says: RegExp): Promise<void> => {
      await writeFile(other, content);
      await assert.rejects(load(to, other), (error: Error) => {
        assert.ok(error instanceof ArchiveError, String(error.stack));
        assert.match(error.message, says);
        return true;
      });
    };
    for (const part of [0.2, 0.6, 0.95]) {
      await refused(bytes.subarray(0, Math.floor(bytes.length * part)), /cut short|cannot be read on/);
    }
    await refused(bytes.subarray(0, bytes.length - 1), /cut short|cannot be read on/);
    for (const part of [0.1, 0.5, 0.9]) {
      const changed = Buffer.from(bytes);
      const at = Math.floor(bytes.length * part);
      changed[at] = (changed[at] as number) ^ 0x40;
      await refused(changed, /altered or damaged|cut short/);
    }
    await refused(Buffer.from('{"this": "is something else"}'), /is no backup/);
    await refused(Buffer.alloc(0), /is no(?:t whole| backup)/);
    await refused(zstdCompressSync(Buffer.alloc(10_240)), /is no(?:t whole| backup)/);
    // Altered below the compression, so that only our own checks can find it.
    const tar = zstdDecompressSync(bytes);
    const title = tar.indexOf('written 1');
    assert.ok(title > 0);
    const other1 = Buffer.from(tar);
    other1.write('Written 1', title);
    await refused(zstdCompressSync(other1), /altered or damaged: tables\//);
    assert.deepEqual(await contents(to.folder), []);
    await load(to);
  });

  it('rejects a backup of a build before the first release', async () => {
    // Those builds named their first migration as this version does, with another checksum.
    const early = path.join(folder, 'early.docket');
    const mark = (checksum: Sql) =>
      app.db.query<{ old: string }>(sql`UPDATE schema_migrations s SET checksum = ${checksum} FROM schema_migrations o
        WHERE s.name = o.name AND s.name = '0001-baseline' RETURNING o.checksum AS old`);
    const [row] = await mark(sql`repeat('0', 64)`);
    try {
      await dump(early);
    } finally {
      await mark(sql`${row?.old}`);
    }
    await assert.rejects(load(await target(), early), (error: Error) => {
      assert.ok(error instanceof ArchiveError, String(error.stack));
      assert.match(error.message, /made by a build of Docket before 0\.1\.0.*docket export/);
      return true;
    });
  });

  it('creates a complete file or none, and never overwrites one', async () => {
    await assert.rejects(dump(file), /is there already/);
    const broken: BlobStore = {
      ...(Object.create(null) as BlobStore),
      read: async () => {
        throw new Error('the store went away');
      },
    };
    const other = path.join(folder, 'broken.docket');
    await assert.rejects(dump(other, broken), /the store went away/);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.includes('broken')),
      [],
    );
    const handle = await open(file, 'r');
    assert.equal((await handle.stat()).mode & 0o777, 0o600);
    await handle.close();
  });

  it('protects the files of the snapshot from the sweeper', async () => {
    const content = randomBytes(500);
    const key = sha256(content);
    await watched.put(key, content);
    const past = new Date(Date.now() - 2 * DAY_MS);
    await utimes(path.join(app.blobFolder, key.slice(0, 2), key), past, past);
    await app.db.query(sql`INSERT INTO blobs (sha256, touched_at) VALUES (${key}, ${past.toISOString()})`);
    const sweep = (): Promise<number> => sweepBlobs(app.db, watched, collect(MODULES, 'blobUses'), Date.now());
    let sweptMeanwhile: number | undefined;
    const looking: BlobStore = {
      put: (...args) => watched.put(...args),
      remove: (...args) => watched.remove(...args),
      list: (...args) => watched.list(...args),
      check: () => watched.check(),
      bytes: (...args) => watched.bytes(...args),
      read: async (...args) => {
        sweptMeanwhile ??= await sweep();
        return await watched.read(...args);
      },
    };
    await dump(path.join(folder, 'held.docket'), looking);
    assert.equal(sweptMeanwhile, 0);
    assert.equal(await sweep(), 1);
    const to = await target();
    await load(to, path.join(folder, 'held.docket'));
    // Unused content is not restored.
    assert.ok(!(await contents(to.folder)).includes(key));
  });
});
