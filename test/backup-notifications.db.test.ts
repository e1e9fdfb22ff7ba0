/**
 * Notifications across a backup and a restore. Transaction ids differ there: those of a new cluster begin low, and a backup gives
 * the rows of the journal ids that are below all of them.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { raw } from 'sql-template-tag';
import { MODULES } from '../src/modules.ts';
import { backupSources, collect } from '../src/platform/module.ts';
import { ArchiveWriter } from '../src/platform/backup/archive.ts';
import { dumpService } from '../src/platform/backup/dump.ts';
import { loadService } from '../src/platform/backup/load.ts';
import { FileBlobs } from '../src/platform/blobs/filesystem.ts';
import { Database } from '../src/platform/database/pool.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { createEmptyDatabase, type TestDatabase } from './support/database.ts';
import { notifyAll, testAuthenticator } from './support/notify-all.ts';
import { sealAll } from './support/seal-all.ts';
import { ACTIONS, bundle, idOf, stored } from './support/small-configuration.ts';

const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: case
    name: Case
    title: title
    fields: [{ code: title, dataType: string, required: true }, { code: assignee, dataType: user }]
roles:
  - code: chief
    rights: [import.manage, import.execute]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [chief] }
  - code: agent
    records: [{ type: case, actions: [read], fields: { read: '*' } }]
    assignedTo: { users: [anna] }
users: [ { login: chief, displayName: chief }, { login: anna, displayName: anna } ]
`;

/** What anna was notified of, and which tables name transactions. */
const NOTIFIED = 'SELECT o.title FROM notifications n JOIN objects o ON o.id = n.object_id ORDER BY o.title';
const TRANSACTIONS = `
  SELECT c.relname || '.' || a.attname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p' AND NOT a.attisdropped
    AND a.attnum > 0 AND a.atttypid IN ('xid8'::regtype, 'xid'::regtype, 'pg_snapshot'::regtype, 'pg_lsn'::regtype)
  ORDER BY 1`;

describe('notifications after a restore', () => {
  let app: TestApp;
  let folder: string;
  let target: TestDatabase;
  let restored: Database;
  let key: string;

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    folder = await mkdtemp(path.join(tmpdir(), 'docket-backup-'));
    target = await createEmptyDatabase();
    restored = new Database({ url: target.url, max: 5 });
    key = (await app.createKey({ login: 'chief' })).key;
  });
  after(async () => {
    await restored.close();
    await target.drop();
    await app.close();
    await rm(folder, { recursive: true, force: true });
  });

  const post = async (to: TestApp, where: string, body: unknown): Promise<void> => {
    const answer = await to.request('POST', `/api/v1${where}`, { key, body });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
  };
  const define = async (code: string, flag: object): Promise<void> =>
    await post(app, '/import-definitions', {
      code,
      sourceCode: code,
      targetKind: 'object',
      targetTypeId: 'case',
      format: 'CSV',
      mode: 'UPSERT',
      resolver: { externalIdField: 'title' },
      mapping: ['title', 'assignee'].map((field) => ({ source: field, target: field })),
      ...flag,
    });
  const bring = async (to: TestApp, definitionId: string, title: string): Promise<void> => {
    const content = `title,assignee\n${title},${await idOf(to, 'users', 'anna')}\n`;
    await post(to, '/imports/run', { definitionId, content, dryRun: false });
  };
  const notified = async (on: TestApp): Promise<string[]> =>
    (await stored<{ title: string }>(on, NOTIFIED)).map(({ title }) => title);

  it('are made once for each event from before and after it, imports included', async () => {
    await define('told', { notifications: true });
    await define('silent', {});
    const assigned = {
      typeDefinitionId: 'case',
      values: { title: 'd made', assignee: await idOf(app, 'users', 'anna') },
    };
    await bring(app, 'told', 'a notified before the backup');
    await notifyAll(app, testAuthenticator(app));
    // The backup keeps sealed and other rows of the journal apart.
    await bring(app, 'told', 'b sealed');
    await bring(app, 'silent', 'silent and sealed');
    await sealAll(app.db);
    await bring(app, 'told', 'c not sealed');
    await bring(app, 'silent', 'silent and not sealed');
    await post(app, '/objects', assigned);
    assert.deepEqual(await notified(app), ['a notified before the backup']);

    const file = path.join(folder, 'service.docket');
    const blobs = new FileBlobs(app.blobFolder);
    const archive = await ArchiveWriter.create(file);
    const options = { blobs, allowMissing: false, onPart: () => {}, at: new Date().toISOString() };
    await dumpService({
      ...options,
      db: app.db,
      uses: collect(MODULES, 'blobUses'),
      sources: backupSources(MODULES),
      archive,
    });
    await loadService({ db: restored, blobs, file, onPart: () => {} });

    const there = await startTestApp({ on: { databaseUrl: target.url, blobFolder: app.blobFolder } as TestApp });
    try {
      await notifyAll(there, testAuthenticator(there));
      const expected = ['a notified before the backup', 'b sealed', 'c not sealed', 'd made'];
      assert.deepEqual(await notified(there), expected);
      await bring(there, 'told', 'e after the restore');
      await bring(there, 'silent', 'silent after the restore');
      await notifyAll(there, testAuthenticator(there));
      assert.deepEqual(await notified(there), [...expected, 'e after the restore']);
    } finally {
      await there.close();
    }
  });

  it('are the only others that name transactions besides the journal, its progress and the search index', async () => {
    // How each is restored: `journalForBackup`; `importsForBackup`; progress that is of another storage begins again; the search
    // index ignores transactions that this cluster has not used.
    const rows = await app.db.query<{ name: string }>(raw(TRANSACTIONS));
    assert.deepEqual(
      rows.map(({ name }) => name),
      [
        'journal.txid',
        'journal_placing.done',
        'journal_placing.target',
        'journal_sealing.txid',
        'notification_imports.txid',
        'report_counting.done',
        'search_rewritten.txid',
      ],
    );
  });
});
