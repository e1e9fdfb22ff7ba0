/**
 * Consumers of the journal get every committed event in the order of places: however late it is committed, with several workers, after
 * a kill, after a restore, and again from the beginning.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import sql, { raw } from 'sql-template-tag';
import { createEmptyDatabase, duringTransaction } from '../../../test/support/database.ts';
import { type RecordFixture, startRecordFixture } from '../../../test/support/record-fixture.ts';
import { MODULES } from '../../modules.ts';
import { backupSources, collect } from '../module.ts';
import { ArchiveWriter } from '../backup/archive.ts';
import { dumpService } from '../backup/dump.ts';
import { loadService } from '../backup/load.ts';
import { FileBlobs } from '../blobs/filesystem.ts';
import { Database } from '../database/pool.ts';
import { consume, consumerBacklog, isBehind, isOf } from './consumers.ts';
import { givePlaces } from './places.ts';
import { adoptJournal } from './positions.ts';

const NAME = 'test';
const EVENT = `INSERT INTO journal (id, at, type, via, hash) VALUES (gen_random_uuid(), now(), $1, 'system', '\\x00')`;

/** Notes the types of the events of a batch in the transaction that moves the consumer. */
const work = async (db: Database, places = 100, during: () => Promise<unknown> = async () => undefined) =>
  await consume(db, NAME, places, async (batch, tx) => {
    await tx.query(
      sql`INSERT INTO handled (type) SELECT j.type FROM journal j WHERE ${isOf('j', batch)} ORDER BY j.seq`,
    );
    await during();
  });
const workAll = async (db: Database): Promise<void> => {
  while (await givePlaces(db));
  while (await work(db));
};
const handled = async (db: Database): Promise<string[]> =>
  (await db.query<{ type: string }>(sql`SELECT type FROM handled ORDER BY n`)).map(({ type }) => type);

describe('a consumer of the journal', () => {
  let around: RecordFixture;
  let db: Database;
  let folder: string;

  const event = async (type: string): Promise<void> => {
    await around.rows(EVENT, [type]);
  };

  before(async () => {
    around = await startRecordFixture();
    db = around.app.db;
    folder = await mkdtemp(path.join(tmpdir(), 'docket-consumers-'));
    await db.query(sql`CREATE TABLE handled (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, type text NOT NULL)`);
    await db.query(sql`INSERT INTO journal_consumers (name) VALUES (${NAME})`);
  });
  after(async () => {
    await around.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await workAll(db);
    await db.query(sql`TRUNCATE handled`);
  });

  it('gets the events of transactions that commit in the reverse order of their beginning', async () => {
    await duringTransaction(db, async (first) => {
      await first.query(EVENT, ['first']);
      await duringTransaction(db, async (second) => {
        await second.query(EVENT, ['second']);
        await event('before both');
        await workAll(db);
        assert.deepEqual(await handled(db), ['before both'], 'waits for nobody');
        await second.query('COMMIT');
      });
      await workAll(db);
      assert.deepEqual(await handled(db), ['before both', 'second']);
      await first.query('COMMIT');
    });
    await event('after both');
    await workAll(db);
    assert.deepEqual(await handled(db), ['before both', 'second', 'first', 'after both']);
  });

  it('is handled by one worker at a time, and by any of them', async () => {
    for (let n = 0; n < 40; n++) await event(`e${n}`);
    while (await givePlaces(db));
    const release = Promise.withResolvers<void>();
    const holds = Promise.withResolvers<void>();
    const slow = work(db, 10, async () => {
      holds.resolve();
      await release.promise;
    });
    await holds.promise;
    assert.equal(await work(db), false, 'the other worker skips what is locked');
    assert.deepEqual(await handled(db), []);
    release.resolve();
    assert.equal(await slow, true);
    const worker = async (): Promise<void> => {
      while (await isBehind(db, NAME)) await work(db, 3);
    };
    await Promise.all([worker(), worker(), worker()]);
    assert.deepEqual(
      await handled(db),
      Array.from({ length: 40 }, (_, n) => `e${n}`),
      'each once, in order',
    );
  });

  it('takes the same events again if it is killed before it commits', async () => {
    for (const type of ['a', 'b', 'c']) await event(type);
    while (await givePlaces(db));
    const killed = consume(db, NAME, 2, async (batch, tx) => {
      await tx.query(sql`INSERT INTO handled (type) SELECT 'lost ' || j.type FROM journal j WHERE ${isOf('j', batch)}`);
      const [backend] = await tx.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
      await db.query(sql`SELECT pg_terminate_backend(${backend?.pid}::int)`);
      await tx.query(sql`SELECT 1`);
    });
    await assert.rejects(killed);
    assert.deepEqual(await consumerBacklog(db, NAME, 10).then(({ waiting }) => waiting), 3);
    assert.deepEqual(await handled(db), []);
    await workAll(db);
    assert.deepEqual(await handled(db), ['a', 'b', 'c']);
  });

  it('writes nothing while there is nothing', async () => {
    const version = () => around.rows('SELECT xmin, xmax FROM journal_consumers WHERE name = $1', [NAME]);
    const before = await version();
    assert.equal(await work(db), false);
    assert.deepEqual(await version(), before, 'not even a lock');
  });

  it('goes on after a restore of a backup, in which transactions have other ids', async () => {
    await event('handled before the backup');
    await workAll(db);
    await event('placed before the backup');
    while (await givePlaces(db));
    await event('not placed before the backup');
    const file = path.join(folder, 'service.docket');
    const blobs = new FileBlobs(around.app.blobFolder);
    const archive = await ArchiveWriter.create(file);
    const options = { blobs, allowMissing: false, onPart: () => {}, at: new Date().toISOString() };
    await db.query(sql`ALTER TABLE handled SET UNLOGGED`);
    await dumpService({ ...options, db, uses: collect(MODULES, 'blobUses'), sources: backupSources(MODULES), archive });
    const target = await createEmptyDatabase();
    const restored = new Database({ url: target.url, max: 5 });
    try {
      await loadService({ db: restored, blobs, file, onPart: () => {} });
      await restored.query(
        sql`CREATE TABLE handled (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, type text NOT NULL)`,
      );
      await restored.query(raw(EVENT.replace('$1', `'after the restore'`)));
      await workAll(restored);
      const expected = ['placed before the backup', 'not placed before the backup', 'after the restore'];
      assert.deepEqual(await handled(restored), expected);
    } finally {
      await restored.close();
      await target.drop();
    }
  });

  it('goes on after its tables were copied to another cluster, whose transaction ids are lower', async () => {
    await event('copied');
    for (const table of ['journal', 'journal_sealing'])
      await db.query(raw(`UPDATE ${table} SET txid = (txid::text::bigint + 1000000)::text::xid8`));
    await db.query(sql`UPDATE journal_placing SET storage = 'another', done = NULL, target = NULL`);
    assert.ok((await adoptJournal(db)) > 0);
    await event('made there');
    await workAll(db);
    assert.deepEqual(await handled(db), ['copied', 'made there']);
  });

  it('gets all events again from the beginning', async () => {
    const [journal] = await around.rows<{ n: number }>('SELECT count(*)::int AS n FROM journal');
    await db.query(sql`UPDATE journal_consumers SET place = 0 WHERE name = ${NAME}`);
    await workAll(db);
    assert.equal((await handled(db)).length, journal?.n);
  });
});
