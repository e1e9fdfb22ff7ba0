/** Directus, with a user whose policy permits all rows: without a licence it refuses row conditions. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { runToEnd } from '../processes.ts';
import { environmentOf, fillTickets, install, type Rival, type RivalOptions, startRival, versionOf } from './rival.ts';

const FIELDS: Readonly<Record<string, string>> = {
  title: 'string',
  description: 'text',
  priority: 'string',
  area: 'string',
  assignee: 'uuid',
  effort: 'integer',
  due: 'date',
  startedAt: 'timestamp',
  tags: 'json',
  asset: 'uuid',
};

export async function startDirectus(options: RivalOptions): Promise<Rival> {
  const { folder, port, databaseUrl } = options;
  // The scripts of extensions run in `isolated-vm`, whose binary is not on npm. The benchmark has no extensions.
  await install(folder, { directus: '12.4.0' }, ['isolated-vm']);
  const token = randomBytes(24).toString('hex');
  const env = environmentOf({
    HOST: '127.0.0.1',
    PORT: String(port),
    DB_CLIENT: 'pg',
    DB_CONNECTION_STRING: databaseUrl,
    SECRET: randomBytes(32).toString('hex'),
    ADMIN_EMAIL: 'admin@example.org',
    ADMIN_PASSWORD: randomBytes(16).toString('hex'),
    ADMIN_TOKEN: token,
    TELEMETRY: 'false',
    LOG_LEVEL: 'error',
  });
  const command = path.join(folder, 'node_modules', 'directus', 'cli.js');
  await runToEnd(process.execPath, [command, 'bootstrap'], { cwd: folder, env });
  const child = await startRival(options, [command, 'start'], env, '/server/ping');
  const call = async (method: string, at: string, body: unknown): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}${at}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Directus ${method} ${at}: ${answer.status} ${text}`);
    return (JSON.parse(text) as { data?: { id?: string } }).data?.id ?? '';
  };
  const special = (name: string, special: string) => ({ field: name, type: 'timestamp', meta: { special: [special] } });
  await call('POST', '/collections', {
    collection: 'ticket',
    schema: {},
    meta: {},
    fields: [
      { field: 'id', type: 'uuid', meta: { special: ['uuid'] }, schema: { is_primary_key: true } },
      ...Object.entries(FIELDS).map(([field, type]) => ({
        field,
        type,
        meta: type === 'json' ? { special: ['cast-json'] } : {},
        schema: {},
      })),
      { ...special('created', 'date-created'), schema: {} },
    ],
  });
  const policy = await call('POST', '/policies', { name: 'Bench', admin_access: false, app_access: false });
  const role = await call('POST', '/roles', { name: 'Bench', policies: [{ policy }] });
  for (const [collection, action] of [
    ...['create', 'read', 'update'].map((action) => ['ticket', action] as const),
    ['directus_comments', 'create'] as const,
    ['directus_comments', 'read'] as const,
  ]) {
    await call('POST', '/permissions', {
      policy,
      collection,
      action,
      fields: ['*'],
    });
  }
  const key = randomBytes(24).toString('hex');
  await call('POST', '/users', { email: 'bench@example.org', role, token: key, status: 'active' });
  const ids = await fillTickets(options, {
    table: 'ticket',
    id: 'id',
    startedAt: '"startedAt"',
    createdAt: 'created',
    others: {},
  });
  const version = await versionOf(folder, 'directus');
  const ports = { docket: port, baseline: port };
  return { name: 'directus', version, child, target: { ports, key, keyOfRoles: key, facts: options.facts, ids } };
}
