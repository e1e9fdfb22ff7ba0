/**
 * `node bench/sla.ts [--seconds N] [--rounds N]`: what SLA costs a service on an embedded database with durable commits.
 * Records of three types that differ in nothing else: without policies, with two, and with two and a subscription to a local
 * receiver. Every round measures all of them, in the reverse order every second time; ratios are of one round.
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startReceiver } from '../test/support/receiver.ts';
import { Connection } from './connection.ts';
import { AREAS, PRIORITIES, samples, TAGS } from './corpus.ts';
import {
  docket,
  freePort,
  postmasterOf,
  type ServiceOptions,
  spentBy,
  type Started,
  startService,
  stop,
} from './processes.ts';
import { median } from './rounds.ts';

const CONNECTIONS = 16;
const INSTANCES = 640;
const TYPES = ['plain', 'timed', 'notified'] as const;
type TypeCode = (typeof TYPES)[number];

const options = (codes: readonly string[]): string =>
  `{ options: [${codes.map((code) => `{ code: ${code} }`).join(', ')}] }`;

const type = (code: TypeCode, index: number): string => `
  - code: ${code}
    name: ${code}
    numbering: { prefix: ${'ABC'[index]}-, digits: 7 }
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true }
      - { code: description, dataType: text }
      - { code: priority, dataType: enum, constraints: ${options(PRIORITIES)} }
      - { code: area, dataType: enum, constraints: ${options(AREAS)} }
      - { code: assignee, dataType: user }
      - { code: effort, dataType: integer }
      - { code: due, dataType: date }
      - { code: startedAt, dataType: datetime }
      - { code: tags, dataType: string, multiple: true }
      - { code: note, dataType: string }`;

const policies = (code: TypeCode): string => `
  - code: ${code}-resolution
    type: ${code}
    calendar: office
    targets: [{ when: { field: priority, operator: equals, value: p1 }, duration: PT4H }, { duration: PT24H }]
    start: { field: workflowState, operator: in, value: [new, doing] }
    pause: { field: workflowState, operator: equals, value: waiting }
    stop: { field: workflowState, operator: equals, value: done }
    warnAt: [50, 90]
  - code: ${code}-response
    type: ${code}
    calendar: office
    targets: [{ duration: PT8H }]
    start: { field: workflowState, operator: equals, value: new }
    stop: { field: workflowState, operator: not-equals, value: new }
    warnAt: [75]`;

const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:${TYPES.map(type).join('')}
workflows:
  - code: flow
    initial: new
    states: [{ code: new, category: open }, { code: doing, category: open }, { code: waiting, category: waiting }, { code: done, category: done }]
    transitions: [{ code: take, from: '*', to: doing }, { code: wait, from: '*', to: waiting }, { code: finish, from: '*', to: done }]
calendars:
  - code: office
    timezone: Europe/Berlin
    week: { ${['mon', 'tue', 'wed', 'thu', 'fri'].map((day) => `${day}: ['09:00-12:00', '13:00-18:00']`).join(', ')} }
    exceptions: [{ date: '2026-12-25', hours: [] }, { date: '2027-01-01', hours: [] }]
slaPolicies:${policies('timed')}${policies('notified')}
roles:
  - code: bench
    rights: [sla.control, webhook.manage]
    records: [{ type: '*', actions: [read, create, update, history, transition], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [bench] }
users: [{ login: bench, displayName: Bench, email: bench@example.org }]
signingSecrets: [main]
`;

function say(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);
}

interface Rate {
  rate: number;
  /** CPU time of the service and its database: more reliable than wall time if other programs use the machine. */
  server: number;
  database: number;
}

/** One service, asked over raw connections. */
class Bench {
  readonly #port: number;
  readonly #key: string;
  readonly #user: string;
  readonly #spent: () => { server: number; database: number };
  readonly #samples = samples();
  #made = 0;

  constructor(port: number, key: string, user: string, spent: () => { server: number; database: number }) {
    this.#port = port;
    this.#spent = spent;
    this.#key = key;
    this.#user = user;
  }

  text(method: string, where: string, body?: unknown): string {
    const head = `${method} /api/v1${where} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${this.#key}\r\n`;
    if (body === undefined) return `${head}\r\n`;
    const json = JSON.stringify(body);
    return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
  }

  create(code: TypeCode, priority?: string): string {
    const made = this.#made++;
    const sample = this.#samples[made % this.#samples.length];
    const values = {
      title: `${sample?.title} ${made}`,
      description: sample?.description,
      priority: priority ?? PRIORITIES[made % PRIORITIES.length],
      area: AREAS[made % AREAS.length],
      assignee: this.#user,
      effort: made % 40,
      due: '2026-12-17',
      startedAt: '2026-11-17T09:15:00.000Z',
      tags: TAGS.slice(0, 2),
      note: 'n',
    };
    return this.text('POST', '/objects', { typeDefinitionId: code, values });
  }

  async ask(connection: Connection, text: string): Promise<any> {
    const { status, body } = await connection.request(text);
    if (status >= 300) throw new Error(`${status} ${body.toString('utf8')}`);
    return JSON.parse(body.toString('utf8')).data;
  }

  async with<T>(fn: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await Connection.open(this.#port);
    try {
      return await fn(connection);
    } finally {
      connection.close();
    }
  }

  /** Requests a second, and microseconds of processors for each; `next` makes the requests of one connection. */
  async rate(seconds: number, next: (connection: number) => () => string): Promise<Rate> {
    const spent = this.#spent();
    const until = performance.now() + seconds * 1000;
    const began = performance.now();
    let count = 0;
    await Promise.all(
      Array.from({ length: CONNECTIONS }, (_, index) =>
        this.with(async (connection) => {
          const make = next(index);
          while (performance.now() < until) {
            const { status, body } = await connection.request(make());
            if (status >= 300) throw new Error(`${status} ${body.toString('utf8')}`);
            count++;
          }
        }),
      ),
    );
    const rate = count / ((performance.now() - began) / 1000);
    const now = this.#spent();
    const each = (before: number, after: number): number => ((after - before) * 1_000_000) / count;
    return { rate, server: each(spent.server, now.server), database: each(spent.database, now.database) };
  }
}

interface Known {
  id: string;
  instance: string;
  paused: boolean;
  urgent: boolean;
  revision: number;
}

async function known(bench: Bench, code: TypeCode): Promise<Known[]> {
  return await bench.with(async (connection) => {
    const found: Known[] = [];
    for (let index = 0; index < INSTANCES; index++) {
      const { id } = await bench.ask(connection, bench.create(code, 'p3'));
      const list = code === 'plain' ? [] : await bench.ask(connection, bench.text('GET', `/objects/${id}/sla`));
      found.push({ id, instance: list[0]?.id ?? '', paused: false, urgent: false, revision: 1 });
    }
    return found;
  });
}

/** Each connection has its own records, so that its known revisions are current. */
const own =
  (all: readonly Known[], make: (one: Known) => string) =>
  (connection: number): (() => string) => {
    const mine = all.filter((_, index) => index % CONNECTIONS === connection);
    let turn = 0;
    return () => make(mine[turn++ % mine.length] as Known);
  };

async function measure(bench: Bench, rounds: number, seconds: number): Promise<Map<string, Rate[]>> {
  const records = { plain: await known(bench, 'plain'), timed: await known(bench, 'timed') };
  const change = (one: Known): string =>
    bench.text('PATCH', `/objects/${one.id}`, {
      expectedRevision: one.revision,
      changes: { effort: 100 + one.revision++ },
    });
  const concern = (one: Known): string => {
    one.urgent = !one.urgent;
    const changes = { priority: one.urgent ? 'p1' : 'p2' };
    return bench.text('PATCH', `/objects/${one.id}`, { expectedRevision: one.revision++, changes });
  };
  const command = (one: Known): string => {
    one.paused = !one.paused;
    return bench.text('POST', `/sla/${one.instance}/${one.paused ? 'pause' : 'resume'}`, {});
  };
  const works: [string, (connection: number) => () => string][] = [
    ['create without policies', () => () => bench.create('plain')],
    ['create with two policies', () => () => bench.create('timed')],
    ['create with two policies and a subscription', () => () => bench.create('notified')],
    ['change of a field, without policies', own(records.plain, change)],
    ['change of a field that no policy names', own(records.timed, change)],
    ['change of a field that moves the target', own(records.timed, concern)],
    ['SLA command', own(records.timed, command)],
    ['list of the SLA of a record', own(records.timed, (one) => bench.text('GET', `/objects/${one.id}/sla`))],
  ];
  const rates = new Map<string, Rate[]>(works.map(([name]) => [name, []]));
  for (let round = 0; round < rounds + 1; round++) {
    for (const [name, next] of round % 2 === 0 ? works : works.toReversed()) {
      const rate = await bench.rate(round === 0 ? 1 : seconds, next);
      // The first round only warms up.
      if (round > 0) rates.get(name)?.push(rate);
    }
    say(`round ${round} of ${rounds}`);
  }
  return rates;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '4' }, rounds: { type: 'string', default: '4' } },
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-bench-'));
  await chmod(folder, 0o711);
  const receiver = await startReceiver({ keep: false });
  receiver.answer = { status: 204 };
  const ca = path.join(folder, 'ca.pem');
  await writeFile(ca, receiver.ca);
  const env = { DOCKET_WEBHOOK_ALLOW_PRIVATE: 'true', NODE_EXTRA_CA_CERTS: ca };
  const service: ServiceOptions = { folder, port: await freePort(), env };
  let started: Started | undefined;
  try {
    started = await startService(service);
    const bundle = path.join(folder, 'bundle');
    await mkdir(bundle);
    await writeFile(path.join(bundle, 'world.yaml'), WORLD);
    const run = async (...args: string[]): Promise<any> => JSON.parse(await docket(service, [...args, '--json']));
    const applied = (await run('apply', bundle)) as { section: string; code: string; id: string }[];
    const user = applied.find(({ section, code }) => section === 'users' && code === 'bench')?.id ?? '';
    const { key } = await run('keys', 'create', '--owner', 'bench', '--name', 'bench', '--scopes', 'all');
    await run('secrets', 'create', 'main');
    await sleep(1500);
    const pid = started.child.pid ?? 0;
    const postmaster = postmasterOf(folder);
    const spent = () => spentBy(pid, postmaster);
    const bench = new Bench(service.port, key, user, spent);
    await bench.with((connection) =>
      bench.ask(
        connection,
        bench.text('POST', '/webhooks', {
          code: 'hook',
          endpoint: receiver.url,
          secretRef: 'main',
          executionPrincipalId: user,
          eventTypes: ['ObjectCreated', 'SlaStarted'],
          filters: { types: ['notified'] },
        }),
      ),
    );
    const rates = await measure(bench, Number(values.rounds), Number(values.seconds));
    const creates = rates.get('create without policies') ?? [];
    const changes = rates.get('change of a field, without policies') ?? [];
    process.stdout.write(`${''.padEnd(45)} requests/s  ratio  service µs  database µs  ratio\n`);
    for (const [name, all] of rates) {
      const base = name.startsWith('create') ? creates : changes;
      const of = (pick: (one: Rate) => number, pair: (mine: number, other: number) => number): string[] => [
        Math.round(median(all.map(pick))).toString(),
        median(all.map((one, round) => pair(pick(one), pick(base[round] as Rate)))).toFixed(2),
      ];
      const [rate = '', faster = ''] = of(
        ({ rate: value }) => value,
        (mine, other) => mine / other,
      );
      const [server = ''] = of(
        (one) => one.server,
        (mine) => mine,
      );
      const [database = ''] = of(
        (one) => one.database,
        (mine) => mine,
      );
      const [, cheaper = ''] = of(
        (one) => one.server + one.database,
        (mine, other) => other / mine,
      );
      process.stdout.write(
        `${name.padEnd(45)} ${rate.padStart(10)}  ${faster.padStart(5)}  ${server.padStart(10)}  ${database.padStart(11)}  ${cheaper.padStart(5)}\n`,
      );
    }
  } finally {
    await stop(started?.child);
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
process.exit();
