/**
 * `node tools/measures.ts`: figures about the weight of the source code, for `CONTRIBUTING.md#measures`. The functions are those
 * that one request runs until it is answered, with the starter configuration and without background tasks: named functions below
 * `src/`, by the coverage that the engine counts.
 */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { startTestApp } from '../test/support/app.ts';
import { isTestFile, readSources, ROOT } from '../test/support/source-files.ts';

const SRC = pathToFileURL(path.join(ROOT, 'src/')).href;
const WARM = 20;

/** Warms up, then runs `request` once. @returns the named functions that it ran, by file */
async function functionsRun(session: Session, request: () => Promise<void>): Promise<Map<string, Set<string>>> {
  for (let turn = 0; turn < WARM; turn++) await request();
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await request();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const files = new Map<string, Set<string>>();
  for (const { url, functions } of result) {
    if (!url.startsWith(SRC)) continue;
    const ran = functions.filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0);
    if (ran.length === 0) continue;
    files.set(url, new Set(ran.map(({ functionName, ranges }) => `${functionName} ${ranges[0]?.startOffset}`)));
  }
  return files;
}

const sources = readSources('src').filter(({ path: file }) => !isTestFile(file));
const matches = (pattern: RegExp): number =>
  sources.reduce((sum, { text }) => sum + [...text.matchAll(pattern)].length, 0);
const lines = sources.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
const table = readFileSync(path.join(ROOT, 'db/schema.sql'), 'utf8').match(/^CREATE TABLE/gm)?.length ?? 0;
const say = (name: string, figure: string | number): void =>
  void process.stdout.write(`${name.padEnd(58)} ${figure}\n`);

say('lines of src without tests', lines);
say('files of src without tests', sources.length);
say('tables', table);
say('statements with SKIP LOCKED', matches(/SKIP LOCKED/g));
say(
  'files that know transaction snapshots or log positions',
  sources.filter(({ text }) => /pg_snapshot|pg_current_(?:snapshot|wal|xact)|xid8|_lsn\(/.test(text)).length,
);

const app = await startTestApp();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
try {
  const { key } = await app.createKey({ login: 'admin' });
  const send = async (method: string, at: string, body?: unknown): Promise<Record<string, any>> => {
    const answer = await app.request(method, `/api/v1${at}`, { key, body });
    if (answer.status >= 300) throw new Error(`${method} ${at}: ${JSON.stringify(answer.body)}`);
    return answer.body.data as Record<string, any>;
  };
  const values = { title: 'Printer', priority: 'p3' };
  const create = async (): Promise<string> =>
    (await send('POST', '/objects', { typeDefinitionId: 'incident', values }))['id'] as string;
  const id = await create();
  const requests: Record<string, () => Promise<unknown>> = {
    'POST /objects': create,
    'GET /objects/{id}': () => send('GET', `/objects/${id}`),
    'POST /objects/{id}/comments': () =>
      send('POST', `/objects/${id}/comments`, { body: 'Seen', visibility: 'public' }),
    'GET /objects': () => send('GET', '/objects?typeId=incident&pageSize=20'),
  };
  for (const [name, request] of Object.entries(requests)) {
    const files = await functionsRun(session, async () => void (await request()));
    const functions = [...files.values()].reduce((sum, ran) => sum + ran.size, 0);
    say(`functions run by ${name}`, `${functions} in ${files.size} files`);
  }
} finally {
  await app.close();
}
process.exit(0);
