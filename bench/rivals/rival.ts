/** What the benchmark needs of another system: how it is installed, started and filled, and the requests that it is measured with. */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { samples } from '../corpus.ts';
import { registered, runToEnd, stop } from '../processes.ts';
import type { DatabaseFacts, Target } from '../scenario.ts';

export interface Rival {
  name: 'directus' | 'strapi';
  version: string;
  child: ChildProcess;
  target: Target;
}

export interface RivalOptions {
  /** Folder of its own; an installation that is there is used again. */
  folder: string;
  port: number;
  /** A database of its own, empty. */
  databaseUrl: string;
  records: number;
  facts: DatabaseFacts;
}

const READY_MS = 180_000;

/**
 * Installs packages with npm, without their scripts: these would download prebuilt binaries. Binaries that are packages
 * themselves are installed.
 *
 * @param empty names of packages whose missing binary is not needed; they become empty modules
 */
export async function install(
  folder: string,
  dependencies: Readonly<Record<string, string>>,
  empty: readonly string[] = [],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const wanted = JSON.stringify({ name: 'rival', private: true, dependencies }, null, 2);
  const file = path.join(folder, 'package.json');
  if ((await readFile(file, 'utf8').catch(() => '')) === wanted) return;
  await writeFile(file, wanted);
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--legacy-peer-deps'];
  await runToEnd('npm', args, { cwd: folder }).catch(async (error: Error) => {
    await writeFile(file, '{}');
    throw error;
  });
  for (const name of empty) {
    const { main = 'index.js' } = JSON.parse(
      await readFile(path.join(folder, 'node_modules', name, 'package.json'), 'utf8'),
    ) as { main?: string };
    await writeFile(path.join(folder, 'node_modules', name, main), 'module.exports = {};\n');
  }
}

export async function versionOf(folder: string, name: string): Promise<string> {
  const text = await readFile(path.join(folder, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** The environment of a rival: what finds programs, and its own settings. */
export function environmentOf(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  return { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), NODE_ENV: 'production', ...settings };
}

/** Starts a program and waits until it answers `GET probe` with a status below 500. */
export async function startRival(
  options: { folder: string; port: number },
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  probe: string,
): Promise<ChildProcess> {
  const log = path.join(options.folder, 'rival.log');
  const output = openSync(log, 'a');
  const child = registered(
    spawn(process.execPath, args, { cwd: options.folder, env, stdio: ['ignore', output, output] }),
  );
  const until = performance.now() + READY_MS;
  while (performance.now() < until && child.exitCode === null) {
    const status = await fetch(`http://127.0.0.1:${options.port}${probe}`).then(
      (answer) => answer.status,
      () => 503,
    );
    if (status < 500) return child;
    await sleep(500);
  }
  await stop(child);
  throw new Error(`a rival did not start:\n${(await readFile(log, 'utf8')).slice(-2000)}`);
}

/** Columns of a rival's table of tickets, filled with the same values as the records of the service. */
export interface TicketTable {
  table: string;
  id: string;
  startedAt: string;
  createdAt: string;
  /** Further columns and their SQL. */
  others: Readonly<Record<string, string>>;
}

/** Fills the table. @returns the ids of the records that the row condition of the service would admit */
export async function fillTickets(options: RivalOptions, ticket: TicketTable): Promise<string[]> {
  const db = new pg.Client({ connectionString: options.databaseUrl });
  await db.connect();
  const { table, id, startedAt, createdAt } = ticket;
  const others = Object.entries(ticket.others);
  const columns = [
    id,
    'title',
    'description',
    'priority',
    'area',
    'assignee',
    'effort',
    'due',
    startedAt,
    'tags',
    'asset',
    createdAt,
  ];
  await db.query(
    `INSERT INTO ${table} (${[...columns, ...others.map(([name]) => name)].join(', ')})
      SELECT gen_random_uuid(), s.title || ' ' || i, s.description, 'p' || 1 + h % 4,
        (ARRAY['north', 'south', 'east', 'west'])[1 + h / 16 % 4], ($3::uuid[])[1 + h % cardinality($3::uuid[])], h % 40,
        at::date + 7, at, '["vip", "remote"]', ($4::uuid[])[1 + h % cardinality($4::uuid[])], at
        ${others.map(([, value]) => `, ${value}`).join('')}
      FROM generate_series(1, $2::int) AS i
        CROSS JOIN LATERAL (SELECT ('x' || substr(md5(i::text), 1, 7))::bit(28)::int AS h) AS dice
        CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', now() - make_interval(secs => ($2::int - i) * 20 + 60)) AS at) AS t
        JOIN LATERAL (SELECT e->>'title' AS title, e->>'description' AS description
          FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS x (e, n) WHERE n = 1 + h % jsonb_array_length($1::jsonb)) AS s ON true`,
    [JSON.stringify(samples()), options.records, options.facts.people, options.facts.assets],
  );
  await db.query(`CREATE INDEX ON ${table} (${createdAt})`);
  await db.query(`VACUUM ANALYZE ${table}`);
  const { rows } = await db.query<{ id: string }>(
    `SELECT ${id} AS id FROM ${table} WHERE area <> 'west' ORDER BY md5(${id}::text)`,
  );
  await db.end();
  return rows.map((row) => row.id);
}
