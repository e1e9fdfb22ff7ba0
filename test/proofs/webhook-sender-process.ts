/**
 * A process that only does the service's background work on a database, to be killed by tests. Its argument is JSON:
 * `{databaseUrl, ca, key, limitMs, leaseMs}`. It prints "ready" when it works.
 */
import { tmpdir } from 'node:os';
import { pino } from 'pino';
import { buildApp } from '../../src/app.ts';
import { FileBlobs } from '../../src/platform/blobs/filesystem.ts';
import { Database } from '../../src/platform/database/pool.ts';
import { SecretBox } from '../../src/platform/secrets.ts';

export interface SenderOptions {
  databaseUrl: string;
  ca: string;
  /** The master key. */
  key: string;
  limitMs: number;
  leaseMs: number;
}

const { databaseUrl, ca, key, limitMs, leaseMs } = JSON.parse(process.argv[2] ?? '{}') as SenderOptions;
const app = await buildApp({
  settings: {
    rateLimit: 'off',
    trustedProxies: [],
    metricsAllow: [],
    webhookAllowPrivate: true,
    imapAllowPrivate: true,
  },
  db: new Database({ url: databaseUrl, max: 6 }),
  blobs: new FileBlobs(tmpdir()),
  secrets: new SecretBox(key),
  outbound: { ca, limitMs },
  deliveries: { leaseMs },
  log: pino({ level: 'silent' }),
});
app.startWorker();
process.stdout.write('ready\n');
