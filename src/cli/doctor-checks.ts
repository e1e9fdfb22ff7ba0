/** The checks of `docket doctor`, with what to do about each problem. */
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import type { Settings } from '../settings.ts';
import { listUnreadable } from '../domain/mail/index.ts';
import { DISPATCH, examineDeliveries } from '../domain/webhooks/index.ts';
import { MODULES } from '../modules.ts';
import { collect } from '../platform/module.ts';
import { runCheck } from '../platform/audit/checks.ts';
import type { BlobStore } from '../platform/blobs/store.ts';
import { examineIdle, examineIntegrity } from '../platform/database/integrity.ts';
import { systemClock } from '../platform/clock.ts';
import { OLDEST_SERVER, pendingMigrations } from '../platform/database/migrate.ts';
import type { Database } from '../platform/database/pool.ts';
import { consumerBacklog } from '../platform/journal/consumers.ts';
import { headsBehind } from '../platform/audit/seal-heads.ts';
import { examineMasterKey, keyTrouble } from './master-key.ts';
import { reasonOf } from './command.ts';
import { saysPending } from './plan-text.ts';
import { pendingIndexes } from './local.ts';
import { examineSearch } from './search-check.ts';
import { MIGRATIONS, openBlobs, openDatabase, openTool, type Tool } from './service.ts';

const MIB = 1024 * 1024;
/** With less free disk space than this, a database will soon stop. */
const LEAST_FREE = 512 * MIB;
const CLOCKS_APART_MS = 2000;
/** Events that wait for dispatch are counted up to this number. */
const COUNTED = 10_000;
/** Normally a worker writes the head of each seal within seconds. */
const HEADS_LATE_MS = 600_000;

export async function examine(settings: Settings, deep: boolean): Promise<Examined[]> {
  // Checked first, because opening the embedded database creates the folder.
  const checks = [await examineFolder(settings), await examineStore(settings)];
  const database = await examineDatabase(settings);
  checks.push(...database.checks);
  if (database.sound) checks.push(...(await examineContents(settings, deep)));
  return checks;
}

async function examineFolder({ dataDir }: Settings): Promise<Examined> {
  const name = 'data folder';
  try {
    const found = await stat(dataDir);
    if (!found.isDirectory()) return { name, ok: false, says: `${dataDir} is not a folder; check DOCKET_DATA_DIR` };
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(dataDir);
    const free = bavail * bsize;
    const says = `${dataDir} is writable, ${Math.floor(free / MIB).toLocaleString('en')} MiB free`;
    return free < LEAST_FREE ? { name, ok: false, says: `${says}: free disk space` } : { name, ok: true, says };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      return { name, ok: false, says: `${reasonOf(error)} Run as the user of the service, or check DOCKET_DATA_DIR` };
    }
    return { name, ok: true, says: `${dataDir} does not exist yet; the first start creates it` };
  }
}

async function examineStore(settings: Settings): Promise<Examined> {
  const name = 'file store';
  const { blobs } = settings;
  const where = blobs.kind === 's3' ? `the bucket ${blobs.bucket}` : (blobs.folder ?? 'the data folder');
  try {
    const store = openBlobs(settings);
    await store.check();
    // The sweeper of unused content needs to list; the first page is enough to check that.
    for await (const _ of store.list(0, systemClock.now())) break;
    return { name, ok: true, says: `${where} is writable` };
  } catch (error) {
    return { name, ok: false, says: `${where} cannot be used: ${reasonOf(error)} Check DOCKET_BLOBS` };
  }
}

interface DatabaseExamined {
  checks: Examined[];
  /** True if its contents can be checked. */
  sound: boolean;
}

/** What `examineDatabase` examines, in this order. */
const EXAMINED = ['database', 'durability', 'clock', 'migrations'] as const;

async function examineDatabase(settings: Settings): Promise<DatabaseExamined> {
  const checks: Examined[] = [];
  try {
    const opened = await openDatabase(settings, () => {}, 'tool');
    try {
      const server = await opened.db.facts();
      const supported = server.number >= OLDEST_SERVER;
      const wide = server.encoding === 'UTF8';
      const use = `${supported ? '' : '; use PostgreSQL 15 to 18'}${wide ? '' : '; create the database with the encoding UTF8'}`;
      const says = `PostgreSQL ${server.version}, ${server.encoding}${use}`;
      checks.push({ name: 'database', ok: supported && wide, says });
      checks.push({ name: 'durability', ok: server.fsync === 'on', says: `fsync is ${server.fsync}` });
      const apart = Math.abs(Date.parse(server.now) - systemClock.now());
      const together = apart < CLOCKS_APART_MS;
      const remedy = together
        ? ''
        : ': synchronise both clocks; certificates and S3 requests depend on the clock of this machine';
      checks.push({ name: 'clock', ok: together, says: `${apart} ms between this machine and the database${remedy}` });
      const pending = await pendingOf(opened.db);
      const migrations = pending.length === 0 ? 'none pending' : `run docket migrate: ${pending.join(', ')}`;
      checks.push({ name: 'migrations', ok: pending.length === 0, says: migrations });
      return { checks, sound: pending.length === 0 };
    } finally {
      await opened.close();
    }
  } catch (error) {
    // Until the database was opened it is the database that fails, then what was to be checked next.
    const name = EXAMINED.find((one) => !checks.some((check) => check.name === one)) ?? 'database';
    return { checks: [...checks, { name, ok: false, says: reasonOf(error) }], sound: false };
  }
}

async function pendingOf(db: Database): Promise<string[]> {
  const client = await db.connect();
  try {
    return await pendingMigrations(client, MIGRATIONS);
  } finally {
    client.release();
  }
}

async function examineContents(settings: Settings, deep: boolean): Promise<Examined[]> {
  const checks: Examined[] = [];
  const tool = await openTool(settings, () => {});
  try {
    const indexes = await pendingIndexes(tool);
    checks.push({
      name: 'field indexes',
      ok: true,
      says: indexes.length === 0 ? 'none pending' : saysPending(indexes),
    });
    checks.push({ name: 'search projection', ...(await examineSearch(tool, deep)) });
    const { failing, missing } = await examineDeliveries(tool.db);
    const lost =
      missing.events === 0
        ? ''
        : `; ${missing.events} events have no delivery for ${missing.subscriptions.join(', ')}: run docket webhooks redispatch`;
    const { waiting: events } = await consumerBacklog(tool.db, DISPATCH, COUNTED);
    const waiting = `${events === COUNTED ? 'at least ' : ''}${events} events waiting for dispatch${lost}`;
    checks.push({ name: 'dispatch', ok: missing.events === 0, says: waiting });
    checks.push(await examineHeads(settings, tool.db));
    checks.push(...(await examineSealed(settings, tool.db)));
    const reached =
      failing.length === 0
        ? 'no enabled subscription fails'
        : `the last deliveries failed: ${failing.join(', ')}; see the responses in the console, or disable the subscriptions`;
    checks.push({ name: 'webhooks', ok: failing.length === 0, says: reached });
    checks.push(await examineMailboxes(tool.db));
    if (deep) checks.push(...(await examineDeep(tool, openBlobs(settings))));
    return checks;
  } finally {
    await tool.close();
  }
}

async function examineMailboxes(db: Database): Promise<Examined> {
  const unreadable = await listUnreadable(db);
  const each = unreadable.map(({ mailbox, since, error }) => `${mailbox} since ${since}: ${error}`);
  return unreadable.length === 0
    ? { name: 'mailboxes', ok: true, says: 'none fails that is read over IMAP' }
    : {
        name: 'mailboxes',
        ok: false,
        says: `cannot be read: ${each.join(' ')} Check the host, the user and the secret (docket secrets set)`,
      };
}

async function examineSealed(settings: Settings, db: Database): Promise<Examined[]> {
  const examined = await examineMasterKey(settings, db);
  const { box, other, secrets, closed } = examined;
  const trouble = keyTrouble(examined, settings);
  const key =
    box === undefined
      ? 'none yet; the first start of the service creates one'
      : other
        ? 'differs from the key last used with this database; all processes must use the same key'
        : 'matches the one last used with this database';
  const opened =
    trouble === undefined ? `${secrets} open with the master key` : `cannot be opened: ${closed.join(', ')}`;
  return [
    // Without a key and with no sealed secrets, nothing can be lost.
    { name: 'master key', ok: trouble === undefined && (box === undefined || !other), says: trouble ?? key },
    { name: 'signing secrets', ok: trouble === undefined, says: opened },
  ];
}

async function examineHeads({ auditHeads }: Settings, db: Database): Promise<Examined> {
  const name = 'audit heads';
  if (auditHeads === undefined)
    return { name, ok: true, says: 'written to the log only; set DOCKET_AUDIT_HEADS to store them elsewhere' };
  const { waiting, since } = await headsBehind(db);
  const late = since !== null && systemClock.now() - Date.parse(since) > HEADS_LATE_MS;
  const says =
    waiting === 0 ? 'written up to the newest seal' : `${waiting} not yet written, the oldest since ${since}`;
  return late
    ? { name, ok: false, says: `${says}: check that a worker runs and reaches DOCKET_AUDIT_HEADS` }
    : { name, ok: true, says };
}

/** One line of the doctor's output. */
export interface Examined {
  name: string;
  ok: boolean;
  says: string;
}

/** The name of an invariant, which begins with the class of invariants that all checks of that class share. */
function invariantName(name: string): string {
  const [, kind, rule] = /^(I\d+) (.*)$/s.exec(name) ?? [];
  return kind === undefined || rule === undefined ? name : `${rule} (${kind})`;
}

/** @returns one line per invariant, naming the records that violate it */
export async function examineDeep(tool: Pick<Tool, 'db' | 'caller'>, blobs: BlobStore): Promise<Examined[]> {
  const lines: Examined[] = [];
  for (const check of collect(MODULES, 'checks')) {
    const { total, named } = await runCheck(tool.db, check, { config: tool.caller.config, blobs });
    const more = total > named.length ? ` and ${total - named.length} more` : '';
    lines.push({
      name: invariantName(check.name),
      ok: total === 0,
      says: total === 0 ? 'holds' : `${named.join(', ')}${more}`,
    });
  }
  lines.push({ name: 'tables and indexes (I12)', ...(await examineIntegrity(tool.db)) });
  lines.push({ name: 'idle transactions (I12)', ...(await examineIdle(tool.db)) });
  return lines;
}
