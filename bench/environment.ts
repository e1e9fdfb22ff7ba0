/** A benchmark environment: one service with its own embedded database of a given size, and the baseline server beside it. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openEmbedded } from '../src/platform/database/embedded.ts';
import { loadFiles, readConfigured } from './record-activity.ts';
import { BASELINE_TABLES } from './baseline-server.ts';
import { INDEXED_FIELDS, OWNER, OWNER_OF_ROLES, writeBundle } from './bundle.ts';
import { loadGroups } from './memberships.ts';
import {
  docket,
  freePort,
  type Memory,
  memoryOf,
  postmasterOf,
  type ServiceOptions,
  type Started,
  startBaseline,
  startService,
  stop,
} from './processes.ts';
import {
  loadAssets,
  loadPool,
  loadRecords,
  type Pattern,
  readCatalogItem,
  readPattern,
  readPeople,
  talkativeIds,
  visibleIds,
} from './records.ts';
import type { DatabaseFacts, Target } from './scenario.ts';
import { requireEqualShape, requireEqualWords } from './row-comparison.ts';

const MAX_IDS = 100_000;
const INDEX_MS = 60_000;
/** Idle time before the idle memory of a started service is read. */
const SETTLE_MS = 5000;

export interface Times {
  /** Milliseconds from the start of the process to its ready line, the database's start included. */
  firstStart: number;
  restart: number;
}

export interface Environment {
  name: string;
  records: number;
  target: Target;
  times: Times;
  idle: Memory;
  server: string;
  service: Started;
  baseline: Started;
  /** Where the database's server process is, for readings of memory and processor time. */
  postmaster: number | null;
  /** For manual inspection of the database. */
  databaseUrl: string;
}

interface Connected {
  db: pg.Client;
  url: string;
  /** Gives the database up; the service, which uses it too, stops it with itself. */
  leave(): Promise<void>;
}

export async function connect(folder: string): Promise<Connected> {
  const embedded = await openEmbedded({ dataDir: path.join(folder, 'data'), log: () => {}, use: 'tool' });
  const db = new pg.Client({ connectionString: embedded.url });
  db.on('error', () => {});
  await db.connect();
  const leave = async (): Promise<void> => {
    await db.end();
    await embedded.stop();
  };
  return { db, url: embedded.url, leave };
}

/** The indexes of filterable fields are built in the background; measuring begins when they are complete. */
async function awaitIndexes(db: pg.Client): Promise<void> {
  const until = performance.now() + INDEX_MS;
  for (;;) {
    const { rows } = await db.query<{ ready: number }>(
      `SELECT count(*)::int AS ready FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
        WHERE c.relname LIKE 'objects\\_field\\_%' AND i.indisvalid`,
    );
    if ((rows[0]?.ready ?? 0) >= INDEXED_FIELDS) return;
    if (performance.now() > until) throw new Error('the indexes of filterable fields were not built within a minute');
    await sleep(200);
  }
}

/** Everything that an environment started, to be stopped in reverse order in any case. */
export class OpenedEnvironment {
  readonly #stops: (() => Promise<void>)[] = [];

  add(stopOne: () => Promise<void>): void {
    this.#stops.push(stopOne);
  }

  async close(): Promise<void> {
    for (let next = this.#stops.pop(); next !== undefined; next = this.#stops.pop()) {
      // What cannot be stopped here is ended by `stopAll`.
      await next().catch(() => {});
    }
  }
}

async function makeKey(options: ServiceOptions, owner: string): Promise<{ id: string; key: string }> {
  const asked = ['keys', 'create', '--owner', owner, '--name', 'bench', '--scopes', 'all', '--json'];
  return JSON.parse(await docket(options, asked)) as { id: string; key: string };
}

/** The first run of the service: creates configuration, key and records. */
async function fill(
  options: ServiceOptions,
  records: number,
  say: (line: string) => void,
): Promise<{ target: Target; pattern: Pattern }> {
  const { folder } = options;
  await docket(options, ['apply', await writeBundle(folder)]);
  const [{ id: keyId, key }, { key: keyOfRoles }] = [
    await makeKey(options, OWNER),
    await makeKey(options, OWNER_OF_ROLES),
  ];
  const { db, leave } = await connect(folder);
  try {
    await awaitIndexes(db);
    const facts: DatabaseFacts = {
      typeId: '',
      ownerId: '',
      people: await readPeople(db),
      assets: await loadAssets(db),
      ...(await readConfigured(db)),
      talkative: [],
      files: [],
      catalogItemId: await readCatalogItem(db),
      ...(await loadGroups(db)),
    };
    const target: Target = { ports: { docket: options.port, baseline: 0 }, key, keyOfRoles, facts, ids: [] };
    const pattern = await readPattern(db, await loadPool(db, target), keyId);
    facts.typeId = pattern.typeId;
    facts.ownerId = pattern.ownerId;
    await loadRecords(db, records, pattern, facts, (loaded) => {
      if (loaded % 250_000 === 0) say(`${loaded.toLocaleString('en')} records loaded`);
    });
    target.ids = (await visibleIds(db, facts.typeId, MAX_IDS)).filter((id) => id !== pattern.objectId);
    facts.talkative = await talkativeIds(db);
    facts.files = await loadFiles(target);
    // A record that no scenario uses: the comparison of words raises its revision.
    const loaded = target.ids.pop() ?? '';
    await requireEqualShape(db, pattern, loaded);
    await requireEqualWords(db, target, loaded);
    return { target, pattern };
  } finally {
    await leave();
  }
}

/**
 * @param opened receives everything that must be stopped
 * @param say receives progress messages
 */
export async function openEnvironment(
  folder: string,
  records: number,
  profile: string | undefined,
  opened: OpenedEnvironment,
  say: (line: string) => void,
): Promise<Environment> {
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const options: ServiceOptions = { folder, port: await freePort(), ...(profile === undefined ? {} : { profile }) };
  const launch = async (starting: Promise<Started>): Promise<Started> => {
    const started = await starting;
    opened.add(() => stop(started.child));
    return started;
  };
  say('starting the service on a new database');
  // The first run is not profiled: start and data loading would distort the profile.
  const first = await launch(startService({ folder, port: options.port }));
  const { target, pattern } = await fill(options, records, say);
  await stop(first.child);

  say('starting it again on the data');
  const service = await launch(startService(options));
  await sleep(SETTLE_MS);
  const postmaster = postmasterOf(folder);
  const idle = memoryOf(service.child.pid ?? 0, postmaster);
  const { db, url, leave } = await connect(folder);
  opened.add(leave);
  await db.query(BASELINE_TABLES);
  const baseline = await launch(
    startBaseline(folder, {
      databaseUrl: url,
      ...pattern,
      blobs: path.join(folder, 'data', 'blobs'),
      states: [target.facts.transitions.take.from, target.facts.transitions.giveBack.from],
    }),
  );
  target.ports.baseline = baseline.port;
  const { rows } = await db.query<{ version: string }>(`SELECT current_setting('server_version') AS version`);
  return {
    name: records.toLocaleString('en'),
    records,
    target,
    times: { firstStart: first.readyMs, restart: service.readyMs },
    idle,
    server: rows[0]?.version ?? '',
    service,
    baseline,
    postmaster,
    databaseUrl: url,
  };
}
