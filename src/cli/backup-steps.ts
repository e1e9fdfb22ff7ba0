/** The work of `docket backup`, `docket backup verify` and `docket restore`. */
import { constants } from 'node:fs';
import { access, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Settings } from '../settings.ts';
import { ArchiveWriter } from '../platform/backup/archive.ts';
import { dumpService } from '../platform/backup/dump.ts';
import { loadService } from '../platform/backup/load.ts';
import type { BackupHead } from '../platform/backup/layout.ts';
import { knownBlobs } from '../platform/blobs/register.ts';
import type { BlobStore } from '../platform/blobs/store.ts';
import { instant, systemClock } from '../platform/clock.ts';
import type { Database } from '../platform/database/pool.ts';
import { setMasterKey } from '../platform/master-key.ts';
import { verifyJournal } from '../platform/audit/seals-verify.ts';
import { MODULES } from '../modules.ts';
import { backupSources, collect } from '../platform/module.ts';
import { type Output, progressKeeper } from './command.ts';
import { examineMasterKey, type KeyExamined, rotations } from './master-key.ts';
import { examineSearch } from './search-check.ts';
import { migrateDatabase, openBlobs, openDatabase, openTool, requireSchema } from './service.ts';
import { stopSignals } from './stop-signals.ts';

const MIB = 1024 * 1024;

/** Returns a progress callback. It also limits memory and prints a line at intervals. */
function progressPrinter(out: Output): (line: () => string) => void {
  const isDue = progressKeeper();
  return (line) => {
    if (isDue()) out.say(line());
  };
}

export async function backUp(settings: Settings, file: string, out: Output, allowMissing: boolean): Promise<void> {
  if ((await stat(file).catch(() => undefined)) !== undefined) {
    throw new Error(`${file} already exists; give the name of a new file.`);
  }
  const opened = await openDatabase(settings, () => {}, 'tool');
  try {
    await requireSchema(opened.db, { make: false, newer: false });
    const progress = progressPrinter(out);
    const archive = await ArchiveWriter.create(file);
    const at = instant(systemClock.now());
    const done = await dumpService({
      db: opened.db,
      blobs: openBlobs(settings),
      uses: collect(MODULES, 'blobUses'),
      sources: backupSources(MODULES),
      archive,
      at,
      allowMissing,
      onPart: ({ rows, files, bytes }) =>
        progress(() => `${rows} rows and ${files} files so far, ${Math.round(bytes / MIB)} MiB`),
    }).catch(async (error: unknown) => {
      await archive.abandon();
      throw error;
    });
    const { size } = await stat(file);
    const { tables, rows, files, bytes, missing, damaged } = done;
    out.result({ file, at, tables, rows, files, bytes, size, missing, damaged }, [
      `${rows} rows of ${tables} tables and ${files} files as of ${at}: ${file}, ${Math.ceil(size / 1024)} KiB.`,
      'It does not contain the master key: store DOCKET_SECRET_KEY, or the file master.key of the data folder, separately.',
      ...missing.map((sha256) => `missing in the file store: ${sha256}`),
      ...damaged.map((sha256) => `damaged in the file store, not in the backup: ${sha256}`),
    ]);
  } finally {
    await opened.close();
  }
}

export async function restore(settings: Settings, file: string, out: Output, otherKey: boolean): Promise<void> {
  await access(file, constants.R_OK);
  // Opened as the service opens it, so that no service can run on the same folder.
  const opened = await openDatabase(settings, () => {}, 'service');
  try {
    const progress = progressPrinter(out);
    let sealed: readonly string[] = [];
    const { head, end } = await loadService({
      db: opened.db,
      blobs: openBlobs(settings),
      file,
      onPart: ({ phase, parts }) => progress(() => `${phase === 'check' ? 'checking' : 'writing'}: ${parts} parts`),
      inspect: async (db) => {
        const examined = await examineMasterKey(settings, db);
        sealed = examined.closed;
        if (!isOther(examined)) return;
        if (!otherKey) throw new Error(needsKey(examined));
        if (examined.other) await setMasterKey(db, undefined);
      },
    });
    const applied = await migrateDatabase(opened.db);
    const rows = Object.values(end.rows).reduce((sum, count) => sum + count, 0);
    out.result({ madeAt: head.madeAt, rows, files: end.files, applied, sealed }, [
      `${rows} rows and ${end.files} files restored as of ${head.madeAt}.`,
      ...applied.map((name) => `applied ${name}`),
      ...(sealed.length === 0
        ? []
        : [
            `These signing secrets cannot be opened: ${sealed.join(', ')}. Before docket serve can start, give each a new value ` +
              `and pass it to its receivers: ${rotations(sealed)}`,
          ]),
      'Pending webhook deliveries will be sent (again) when a worker starts. On a test copy, use serve --role api.',
    ]);
  } finally {
    await opened.close();
  }
}

/** True if the configured key is not that of the backed-up service. */
function isOther({ other, closed }: KeyExamined): boolean {
  return other || closed.length > 0;
}

function needsKey({ box, closed }: KeyExamined): string {
  const here = box === undefined ? 'no key is configured' : 'the configured key differs';
  const secrets = closed.length === 0 ? '' : ` These signing secrets need it: ${closed.join(', ')}.`;
  return (
    `Nothing was restored: the master key of the backed-up service is needed, and ${here}.${secrets} A backup does not contain ` +
    'it: set DOCKET_SECRET_KEY, or put the file master.key into the data folder. If the key is lost, restore with ' +
    '--other-key: everything except the signing secrets is restored, and each of those must be rotated before the service starts.'
  );
}

interface Verified {
  madeAt: string;
  rows: number;
  files: number;
  checks: { name: string; ok: boolean; says: string }[];
}

/** Restores into a temporary database, checks the result and deletes the database. */
export async function verify(settings: Settings, file: string, out: Output): Promise<Verified> {
  await access(file, constants.R_OK);
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-verify-'));
  stopSignals.beforeEnd(() => rm(folder, { recursive: true, force: true }));
  const scratch: Settings = {
    ...settings,
    databaseUrl: undefined,
    databaseReadUrl: undefined,
    dataDir: path.join(folder, 'data'),
    blobs: { kind: 'file', folder: null },
    migrate: true,
  };
  try {
    const checks: Verified['checks'] = [];
    const present = new Set<string>();
    const opened = await openDatabase(scratch, () => {}, 'tool');
    let head: BackupHead;
    let rows: number;
    try {
      const progress = progressPrinter(out);
      const blobs: Pick<BlobStore, 'put'> = {
        // The loader verified the hash, so it is enough to note that the file is present.
        put: async (sha256) => {
          present.add(sha256);
        },
      };
      const onPart = ({ phase, parts }: { phase: string; parts: number }): void =>
        progress(() => `${phase === 'check' ? 'checking' : 'restoring into a temporary database'}: ${parts} parts`);
      const loaded = await loadService({ db: opened.db, blobs, file, onPart });
      head = loaded.head;
      rows = Object.values(loaded.end.rows).reduce((sum, count) => sum + count, 0);
      await migrateDatabase(opened.db);
      checks.push(await checkFiles(opened.db, present));
      checks.push(await checkAudit(opened.db));
      checks.push(checkKey(await examineMasterKey(settings, opened.db)));
    } finally {
      await opened.close();
    }
    const tool = await openTool(scratch, () => {});
    try {
      checks.push({ name: 'search projection', ...(await examineSearch(tool, true)) });
    } finally {
      await tool.close();
    }
    return { madeAt: head.madeAt, rows, files: present.size, checks };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function checkKey(examined: KeyExamined): Verified['checks'][number] {
  const { box, secrets, closed } = examined;
  const needed = closed.length === 0 ? '' : ` for: ${closed.join(', ')}`;
  const says = isOther(examined)
    ? `the key of the backed-up service is needed${needed}; ${box === undefined ? 'no key is configured' : 'the configured key differs'}`
    : `${secrets} open with the master key`;
  return { name: 'signing secrets', ok: !isOther(examined), says };
}

async function checkFiles(db: Database, present: ReadonlySet<string>): Promise<Verified['checks'][number]> {
  const named = await knownBlobs(db);
  const missing = named.filter((sha256) => !present.has(sha256)).length;
  const says =
    missing === 0 ? `${named.length} referenced, all present` : `${missing} of ${named.length} are not in the backup`;
  return { name: 'files', ok: missing === 0, says };
}

async function checkAudit(db: Database): Promise<Verified['checks'][number]> {
  const { rows, seals, findings, more } = await verifyJournal(db);
  const first = findings[0];
  const says =
    first === undefined
      ? `${rows} rows under ${seals} seals are unchanged`
      : `${first.place}: ${first.says}${findings.length + more > 1 ? ` (and ${findings.length + more - 1} more)` : ''}`;
  return { name: 'audit chain', ok: first === undefined, says };
}
