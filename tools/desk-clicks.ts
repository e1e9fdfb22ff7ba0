/**
 * `npm run test:desk-clicks -- --url URL --password PASSWORD [--agent LOGIN] [--requester LOGIN] [--opens N]`: counts the
 * clicks of the console's frequent tasks on an installation that `npm run example:data -- --desk --keep` filled and left
 * running, and measures how long after a click a record is shown. It creates and changes a few records. Exits 1 if a
 * task needs more clicks than its limit or the median is above 100 ms; the times need a machine that does nothing else.
 */
import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { WATCH_OPENING } from '../test/support/console-opening.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    password: { type: 'string' },
    agent: { type: 'string', default: 'kravchenko-1' },
    requester: { type: 'string', default: 'chernykh-1500' },
    opens: { type: 'string', default: '40' },
  },
});
const { url, password, agent, requester } = values;
assert.ok(url && password, 'Give --url and --password as the installation printed them.');
const MEDIAN_MS = 100;

interface Session {
  context: BrowserContext;
  call<Answer>(method: string, path: string, body?: object): Promise<Answer>;
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const failures: string[] = [];

async function signIn(login: string): Promise<Session> {
  const api = `${url}/api/admin/v1`;
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(`${api}/session`, { method: 'POST', headers, body: JSON.stringify({ login, password }) });
  assert.equal(answer.status, 201, `sign-in of ${login}`);
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  const { data } = (await answer.json()) as { data: { csrfToken: string } };
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    locale: 'ru-RU',
  });
  context.setDefaultTimeout(20_000);
  await context.addInitScript({ content: `localStorage.setItem('docket.language', 'ru-RU')` });
  const [name = '', value = ''] = cookie.split('=');
  await context.addCookies([{ name, value, url: url ?? '', httpOnly: true, sameSite: 'Strict' }]);
  return {
    context,
    call: async <Answer>(method: string, path: string, body?: object) => {
      const response = await fetch(api + path, {
        method,
        headers: { ...headers, cookie, 'X-Docket-CSRF': data.csrfToken },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      assert.ok(response.ok, `${method} ${path}: ${text}`);
      return (JSON.parse(text) as { data: Answer }).data;
    },
  };
}

async function open({ context }: Session, path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url + path);
  await page.waitForLoadState('networkidle');
  return page;
}

/** Runs a task and prints how many clicks of the mouse it took. */
async function task(page: Page, name: string, limit: number, run: () => Promise<void>): Promise<void> {
  await page.evaluate(`globalThis.__clicks ?? addEventListener('pointerdown', () => globalThis.__clicks++, true);
    globalThis.__clicks = 0`);
  await run();
  const clicks = await page.evaluate<number>('globalThis.__clicks');
  if (clicks > limit) failures.push(name);
  process.stdout.write(`${name}: ${clicks} clicks (limit ${limit})\n`);
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, ...(typeof name === 'string' ? { exact: true } : {}) });

async function ownRecord(page: Page): Promise<void> {
  const state = (name: string) => page.locator('[data-record-head]').getByText(name, { exact: true }).waitFor();
  await task(page, 'take a record', 1, async () => {
    await button(page, 'Взять в работу').click();
    await state('В работе');
  });
  await task(page, 'priority', 2, async () => {
    await button(page, 'Изменить: Приоритет').click();
    await page.getByRole('option', { name: 'Критический' }).click();
    await page.getByText('Сохранено').first().waitFor();
  });
  await task(page, 'reassign', 2, async () => {
    await button(page, 'Изменить: Исполнитель').click();
    const other = page.getByRole('option').nth(1);
    const name = (await other.innerText()).split('\n')[0] ?? '';
    await other.click();
    await page.locator('[data-field=assignee]').getByText(name).first().waitFor();
  });
  await task(page, 'public reply', 2, async () => {
    await page.getByText('Ответ заявителю', { exact: true }).click();
    await page.keyboard.type('Уже смотрим.');
    await button(page, 'Отправить ответ').click();
    await page.locator('article[data-visibility=public]', { hasText: 'Уже смотрим.' }).waitFor();
  });
  await task(page, 'internal note', 1, async () => {
    await page.keyboard.press('n');
    await page.keyboard.type('Картридж заказан.');
    await button(page, 'Добавить комментарий').click();
    await page.locator('article[data-visibility=internal]', { hasText: 'Картридж заказан.' }).waitFor();
  });
  await task(page, 'resolve', 2, async () => {
    await button(page, 'Решить').click();
    await page.keyboard.type('Заменён картридж');
    await page.getByRole('dialog').getByRole('button', { name: 'Решить', exact: true }).click();
    await state('Решён');
  });
}

async function lists(page: Page): Promise<void> {
  const grid = page.getByRole('grid');
  await grid.locator('[aria-rowindex="3"]').waitFor();
  await task(page, 'change thirty records', 5, async () => {
    await grid.locator('[aria-rowindex="2"] input').click();
    await grid.evaluate('(list) => { list.scrollTop = 500; }');
    await grid.locator('[aria-rowindex="31"]').click({ modifiers: ['Shift'], position: { x: 300, y: 10 } });
    await button(page, 'Изменить поле').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox').first().waitFor();
    await page.keyboard.type('Приоритет');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'Низкий' }).click();
    await button(page, /^Применить к 30/).click();
    await page.getByText('Выполнено: 30', { exact: true }).waitFor();
  });
  await page.goto(`${url}/records?type=incident`);
  await grid.locator('[aria-rowindex="3"]').waitFor();
  await task(page, 'save a filter as a queue', 3, async () => {
    await page.getByText('Просрочено', { exact: true }).last().click();
    await button(page, 'Сохранить как очередь…').click();
    await page.getByRole('textbox', { name: 'Название очереди' }).fill('Клики');
    await page.getByRole('dialog').getByRole('button', { name: 'Сохранить очередь' }).click();
    await page.waitForURL('**/queues/*');
  });
  await task(page, 'own incidents', 1, async () => {
    await page.getByRole('link', { name: 'Назначено мне' }).click();
    await page.getByRole('heading', { name: 'Назначено мне' }).waitFor();
    await grid.locator('[aria-rowindex="2"]').waitFor();
  });
}

const median = (numbers: number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

/** Opens records of a list by a click and goes back. The first one loads code and is left out. */
async function opening(page: Page): Promise<void> {
  await page.evaluate(WATCH_OPENING);
  for (let turn = 0; turn <= Number(values.opens); turn++) {
    await page.locator(`[aria-rowindex="${2 + (turn % 15)}"] [data-column=title]`).click();
    await page.locator('[data-record-head] h1').waitFor();
    await page.waitForLoadState('networkidle');
    await page.goBack();
  }
  const [, ...opened] = await page.evaluate<[head: number, whole: number][]>('globalThis.__opened');
  const [head, whole] = [median(opened.map(([at]) => at)), median(opened.map(([, at]) => at))];
  if (!(whole < MEDIAN_MS)) failures.push('record after a click');
  process.stdout.write(
    `record after a click, median of ${opened.length}: title and state ${head.toFixed(0)} ms, whole page ${whole.toFixed(0)} ms (limit ${MEDIAN_MS})\n`,
  );
}

async function firstLoad(page: Page): Promise<void> {
  const bytes = await page.evaluate<number>(`performance.getEntriesByType('resource')
    .filter(({ name }) => name.endsWith('.js')).reduce((sum, one) => sum + one.encodedBodySize, 0)`);
  if (bytes > 250_000) failures.push('script of the first list');
  process.stdout.write(`script of the first list: ${(bytes / 1000).toFixed(0)} kB (limit 250)\n`);
}

interface Item {
  id: string;
  name: string;
  number: string;
  revision: number;
}

async function asAgent(): Promise<void> {
  const session = await signIn(agent);
  const group = (await session.call<Item[]>('GET', '/desk/lookup?kind=group&q=network'))[0]?.id;
  const asked = (await session.call<Item[]>('GET', `/desk/lookup?kind=user&q=${requester}`))[0]?.id;
  const make = (title: string): Promise<Item> =>
    session.call('POST', '/objects', {
      typeDefinitionId: 'incident',
      values: { title, requester: asked, assignmentGroup: group },
    });
  const own = await make('Не печатает принтер в бухгалтерии');
  const page = await open(session, `/records/${own.id}`);
  await page.locator('[data-record-head] h1').waitFor();
  await ownRecord(page);
  const [target, duplicate] = [await make('Печать не работает в зале'), await make('В зале печать не работает')];
  await page.goto(`${url}/records/${duplicate.id}`);
  await page.locator('[data-record-head] h1').waitFor();
  await task(page, 'link a duplicate', 3, async () => {
    await button(page, 'Действия с записью').click();
    await page.getByRole('menuitem', { name: /Объединить/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: new RegExp(target.number) })
      .click();
    await page.locator('[data-record-head]').getByText('Закрыт', { exact: true }).waitFor();
  });
  const list = await open(session, '/records?type=incident&state=in-progress');
  await firstLoad(list);
  await lists(list);
  for (const queue of await session.call<Item[]>('GET', '/desk/queues'))
    if (queue.name === 'Клики')
      await session.call('DELETE', `/desk/queues/${queue.id}`, { expectedRevision: queue.revision });
  await opening(await open(session, '/records?type=incident'));
  await session.context.close();
}

async function asRequester(): Promise<void> {
  const page = await open(await signIn(requester), '/portal');
  await task(page, 'ask for a laptop from the portal', 3, async () => {
    await page.getByRole('link', { name: /Ноутбук для сотрудника/ }).click();
    await button(page, 'Отправить заявку').click();
    await page.waitForURL('**/requests/*');
  });
}

try {
  await asAgent();
  await asRequester();
} finally {
  await browser.close();
}
process.stdout.write(
  failures.length === 0 ? 'All within their limits.\n' : `Above the limit: ${failures.join(', ')}\n`,
);
process.exitCode = failures.length === 0 ? 0 : 1;
