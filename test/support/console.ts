/** The service with its built console, a small service desk in it, and browsers that watch what goes on in their pages. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import sql from 'sql-template-tag';
import { setPassword } from '../../src/domain/access/index.ts';
import { startTestApp, type TestApp, type TestOptions } from './app.ts';
import { AGENT, attachLog, LEAD, READER, REQUESTER, type SeedCall, type Seeded, seed } from './console-seed.ts';
import type { TemplateContent } from './database.ts';

export const PASSWORD = 'correct horse battery staple';
export const LANGUAGES = ['ru-RU', 'en-US'] as const;
export type Language = (typeof LANGUAGES)[number];
/**
 * `it` for a loop over the languages whose tests are about behaviour: each test runs in one of the languages, by turns, the
 * first one in `first`. `console-rules.test.ts` checks that all texts are there in both.
 */
export function byTurns(
  language: Language,
  first: Language = 'ru-RU',
): (name: string, fn: () => Promise<void>) => void {
  let isTurn = language === first;
  return (name, fn) => {
    if (isTurn) it(name, fn);
    isTurn = !isTurn;
  };
}

export type Login = 'admin' | typeof AGENT | typeof LEAD | typeof READER | typeof REQUESTER;

export interface PageOptions {
  language?: Language;
  scheme?: 'light' | 'dark';
  width?: number;
  height?: number;
}

export interface WatchedPage {
  page: Page;
  context: BrowserContext;
  /** Runs axe, and asks that nothing went wrong in the page so far. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface TestConsole {
  app: TestApp;
  url: string;
  seeded: Seeded;
  browser: Browser;
  /** Calls below `/api/admin/v1` as the administrator, with a key. */
  call: SeedCall;
  /** A page of a signed-in user, or of an anonymous one with null. */
  open(login: Login | null, path: string, options?: PageOptions): Promise<WatchedPage>;
  close(): Promise<void>;
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** How long a page may take for what a test waits for. */
const PATIENCE_MS = 20_000;

/** What breaches of the policy are gathered under, in the page. */
const BREACHES = '__breaches';

interface ConsoleOptions extends Pick<TestOptions, 'oidc' | 'clock' | 'smtp'> {
  /** Runs before the sample data is created. */
  before?: (call: SeedCall) => Promise<void>;
}

export async function startConsole({ before, ...options }: ConsoleOptions = {}): Promise<TestConsole> {
  const ownContent = before !== undefined || options.clock !== undefined;
  const app = await startTestApp({ ...options, console: true, ...(ownContent ? {} : { content: SAMPLE_DATA }) });
  app.app.startWorker();
  const call = await callAsAdmin(app);
  await before?.(call);
  const seeded = ownContent ? await fill(app, call) : await seededOf(app);
  // Its content is outside of the database.
  await attachLog(call, seeded.incident);
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  return {
    app,
    url: app.url,
    seeded,
    browser,
    call,
    open: (login, path, options = {}) => open(app, browser, login, path, options),
    close: async () => {
      await browser.close();
      await app.close();
    },
  };
}

async function callAsAdmin(app: TestApp): Promise<SeedCall> {
  const { key } = await app.createKey({ login: 'admin', scopes: ['admin:manage'] });
  return async (method, path, body) => {
    const answer = await app.request(method, `/api/admin/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
}

async function fill(app: TestApp, call: SeedCall): Promise<Seeded> {
  const seeded = await seed(call);
  for (const login of ['admin', AGENT, LEAD, READER, REQUESTER]) {
    await app.app.work.write(app.app.system(), (ctx) => setPassword(ctx, login, PASSWORD));
  }
  return seeded;
}

/** The sample data with its ids, created once for all test files. */
const SAMPLE_DATA: TemplateContent = {
  name: 'console',
  fill: async (url) => {
    const app = await startTestApp({ database: { url } });
    app.app.startWorker();
    const seeded = await fill(app, await callAsAdmin(app));
    await app.db.query(sql`CREATE SCHEMA test`);
    await app.db.query(sql`CREATE TABLE test.seeded AS SELECT ${JSON.stringify(seeded)}::jsonb AS seeded`);
    await app.close();
  },
};

async function seededOf(app: TestApp): Promise<Seeded> {
  const [row] = await app.db.query<{ seeded: Seeded }>(sql`SELECT seeded FROM test.seeded`);
  assert.ok(row);
  return row.seeded;
}

async function open(
  app: TestApp,
  browser: Browser,
  login: Login | null,
  path: string,
  { language = 'ru-RU', scheme = 'light', width = 1440, height = 900 }: PageOptions,
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
    locale: language,
    acceptDownloads: true,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  // As text: what runs in a page knows its document, and this file does not.
  await context.addInitScript({
    content: `localStorage.setItem('docket.language', '${language}');
      globalThis.${BREACHES} = [];
      document.addEventListener('securitypolicyviolation', (event) => {
        ${BREACHES}.push(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile + ':' + event.lineNumber);
      });`,
  });
  if (login !== null) await signIn(app, context, login);
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on('console', (message) => {
    // The browser logs every error response; the tests decide which are expected.
    const refusal = /^Failed to load resource: the server responded with a status of 4\d\d/.test(message.text());
    if ((message.type() === 'error' || message.type() === 'warning') && !refusal) troubles.push(message.text());
  });
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== app.url && !['data:', 'blob:'].includes(protocol)) troubles.push(`request to ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 500) troubles.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(app.url + path);
  return {
    page,
    context,
    check: async () => {
      await settled(page);
      const breaches = await page.evaluate<string[]>(BREACHES);
      assert.deepEqual(breaches, [], 'breaches of the policy');
      assert.deepEqual(troubles, [], 'messages, errors and requests elsewhere');
      assert.deepEqual(await violations(page, { type: 'tag', values: RULES }), [], 'axe');
    },
    close: () => context.close(),
  };
}

/** Waits until a condition holds that no locator can express. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !(await holds()); await sleep(50))
    assert.ok(performance.now() < end, `in vain: ${what}`);
}

/** Waits until an input has a value. */
export async function hasValue(input: Locator, value: string, what = 'the input'): Promise<void> {
  await until(`${what}: ${value}`, async () => (await input.inputValue()) === value);
}

/** Waits until as many elements match. */
export async function hasCount(elements: Locator, count: number, what = 'the number of elements'): Promise<void> {
  await until(`${what}: ${count}`, async () => (await elements.count()) === count);
}

/** Waits until the screen has its heading and its data. */
export async function screenLoaded(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.locator('.mantine-Skeleton-root, .mantine-Loader-root').first().waitFor({ state: 'detached' });
}

/** The paths of a table of screens. */
export function screensOf(file: string, prefix: string): string[] {
  const text = readFileSync(new URL(`../../web/src/${file}`, import.meta.url), 'utf8');
  const paths = [...text.matchAll(/^ {4}path: '([a-z-]+)',$/gm)].map(([, own]) => `${prefix}/${own}`);
  assert.ok(paths.length > 1, `${file} has a table of screens`);
  return paths;
}

/** Goes to another screen as a link does, which is much quicker than loading the console again. It must have its own heading. */
export async function showScreen(page: Page, path: string): Promise<void> {
  await page.evaluate(`for (const one of document.querySelectorAll('h1')) one.dataset.left = '';
    history.pushState(null, '', ${JSON.stringify(path)});`);
  await page.locator('h1[data-left]').first().waitFor({ state: 'detached' });
  await screenLoaded(page);
}

/** Waits until no button is busy and no transition runs: intermediate colours must not be measured. */
async function settled(page: Page): Promise<void> {
  // Asked again and again from here: a function that waits in the page would be made by `eval`, which its policy refuses.
  const busy = `!!document.querySelector('[data-loading="true"]') || document.getAnimations().some((animation) =>
    animation.playState === 'running' && animation.effect?.getComputedTiming().iterations !== Infinity)`;
  for (let tries = 0; tries < 200 && (await page.evaluate<boolean>(busy)); tries++) await page.waitForTimeout(25);
}

/** The header that the sign-in page of the browser would send. */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/** Signs in by the API and gives the context the cookie. */
async function signIn(app: TestApp, context: BrowserContext, login: string): Promise<void> {
  const answer = await app.request('POST', '/api/admin/v1/session', {
    body: { login, password: PASSWORD },
    headers: { 'User-Agent': USER_AGENT },
  });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  const [name = '', value = ''] = (answer.headers.get('set-cookie') ?? '').split(';')[0]?.split('=') ?? [];
  await context.addCookies([{ name, value, url: app.url, httpOnly: true, sameSite: 'Strict' }]);
}

interface Violation {
  id: string;
  nodes: { target: string[]; failureSummary?: string }[];
}

/** What axe finds in a page that has come to rest: by all rules with the best practices, or by the named rules. */
export async function findings(page: Page, rules?: readonly string[]): Promise<string[]> {
  await settled(page);
  const only =
    rules === undefined ? { type: 'tag', values: [...RULES, 'best-practice'] } : { type: 'rule', values: rules };
  return await violations(page, only);
}

/** What axe finds twice: what is found only once is a page that changes meanwhile. */
async function violations(page: Page, only: { type: string; values: readonly string[] }): Promise<string[]> {
  const found = await violationsNow(page, only);
  if (found.length === 0) return found;
  await page.waitForTimeout(1000);
  await settled(page);
  return await violationsNow(page, only);
}

async function violationsNow(page: Page, only: { type: string; values: readonly string[] }): Promise<string[]> {
  // Not a script element: the policy of the page would refuse it, as it should.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe);
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, { runOnly: ${JSON.stringify(only)}, resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })) })))`,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary?.split('\n')[1]?.trim() ?? ''}`),
  );
}
