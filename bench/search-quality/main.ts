/**
 * `npm run bench -- search-quality [--every N] [--no-comments] [folder]`: how often the right record is among the first ten,
 * through the public API. Loads the collections of `test-collections.ts` as records of its own service and sends each question to
 * `GET /search` with its full text; the record in which it was asked is ignored. Each title also asks for its own record.
 * Results: docs/explanation/search.md.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { connect, type OpenedEnvironment } from '../environment.ts';
import { docket, freePort, type ServiceOptions, startService, stop } from '../processes.ts';
import { writeBundle } from './bundle.ts';
import { Caller, inParallel } from './caller.ts';
import { measureRanking, type Quality } from './quality-metrics.ts';
import { ownTitles, type TestCollection, testCollections, type Text } from './test-collections.ts';

const LOADERS = 8;
const ASKERS = 2;
/** One more than ten, since the record that the question was written in is among the hits. */
const ASKED = 11;
/** Large collections are sampled. */
const MANY = 1000;
const LONGEST_LINE = 1000;
const LONGEST_TEXT = 100_000;
const LONGEST_COMMENT = 20_000;
const LONGEST_QUESTION = 4000;

interface Row extends Quality {
  set: string;
  what: string;
  p50: number;
  p95: number;
}

const clean = (text: string): string => text.replaceAll('\u0000', '').toWellFormed().normalize('NFC');
const line = (text: string): string => clean(text).replace(/\s+/g, ' ').trim().slice(0, LONGEST_LINE).toWellFormed();

async function loadTexts(caller: Caller, set: TestCollection): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  await inParallel(set.texts, LOADERS, async ({ id, title, body, marks }: Text) => {
    const values = { title: line(title), text: clean(body).slice(0, LONGEST_TEXT), marks: line(marks) };
    const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
    const { data } = await caller.post<{ id: string }>('/objects', { typeDefinitionId: set.name, values: filled });
    ids.set(id, data.id);
  });
  return ids;
}

async function loadComments(caller: Caller, set: TestCollection, ids: ReadonlyMap<string, string>): Promise<number> {
  let loaded = 0;
  await inParallel(set.texts, LOADERS, async ({ id, comments }: Text) => {
    // One after the other, so that the last one is the newest.
    for (const comment of comments) {
      const body = clean(comment).slice(0, LONGEST_COMMENT).trim();
      if (body === '') continue;
      await caller.post(`/objects/${ids.get(id) ?? ''}/comments`, { body, visibility: 'public' });
      loaded++;
    }
  });
  return loaded;
}

async function ask(caller: Caller, set: TestCollection, ids: ReadonlyMap<string, string>, what: string): Promise<Row> {
  const back = new Map([...ids].map(([own, id]) => [id, own]));
  const times: number[] = [];
  const quality = await measureRanking(set, ASKERS, async (question) => {
    // Refused as too short: nothing is found.
    if ((question.match(/[\p{L}\p{N}]/gu)?.length ?? 0) < 2) return [];
    const query = new URLSearchParams({ q: clean(question).slice(0, LONGEST_QUESTION), pageSize: String(ASKED) });
    const started = performance.now();
    const { data } = await caller.get<{ results: { id: string }[] }>(`/search?${query}`);
    times.push(performance.now() - started);
    return data.results.map(({ id }) => back.get(id) ?? '');
  });
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  return { set: set.name, what, ...quality, p50: at(0.5), p95: at(0.95) };
}

function printed(rows: readonly Row[]): string {
  const cells = rows.map((row) =>
    [
      row.set,
      row.what,
      row.questions,
      row.recall.toFixed(3),
      row.reciprocal.toFixed(3),
      row.p50.toFixed(0),
      row.p95.toFixed(0),
    ].join(' | '),
  );
  const head = ['set', 'records hold', 'questions', 'recall@10', 'MRR@10', 'p50 ms', 'p95 ms'];
  return [
    `| ${head.join(' | ')} |`,
    `|${head.map(() => '---').join('|')}|`,
    ...cells.map((cell) => `| ${cell} |`),
  ].join('\n');
}

export async function measureQuality(
  args: readonly string[],
  folder: string,
  opened: OpenedEnvironment,
  say: (line: string) => void,
): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    allowNegative: true,
    options: { every: { type: 'string', default: '1' }, comments: { type: 'boolean', default: true } },
  });
  const data = positionals[0] ?? path.resolve(import.meta.dirname, '../../../shared/data');
  const every = Number(values.every);
  const sampled = (set: TestCollection): TestCollection => ({
    ...set,
    questions: set.questions.filter((_, index) => set.questions.length < MANY || index % every === 0),
  });
  const sets = await testCollections(data);
  const options: ServiceOptions = { folder, port: await freePort() };
  const service = await startService(options);
  opened.add(() => stop(service.child));
  const bundle = await writeBundle(
    folder,
    sets.map(({ name }) => name),
  );
  await docket(options, ['apply', bundle]);
  const { db, leave } = await connect(folder);
  opened.add(leave);
  const rows: Row[] = [];
  for (const set of sets) {
    const asked = ['keys', 'create', '--owner', set.name, '--name', 'bench', '--scopes', 'all', '--json'];
    const { key } = JSON.parse(await docket(options, asked)) as { key: string };
    const caller = new Caller(options.port, key);
    const ids = await loadTexts(caller, set);
    say(`${set.name}: ${ids.size} records loaded`);
    await db.query('ANALYZE');
    rows.push(await ask(caller, sampled(set), ids, 'fields'));
    rows.push(await ask(caller, sampled(ownTitles(set)), ids, 'own titles'));
    if (values.comments && set.texts.some(({ comments }) => comments.length > 0)) {
      say(`${set.name}: ${await loadComments(caller, set, ids)} comments loaded`);
      await db.query('ANALYZE');
      rows.push(await ask(caller, sampled(set), ids, 'fields and comments'));
    }
    say(`${set.name}: asked`);
  }
  process.stdout.write(`${printed(rows)}\n`);
}
