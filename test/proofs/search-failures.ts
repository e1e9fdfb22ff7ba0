/**
 * `npm run test:search-failures [-- --kills 9 --records 3000 --seed N]`: the search index in memory under kills of processes, of
 * connections and of the database, a failover without loss, one with loss, and a restore. Two processes search in memory, the third
 * by statements: after each failure all three must find every acknowledged change at once and give equal answers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import path from 'node:path';
import { random } from './fault-client.ts';
import { FeedInstallation } from './feed-installation.ts';
import { longRun } from './long-run.ts';
import { queryOf } from '../support/search-fixture.ts';

const WORDS = 'printer print paper broken network screen принтер бумага сломан сеть'.split(' ');
const IN_MEMORY = [0, 1];
const QUESTIONS = 40;
const READY_MS = 120_000;
const WRITERS = 6;

const run = longRun({ kills: 9, records: 3000 });
const dice = random(run.seed);
const below = (most: number): number => Math.floor(dice() * most);
const problems: string[] = [];
const installation = await FeedInstallation.start((index) =>
  IN_MEMORY.includes(index) ? { DOCKET_SEARCH_MEMORY_MB: '256' } : {},
);
let made = 0;

async function call(
  process: number,
  method: string,
  url: string,
  body?: unknown,
): Promise<{ status: number; body: any }> {
  const response = await fetch(`${installation.urls[process]}/api/v1${url}`, {
    method,
    headers: { authorization: `Bearer ${installation.key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

/** A new record. @returns its own word; undefined if that was not acknowledged */
async function create(process: number): Promise<string | undefined> {
  const own = `own${++made}x`;
  const title = [own, ...Array.from({ length: 6 }, () => WORDS[below(WORDS.length)])].join(' ');
  const { status } = await call(process, 'POST', '/objects', { typeDefinitionId: 'thing', values: { title } });
  return status === 201 ? own : undefined;
}

/** Writes until `isOver`; what fails is not acknowledged. @returns the last acknowledged words */
async function write(isOver: () => boolean): Promise<string[]> {
  const acknowledged: string[] = [];
  while (!isOver()) {
    const own = await create(below(3)).catch(() => undefined);
    if (own === undefined) await sleep(50);
    else acknowledged.push(own);
  }
  return acknowledged.slice(-5);
}

async function untilReady(): Promise<void> {
  for (const process of IN_MEMORY) {
    for (const began = performance.now(); ; await sleep(200)) {
      const text = await (await fetch(`${installation.urls[process]}/metrics`)).text().catch(() => '');
      if (/^docket_search_memory_documents [1-9]/m.test(text)) break;
      if (performance.now() - began < READY_MS) continue;
      problems.push(`the index of process ${process} was not ready in time`);
      break;
    }
  }
}

async function total(process: number, q: string): Promise<unknown> {
  return (await call(process, 'GET', `/search?${queryOf({ q })}`)).body.data?.total;
}

async function verify(after: string, acknowledged: readonly string[]): Promise<void> {
  const check = async (own: string): Promise<void> => {
    const totals = await Promise.all([0, 1, 2].map((process) => total(process, own)));
    if (totals.some((one) => one !== 1)) problems.push(`after ${after}: ${own} was found ${totals.join()} times`);
  };
  // At once, by whatever answers, then in memory.
  for (const own of acknowledged) await check(own);
  await untilReady();
  for (let at = 0; at < QUESTIONS; at++) {
    const own = at % 4 === 0 ? await create(at % 3) : undefined;
    if (own !== undefined) await check(own);
    const q = Array.from({ length: 1 + below(3) }, () => WORDS[below(WORDS.length)]).join(' ');
    const url = `/search?${queryOf({ q, page: 1 + below(2) })}`;
    const answers = await Promise.all(
      [0, 1, 2].map(async (process) => JSON.stringify((await call(process, 'GET', url)).body.data)),
    );
    if (new Set(answers).size > 1) problems.push(`after ${after}: different answers to ${decodeURIComponent(url)}`);
  }
  run.say(`${after}: ${made} records written, ${problems.length} problems`);
}

/** Lets something happen under writes. */
async function under(name: string, happen: () => Promise<void>, keeps = true): Promise<void> {
  let isOver = false;
  const writing = Array.from({ length: WRITERS }, () => write(() => isOver));
  await sleep(500);
  await happen();
  isOver = true;
  const acknowledged = (await Promise.all(writing)).flat();
  await verify(name, keeps ? acknowledged : []);
}

try {
  while (made < run.number('records')) await Promise.all(Array.from({ length: 8 }, () => create(below(3))));
  await verify('the start', []);
  for (let kill = 0; kill < run.number('kills'); kill++) {
    if (kill % 3 === 0) await under('a kill of a process', () => installation.killService(IN_MEMORY[kill % 2] ?? 0));
    else if (kill % 3 === 1) await under('a kill of a connection', () => installation.killBackend());
    else await under('a kill of the database', () => installation.killDatabase());
  }
  await installation.synchronize();
  await under('a failover', () => installation.failOver());
  const backup = path.join(installation.folder, 'service.docket');
  await installation.command(['backup', backup]);
  await under('writes that a restore loses', async () => {});
  await installation.restore(backup, () => {});
  await verify('a restore', []);
  await installation.caughtUp();
  await installation.detachReplica();
  await under('a failover with loss', () => installation.failOver(), false);
} catch (error) {
  problems.push(String(error), installation.said());
} finally {
  await installation.close();
}
run.end(problems);
