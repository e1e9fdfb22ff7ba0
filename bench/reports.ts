/**
 * `npm run bench:reports -- [--records N] [--calls N] [--folder DIR] [--only TEXT]`: response times of reports and of the counts of the
 * built-in queues over HTTP, on a service and an embedded database of its own, for three users: an administrator, an agent who
 * reads all, and a viewer whose role has a row condition. `--folder` keeps the data, so that a second run loads nothing;
 * `--only` measures the reports whose name contains the text.
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { Connection } from './connection.ts';
import { loadDesk } from './desk-records.ts';
import { connect } from './environment.ts';
import { docket, freePort, type ServiceOptions, type Started, startService, stop } from './processes.ts';

const AGENTS = 100;
const GROUPS = 8;
const READY_MS = 900_000;
const USERS = ['admin', 'agent1', 'viewer'] as const;

const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    calls: { type: 'string', default: '9' },
    folder: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});

const agent = (index: number): string => `agent${index + 1}`;
const group = (index: number): string => `team${index + 1}`;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const BUNDLE = `
roles:
  - code: viewer
    name: Viewer
    records:
      - { type: incident, where: { field: assignmentGroup, operator: equals, value: team2 }, actions: [read, history], fields: { read: '*' } }
    assignedTo: { users: [viewer] }
users:
  - { login: viewer, displayName: Viewer }
${numbers(AGENTS)
  .map((index) => `  - { login: ${agent(index)}, displayName: Agent ${index + 1} }`)
  .join('\n')}
groups:
  - code: service-desk
    name: Service desk
    users: [${numbers(AGENTS).map(agent).join(', ')}]
${numbers(GROUPS)
  .map((index) => {
    const members = numbers(AGENTS).filter((one) => one % GROUPS === index);
    return `  - { code: ${group(index)}, name: Team ${index + 1}, users: [${members.map(agent).join(', ')}] }`;
  })
  .join('\n')}
`;

const OPEN = { field: 'workflowCategory', operator: 'in', value: ['open', 'waiting'] };
const MONTH = { lastDays: 30 };
const DONE = { of: 'doneAt', lastDays: 30 };

const REPORTS: [string, object][] = [
  ['created by day, 30 days', { measures: ['count'], groupBy: ['createdAt.day'], period: MONTH }],
  ['done by day, 30 days', { measures: ['count'], groupBy: ['doneAt.day'], period: DONE }],
  ['open by state, with p50 of the age', { measures: ['count', 'age.p50'], groupBy: ['workflowState'], filter: OPEN }],
  ['open by priority', { measures: ['count'], groupBy: ['priority'], filter: OPEN }],
  ['open by assignee', { measures: ['count'], groupBy: ['assignee'], filter: OPEN }],
  ['time to done, p50 and p90, 30 days', { measures: ['timeToDone.p50', 'timeToDone.p90'], period: DONE }],
  ['by priority with p50, 30 days', { measures: ['count', 'timeToDone.p50'], groupBy: ['priority'], period: MONTH }],
  ['SLA met, 30 days', { measures: ['slaMet'], period: MONTH }],
  [
    'by week and priority, 180 days',
    { measures: ['count'], groupBy: ['createdAt.week', 'priority'], period: { lastDays: 180 } },
  ],
  ['all by state', { measures: ['count'], groupBy: ['workflowState'] }],
  ['all by month', { measures: ['count'], groupBy: ['createdAt.month'] }],
  ['all by month of being done, p50', { measures: ['timeToDone.p50'], groupBy: ['doneAt.month'] }],
  ['all: p50 and p90 of the time to done', { measures: ['timeToDone.p50', 'timeToDone.p90'] }],
  ['all by priority', { measures: ['count'], groupBy: ['priority'] }],
  ['all by group', { measures: ['count'], groupBy: ['assignmentGroup'] }],
  ['all by priority, p50 and p90', { measures: ['count', 'timeToDone.p50', 'timeToDone.p90'], groupBy: ['priority'] }],
  [
    'all of priority p1 by month',
    {
      measures: ['count'],
      groupBy: ['createdAt.month'],
      filter: { field: 'priority', operator: 'equals', value: 'p1' },
    },
  ],
  ['all: SLA met', { measures: ['slaMet'] }],
];

function say(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);
}

/** Waits until field indexes, report facts and the counts of the type are complete. */
async function settled(db: pg.Client): Promise<void> {
  const until = performance.now() + READY_MS;
  let before = -1;
  for (;;) {
    const { rows } = await db.query<{ indexes: number; building: boolean }>(
      `SELECT count(*)::int AS indexes, bool_or(NOT i.indisvalid) OR EXISTS (SELECT FROM rebuilds WHERE name = 'report-facts' AND next_at IS NOT NULL)
          OR EXISTS (SELECT FROM report_counted_types WHERE NOT is_whole)
          OR (NOT EXISTS (SELECT FROM report_counted_types) AND (SELECT count(*) >= 20000 FROM report_facts)) AS building
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname LIKE 'objects\\_field\\_%'`,
    );
    const [row] = rows;
    if (row !== undefined && !row.building && row.indexes === before) return;
    if (performance.now() > until) throw new Error('indexes or report facts are not complete after 15 minutes');
    before = row?.indexes ?? -1;
    await sleep(5000);
  }
}

async function idsOf(db: pg.Client, table: 'users' | 'groups', column: string, codes: string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string; code: string }>(
    `SELECT id, ${column} AS code FROM ${table} WHERE ${column} = ANY($1)`,
    [codes],
  );
  const ids = new Map(rows.map(({ id, code }) => [code, id]));
  return codes.map((code) => ids.get(code) ?? '');
}

async function fill(service: ServiceOptions, db: pg.Client): Promise<void> {
  const bundle = path.join(service.folder, 'bundle');
  await mkdir(bundle, { recursive: true });
  await writeFile(path.join(bundle, 'bench.yaml'), BUNDLE);
  await docket(service, ['apply', bundle]);
  await settled(db);
  const agents = await idsOf(db, 'users', 'login', numbers(AGENTS).map(agent));
  const teams = await idsOf(
    db,
    'groups',
    'code',
    numbers(AGENTS).map((index) => group(index % GROUPS)),
  );
  await loadDesk(db, Number(options.records), { agents, groups: teams }, (loaded) => {
    if (loaded % 100_000 === 0) say(`${loaded.toLocaleString('en')} records loaded`);
  });
}

/** Milliseconds of each call, sorted; the answer of the last one. */
async function time(connection: Connection, text: string): Promise<{ ms: number[]; answer: string }> {
  const ms: number[] = [];
  let answer = '';
  for (let call = 0; call < Number(options.calls); call++) {
    const began = performance.now();
    const { status, body } = await connection.request(text);
    ms.push(performance.now() - began);
    answer = status === 200 ? body.toString('utf8') : `status ${status}`;
  }
  return { ms: ms.sort((one, other) => one - other), answer };
}

function request(key: string, method: string, where: string, body?: unknown): string {
  const head = `${method} /api/admin/v1${where} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n`;
  if (body === undefined) return `${head}\r\n`;
  const json = JSON.stringify(body);
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

async function measure(port: number, keys: readonly string[]): Promise<void> {
  const works: [string, (key: string) => string][] = [
    ['counts of the built-in queues', (key) => request(key, 'GET', '/desk/queues/built-in')],
    ...REPORTS.map(([name, query]): [string, (key: string) => string] => [
      name,
      (key) => request(key, 'POST', '/reports/query', { types: ['incident'], ...query }),
    ]),
  ];
  process.stdout.write(`${'p50 and slowest, ms'.padEnd(40)}${USERS.map((user) => user.padStart(18)).join('')}\n`);
  for (const [name, make] of works.filter(([name]) => name.includes(options.only))) {
    const cells: string[] = [];
    for (const key of keys) {
      const connection = await Connection.open(port);
      const { ms, answer } = await time(connection, make(key));
      connection.close();
      const at = (share: number): string => Math.round(ms[Math.floor((ms.length - 1) * share)] ?? 0).toString();
      const missing = answer.startsWith('status')
        ? ` ${answer.slice(7)}`
        : answer.includes('"count":null')
          ? ' none'
          : '';
      cells.push(`${at(0.5)} ${at(1)}${missing}`.padStart(18));
    }
    process.stdout.write(`${name.padEnd(40)}${cells.join('')}\n`);
  }
}

async function main(): Promise<void> {
  const folder = options.folder ?? (await mkdtemp(path.join(tmpdir(), 'docket-bench-')));
  const isNew = !existsSync(path.join(folder, 'data'));
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o711);
  const service: ServiceOptions = { folder, port: await freePort(), env: { DOCKET_STARTER: 'itsm' } };
  let started: Started | undefined;
  let leave: (() => Promise<void>) | undefined;
  try {
    started = await startService(service);
    const connected = await connect(folder);
    leave = connected.leave;
    say(connected.url);
    if (isNew) {
      await fill(service, connected.db);
      // Started again, so that the embedded database sizes its cache for the data.
      await leave();
      await stop(started.child);
      started = await startService(service);
      const again = await connect(folder);
      leave = again.leave;
      say(again.url);
    }
    await settled((await connect(folder)).db);
    const keys: string[] = [];
    for (const user of USERS) {
      const asked = [
        'keys',
        'create',
        '--owner',
        user,
        '--name',
        `bench ${Date.now()}`,
        '--scopes',
        'admin:manage',
        '--json',
      ];
      keys.push((JSON.parse(await docket(service, asked)) as { key: string }).key);
    }
    await sleep(1500);
    await measure(service.port, keys);
  } finally {
    await leave?.();
    await stop(started?.child);
    if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
  }
}

await main();
process.exit();
