/**
 * `node bench/import-export.ts [--rows N] [--megabytes N]`: rows per second of imports by API and by command line, and exports
 * of 10,000 records, on a temporary database of its own. Reports the CPU time of service and database too, which is more
 * reliable on a shared machine. With `--megabytes`: the memory that an import of a file of that size takes on the command line,
 * compared with one of a thousand rows.
 */
import { chmod, mkdir, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import {
  docket,
  docketMemory,
  freePort,
  postmasterOf,
  type ServiceOptions,
  spentBy,
  startService,
  stop,
} from './processes.ts';

const BUNDLE = `
types:
  - code: rec
    name: Record
    numbering: { prefix: REC, digits: 7 }
    title: title
    fields:
      - { code: title, dataType: string, required: true, search: { filter: true } }
      - { code: description, dataType: text }
      - { code: priority, dataType: enum, constraints: { options: [{ code: p1 }, { code: p2 }, { code: p3 }] }, search: { filter: true } }
      - { code: area, dataType: string, search: { filter: true } }
      - { code: effort, dataType: integer }
      - { code: cost, dataType: decimal }
      - { code: due, dataType: date }
      - { code: startedAt, dataType: datetime }
      - { code: urgent, dataType: boolean }
      - { code: tags, dataType: string, multiple: true }
      - { code: owner, dataType: user }
      - { code: key, dataType: string }
users: [{ login: bench, displayName: Bench, email: bench@example.org }]
roles:
  - code: bench
    rights: [import.manage, import.execute, export.execute]
    records: [{ type: '*', actions: [read, create, update], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [bench] }
importDefinitions:
  - code: recs
    targetKind: object
    targetType: rec
    format: CSV
    mode: UPSERT
    sourceCode: bench
    resolver: { externalIdField: number }
    mapping:
      - { source: number, target: key }
      - { source: title, target: title, transform: trim }
      - { source: description, target: description }
      - { source: priority, target: priority, transform: 'map:{"1":"p1","2":"p2","3":"p3"}' }
      - { source: area, target: area }
      - { source: effort, target: effort, transform: integer }
      - { source: cost, target: cost, transform: decimal }
      - { source: due, target: due, transform: 'date:DD.MM.YYYY' }
      - { source: started, target: startedAt, transform: 'datetime:DD.MM.YYYY HH:mm@Europe/Moscow' }
      - { source: urgent, target: urgent, transform: boolean }
      - { source: tags, target: tags, transform: 'split:;' }
      - { source: owner, target: owner, transform: 'user:login' }
`;

/** Number of rows per write to the file. */
const PART = 1000;
const HEADER = 'number,title,description,priority,area,effort,cost,due,started,urgent,tags,owner';

/** Rows of 12 mapped columns; `state` makes them differ from those of another. */
function csvOf(prefix: string, rows: number, state: string): string {
  const lines = Array.from({ length: rows }, (_, n) => {
    const text = `"The printer on floor ${n % 9} says ""paper jam"", although there is none; please look at it soon."`;
    const cells = [`${prefix}${n}`, `Printer ${n} does not print ${state}`, text, 1 + (n % 3), `area${n % 7}`, n % 40];
    return [
      ...cells,
      `"${n % 1000},5"`,
      '21.11.2026',
      '21.11.2026 09:15',
      n % 2 === 0 ? 'yes' : 'no',
      'red;green',
      'bench',
    ].join();
  });
  return `${HEADER}\r\n${lines.join('\r\n')}\r\n`;
}

interface Spent {
  server: number;
  database: number;
}

function say(what: string, rows: number, ms: number, before: Spent, after: Spent): void {
  const rate = Math.round(rows / (ms / 1000)).toLocaleString('en');
  const spent = (of: keyof Spent): string => `${(after[of] - before[of]).toFixed(2).padStart(6)} s of the ${of}`;
  const time = `${(ms / 1000).toFixed(2).padStart(7)} s ${rate.padStart(9)} rows/s`;
  process.stdout.write(`${what.padEnd(34)} ${time}  ${spent('server')} ${spent('database')}\n`);
}

type Timed = <T>(what: string, rows: number, work: () => Promise<T>) => Promise<T>;

/** @param server process id of the service */
function timer(options: ServiceOptions, server: number): Timed {
  const spent = (): Spent => spentBy(server, postmasterOf(options.folder));
  return async (what, rows, work) => {
    const before = spent();
    const started = performance.now();
    const result = await work();
    say(what, rows, performance.now() - started, before, spent());
    return result;
  };
}

async function applyBundle(options: ServiceOptions): Promise<string | undefined> {
  const bundle = path.join(options.folder, 'bundle');
  await mkdir(bundle, { recursive: true });
  await writeFile(path.join(bundle, 'bench.yaml'), BUNDLE);
  const items = JSON.parse(await docket(options, ['apply', bundle, '--json'])) as { code: string; id: string }[];
  return items.find(({ code }) => code === 'recs')?.id;
}

/** Imports a file of about that size by command line and reports its memory compared with an import of a thousand rows. */
async function measureMemory(options: ServiceOptions, megabytes: number, timed: Timed): Promise<void> {
  await applyBundle(options);
  const imported = async (name: string, rows: number): Promise<number> => {
    const file = path.join(options.folder, `${name}.csv`);
    const written = await open(file, 'w');
    for (let from = 0; from < rows; from += PART) {
      const part = csvOf(`${name}-${from}-`, Math.min(PART, rows - from), 'one');
      await written.write(from === 0 ? part : part.slice(HEADER.length + 2));
    }
    await written.close();
    const size = Math.round((await stat(file)).size / 1e6);
    const run = (): ReturnType<typeof docketMemory> => docketMemory(options, ['import', file, '--definition', 'recs']);
    const { most } = await timed(`command line, ${size} MB`, rows, run);
    process.stdout.write(`${''.padEnd(34)} at most ${Math.round(most)} MB resident\n`);
    return most;
  };
  const small = await imported('small', 1000);
  const rows = Math.round((megabytes * 1e6) / (csvOf('large-100000-', PART, 'one').length / PART));
  process.stdout.write(`it grows by ${Math.round((await imported('large', rows)) - small)} MB with the file\n`);
}

async function measure(options: ServiceOptions, rows: number, timed: Timed): Promise<void> {
  const definitionId = await applyBundle(options);
  const asked = ['keys', 'create', '--owner', 'bench', '--name', 'bench', '--scopes', 'all', '--json'];
  const { key } = JSON.parse(await docket(options, asked)) as { key: string };
  const post = async (place: string, body: object): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${options.port}/api/v1${place}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${place}: ${response.status} ${text.slice(0, 500)}`);
    return text;
  };
  const run = async (what: string, content: string, dryRun: boolean): Promise<void> => {
    const text = await timed(what, rows, () => post('/imports/run', { definitionId, content, dryRun }));
    const { failed } = (JSON.parse(text) as { data: { failed: number } }).data;
    if (failed > 0) throw new Error(`${failed} rows failed`);
  };
  // Compilation and preparation before are not measured.
  await post('/imports/run', { definitionId, content: csvOf('w', 1000, 'warm'), dryRun: false });
  await run('API, dry run of creates', csvOf('a', rows, 'one'), true);
  await run('API, create', csvOf('a', rows, 'one'), false);
  await run('API, upsert, all changed', csvOf('a', rows, 'two'), false);
  await run('API, upsert, none changed', csvOf('a', rows, 'two'), false);
  for (const [what, state] of [
    ['command line, create', 'one'],
    ['command line, upsert', 'two'],
  ] as const) {
    const file = path.join(options.folder, `${state}.csv`);
    await writeFile(file, csvOf('c', rows, state));
    await timed(`${what}, with start`, rows, () => docket(options, ['import', file, '--definition', 'recs']));
  }
  for (const format of ['CSV', 'JSON']) {
    const asking = { typeDefinitionId: 'rec', format, limit: 10_000 };
    await timed(`export, ${format}`, Math.min(10_000, 2 * rows + 1000), () => post('/exports', asking));
  }
}

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '20000' }, megabytes: { type: 'string' } },
});
const folder = await mkdtemp(path.join(tmpdir(), 'docket-bench-'));
// The database's own user must be able to pass through, where root runs it as another.
await chmod(folder, 0o711);
const options: ServiceOptions = { folder, port: await freePort() };
const service = await startService(options);
try {
  const timed = timer(options, service.child.pid ?? 0);
  if (values.megabytes === undefined) await measure(options, Number(values.rows), timed);
  else await measureMemory(options, Number(values.megabytes), timed);
} finally {
  await stop(service.child);
  await rm(folder, { recursive: true, force: true });
}
