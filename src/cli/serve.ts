/** `docket serve`: runs the service until a stop signal. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { type App, buildApp } from '../app.ts';
import type { AppOptions } from '../app-options.ts';
import { systemCaller } from '../domain/access/index.ts';
import { adoptImports } from '../domain/notifications/index.ts';
import type { Settings, TraceSampling } from '../settings.ts';
import { listenNowhere } from '../http/connection.ts';
import { adopt, drain } from '../http/server.ts';
import { readClock } from '../platform/database/readings.ts';
import type { Database } from '../platform/database/pool.ts';
import { isUntouched } from '../platform/journal/journal.ts';
import { adoptJournal } from '../platform/journal/positions.ts';
import type { SecretBox } from '../platform/secrets.ts';
import { loadSnapshot } from '../platform/unit-of-work/snapshot.ts';
import type { Tracer } from '../platform/observability/traces.ts';
import { Work } from '../platform/unit-of-work/work.ts';
import { applyFolder, starterFolder } from './bundle-files.ts';
import { CALLED_AS, VERSION } from './command.ts';
import { WorkerIpc } from './worker-ipc.ts';
import { Listeners } from './listeners.ts';
import { requireMasterKey } from './master-key.ts';
import { childrenOf, poolFor, type Role, Supervisor } from './processes.ts';
import { aborted, Interrupted, orAborted, stopSignals } from './stop-signals.ts';
import {
  makeLog,
  migrateDatabase,
  openBlobs,
  openDatabase,
  type OpenDatabase,
  requireSchema,
  sectionsFor,
} from './service.ts';

const DRAIN_MS = 25_000;
/** Pool size of a single process. */
const POOL = 20;

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function prepare(settings: Settings, db: Database): Promise<SecretBox> {
  if (settings.migrate) {
    const applied = await migrateDatabase(db);
    if (applied.length > 0) say(`database schema migrated: ${applied.join(', ')}`);
  } else await requireSchema(db, { make: false, newer: true });
  const adopted = await adoptJournal(db, adoptImports);
  if (adopted > 0) say(`${adopted} rows of the journal, copied from another database cluster, were renumbered`);
  const secrets = await requireMasterKey(settings, db, { say });
  if (settings.starter !== 'none' && (await isUntouched(db))) {
    const caller = systemCaller(await loadSnapshot(db));
    const work = new Work({ db, clock: await readClock(db) });
    await applyFolder({ work, caller, sections: sectionsFor(settings) }, starterFolder(settings.starter), {});
    say(`starter configuration "${settings.starter}" applied to the empty database`);
  }
  return secrets;
}

/**
 * Starts the service, prints its address, and resolves after a stop signal, when all running work has finished. With more than
 * one process, this process only supervises the others.
 *
 * @throws Error with a message that says what to do (port in use, data directory in use, database unreachable)
 */
export async function serve(settings: Settings, role: Role, more: Several): Promise<void> {
  const stop = stopSignals.stopGracefully();
  try {
    await serveUntil(stop, settings, role, more);
  } catch (error) {
    // Stopped during the start: this is no failure.
    if (!(error instanceof Interrupted)) throw error;
    makeLog().info('stopped before the start was complete');
    // Connections and timers of the interrupted start would keep the process alive.
    process.exit(0);
  }
}

async function serveUntil(stop: AbortSignal, settings: Settings, role: Role, more: Several): Promise<void> {
  if (more.child) await serveAsChild(settings, role, stop);
  else if (more.processes > 1) await superviseAll(settings, role, more, stop);
  else await serveAlone(settings, role, stop);
}

export interface Several {
  processes: number;
  /** True if this process was started by a supervisor. */
  child: boolean;
  /** The environment of the child processes. */
  environment: Readonly<Record<string, string | undefined>>;
}

/** Runs `fn` with the database. If a stop signal interrupts the start, running statements are not waited for. */
async function withDatabase(
  settings: Settings,
  log: Logger,
  max: number,
  fn: (opened: OpenDatabase) => Promise<void>,
): Promise<void> {
  const opened = await openDatabase(settings, (line) => log.info(line), 'service', max);
  try {
    await fn(opened);
  } catch (error) {
    if (error instanceof Interrupted) await opened.abandon();
    throw error;
  } finally {
    await opened.close();
  }
}

async function serveAlone(settings: Settings, role: Role, stop: AbortSignal): Promise<void> {
  const log = makeLog();
  await withDatabase(settings, log, settings.pool ?? POOL, async (opened) => {
    const secrets = await orAborted(prepare(settings, opened.db), stop);
    if (builtConsole() === undefined) say('The web console is not built; "npm run console" builds it.');
    let listeners: Listeners | undefined;
    await run(settings, role, opened, log, stop, {
      secrets,
      isAlone: true,
      open: async ({ server }) => {
        if (role === 'worker') {
          announce(settings, undefined);
          return;
        }
        await listenNowhere(server);
        listeners = new Listeners(
          (socket) => {
            if (!adopt(server, socket)) socket.destroy();
          },
          (err) => log.warn({ err }, 'failed to accept a connection'),
        );
        announce(settings, await listeners.open(settings));
      },
      leaving: () => listeners?.close(),
    });
  });
  log.info('stopped');
}

/** A child process: the supervisor has prepared the database and prints the messages. */
async function serveAsChild(settings: Settings, role: Role, stop: AbortSignal): Promise<void> {
  const log = makeLog();
  const ipc = new WorkerIpc();
  try {
    await withDatabase(settings, log, settings.pool ?? POOL, async (opened) => {
      await run(settings, role, opened, log, stop, {
        secrets: await requireMasterKey(settings, opened.db),
        isAlone: false,
        exposition: () => ipc.collect(),
        open: async ({ server, metrics }) => {
          if (role !== 'worker') await listenNowhere(server);
          ipc.ready(metrics, role === 'worker' ? undefined : (socket) => adopt(server, socket));
        },
        leaving: () => ipc.leaving(),
      });
    });
    ipc.leave();
  } catch (error) {
    await ipc.failed(error instanceof Error ? error.message : String(error));
    throw error;
  }
}

async function superviseAll(
  settings: Settings,
  role: Role,
  { processes, environment }: Several,
  stop: AbortSignal,
): Promise<void> {
  const log = makeLog();
  await withDatabase(settings, log, 3, async (opened) => {
    await orAborted(prepare(settings, opened.db), stop);
    if (builtConsole() === undefined) say('The web console is not built; "npm run console" builds it.');
    const roles = childrenOf(role, processes);
    const pool = settings.pool ?? poolFor(roles.length, await opened.db.capacity(), POOL);
    const supervisor = new Supervisor(roles, log, {
      ...environment,
      DATABASE_URL: opened.url,
      DOCKET_MIGRATE: 'off',
      DOCKET_STARTER: 'none',
      DOCKET_POOL: String(pool),
    });
    try {
      const address = await orAborted(supervisor.start(settings), stop);
      announce(settings, address);
      await aborted(stop);
      log.info('stopping: no new requests are accepted, running ones are finished');
    } finally {
      await supervisor.stop(DRAIN_MS + 10_000);
    }
  });
  log.info('stopped');
}

/** Loaded on demand, so that tracing costs nothing when it is not configured. */
async function traces(endpoint: string, sampling: TraceSampling): Promise<Tracer> {
  const { startTraces } = await import('../platform/observability/traces-otel.ts');
  return startTraces({ endpoint, sampling });
}

interface Seat {
  secrets: SecretBox;
  /** Whether no other process uses the data folder. */
  isAlone: boolean;
  /** Starts to accept requests and announces the address. */
  open(app: App): Promise<void>;
  /** Called on a stop signal, before running requests are finished. */
  leaving?(): void;
  exposition?: AppOptions['exposition'];
}

/** Runs the server and the worker until a stop signal. */
async function run(
  settings: Settings,
  role: Role,
  opened: OpenDatabase,
  log: Logger,
  stop: AbortSignal,
  seat: Seat,
): Promise<void> {
  const tracer =
    settings.otlpEndpoint === undefined ? undefined : await traces(settings.otlpEndpoint, settings.traceSampling);
  const blobs = openBlobs(settings);
  const building = buildApp({
    settings,
    version: VERSION,
    tracer,
    db: opened.db,
    readDb: opened.readDb,
    // Background workers answer no searches.
    searchMemory:
      role === 'worker' || settings.searchMemoryMb === 0
        ? undefined
        : {
            url: opened.url,
            pooled: opened.pooled,
            bytes: settings.searchMemoryMb * 1024 * 1024,
            folder: seat.isAlone ? path.join(settings.dataDir, 'search') : null,
          },
    blobs,
    secrets: seat.secrets,
    log,
    consoleFolder: builtConsole(),
    exposition: seat.exposition,
  });
  const app = await orAborted(building, stop);
  const worker = role === 'api' ? undefined : app.startWorker();
  try {
    // On a stop signal during the start, the port is never opened.
    if (!stop.aborted) await seat.open(app);
    await aborted(stop);
    seat.leaving?.();
    log.info('stopping: no new requests are accepted, running ones are finished');
    if (role !== 'worker') await drain(app.server, DRAIN_MS);
  } finally {
    // Also if opening failed: running background work would keep the process alive, with a closed database.
    await worker?.stop();
    await app.stop();
    // Unsent traces are lost: an unreachable collector must not block the exit.
    await tracer?.stop().catch(() => {});
  }
}

/** The folder of the built console; undefined if it was not built. */
function builtConsole(): string | undefined {
  const folder = fileURLToPath(new URL('../../web/dist', import.meta.url));
  return existsSync(path.join(folder, 'index.html')) ? folder : undefined;
}

/** `base` is the URL of the service; undefined for a background worker. */
function announce({ starter }: Settings, base: string | undefined): void {
  if (base === undefined) {
    say('Docket worker is running.');
    return;
  }
  say(`Docket answers at ${base}`);
  // Without the starter configuration there is no user `admin`.
  if (starter !== 'none') {
    say(`Sign in there as admin after:  ${CALLED_AS} users set-password admin`);
    say(`Issue the first key:  ${CALLED_AS} keys create --owner admin --name first --scopes all,admin:manage`);
  }
  say(`Try it:               curl -s ${base}/api/v1/openapi.json`);
}
