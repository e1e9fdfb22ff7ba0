/**
 * Tests an upgrade without downtime: two processes of the old version under load, the schema migrated by the new version
 * meanwhile, two processes of the new version started beside them, the old ones stopped. No request may get a 5xx response, and
 * every acknowledged write must exist. The new version is this one plus a migration; `--old REF` takes the old one from a
 * release, from 0.1.0 on. `npm run test:upgrade`, with `--seconds N` of load around each step.
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { readMigrations } from '../src/platform/database/migrate.ts';
import { startTestCluster } from '../test/support/cluster.ts';
import { EXPANSION } from '../test/support/expansion.ts';

const { values: options } = parseArgs({
  options: { old: { type: 'string' }, seconds: { type: 'string', default: '4' } },
});
const root = fileURLToPath(new URL('..', import.meta.url));
const PARTS = ['src', 'client/src', 'db', 'config', 'openapi', 'bin', 'package.json'];
const CLIENTS = 8;

function version(folder: string, ref: string | undefined): string {
  mkdirSync(folder);
  if (ref === undefined)
    for (const part of PARTS) cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  else {
    const archive = execFileSync('git', ['archive', ref, ...PARTS], { cwd: root, maxBuffer: 1e9 });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  return path.join(folder, 'bin', 'docket.mjs');
}

interface Running {
  url: string;
  stop(): Promise<number | null>;
}

/** Ends every process that was started and still runs: none may outlive a trial that failed. */
const endings: (() => void)[] = [];

async function start(program: string, env: NodeJS.ProcessEnv): Promise<Running> {
  const child = spawn(process.execPath, [program, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  endings.push(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-20_000);
  });
  for (;;) {
    const url = /Docket answers at (http:\/\/\S+)/.exec(said)?.[1];
    if (url !== undefined) {
      return {
        url,
        stop: async () => {
          child.kill('SIGTERM');
          const code = await ended;
          if (code !== 0) process.stderr.write(log);
          return code;
        },
      };
    }
    if (child.exitCode !== null) throw new Error(`the service did not start:\n${said}${log}`);
    await sleep(50);
  }
}

/** Writes and reads, over whichever processes are in service. */
class Load {
  readonly targets: string[];
  readonly #key: string;
  /** Id → revision, as last acknowledged. */
  readonly records = new Map<string, number>();
  /** Records that clients currently change. */
  readonly #busy = new Set<string>();
  readonly failures: string[] = [];
  answered = 0;
  elsewhere = 0;
  slowest = 0;
  #stopped = false;
  #clients: Promise<void>[] = [];

  constructor(targets: string[], key: string) {
    this.targets = targets;
    this.#key = key;
  }

  begin(): void {
    this.#clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let turn = 0; !this.#stopped; turn++) await this.#turn(client, turn);
    });
  }

  async end(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#clients);
  }

  async #turn(client: number, turn: number): Promise<void> {
    const free = [...this.records].filter(([id]) => !this.#busy.has(id));
    const one = free[Math.floor(Math.random() * free.length)];
    if (turn % 3 === 0 || one === undefined) {
      const values = { title: `record ${client} ${turn}`, description: 'made while the version changes' };
      const made = await this.#send('POST', '/objects', { typeDefinitionId: 'incident', values });
      if (made?.status === 201) this.records.set(made.body.data.id, 1);
      return;
    }
    const [id, revision] = one;
    this.#busy.add(id);
    try {
      if (turn % 3 === 1) {
        const changed = await this.#send('PATCH', `/objects/${id}`, {
          expectedRevision: revision,
          changes: { description: `changed in turn ${turn}` },
        });
        if (changed?.status === 200) this.records.set(id, changed.body.data.revision);
      } else {
        await this.#send('POST', `/objects/${id}/comments`, { body: 'a comment', visibility: 'public' });
        await this.#send('GET', `/objects/${id}`);
        await this.#send('GET', '/objects');
        await this.#send('GET', '/search?q=changes');
      }
    } finally {
      this.#busy.delete(id);
    }
  }

  /** One request with a key of its own, repeated elsewhere while the connection breaks: what a careful client does. */
  async #send(method: string, where: string, body?: object): Promise<{ status: number; body: any } | undefined> {
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.#key}`,
      'content-type': 'application/json',
    };
    if (method !== 'GET') headers['idempotency-key'] = crypto.randomUUID();
    for (let attempt = 0; attempt < 50; attempt++) {
      const target = this.targets[Math.floor(Math.random() * this.targets.length)] ?? '';
      const began = performance.now();
      try {
        const sent = body === undefined ? {} : { body: JSON.stringify(body) };
        const answer = await fetch(`${target}/api/v1${where}`, { method, headers, ...sent });
        const text = await answer.text();
        this.answered++;
        this.slowest = Math.max(this.slowest, performance.now() - began);
        if (answer.status >= 400) this.failures.push(`${method} ${where}: ${answer.status} ${text.slice(0, 300)}`);
        return { status: answer.status, body: JSON.parse(text) };
      } catch {
        this.elsewhere++;
        await sleep(20);
      }
    }
    this.failures.push(`${method} ${where}: no answer`);
    return undefined;
  }
}

/** The longest wait for a table lock. */
async function watchLocks(url: string): Promise<() => Promise<number>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  let longest = 0;
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const { rows } = await client.query<{ ms: number }>(`
        SELECT coalesce(max(extract(epoch FROM clock_timestamp() - l.waitstart)) * 1000, 0)::float8 AS ms FROM pg_locks l
        WHERE NOT l.granted AND l.locktype = 'relation'`);
      longest = Math.max(longest, rows[0]?.ms ?? 0);
      await sleep(20);
    }
  })();
  return async () => {
    stopped = true;
    await watching;
    await client.end();
    return longest;
  };
}

const folder = mkdtempSync(path.join(tmpdir(), 'docket-upgrade-'));
const cluster = await startTestCluster();
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const pause = Number(options.seconds) * 1000;
let load: Load | undefined;
try {
  const oldProgram = version(path.join(folder, 'old'), options.old);
  const newProgram = version(path.join(folder, 'new'), undefined);
  const next = String((await readMigrations()).length + 1).padStart(4, '0');
  writeFileSync(path.join(folder, 'new', 'db', 'migrations', `${next}-tried.sql`), EXPANSION);
  const admin = new pg.Client({ connectionString: cluster.url });
  await admin.connect();
  await admin.query('CREATE DATABASE upgraded');
  await admin.end();
  const url = new URL(cluster.url);
  url.pathname = '/upgraded';
  const env = {
    ...process.env,
    DATABASE_URL: url.href,
    DOCKET_PORT: '0',
    DOCKET_DATA_DIR: path.join(folder, 'data'),
    DOCKET_RATE_LIMIT: 'off',
    DOCKET_SECRET_KEY: 'the master key of a trial, long enough',
  };
  const command = (program: string, ...args: string[]): string =>
    execFileSync(process.execPath, [program, ...args], { env, encoding: 'utf8' });

  const old = [await start(oldProgram, env), await start(oldProgram, { ...env, DOCKET_MIGRATE: 'off' })];
  const { key } = JSON.parse(
    command(oldProgram, 'keys', 'create', '--owner', 'admin', '--name', 'trial', '--scopes', 'all', '--json'),
  ) as { key: string };
  load = new Load(
    old.map((one) => one.url),
    key,
  );
  load.begin();
  await sleep(pause);
  say(`${load.answered} requests answered by the old version`);

  const locks = await watchLocks(url.href);
  const applied = JSON.parse(command(newProgram, 'migrate', '--json')) as { applied: string[] };
  await sleep(pause);
  const longest = await locks();
  say(
    `${applied.applied.join(', ')} applied under load; no session waited longer than ${Math.round(longest)} ms for a table`,
  );

  const young = [await start(newProgram, env), await start(newProgram, env)];
  load.targets.push(...young.map((one) => one.url));
  await sleep(pause);
  say(`${load.answered} requests answered with both versions beside each other`);

  const codes: (number | null)[] = [];
  for (const one of old) {
    const stopped = one.stop();
    // The time that a proxy needs to notice.
    await sleep(300);
    load.targets.splice(load.targets.indexOf(one.url), 1);
    codes.push(await stopped);
    await sleep(pause / 4);
  }
  await sleep(pause);
  await load.end();
  say(
    `${load.answered} requests in all, ${load.elsewhere} sent again elsewhere, the slowest in ${Math.round(load.slowest)} ms`,
  );

  const check = new pg.Client({ connectionString: url.href });
  await check.connect();
  const { rows } = await check.query<{ id: string; revision: number }>('SELECT id, revision FROM objects');
  await check.end();
  const stored = new Map(rows.map(({ id, revision }) => [id, revision]));
  const lost = [...load.records].filter(([id, revision]) => stored.get(id) !== revision);
  const problems = [
    ...load.failures.slice(0, 10),
    ...(load.failures.length > 10 ? [`and ${load.failures.length - 10} more`] : []),
    ...lost.map(([id]) => `${id} is not as it was acknowledged`),
    ...(stored.size === load.records.size ? [] : [`${stored.size} records, ${load.records.size} acknowledged`]),
    ...(codes.every((code) => code === 0) ? [] : [`the old processes ended with ${codes.join()}`]),
    ...(longest < 1000 ? [] : ['a session waited for a second or longer for a table']),
    ...(applied.applied.length === 1 || options.old !== undefined ? [] : ['the migration was not applied']),
  ];
  for (const one of young) await one.stop();
  const doctor = command(newProgram, 'audit', 'verify');
  say(doctor.trim());
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
  else say(`upgraded without a stop: ${load.records.size} records, 0 failures`);
} finally {
  await load?.end();
  for (const end of endings) end();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
