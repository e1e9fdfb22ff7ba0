/**
 * A service in this very process, on an embedded database of its own and with a clock that the example moves: only so can two
 * years happen in minutes. It is asked through HTTP like any other.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { buildApp } from '../../src/app.ts';
import { applyBundle } from '../../src/configuration/engine.ts';
import { createKey } from '../../src/domain/access/index.ts';
import { fireDue } from '../../src/domain/sla/jobs.ts';
import { FileBlobs } from '../../src/platform/blobs/filesystem.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { openEmbedded } from '../../src/platform/database/embedded.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { Outbound } from '../../src/platform/outbound/outbound.ts';
import { Database } from '../../src/platform/database/pool.ts';
import { SecretBox } from '../../src/platform/secrets.ts';
import { loadSnapshot } from '../../src/platform/unit-of-work/snapshot.ts';
import { Work } from '../../src/platform/unit-of-work/work.ts';
import { configSections } from '../../src/configuration/sections.ts';
import { systemCaller } from '../../src/domain/access/index.ts';
import { MODULES } from '../../src/modules.ts';

export class ManualClock implements Clock {
  #at: number;

  constructor(at: number) {
    this.#at = at;
  }

  now(): number {
    return this.#at;
  }

  moveTo(at: number): void {
    this.#at = at;
  }
}

export interface Service {
  url: string;
  /** Key of the person who monitors, with all scopes, and one for the administration interface. */
  key: string;
  adminKey: string;
  integrationId: string;
  now(): number;
  /** Starts sending to the subscriptions. */
  deliver(): void;
  /** Moves the clock to `at`, stopping at each due time of a warning or breach on the way, so that it is sent then. */
  moveTo(at: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the service with the example's bundle, at the instant `at`. */
export async function startService(folder: string, at: number, ca: string): Promise<Service> {
  const clock = new ManualClock(at);
  const embedded = await openEmbedded({ dataDir: path.join(folder, 'data'), log: () => {}, use: 'tool' });
  const setting = new Database({ url: embedded.url, max: 1 });
  const client = await setting.connect();
  try {
    await migrate(client);
    // The replay can be repeated, so commits need not be durable.
    await client.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$`,
    );
  } finally {
    client.release();
    await setting.close();
  }
  const db = new Database({ url: embedded.url, max: 20 });
  const bundle = await readFile(new URL('bundle/incidents.yaml', import.meta.url), 'utf8');
  const work = new Work({ db, clock });
  await work.write(systemCaller(await loadSnapshot(db)), (ctx) =>
    applyBundle(
      ctx,
      configSections(MODULES, new Outbound({ allowPrivate: true })),
      [{ name: 'incidents.yaml', text: bundle }],
      {},
    ),
  );
  const app = await buildApp({
    settings: { rateLimit: 'off', trustedProxies: [], metricsAllow: [], webhookAllowPrivate: true },
    // The receiver has a certificate of its own authority.
    outbound: { ca },
    db,
    blobs: new FileBlobs(path.join(folder, 'blobs')),
    secrets: new SecretBox('the example keeps its secrets as long as it runs'),
    log: pino({ level: 'warn' }),
    clock,
  });
  const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
  const issue = async (scopes: string[]): Promise<string> => {
    const made = await app.work.write(app.system(), (ctx) =>
      createKey(ctx, { owner: 'monitoring', name: 'example', scopes }),
    );
    if (made.kind !== 'done') throw new Error('the key was not made');
    return made.data.key;
  };
  const connection = await db.connect();
  const first = async (statement: string): Promise<string | null> =>
    (await connection.query<{ value: string | null }>(statement)).rows[0]?.value ?? null;
  const integrationId = await first(`SELECT id AS value FROM config_items WHERE section = 'integrations'`);
  if (integrationId === null) throw new Error('the integration was not set up');
  return {
    url,
    key: await issue(['all']),
    adminKey: await issue(['admin:manage']),
    integrationId,
    now: () => clock.now(),
    deliver: () => {
      app.startWorker();
    },
    moveTo: async (until) => {
      for (;;) {
        const next = await first(`SELECT min(next_at) AS value FROM sla_instances WHERE status <> 'STOPPED'`);
        const due = next === null ? Number.POSITIVE_INFINITY : Date.parse(next);
        if (due > until) break;
        clock.moveTo(Math.max(clock.now(), due));
        while (await fireDue(app.work, app.system()));
      }
      clock.moveTo(until);
    },
    stop: async () => {
      connection.release();
      await app.server.close();
      await app.stop();
      await db.close();
      await embedded.stop();
    },
  };
}
