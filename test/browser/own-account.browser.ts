/** The own account: profile, password and sessions, in both languages. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { AGENT, REQUESTER } from '../support/console-seed.ts';
import { byTurns, LANGUAGES, PASSWORD, startConsole, type TestConsole, until } from '../support/console.ts';

const WORDS = {
  'ru-RU': {
    account: 'Мой профиль',
    name: 'Имя',
    zone: 'Часовой пояс',
    language: 'Язык',
    other: 'English',
    otherAccount: 'My profile',
    end: 'Завершить сеанс',
    endedOne: 'Сеанс завершён',
    save: 'Сохранить',
    saved: 'Сохранено',
    old: 'Текущий пароль',
    next: 'Новый пароль',
    change: 'Сменить пароль',
    wrong: 'Это не текущий пароль.',
    unsaved: 'Изменения не сохранены',
    changed: 'Пароль изменён',
    current: 'Этот сеанс',
    endOthers: 'Завершить все остальные',
    ended: 'Остальные сеансы завершены',
    keys: 'Мои ключи API',
  },
  'en-US': {
    account: 'My profile',
    name: 'Name',
    zone: 'Time zone',
    language: 'Language',
    other: 'Русский',
    otherAccount: 'Мой профиль',
    end: 'End session',
    endedOne: 'Session ended',
    save: 'Save',
    saved: 'Saved',
    old: 'Current password',
    next: 'New password',
    change: 'Change password',
    wrong: 'This is not your current password.',
    unsaved: 'Unsaved changes',
    changed: 'Password changed',
    current: 'This session',
    endOthers: 'End all others',
    ended: 'Other sessions ended',
    keys: 'My API keys',
  },
} as const;

describe('the own account in a browser', () => {
  let console: TestConsole;
  before(async () => {
    console = await startConsole();
  });
  after(() => console.close());

  for (const language of LANGUAGES) {
    const it = byTurns(language, 'ru-RU');
    const t = WORDS[language];
    it(`changes profile, password and sessions (${language})`, async () => {
      const elsewhere = await console.open(REQUESTER, '/', { language });
      const forgotten = await console.open(REQUESTER, '/', { language });
      const { page, check, close } = await console.open(REQUESTER, '/', { language });
      await page.getByRole('button', { name: /Мария Иванова/ }).click();
      await page.getByRole('menuitem', { name: t.account }).click();
      await page.getByRole('heading', { level: 1, name: t.account }).waitFor();
      await check();

      await page.getByLabel(t.name, { exact: false }).first().fill(`Мария Иванова ${language}`);
      await page.getByRole('combobox', { name: t.zone }).fill('Asia/Tokyo');
      await page.getByRole('button', { name: t.save }).click();
      await page.getByText(t.saved).first().waitFor();
      await page.getByRole('button', { name: `Мария Иванова ${language}` }).waitFor();

      const change = async (old: string): Promise<void> => {
        await page.getByLabel(t.old).fill(old);
        await page.getByLabel(t.next).fill(PASSWORD);
        await page.getByRole('button', { name: t.change }).click();
      };
      await change('not the right password');
      await page.getByRole('alert').getByText(t.wrong, { exact: true }).waitFor();
      assert.equal(await page.getByText(t.current).count(), 1);
      const sessions = page.getByRole('row').filter({ hasText: 'Chrome, Linux' });
      assert.equal(await sessions.count(), 3);
      assert.equal(await sessions.filter({ hasText: '127.0.0.1' }).count(), 3);
      await page.getByRole('button', { name: t.end }).first().click();
      await page.getByText(t.endedOne).waitFor();
      assert.equal(await sessions.count(), 2);
      await page.getByRole('button', { name: t.endOthers }).click();
      await page.getByRole('dialog').getByRole('button', { name: t.endOthers }).click();
      await page.getByText(t.ended).waitFor();
      assert.equal(await page.getByRole('button', { name: t.endOthers }).count(), 0);
      await elsewhere.page.reload();
      await elsewhere.page.waitForURL(/sign-in/);
      await change(PASSWORD);
      await page.getByText(t.changed).waitFor();
      await check();
      await page.getByLabel(t.name, { exact: false }).first().fill('Не сохранено');
      await page.getByRole('banner').getByRole('link').first().click();
      await page.getByRole('dialog').getByText(t.unsaved).waitFor();
      await page.getByRole('dialog').getByRole('button').last().click();
      await page.waitForURL(/\/portal\/?$/);
      await page.goto(`${console.url}/account`);
      await page.getByRole('heading', { level: 1, name: t.account }).waitFor();
      assert.equal(await page.getByRole('heading', { name: t.keys }).count(), 0, 'without key.manage');
      assert.equal(await page.getByRole('combobox', { name: t.zone }).inputValue(), 'Asia/Tokyo');
      await page.getByRole('combobox', { name: t.language }).click();
      await page.getByRole('option', { name: t.other }).click();
      await page.getByRole('button', { name: t.save }).click();
      await page.getByRole('heading', { level: 1, name: t.otherAccount }).waitFor();
      for (const open of [elsewhere.close, forgotten.close, close]) await open();
    });
  }

  it('shows new notifications without reloading, and keeps choices', async () => {
    const { page, check, close } = await console.open(AGENT, '/notifications', { language: 'en-US' });
    await page.getByRole('heading', { level: 1, name: 'Notifications' }).waitFor();
    const body = `Please look at this, @${AGENT}`;
    // The excerpt is the text of the comment, without the marks of Markdown.
    const marked = { body: `**Please** look at this, @${AGENT}`, visibility: 'internal' };
    await console.call('POST', `/objects/${console.seeded.incident}/comments`, marked);
    const told = page.getByRole('listitem').filter({ hasText: 'mentioned you' });
    await told.filter({ hasText: body }).waitFor();
    const bell = page.getByRole('link', { name: /^Notifications\s*\d+\+? unread$/ });
    await bell.waitFor();
    await check();
    await page.getByRole('button', { name: 'Mark all as read' }).click();
    await bell.waitFor({ state: 'detached' });
    await told.getByRole('link').click();
    await page.waitForURL(/\/records\//);
    await page.getByRole('button', { name: 'Record actions' }).click();
    await page.getByRole('menuitem', { name: 'Watch', exact: true }).click();
    await page.getByText('You will be notified of changes of this record').waitFor();
    await page.getByRole('button', { name: 'Record actions' }).click();
    await page.getByRole('menuitem', { name: 'Who is notified' }).click();
    const reason = page.getByRole('row').filter({ hasText: 'Comment added' }).first();
    await reason.filter({ hasText: 'Mentioned in a comment' }).waitFor();
    await check();
    await page.goto(`${console.url}/notifications/settings`);
    const mail = page.getByRole('combobox', { name: 'Comment on my record: Email' });
    await mail.click();
    await page.getByRole('option', { name: 'Daily digest' }).click();
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByText('Saved').first().waitFor();
    await page.reload();
    assert.equal(await mail.inputValue(), 'Daily digest');
    await check();
    await close();
  });

  it('shares one stream of notifications among tabs', async () => {
    const { page, context, check, close } = await console.open(REQUESTER, '/portal', { language: 'en-US' });
    const second = await context.newPage();
    await second.goto(`${console.url}/portal`);
    const openStreams = async (): Promise<number> => {
      const { body } = await console.app.request('GET', '/metrics');
      return Number(/^docket_event_streams (\d+)$/m.exec(String(body))?.[1]);
    };
    const unreadIn = async (tab: Page): Promise<number> =>
      Number(/\d+/.exec(await tab.getByRole('link', { name: /^Notifications/ }).innerText())?.[0] ?? 0);
    const seenBy = async (tabs: readonly Page[]): Promise<void> => {
      const [before] = await Promise.all(tabs.map(unreadIn));
      const body = { body: 'Please restart it.', visibility: 'public' };
      await console.call('POST', `/objects/${console.seeded.incident}/comments`, body);
      for (const tab of tabs) await until('the bell changes', async () => (await unreadIn(tab)) === (before ?? 0) + 1);
      assert.equal(await openStreams(), 1);
    };
    await until('a stream is open', async () => (await openStreams()) === 1);
    await seenBy([page, second]);
    await check();
    // The first tab has the stream; the second takes over.
    await page.close();
    await seenBy([second]);
    await close();
    await until('the stream is closed', async () => (await openStreams()) === 0);
  });

  it('fits a telephone, and shows the own keys where they may be managed', async () => {
    const { page, check, close } = await console.open('admin', '/account', { width: 390, scheme: 'dark' });
    await page.getByRole('heading', { name: WORDS['ru-RU'].keys }).waitFor();
    assert.ok((await page.getByRole('table', { name: WORDS['ru-RU'].keys }).getByRole('row').count()) > 1);
    const wider = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    assert.equal(wider, false);
    await check();
    await close();
  });
});
