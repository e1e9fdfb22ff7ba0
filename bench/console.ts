/**
 * `npm run bench:console -- [--records N] [--opens N] [--steps N]`: what a person feels of the console in Chromium, on a
 * service and database of its own with N incidents: the bytes of script of the first load, whether a list scrolls without
 * waiting, and how long after the click a record's page is there. Wall times: on a machine that does nothing else.
 */
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { addManyRecords } from '../test/support/console-sample-data.ts';
import { WATCH_OPENING } from '../test/support/console-opening.ts';
import { startConsole, type TestConsole } from '../test/support/console.ts';
import { globalSetup, globalTeardown } from '../test/support/global-setup.ts';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '10000' },
    opens: { type: 'string', default: '30' },
    steps: { type: 'string', default: '300' },
  },
});

/** A wheel's turn, in pixels: 33 rows, nearly twice the height of the list's window on a laptop. */
const TURN = 1200;
const GRID = '[role=grid]';

interface Scrolled {
  /** Milliseconds and frames until the window was full of rows again, for each turn. */
  waits: number[];
  frames: number[];
  last: string;
  rows: number;
}

/** Turns the wheel again and again, each time as soon as rows fill the window; runs in the page. */
const SCROLL = `(async () => {
  const grid = document.querySelector('${GRID}');
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const full = () => {
    const edge = grid.getBoundingClientRect().bottom - 40;
    const rows = [...grid.querySelectorAll('[role=row]')];
    return rows.some((row) => row.getBoundingClientRect().bottom >= edge);
  };
  const waits = [], frames = [];
  for (let step = 0; step < STEPS; step++) {
    const start = performance.now();
    const before = grid.scrollTop;
    grid.scrollTop = before + ${TURN};
    let count = 0;
    do { await frame(); count++; if (grid.scrollTop - before < ${TURN} / 2) grid.scrollTop = before + ${TURN}; }
    while ((grid.scrollTop - before < ${TURN} / 2 || !full()) && count < 600);
    if (count >= 600) break;
    waits.push(performance.now() - start);
    frames.push(count);
  }
  const rows = [...grid.querySelectorAll('[role=row][aria-rowindex]')];
  return { waits, frames, last: rows.at(-1)?.textContent ?? '', rows: rows.at(-1)?.getAttribute('aria-rowindex') - 1 };
})()`;

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function say(name: string, numbers: readonly number[], unit: string): void {
  const sorted = [...numbers].sort((one, other) => one - other);
  const figures = [0.5, 0.95, 0.99].map(
    (share) => `${Math.round(share * 100)} %: ${at(sorted, share).toFixed(1)} ${unit}`,
  );
  process.stdout.write(
    `${name}: ${figures.join(', ')}, most ${at(sorted, 1).toFixed(1)} ${unit} (${sorted.length} times)\n`,
  );
}

async function firstLoad(desk: TestConsole): Promise<void> {
  const { page, close } = await desk.open('admin', '/records?type=incident');
  await page.locator(`${GRID} [role=row]`).nth(20).waitFor();
  await page.waitForLoadState('networkidle');
  const [bytes, files, ready] = await page.evaluate<[number, number, number]>(`(() => {
    const scripts = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'));
    return [scripts.reduce((sum, one) => sum + one.encodedBodySize, 0), scripts.length,
      Math.max(...performance.getEntriesByType('resource').map(({ responseEnd }) => responseEnd))];
  })()`);
  process.stdout.write(
    `first load: ${(bytes / 1024).toFixed(0)} KB of compressed script in ${files} files; everything was there after ${ready.toFixed(0)} ms\n`,
  );
  await close();
}

async function scroll(page: Page): Promise<void> {
  const { waits, frames, rows } = await page.evaluate<Scrolled>(SCROLL.replace('STEPS', String(Number(values.steps))));
  const atOnce = frames.filter((count) => count <= 2).length;
  process.stdout.write(
    `scrolling: ${rows} rows in ${waits.length} turns of ${TURN} px; in ${atOnce} of them the rows were there within two frames\n`,
  );
  say('until the window is full of rows', waits, 'ms');
}

async function openRecords(page: Page): Promise<[head: number, whole: number][]> {
  await page.evaluate(WATCH_OPENING);
  for (let turn = 0; turn < Number(values.opens); turn++) {
    const row = page.locator(`${GRID} [role=row][aria-rowindex="${2 + (turn % 15)}"]`);
    await row.waitFor();
    await row.locator('[data-column=title]').click();
    await page.locator('[data-record-head] h1').waitFor();
    await page.waitForLoadState('networkidle');
    await page.goBack();
  }
  return await page.evaluate<[number, number][]>('globalThis.__opened');
}

await globalSetup();
const desk = await startConsole().catch(async (error: unknown) => {
  await globalTeardown();
  throw error;
});
try {
  await addManyRecords(desk, Number(values.records));
  process.stdout.write(`${values.records} incidents\n`);
  await firstLoad(desk);
  const { page, close } = await desk.open('admin', '/records?type=incident');
  await page.locator(`${GRID} [role=row]`).nth(20).waitFor();
  const opened = await openRecords(page);
  process.stdout.write(`the first record’s page, its code loaded with it: ${opened[0]?.[1].toFixed(1)} ms\n`);
  const later = opened.slice(1);
  say(
    'after the click: number, title and state',
    later.map(([head]) => head),
    'ms',
  );
  say(
    'after the click: the whole page',
    later.map(([, whole]) => whole),
    'ms',
  );
  await page.locator(`${GRID} [role=row]`).nth(20).waitFor();
  await scroll(page);
  await close();
} finally {
  await desk.close();
  await globalTeardown();
}
