/** Files of comments on the installed starter, from the requester who reports a problem to the agent and back. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { AGENT, REQUESTER } from '../support/console-seed.ts';
import { hasCount, startConsole, type TestConsole, type WatchedPage } from '../support/console.ts';

let desk: TestConsole;
let shots = 0;

/** Draws a picture in the page, as a screenshot, and pastes or drops it on the focused element. */
const picture = (name: string, color: string, send: string): string => `(async () => {
  const canvas = document.createElement('canvas');
  canvas.width = 640; canvas.height = 360;
  const pen = canvas.getContext('2d');
  pen.fillStyle = '${color}'; pen.fillRect(0, 0, 640, 360);
  pen.fillStyle = 'white'; pen.font = '40px sans-serif'; pen.fillText('${name}', 30, 180);
  const blob = await new Promise((done) => canvas.toBlob(done, 'image/png'));
  const carried = new DataTransfer();
  carried.items.add(new File([blob], '${name}', { type: 'image/png' }));
  ${send}
})()`;
const PASTE = `document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: carried, bubbles: true, cancelable: true }));`;
const DROP = `document.activeElement.dispatchEvent(new DragEvent('drop', { dataTransfer: carried, bubbles: true, cancelable: true }));`;

async function paste(page: Page, into: Locator, name: string, color: string): Promise<void> {
  await into.focus();
  await page.evaluate(picture(name, color, PASTE));
}

async function widths(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(
    `[...document.querySelectorAll('article li img')].map((one) => one.complete && one.naturalWidth > 0 ? one.naturalWidth + '' : 'none')`,
  );
}

/** Fails if the page is wider than its window. Keeps a picture if `REPLY_SHOTS` names a folder. */
async function fits({ page }: WatchedPage, name: string): Promise<void> {
  const folder = process.env['REPLY_SHOTS'];
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, `${name} at ${width}`);
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${shots++}-${name}-${width}.png` });
  }
}

async function waitForPicture(page: Page, list: Locator): Promise<void> {
  await list.locator('img').first().waitFor();
  for (let tries = 0; (await widths(page)).includes('none') && tries < 100; tries++) await page.waitForTimeout(50);
}

describe('files of comments', () => {
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  it('go from the report of a problem to the agent, and with the reply back to the requester', async () => {
    const requester = await desk.open(REQUESTER, '/portal/report');
    const own = requester.page;
    await own.getByRole('textbox', { name: 'Тема' }).fill('Не печатает');
    await paste(own, own.getByRole('textbox', { name: 'Тема' }), 'ошибка.png', 'firebrick');
    await own.getByRole('list', { name: 'Файлы к обращению' }).getByText('ошибка.png').waitFor();
    await fits(requester, 'report');
    await requester.check();
    await own.getByRole('button', { name: 'Отправить', exact: true }).click();
    await own.getByRole('link', { name: 'ошибка.png' }).waitFor();
    const id = new URL(own.url()).pathname.split('/').at(-1) ?? '';

    const agent = await desk.open(AGENT, `/records/${id}`);
    const { page } = agent;
    const reported = page.getByRole('list', { name: 'Файлы обращения' });
    await reported.getByRole('button', { name: 'Открыть ошибка.png' }).click();
    await page.getByRole('dialog').getByRole('img', { name: 'ошибка.png' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });

    const text = page.getByRole('textbox', { name: 'Комментарий' });
    const visible = page.getByRole('radiogroup').or(page.getByRole('group')).getByText('Публичный');
    if ((await visible.count()) > 0) await visible.first().click();
    else await page.keyboard.press('r');
    await text.fill('Нажмите сюда');
    await paste(page, text, 'ответ.png', 'seagreen');
    const drafts = page.getByRole('list', { name: 'Файлы комментария' });
    await drafts.getByRole('button', { name: 'Убрать ответ.png' }).waitFor();
    await text.focus();
    await page.evaluate(picture('лишний.png', 'gray', DROP));
    await drafts.getByRole('button', { name: 'Убрать лишний.png' }).click();
    await hasCount(drafts.getByRole('listitem'), 1);
    await own.reload();
    await own.getByRole('link', { name: 'ошибка.png' }).waitFor();
    assert.equal(await own.getByText('ответ.png').count(), 0, 'drafts are seen by their author only');
    await page.reload();
    await drafts.getByText('ответ.png').waitFor();
    await fits(agent, 'draft');
    await agent.check();
    await text.focus();
    await page.keyboard.press('Control+Enter');
    const sent = page.getByRole('list', { name: 'Файлы: Анна Петрова' });
    await waitForPicture(page, sent);
    await drafts.waitFor({ state: 'detached' });
    await fits(agent, 'sent');
    await agent.check();

    await own.reload();
    const answer = own.getByRole('list', { name: 'Файлы: Анна Петрова' });
    await waitForPicture(own, answer);
    assert.deepEqual(await widths(own), ['640']);
    await fits(requester, 'answered');
    await requester.check();

    // An internal comment of a file only.
    await page.keyboard.press('Escape');
    await page.locator('h1').click();
    await page.keyboard.press('n');
    await paste(page, text, 'тайна.png', 'navy');
    await drafts.getByRole('button', { name: 'Убрать тайна.png' }).waitFor();
    await text.focus();
    await page.keyboard.press('Control+Enter');
    await hasCount(sent, 2);
    const files = await desk.call('GET', `/objects/${id}/attachments`);
    const secret = files.find((one: { originalFilename: string }) => one.originalFilename === 'тайна.png');
    assert.ok(secret.commentId);
    await own.reload();
    await answer.first().waitFor();
    assert.equal(await own.getByText('тайна').count(), 0);
    const content = `${desk.url}/api/admin/v1/attachments/${secret.id}/content`;
    assert.equal((await requester.context.request.get(content)).status(), 404);
    assert.equal((await agent.context.request.get(content)).status(), 200);
    await agent.close();
    await requester.close();
  });

  it('say why an upload failed, hold the reply back, and are uploaded again', async () => {
    const watched = await desk.open(AGENT, `/records/${desk.seeded.incident}`);
    const { page } = watched;
    const uploads = '**/attachments?draft=true';
    const refusal = {
      error: { code: 'BLOB_STORE_UNAVAILABLE', message: 'The file store does not answer.', details: [] },
    };
    await page.route(uploads, (route) => route.fulfill({ status: 409, json: refusal }));
    const text = page.getByRole('textbox', { name: 'Комментарий' });
    await text.fill('С файлом');
    await paste(page, text, 'снимок.png', 'teal');
    const failed = page.getByRole('listitem').filter({ hasText: 'Не загружено: снимок.png' });
    await failed.getByRole('alert').waitFor();
    await page.getByText('Повторите загрузку или уберите файлы').waitFor();
    const send = page.locator('button[title="Ctrl+Enter"]');
    assert.ok(await send.isDisabled());
    await fits(watched, 'failed');
    await watched.check();
    await page.unroute(uploads);
    await failed.getByRole('button', { name: 'Повторить' }).click();
    await page.getByRole('button', { name: 'Убрать снимок.png' }).waitFor();
    await failed.waitFor({ state: 'detached' });
    await send.click();
    await page.getByRole('list', { name: 'Файлы: Анна Петрова' }).getByText('снимок.png').first().waitFor();
    await watched.close();
  });
});
