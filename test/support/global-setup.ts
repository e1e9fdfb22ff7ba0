/** For `node --test --test-global-setup`: one PostgreSQL cluster, and its templates, for all test files. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { startTestCluster, type TestCluster } from './cluster.ts';
import { CLUSTER_VARIABLE, dropTemplates, prepareTemplate, RUN_VARIABLE } from './database.ts';

let cluster: TestCluster | undefined;

export async function globalSetup(): Promise<void> {
  const given = process.env['DATABASE_URL'];
  if (given === undefined || given === '') cluster = await startTestCluster();
  process.env[CLUSTER_VARIABLE] = cluster?.url ?? given;
  process.env[RUN_VARIABLE] = randomBytes(4).toString('hex');
  await prepareTemplate();
  // Each test file is a process that reads the whole service: what the engine made of it is kept for the next.
  process.env['NODE_COMPILE_CACHE'] ??= path.join(import.meta.dirname, '../../node_modules/.cache/docket');
}

export async function globalTeardown(): Promise<void> {
  if (cluster === undefined) await dropTemplates();
  else await cluster.stop();
}
