/** `docket serve`: the service, until it is told to stop. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildApp } from '../app.ts';
import { systemCaller } from '../rooms.ts';
import type { Settings } from '../config.ts';
import { drain } from '../http/server.ts';
import { systemClock } from '../mechanisms/clock.ts';
import type { Database } from '../mechanisms/db/pool.ts';
import { isUntouched } from '../mechanisms/journal.ts';
import { openSecretBox } from '../mechanisms/secrets.ts';
import { loadSnapshot } from '../mechanisms/snapshot.ts';
import { Work } from '../mechanisms/work.ts';
import { applyFolder, starterFolder } from './bundles.ts';
import { makeLog, migrateDatabase, openBlobs, openDatabase } from './service.ts';

export type Role = 'api' | 'worker' | 'all';

const DRAIN_MS = 25_000;

async function prepare(settings: Settings, db: Database, say: (line: string) => void): Promise<void> {
  if (settings.migrate) {
    const applied = await migrateDatabase(db);
    if (applied.length > 0) say(`database schema brought up to date: ${applied.join(', ')}`);
  }
  if (settings.starter !== 'none' && (await isUntouched(db))) {
    const caller = systemCaller(await loadSnapshot(db));
    await applyFolder(new Work({ db, clock: systemClock }), caller, starterFolder(settings.starter), {});
    say(`starter configuration "${settings.starter}" applied to the empty database`);
  }
}

/**
 * Starts, says where it answers, and resolves when a signal has stopped it and everything that ran is finished.
 *
 * @throws Error with a sentence that says what to do (port in use, data directory in use, database unreachable)
 */
export async function serve(settings: Settings, role: Role): Promise<void> {
  const say = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const log = makeLog();
  const opened = await openDatabase(settings, (line) => log.info(line), 'service', 20);
  let stopping = false;
  try {
    await prepare(settings, opened.db, say);
    const consoleFolder = builtConsole();
    if (consoleFolder === undefined) say('The web console is not built; "npm run console" builds it.');
    const secrets = await openSecretBox(settings);
    const app = await buildApp({
      settings,
      db: opened.db,
      blobs: openBlobs(settings),
      secrets,
      log,
      consoleFolder,
      oidc: settings.oidc,
    });
    const worker = role === 'api' ? undefined : app.startWorker();
    const address = role === 'worker' ? undefined : await listen(app.server, settings);
    announce(address, say);
    await signalled();
    stopping = true;
    log.info('stopping: no new requests are accepted, running ones are finished');
    if (role !== 'worker') await drain(app.server, DRAIN_MS);
    await worker?.stop();
    await app.stop();
  } finally {
    await opened.close();
    if (stopping) log.info('stopped');
  }
}

/** The folder of the built console, where it was built. */
function builtConsole(): string | undefined {
  const folder = fileURLToPath(new URL('../../web/dist', import.meta.url));
  return existsSync(path.join(folder, 'index.html')) ? folder : undefined;
}

async function listen(
  server: { listen(options: { host: string; port: number }): Promise<string> },
  settings: Settings,
): Promise<string> {
  try {
    return await server.listen({ host: settings.host, port: settings.port });
  } catch (error) {
    const { code } = error as { code?: string };
    const where = `${settings.host}:${settings.port}`;
    if (code === 'EADDRINUSE') {
      throw new Error(`${where} is in use by another program; stop it, or set DOCKET_PORT to a free port.`);
    }
    if (code === 'EACCES') throw new Error(`${where} may not be opened by this user; set DOCKET_PORT above 1023.`);
    if (code === 'EADDRNOTAVAIL') throw new Error(`${settings.host} is no address of this machine; set DOCKET_HOST.`);
    throw error;
  }
}

/** `base`: where it answers; undefined for a process that only works in the background. */
function announce(base: string | undefined, say: (line: string) => void): void {
  if (base === undefined) {
    say('Docket worker is running.');
    return;
  }
  say(`Docket answers at ${base}`);
  say('Sign in there as admin after:  npx docket users set-password admin');
  say('Issue the first key:  npx docket keys create --owner admin --name first --scopes all');
  say(`Try it:               curl -s ${base}/api/v1/openapi.json`);
}

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    // The listener stays: a second signal during the drain must not cut it short and leave the database running.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });
}
