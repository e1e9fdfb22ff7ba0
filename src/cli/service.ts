/**
 * How commands access the data of a running or stopped service: only through the database. If the embedded database is running,
 * it is used and left running. Otherwise it is started for the duration of the command.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino, type Logger } from 'pino';
import { MODULES } from '../modules.ts';
import type { Settings } from '../settings.ts';
import { bundleSections, configSections } from '../configuration/sections.ts';
import { systemCaller } from '../domain/access/index.ts';
import { FileBlobs } from '../platform/blobs/filesystem.ts';
import { S3Blobs } from '../platform/blobs/s3.ts';
import { ContentHolder } from '../platform/blobs/serve.ts';
import type { BlobStore } from '../platform/blobs/store.ts';
import type { Clock } from '../platform/clock.ts';
import { readClock } from '../platform/database/readings.ts';
import { openEmbedded } from '../platform/database/embedded.ts';
import type { ConfigSection } from '../configuration/section.ts';
import { migrate, NewerSchemaError, pendingMigrations, readMigrations } from '../platform/database/migrate.ts';
import { Database, SERVICE_NAME, TOOL_NAME } from '../platform/database/pool.ts';
import { type Between, lookBetween } from '../platform/database/pooler.ts';
import { type Adapters, connect, type Service } from '../platform/module.ts';
import { Outbound } from '../platform/outbound/outbound.ts';
import { SecretBox } from '../platform/secrets.ts';
import { type ConfigSnapshot, loadSnapshot } from '../platform/unit-of-work/snapshot.ts';
import type { Caller } from '../platform/unit-of-work/context.ts';
import { VersionWatcher } from '../platform/unit-of-work/versions.ts';
import type { Work } from '../platform/unit-of-work/work.ts';
import { stopSignals } from './stop-signals.ts';

export const MIGRATIONS = fileURLToPath(new URL('../../db/migrations', import.meta.url));

export interface OpenDatabase {
  db: Database;
  /** The read replica, if configured; it may be unreachable. */
  readDb: Database | undefined;
  /** The connection URL; never printed. */
  url: string;
  /** Whether the URL is that of a connection pooler. */
  pooled: boolean;
  /** Waits for running statements, then closes the database. */
  close(): Promise<void>;
  /** Closes the database without waiting for statements. The embedded server is stopped unless another process uses it. */
  abandon(): Promise<void>;
}

/**
 * The time of an ordinary request. A slow handshake, or a wait for a connection, is no failure: how many requests wait is
 * bounded before they come here.
 */
const ACQUIRE_MS = 30_000;

/** Opens the database that the settings name. @throws Error with a sentence that says what to do */
export async function openDatabase(
  settings: Settings,
  log: (line: string) => void,
  use: 'service' | 'tool',
  max = 5,
): Promise<OpenDatabase> {
  let url = settings.databaseUrl;
  let stop = async (): Promise<void> => {};
  if (url === undefined) {
    const opening = openEmbedded({ dataDir: settings.dataDir, log, use, signal: stopSignals.signal });
    stop = async () => {
      const embedded = await opening.catch(() => undefined);
      await embedded?.stop();
    };
    // Registered before the database is open: a signal may arrive at any moment of its start.
    stopSignals.beforeEnd(stop);
    url = (await opening).url;
  }
  const { pooled, remarks } = await between(url, settings, use === 'service' ? log : undefined);
  if (use === 'service') for (const remark of remarks) log(remark);
  const directUrl = pooled ? settings.databaseDirectUrl : undefined;
  // Shown in `pg_stat_activity`: an operator can distinguish commands from the service.
  const applicationName = use === 'service' ? SERVICE_NAME : TOOL_NAME;
  const db = new Database({ url, max, pooled, directUrl, applicationName, acquireMs: ACQUIRE_MS });
  const readUrl = use === 'service' ? settings.databaseReadUrl : undefined;
  const readDb = readUrl === undefined ? undefined : new Database({ url: readUrl, max });
  let abandoned = false;
  return {
    db,
    readDb,
    url,
    pooled,
    close: async () => {
      if (abandoned) return;
      await readDb?.close();
      await db.close();
      await stop();
    },
    abandon: async () => {
      abandoned = true;
      await stop();
    },
  };
}

/**
 * Detects a connection pooler. The embedded database has none. For tools, errors are ignored here: the next query reports them.
 */
async function between(url: string, settings: Settings, waits: ((line: string) => void) | undefined): Promise<Between> {
  const alone = { pooled: false, remarks: [] };
  if (settings.databaseUrl === undefined) return alone;
  const look = (): Promise<Between> => lookBetween(url, settings.databaseDirectUrl !== undefined);
  return await (waits === undefined ? look().catch(() => alone) : answering(look, waits, stopSignals.signal));
}

const PATIENCE_MS = 30_000;
const CONNECTION_TROUBLE = /^(?:ECONN|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|ENOENT|08|57P0[123]|53300)/;

/**
 * Waits for a database that is still starting or slow; other errors end the start. The check uses a connection without
 * settings: a pooler would reject others, and would look unreachable.
 */
async function answering(
  look: () => Promise<Between>,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<Between> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      const { code, message } = error as { code?: unknown; message: string };
      const passing = CONNECTION_TROUBLE.test(String(code)) || /timeout|terminated/i.test(message);
      if (!passing || performance.now() > until) throw error;
      log('database does not answer yet, retrying');
      await sleep(500, undefined, { signal });
    }
  }
}

/** Migrates the schema. @returns the names of the applied migrations */
export async function migrateDatabase(db: Database): Promise<string[]> {
  const client = await db.connect();
  try {
    return (await migrate(client, MIGRATIONS)).applied;
  } finally {
    client.release();
  }
}

interface SchemaAllowed {
  /** True if the schema may be created in an empty database. */
  make: boolean;
  /** True if a newer schema is accepted: old code runs on it (docs/how-to/upgrade.md). */
  newer: boolean;
}

/**
 * Requires a current schema. Commands create the schema of an empty database but never migrate an existing one; that is left to
 * `serve` and `docket migrate`. A plan or a list must not change a service that still runs an older version.
 *
 * @throws Error that says to migrate; MigrationError for a schema of another origin, or a newer one that is not accepted
 */
export async function requireSchema(db: Database, { make, newer }: SchemaAllowed): Promise<void> {
  const client = await db.connect();
  try {
    const pending = await pendingMigrations(client, MIGRATIONS).catch((error: unknown) => {
      if (newer && error instanceof NewerSchemaError) return [];
      throw error;
    });
    const [next] = pending;
    if (next === undefined) return;
    if (!make || pending.length < (await readMigrations(MIGRATIONS)).length) {
      throw new Error(`The schema is not that of this version (${next} is pending): run docket migrate first.`);
    }
    await migrate(client, MIGRATIONS);
  } finally {
    client.release();
  }
}

export interface Tool {
  db: Database;
  /** The clock of the database. */
  clock: Clock;
  work: Work;
  /**
   * The modules on this database. Secrets are not opened, and no OpenID Connect provider is used.
   *
   * @param reacts whether rules run on changes
   */
  connect(reacts: boolean): Service;
  blobs: BlobStore;
  /** Checks addresses under the settings' rule; nothing is sent. */
  outbound: Outbound;
  /** The sections of the configuration bundle. */
  sections: readonly ConfigSection[];
  caller: Caller;
  close(): Promise<void>;
}

/** Bytes of file content held in memory. */
const HELD_BYTES = 16 * 1024 * 1024;

/** Opens a database with this version's schema for a command, acting as the system user. */
export async function openTool(settings: Settings, log: (line: string) => void): Promise<Tool> {
  const { db, close } = await openDatabase(settings, log, 'tool');
  try {
    await requireSchema(db, { make: settings.migrate, newer: !settings.migrate });
    const config = await loadSnapshot(db);
    const prepare = async (snapshot: ConfigSnapshot): Promise<void> => {
      for (const module of MODULES) await module.prepare?.(db, snapshot);
    };
    await prepare(config);
    const clock = await readClock(db);
    const blobs = openBlobs(settings);
    const outbound = new Outbound({ allowPrivate: settings.webhookAllowPrivate });
    const adapters: Adapters = {
      db,
      clock,
      blobs,
      outbound,
      settings,
      holder: new ContentHolder(HELD_BYTES),
      secrets: new SecretBox('commands seal nothing'),
      versions: new VersionWatcher({ db, clock, prepare }),
      changes: { listen: () => () => {} },
      log: { info: () => {}, warn: () => {} },
      outages: { failed: async () => {}, succeeded: () => {}, failures: new Map() },
      wake: () => {},
    };
    const service = connect(MODULES, adapters, { reacts: false });
    return {
      db,
      clock,
      blobs,
      outbound,
      work: service.work,
      connect: (reacts) => (reacts ? connect(MODULES, adapters) : service),
      sections: service.get(bundleSections),
      caller: systemCaller(config),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The sections of the configuration bundle, under the settings' rule on addresses. */
export function sectionsFor(settings: Pick<Settings, 'webhookAllowPrivate'>): readonly ConfigSection[] {
  return configSections(MODULES, new Outbound({ allowPrivate: settings.webhookAllowPrivate }));
}

/** The configured file store. */
export function openBlobs(settings: Settings): BlobStore {
  if (settings.blobs.kind === 's3') return S3Blobs.at(settings.blobs.url);
  return new FileBlobs(settings.blobs.folder ?? path.join(settings.dataDir, 'blobs'));
}

/** How long a log line may wait for others, in milliseconds. To write a line alone takes longer than to make it. */
const LOG_MS = 20;
/** Characters of lines that are written without waiting for more. */
const LOG_LENGTH = 65_536;

/** Structured logs to standard error, without secrets and record values. Lines of the same moment are written together. */
export function makeLog(): Logger {
  const file = pino.destination({ dest: 2, sync: false });
  let lines = '';
  let due: NodeJS.Timeout | undefined;
  const send = (): void => {
    clearTimeout(due);
    due = undefined;
    if (lines !== '') file.write(lines);
    lines = '';
  };
  const write = (line: string): void => {
    lines += line;
    if (lines.length >= LOG_LENGTH) send();
    else due ??= setTimeout(send, LOG_MS).unref();
  };
  process.once('exit', () => {
    send();
    file.flushSync();
  });
  return pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ['*.authorization', '*.cookie', '*.password', '*.key'],
    },
    { write },
  );
}
