/** A running service in this process, on a database of its own, reached through real HTTP. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { type App, buildApp } from '../../src/app.ts';
import { configSections } from '../../src/configuration/sections.ts';
import { systemCaller } from '../../src/domain/access/index.ts';
import { MODULES } from '../../src/modules.ts';
import { applyBundle } from '../../src/configuration/engine.ts';
import { applyFolder, starterFolder } from '../../src/cli/bundle-files.ts';
import { createKey } from '../../src/domain/access/index.ts';
import type { DeliveryLimits } from '../../src/domain/webhooks/index.ts';
import { ensureNumbering } from '../../src/domain/metadata/index.ts';
import { FileBlobs } from '../../src/platform/blobs/filesystem.ts';
import type { BlobStore } from '../../src/platform/blobs/store.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import type { DkimKey, SmtpServer } from '../../src/lib/smtp-url.ts';
import type { ConfigSection } from '../../src/configuration/section.ts';
import { Database } from '../../src/platform/database/pool.ts';
import { Outbound, type OutboundOptions } from '../../src/platform/outbound/outbound.ts';
import { SecretBox } from '../../src/platform/secrets.ts';
import type { Caller } from '../../src/platform/unit-of-work/context.ts';
import { loadSnapshot } from '../../src/platform/unit-of-work/snapshot.ts';
import type { Tracer } from '../../src/platform/observability/traces.ts';
import { Work } from '../../src/platform/unit-of-work/work.ts';
import { textOf } from './event-stream.ts';
import { createTestDatabase, type TemplateContent, type TestDatabase, throughPooler } from './database.ts';
import { isSharedProcess } from './shared-process.ts';
import type { BundleFile } from '../../src/configuration/read.ts';

export interface TestAnswer {
  status: number;
  headers: Headers;
  /** Parsed JSON, or the text where it is none. */
  body: any;
}

export interface TestRequest {
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
  idempotencyKey?: string;
}

export interface TestApp {
  url: string;
  databaseUrl: string;
  blobFolder: string;
  db: Database;
  app: App;
  /** The sections of the configuration bundle, as the app has them. */
  sections: readonly ConfigSection[];
  apply(files: BundleFile[], options?: Parameters<typeof applyBundle>[3]): Promise<unknown>;
  createKey(input: { login: string; scopes?: string[] | 'all'; expiresAt?: string; allow?: string[] }): Promise<{
    id: string;
    key: string;
  }>;
  request(method: string, path: string, request?: TestRequest): Promise<TestAnswer>;
  /** Called with every answer; the document test hangs in here. */
  onAnswer: (method: string, path: string, answer: TestAnswer) => void;
  close(): Promise<void>;
}

export interface TestOptions {
  /** A folder name under `config/`, files, or nothing at all; the starter `itsm` by default. */
  bundle?: string | BundleFile[] | 'none';
  clock?: Clock;
  /** What the database starts with, instead of a bundle. */
  content?: TemplateContent;
  /** Uses the database of another app, as a second process would. */
  on?: TestApp;
  ratePerMinute?: number | 'off';
  /** Maximum number of changes in one statement; default as in production. */
  groupSize?: number;
  /** Maximum memory of the search index in bytes; without it, statements answer every search. */
  searchMemory?: number;
  /** The folder of its segments. */
  searchFolder?: string;
  /** Addresses whose X-Forwarded-For is trusted, for requests from several addresses. */
  trustedProxies?: readonly string[];
  /** The sign-in provider. */
  oidc?: { issuer: string; clientId: string; clientSecret: string | undefined };
  /** A mail server, to which notifications are sent. */
  smtp?: SmtpServer;
  dkim?: DkimKey;
  /** Serve the web console built in `web/dist`. */
  console?: boolean;
  /** Wraps the file store, to observe or intercept calls. */
  blobs?: (files: BlobStore) => BlobStore;
  /** How often the store of files is probed. */
  blobProbes?: { everyMs: number; failedEveryMs: number };
  /** Outbound calls; private addresses are rejected by default. */
  outbound?: Partial<OutboundOptions>;
  deliveries?: Partial<DeliveryLimits>;
  /** Poll interval for deliveries without a notification. */
  deliveryEveryMs?: number;
  /** The database itself, where it is not one of the run's cluster or not reached directly, and a replica of it. */
  database?: { url: string; readUrl?: string };
  tracer?: Tracer;
  /** Rejects requests that wait 300 ms for configuration and rights; many seconds by default. */
  impatient?: boolean;
  /** Destination of the service's log; discarded by default. */
  log?: Logger;
}

/**
 * A service rejects requests that would wait too long, for a connection, for admission or for current rights. On a machine that
 * pauses for a second this is correct, but tests of other behaviour cannot use it: here such requests are retried.
 */
const PATIENCE_MS = 20_000;
/** The error messages of admission control; no work was started for such a request. */
const NOT_LET_IN = /service is overloaded|too many concurrent requests/;
const AGAIN_MS = 50;

/** Seals the secrets of every app of the tests: those on one database must open each other's. */
export const TEST_KEY = 'the master key of the tests, long enough';
export const TEST_SECRETS = new SecretBox(TEST_KEY);

/** Apps that are not closed yet. */
const open = new Set<TestApp>();
// If the setup of a file fails, nothing else closes its apps. They would keep its process alive, and the run would not end.
if (process.env['NODE_TEST_CONTEXT'] !== undefined || isSharedProcess())
  after(async () => {
    for (const app of [...open].reverse()) await app.close();
  });

export async function startTestApp(options: TestOptions = {}): Promise<TestApp> {
  const given = options.on?.databaseUrl ?? options.database?.url;
  // Content of a template has the time of this machine.
  const content =
    options.content ?? (options.clock === undefined ? starterContent(options.bundle ?? 'itsm') : undefined);
  const database = given === undefined ? await createTestDatabase(content) : undefined;
  const databaseUrl = given ?? (database?.url as string);
  const db = new Database({ max: 10, acquireMs: PATIENCE_MS, ...throughPooler(databaseUrl) });
  try {
    return await startOn({
      options,
      database,
      databaseUrl,
      db,
      isFilled: given === undefined && content !== undefined,
    });
  } catch (error) {
    // Open handles would keep the test process alive and hide its failure.
    await db.close();
    await database?.drop();
    throw error;
  }
}

interface Opened {
  options: TestOptions;
  database: TestDatabase | undefined;
  databaseUrl: string;
  db: Database;
  /** True if the database has its content already. */
  isFilled: boolean;
}

/** The bundle of a folder below `config/` as content of a template; undefined for other bundles. */
function starterContent(bundle: string | BundleFile[]): TemplateContent | undefined {
  if (typeof bundle !== 'string' || bundle === 'none') return undefined;
  return {
    name: `bundle_${bundle.replaceAll('-', '_')}`,
    fill: async (url) => {
      const db = new Database({ max: 2, ...throughPooler(url) });
      try {
        await apply(db, {}, bundle);
      } finally {
        await db.close();
      }
    },
  };
}

async function apply(
  db: Database,
  options: Pick<TestOptions, 'clock' | 'outbound'>,
  bundle: string | BundleFile[],
): Promise<void> {
  const work = new Work({ db, clock: options.clock ?? systemClock });
  const caller = systemCaller(await loadSnapshot(db));
  const sections = sectionsOf(options);
  if (typeof bundle === 'string') await applyFolder({ work, caller, sections }, starterFolder(bundle), {});
  else await work.write(caller, (ctx) => applyBundle(ctx, sections, bundle, {}));
  await ensureNumbering(db, await loadSnapshot(db));
}

function sectionsOf({ outbound }: Pick<TestOptions, 'outbound'>): readonly ConfigSection[] {
  return configSections(MODULES, new Outbound({ allowPrivate: false, ...outbound }));
}

async function startOn({ options, database, databaseUrl, db, isFilled }: Opened): Promise<TestApp> {
  const sections = sectionsOf(options);
  const bundle = options.bundle ?? 'itsm';
  if (options.on === undefined && !isFilled && bundle !== 'none') await apply(db, options, bundle);
  const readUrl = options.database?.readUrl;
  const readDb = readUrl === undefined ? undefined : new Database({ url: readUrl, max: 10 });
  const folder = options.on?.blobFolder ?? (await mkdtemp(path.join(tmpdir(), 'docket-blobs-')));
  const app = await buildApp({
    settings: {
      rateLimit: options.ratePerMinute ?? 'off',
      groupSize: options.groupSize ?? 16,
      trustedProxies: options.trustedProxies ?? [],
      metricsAllow: ['127.0.0.0/8'],
      webhookAllowPrivate: false,
      ...(options.smtp === undefined ? {} : { smtp: options.smtp, publicUrl: 'http://desk.example.org' }),
      ...(options.dkim === undefined ? {} : { dkim: options.dkim }),
      oidc: options.oidc,
    },
    db,
    readDb,
    searchMemory:
      options.searchMemory === undefined
        ? undefined
        : { ...throughPooler(databaseUrl), bytes: options.searchMemory, folder: options.searchFolder ?? null },
    secrets: TEST_SECRETS,
    ...(options.outbound === undefined ? {} : { outbound: options.outbound }),
    ...(options.deliveries === undefined ? {} : { deliveries: options.deliveries }),
    blobs: options.blobs?.(new FileBlobs(folder)) ?? new FileBlobs(folder),
    blobProbes: options.blobProbes,
    log: options.log ?? pino({ level: 'silent' }),
    tracer: options.tracer,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    patienceMs: options.impatient === true ? 300 : PATIENCE_MS,
    deliveryEveryMs: options.deliveryEveryMs,
    consoleFolder: options.console === true ? path.join(import.meta.dirname, '../../web/dist') : undefined,
  });
  const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
  // On a busy machine a read of the versions may take longer than they may be old.
  const system = async (): Promise<Caller> => systemCaller(await app.versions.fresh());
  const self: TestApp = {
    url,
    databaseUrl,
    blobFolder: folder,
    db,
    app,
    sections,
    onAnswer: () => {},
    apply: async (files, applied = {}) => {
      const result = await app.work.write(await system(), (ctx) => applyBundle(ctx, sections, files, applied));
      return result.kind === 'done' ? result.data : undefined;
    },
    createKey: async ({ login, scopes = 'all', ...rest }) => {
      const result = await app.work.write(await system(), (ctx) =>
        createKey(ctx, { owner: login, name: 'test', scopes: scopes === 'all' ? ['all'] : scopes, ...rest }),
      );
      if (result.kind !== 'done') throw new Error('no replay is possible here');
      return { id: result.data.id, key: result.data.key };
    },
    request: async (method, path, request = {}) => {
      const headers: Record<string, string> = { ...request.headers };
      if (request.key !== undefined) headers.authorization = `Bearer ${request.key}`;
      if (request.idempotencyKey !== undefined) headers['idempotency-key'] = request.idempotencyKey;
      if (request.body !== undefined) headers['content-type'] ??= 'application/json';
      const given = typeof request.body === 'string' ? request.body : JSON.stringify(request.body);
      const sent: RequestInit = { method, headers, ...(request.body === undefined ? {} : { body: given }) };
      for (const givenUp = performance.now() + PATIENCE_MS; ; await sleep(AGAIN_MS)) {
        const response = await fetch(`${url}${path}`, sent);
        const text = await textOf(response);
        const json = (response.headers.get('content-type') ?? '').includes('json');
        const answer = { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
        self.onAnswer(method, path, answer);
        const again = answer.status === 503 && NOT_LET_IN.test(answer.body?.error?.message);
        if (!again || performance.now() > givenUp) return answer;
      }
    },
    close: async () => {
      open.delete(self);
      await app.server.close();
      await app.stop();
      await readDb?.close();
      await db.close();
      await database?.drop();
      if (options.on === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
  open.add(self);
  return self;
}
