/**
 * `npm run bench -- search [options] [case…]`: the duration of searches and how it grows with the number of records. One
 * service on one database that is filled further and further. The caller reads three of four records and not all fields.
 * Results: docs/explanation/search.md.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { Connection } from '../connection.ts';
import { dice } from '../corpus.ts';
import { docket, freePort, postmasterOf, type ServiceOptions, spentBy, startService, stop } from '../processes.ts';
import { connect, type OpenedEnvironment } from '../environment.ts';
import { AREAS, INDEXED_FIELDS, PRIORITIES, READER, REQUESTER, WRITER, writeBundle } from './bundle.ts';
import { CASES, type Case, chooseWords, type Words } from './cases.ts';
import { loadTexts, multiply } from './fill.ts';
import { plot } from './plot.ts';
import { type RealText, readTexts } from './texts.ts';

const WARM_MS = 1000;
const INDEX_MS = 120_000;
const LOAD_MS = 1_800_000;

interface Options {
  records: number[];
  seconds: number;
  connections: number[];
  /** Settings of DOCKET_SEARCH_MEMORY_MB to measure one after another. */
  memory: number[];
  texts: number;
  cases: readonly Case[];
  plot: string | undefined;
  json: string | undefined;
  data: string;
  keep: boolean;
}

interface Measured {
  case: string;
  records: number;
  memory: number;
  connections: number;
  rate: number;
  p50: number;
  p99: number;
  /** CPU time of a request, of service and database, in milliseconds: more reliable if other programs use the machine. */
  serviceMs: number;
  databaseMs: number;
  /** Answers with another status than expected, and one of them. */
  refused: number;
  example?: string;
}

export const SEARCH_USAGE = `npm run bench -- search [options] [case…]

  --records LIST      numbers of records (default 10000,100000,1000000)
  --seconds N         length of one run (default 5)
  --connections LIST  requests under way at once (default 1,16)
  --memory LIST       memory of the search index in MB, 0 for none (default 0)
  --texts N           real texts that records are made of (default all)
  --plot FILE         writes the growth as SVG
  --json FILE         writes the figures as JSON
  --keep              leaves the service running at the end, until Ctrl-C
  --data DIR          folder of the real texts (default ../shared/data)

cases: ${CASES.map(({ name }) => name).join(', ')}
`;

function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      records: { type: 'string', default: '10000,100000,1000000' },
      seconds: { type: 'string', default: '5' },
      connections: { type: 'string', default: '1,16' },
      memory: { type: 'string', default: '0' },
      texts: { type: 'string', default: '1000000' },
      plot: { type: 'string' },
      json: { type: 'string' },
      keep: { type: 'boolean', default: false },
      data: { type: 'string', default: path.resolve(import.meta.dirname, '../../../shared/data') },
    },
  });
  const numbers = (text: string): number[] =>
    text
      .split(',')
      .map(Number)
      .sort((a, b) => a - b);
  return {
    records: numbers(values.records),
    seconds: Number(values.seconds),
    connections: numbers(values.connections),
    memory: numbers(values.memory),
    texts: Number(values.texts),
    cases: positionals.length === 0 ? CASES : CASES.filter(({ name }) => positionals.includes(name)),
    plot: values.plot,
    json: values.json,
    data: values.data,
    keep: values.keep,
  };
}

interface Loaded {
  times: number[];
  ms: number;
  refused: number;
  example?: string;
}

class Client {
  readonly #port: number;
  readonly #head: string;

  constructor(port: number, key: string) {
    this.#port = port;
    this.#head = `Host: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n`;
  }

  get(path: string, prefix = '/api/v1'): string {
    return `GET ${prefix}${path} HTTP/1.1\r\n${this.#head}\r\n`;
  }

  post(path: string, body: unknown): string {
    const text = JSON.stringify(body);
    const length = Buffer.byteLength(text);
    return `POST /api/v1${path} HTTP/1.1\r\n${this.#head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${text}`;
  }

  /** Closed loop over the given number of connections. @returns the milliseconds of each request and of all together */
  async load(next: () => string, status: number, most: number, ms: number): Promise<Loaded> {
    const started = performance.now();
    const times: number[] = [];
    let refused = 0;
    let example: string | undefined;
    const one = async (): Promise<void> => {
      const connection = await Connection.open(this.#port);
      while (performance.now() - started < ms) {
        const text = next();
        const sent = performance.now();
        const answer = await connection.request(text);
        times.push(performance.now() - sent);
        if (answer.status === status) continue;
        refused++;
        example ??= `${text.split('\r\n')[0]}: ${answer.status} ${answer.body.toString('utf8').slice(0, 300)}`;
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: most }, one));
    const ended = performance.now() - started;
    return { times: times.sort((a, b) => a - b), ms: ended, refused, ...(example === undefined ? {} : { example }) };
  }
}

async function measureCase(
  client: Client,
  spent: () => { server: number; database: number },
  of: Case,
  words: Words,
  records: number,
  memory: number,
  connections: number,
  seconds: number,
): Promise<Measured> {
  const random = dice(connections);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const next = (): string => client.get(of.path(words, pick), of.prefix);
  await client.load(next, 200, connections, WARM_MS);
  const before = spent();
  const { times, ms, ...refused } = await client.load(next, 200, connections, seconds * 1000);
  const after = spent();
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return {
    serviceMs: ((after.server - before.server) * 1000) / times.length,
    databaseMs: ((after.database - before.database) * 1000) / times.length,
    case: of.name,
    records,
    memory,
    connections,
    rate: (times.length * 1000) / ms,
    p50: at(0.5),
    p99: at(0.99),
    ...refused,
  };
}

/** Creates a second, and the same when the database throws the projection's rows away. */
async function measureWrites(
  client: Client,
  db: pg.Client,
  texts: readonly RealText[],
  seconds: number,
): Promise<string> {
  const random = dice(99);
  const next = (): string => {
    const text = texts[Math.floor(random() * texts.length)];
    const values = { ...text, priority: PRIORITIES[0], area: AREAS[Math.floor(random() * AREAS.length)] };
    return client.post('/objects', { typeDefinitionId: 'ticket', values });
  };
  const rate = async (): Promise<number> => {
    const { times, ms } = await client.load(next, 201, 16, seconds * 1000);
    return (times.length * 1000) / ms;
  };
  await rate();
  const [before, after]: number[][] = [[], []];
  for (let round = 0; round < 3; round++) {
    before?.push(await rate());
    await db.query(`CREATE FUNCTION bench_discard() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`);
    await db.query(
      'CREATE TRIGGER bench_discard BEFORE INSERT ON search_records FOR EACH ROW EXECUTE FUNCTION bench_discard()',
    );
    after?.push(await rate());
    await db.query('DROP FUNCTION bench_discard CASCADE');
  }
  const middle = (values: readonly number[] = []): number => [...values].sort((a, b) => a - b)[1] ?? 0;
  const [kept, thrown] = [middle(before), middle(after)];
  return `create: ${kept.toFixed(0)}/s; with the projection's rows thrown away by the database ${thrown.toFixed(0)}/s: it costs ${(100 * (1 - kept / thrown)).toFixed(0)} % of the rate`;
}

/** The indexes of filterable fields are built in the background. */
async function awaitIndexes(db: pg.Client): Promise<void> {
  for (const until = performance.now() + INDEX_MS; performance.now() < until; await sleep(200)) {
    const { rows } = await db.query<{ ready: number }>(
      `SELECT count(*)::int AS ready FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
        WHERE c.relname LIKE 'objects\\_field\\_%' AND i.indisvalid`,
    );
    if ((rows[0]?.ready ?? 0) >= INDEXED_FIELDS) return;
  }
  throw new Error('the indexes of filterable fields were not built in time');
}

function printed(results: readonly Measured[], cases: readonly Case[]): string {
  const lines = [
    '| search | records | index MB | connections | requests/s | p50 ms | p99 ms | service ms | database ms | asked of 1,000,000 |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|---|',
  ];
  for (const one of results) {
    const of = cases.find(({ name }) => name === one.case);
    const target = of?.target === null || of === undefined ? '' : of.target.join(' / ');
    const cells = [
      of?.says,
      one.records.toLocaleString('en'),
      one.memory,
      one.connections,
      one.rate.toFixed(0),
      one.p50.toFixed(1),
      one.p99.toFixed(1),
      one.serviceMs.toFixed(1),
      one.databaseMs.toFixed(1),
      target,
    ];
    lines.push(`| ${cells.join(' | ')} |`);
  }
  return lines.join('\n');
}

async function keyOf(options: ServiceOptions, owner: string): Promise<string> {
  const asked = ['keys', 'create', '--owner', owner, '--name', 'bench', '--scopes', 'all,admin:manage', '--json'];
  return (JSON.parse(await docket(options, asked)) as { key: string }).key;
}

/** Waits until all records are in memory. @returns how long it took and how much memory they take */
async function indexReady(port: number, records: number): Promise<string> {
  const began = performance.now();
  for (; performance.now() - began < LOAD_MS; await sleep(200)) {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const value = (name: string): number => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
    if (value('docket_search_memory_documents') < 0.99 * records) continue;
    const [seconds, mb] = [(performance.now() - began) / 1000, value('docket_search_memory_bytes') / 1e6];
    return `${records.toLocaleString('en')} records in memory after ${seconds.toFixed(1)} s: ${mb.toFixed(0)} MB`;
  }
  throw new Error('the index in memory was not ready in time');
}

/** From one start of the service to its end. */
interface Life {
  pid: number;
  db: pg.Client;
  leave(): Promise<void>;
  stop(): Promise<void>;
}

async function begin(service: ServiceOptions): Promise<Life> {
  const { child } = await startService(service);
  const { db, leave } = await connect(service.folder);
  return { pid: child.pid ?? 0, db, leave, stop: () => stop(child) };
}

async function end(life: Life): Promise<void> {
  await life.leave();
  await life.stop();
}

export async function measureSearch(
  args: readonly string[],
  folder: string,
  opened: OpenedEnvironment,
  say: (line: string) => void,
): Promise<void> {
  const options = readOptions(args);
  const texts = (await readTexts(options.data)).slice(0, options.texts);
  const service: ServiceOptions = { folder, port: await freePort() };
  let life = await begin(service);
  opened.add(() => end(life));
  await docket(service, ['apply', await writeBundle(folder)]);
  await awaitIndexes(life.db);
  const writer = await keyOf(service, WRITER);
  await loadTexts(service.port, writer, texts);
  say(`${texts.length} real texts loaded`);
  const readerKey = await keyOf(service, READER);
  const reader = new Client(service.port, readerKey);
  const requester = new Client(service.port, await keyOf(service, REQUESTER));
  const spent = (): { server: number; database: number } => spentBy(life.pid, postmasterOf(folder));
  const results: Measured[] = [];
  for (const records of options.records) {
    await multiply(life.db, records, say);
    let words: Words | undefined;
    for (const memory of options.memory) {
      // The embedded server sizes its buffers by its data when it starts.
      await end(life);
      life = await begin({ ...service, env: { DOCKET_SEARCH_MEMORY_MB: String(memory) } });
      words ??= await chooseWords(life.db, texts, records);
      if (memory > 0) say(await indexReady(service.port, records));
      for (const of of options.cases) {
        for (const connections of options.connections) {
          const client = of.by === REQUESTER ? requester : reader;
          results.push(await measureCase(client, spent, of, words, records, memory, connections, options.seconds));
        }
      }
    }
    for (const { example } of results) if (example !== undefined) say(example);
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`);
    say(`${records.toLocaleString('en')} records measured`);
  }
  process.stdout.write(`${printed(results, options.cases)}\n\n`);
  process.stdout.write(`${await measureWrites(new Client(service.port, writer), life.db, texts, options.seconds)}\n`);
  if (options.plot !== undefined) await drawn(options, results);
  if (!options.keep) return;
  say(`folder ${folder}, port ${service.port}, key ${readerKey}`);
  await new Promise(() => {});
}

async function drawn(options: Options, results: readonly Measured[]): Promise<void> {
  const fewest = Math.min(...options.connections);
  const lines = options.cases.map(({ name, says }) => ({
    name: says,
    points: results
      .filter((one) => one.case === name && one.connections === fewest)
      .map(({ records, p50 }) => ({ records, ms: p50 })),
  }));
  await writeFile(options.plot ?? '', plot('Median time of a search by number of records', lines));
}
