/**
 * `npm run test:search-memory [-- --minutes 60 --records 5000 --writers 4 --seed N]`: the search index in memory under writes, in
 * six windows. Two services share a database: one searches in memory, the other by statements. Between windows both must give equal
 * answers. Neither the index nor the process may grow while the number of records stays.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, type TestAnswer, type TestApp } from '../support/app.ts';
import { longRun } from './long-run.ts';
import { queryOf, SEARCHERS, startSearchFixture } from '../support/search-fixture.ts';

const WORDS = 'printer print paper broken network screen принтер бумага сломан сеть экран отчёт login mail 0042'.split(
  ' ',
);
const WINDOWS = 6;
const COMPARED = 200;
/** Growth between the first full window and the last that is not noise. */
const MAX_GROWTH = 1.25;
const MB = 1024 * 1024;

const run = longRun({ minutes: 60, records: 5000, writers: 4 });
const problems: string[] = [];
let state = run.seed;
const below = (most: number): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * most);
};
const text = (): string =>
  Array.from({ length: 2 + below(12) }, () => `${WORDS[below(WORDS.length)]}${below(3) === 0 ? below(500) : ''}`).join(
    ' ',
  );
const values = (): Record<string, unknown> => ({
  title: text(),
  body: text(),
  kind: below(2) === 0 ? 'open' : 'shut',
  region: below(2) === 0 ? 'north' : 'south',
  secret: text(),
});

const world = await startSearchFixture();
const memory = await startTestApp({ on: world.app, searchMemory: 1024 * MB });
const index = memory.app.searchMemory;
if (index === undefined) throw new Error('the index in memory is turned off');
while (index.state.state !== 'ready') await sleep(50);

interface Known {
  id: string;
  revision: number;
}
const records: Known[] = [];
let writes = 0;
let searches = 0;

async function add(): Promise<void> {
  const made = await world.ok<Known>('chief', 'POST', '/objects', { typeDefinitionId: 'ticket', values: values() });
  records.push({ id: made.id, revision: made.revision });
}

/** Changes a record, or archives it and creates another: the number stays. */
async function write(): Promise<void> {
  const record = records.splice(below(records.length), 1)[0];
  if (record === undefined) return;
  const { id, revision: expectedRevision } = record;
  if (below(5) === 0) {
    await world.ok('chief', 'DELETE', `/objects/${id}`, { expectedRevision });
    await add();
  } else {
    const changed = await world.ok<Known>('chief', 'PATCH', `/objects/${id}`, { expectedRevision, changes: values() });
    records.push({ id, revision: changed.revision });
  }
  writes++;
}

function question(): string {
  const q = Array.from({ length: 1 + below(3) }, () => WORDS[below(WORDS.length)]).join(' ');
  const filter = below(3) === 0 ? { filter: { field: 'kind', operator: 'equals', value: 'open' } } : {};
  return `/api/v1/search?${queryOf({ q, ...filter, page: 1 + below(3) })}`;
}

let refused = 0;

/** Asks again if the machine is too busy for the time limit of a filter. */
async function ask({ request }: Pick<TestApp, 'request'>, path: string, key = ''): Promise<TestAnswer> {
  for (;;) {
    const answer = await request('GET', path, { key });
    if (answer.body.error?.code !== 'FILTER_TOO_EXPENSIVE') return answer;
    refused++;
  }
}

async function search(): Promise<void> {
  const key = world.keys[SEARCHERS[below(3)] ?? 'chief'];
  const { status } = await ask(memory, question(), key);
  if (status !== 200) problems.push(`a search was answered with ${status}`);
  searches++;
}

async function compare(): Promise<void> {
  for (let at = 0; at < COMPARED; at++) {
    const [path, key] = [question(), world.keys[SEARCHERS[below(3)] ?? 'chief']];
    const [mine, right] = await Promise.all([memory, world.app].map((app) => ask(app, path, key)));
    if (mine?.status !== 200 || JSON.stringify(mine.body.data) !== JSON.stringify(right?.body.data))
      problems.push(`different: ${decodeURIComponent(path)}, ${mine?.status} and ${right?.status}`);
  }
}

const found: { index: number; rss: number }[] = [];
try {
  while (records.length < run.number('records')) await Promise.all(Array.from({ length: 8 }, add));
  run.say(`${records.length} records`);
  for (let window = 1; window <= WINDOWS; window++) {
    const until = performance.now() + (run.number('minutes') * 60_000) / WINDOWS;
    const repeat = async (step: () => Promise<void>): Promise<void> => {
      while (performance.now() < until) await step();
    };
    const before = { ...index.answers };
    await Promise.all([
      ...Array.from({ length: run.number('writers') }, () => repeat(write)),
      repeat(search),
      repeat(search),
    ]);
    await compare();
    const { documents, bytes } = index.state;
    found.push({ index: bytes, rss: process.memoryUsage().rss });
    const by = `${index.answers.index - before.index} steps by the index, ${index.answers.statement - before.statement} by statements`;
    run.say(
      `window ${window}: ${writes} writes, ${searches} searches, ${refused} refused for their time, ${by}; ${documents} documents, index ${(bytes / MB).toFixed(1)} MB, process ${(process.memoryUsage().rss / MB).toFixed(0)} MB`,
    );
    if (documents !== records.length) problems.push(`${documents} documents instead of ${records.length}`);
  }
} finally {
  await memory.close();
  await world.close();
}
const [, second, last] = [found[0], found[1], found.at(-1)];
for (const what of ['index', 'rss'] as const) {
  if ((last?.[what] ?? 0) > MAX_GROWTH * (second?.[what] ?? 0)) problems.push(`${what} has grown`);
}
run.end(problems);
