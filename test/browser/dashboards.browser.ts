/** Dashboards in a browser: figures, charts with a table behind them, drill-down, downloads, and the editor of own ones. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { AGENT } from '../support/console-seed.ts';
import { byTurns, hasCount, type Language, LANGUAGES, startConsole, type TestConsole } from '../support/console.ts';

const WORDS = {
  'ru-RU': {
    choose: 'Панель',
    title: 'Служба поддержки',
    open: 'Открыто сейчас',
    byState: 'Открытые по состояниям',
    byDay: 'Создано по дням',
    byPolicy: 'SLA по политикам, 90 дней',
    doneByDay: 'Решено по дням',
    actions: 'Действия',
    csv: 'Скачать CSV',
    png: 'Скачать PNG',
    asTable: 'Показать таблицей',
    period: 'Период',
    today: 'Сегодня',
    create: 'Создать панель',
    edit: 'Изменить панель',
    add: 'Добавить плитку',
    tileTitle: 'Заголовок',
    kind: 'Вид',
    bars: 'Столбцы',
    groupBy: 'Группировка',
    state: 'Состояние',
    apply: 'Применить',
    save: 'Сохранить',
    newName: 'Новая панель',
    on: 'Переместить дальше',
    remove: 'Удалить плитку',
  },
  'en-US': {
    choose: 'Dashboard',
    title: 'Service desk',
    open: 'Open now',
    byState: 'Open by state',
    byDay: 'Created by day',
    byPolicy: 'SLA by policy, 90 days',
    doneByDay: 'Resolved by day',
    actions: 'Actions',
    csv: 'Download CSV',
    png: 'Download PNG',
    asTable: 'Show as table',
    period: 'Period',
    today: 'Today',
    create: 'Create dashboard',
    edit: 'Edit dashboard',
    add: 'Add tile',
    tileTitle: 'Title',
    kind: 'Kind',
    bars: 'Bars',
    groupBy: 'Group by',
    state: 'State',
    apply: 'Apply',
    save: 'Save',
    newName: 'New dashboard',
    on: 'Move forward',
    remove: 'Remove tile',
  },
} as const;

/** Shows the dashboard of the service desk, which is not the first one. */
async function choose(page: Page, language: Language): Promise<void> {
  const t = WORDS[language];
  await page.getByRole('combobox', { name: t.choose, exact: true }).click();
  await page.getByRole('option', { name: t.title }).click();
  await page.getByRole('heading', { level: 1, name: t.title }).waitFor();
}

describe('dashboards in a browser', () => {
  let console: TestConsole;
  before(async () => {
    console = await startConsole();
  });
  after(() => console.close());

  for (const language of LANGUAGES) {
    const it = byTurns(language, 'en-US');
    const t = WORDS[language];
    it(`shows the dashboard of the starter, its tables, downloads and records (${language})`, async () => {
      const scheme = language === 'ru-RU' ? 'light' : 'dark';
      const { page, check, close } = await console.open('admin', '/work/dashboards', { language, scheme });
      await choose(page, language);
      const tile = (title: string) => page.getByRole('region', { name: title, exact: true });
      await tile(t.byState).locator('canvas').first().waitFor();
      assert.ok((await tile(t.byState).getByRole('row').count()) > 1, 'a table for screen readers');
      await page.waitForLoadState('networkidle');
      await check();

      const download = async (name: string): Promise<Buffer> => {
        await page.getByRole('button', { name: `${t.actions}: ${t.byState}` }).click();
        const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name }).click()]);
        return await readFile(await file.path());
      };
      assert.match((await download(t.csv)).toString('utf8'), /\r\n.+,\d/);
      assert.equal((await download(t.png)).subarray(1, 4).toString(), 'PNG');
      await page.getByRole('button', { name: `${t.actions}: ${t.byState}` }).click();
      await page.getByRole('menuitem', { name: t.asTable }).click();
      await tile(t.byState).locator('canvas').waitFor({ state: 'detached' });

      const open = await tile(t.open).getByRole('link').textContent();
      await tile(t.byState).getByRole('row').nth(1).getByRole('link').click();
      await page.waitForURL(/\/records\?/);
      await page.getByRole('grid').or(page.getByRole('table')).first().waitFor();
      assert.ok(Number(open) > 0);

      for (const title of [t.byPolicy, t.doneByDay]) {
        await page.goBack();
        const row = tile(title).getByRole('row').nth(1);
        const counted = await row.getByRole('cell').nth(1).textContent();
        await row.getByRole('link').dispatchEvent('click');
        await page.waitForURL(/\/records\?.*(done|slaPolicy)=/);
        const shown = page.getByText(language === 'ru-RU' ? /^\d+ запис/ : /^\d+ record/).first();
        await shown.waitFor();
        assert.equal(Number.parseInt((await shown.textContent()) ?? '', 10), Number(counted), title);
        if (title === t.byPolicy) await check();
      }
      await close();
    });

    it(`makes, changes and keeps an own dashboard (${language})`, async () => {
      const { page, check, close } = await console.open(AGENT, '/work/dashboards', { language });
      await page.getByRole('button', { name: t.create }).first().click();
      await page.getByRole('heading', { level: 1, name: t.edit }).waitFor();
      const add = async (title: string): Promise<void> => {
        await page.getByRole('button', { name: t.add }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel(t.tileTitle).fill(title);
        await dialog.getByRole('combobox', { name: t.kind }).or(dialog.getByLabel(t.kind)).first().click();
        await page.getByRole('option', { name: t.bars }).click();
        await dialog.getByLabel(t.groupBy).first().click();
        await dialog.getByLabel(t.groupBy).first().fill(t.state);
        await page.getByRole('option', { name: t.state, exact: true }).click();
        await dialog.getByRole('button', { name: t.apply, exact: true }).click();
        await dialog.waitFor({ state: 'detached' });
      };
      await add('First');
      await add('Second');
      await check();
      await page.getByRole('button', { name: `${t.on}: First` }).click();
      await page.getByRole('button', { name: t.save }).click();
      await page.getByRole('heading', { level: 1, name: t.newName }).waitFor();
      const titles = await page.getByRole('region').getByRole('heading', { level: 2 }).allTextContents();
      assert.deepEqual(titles, ['Second', 'First']);
      await page.getByRole('button', { name: t.edit }).click();
      await page.getByRole('button', { name: `${t.remove}: First` }).click();
      await page.getByRole('button', { name: t.save }).click();
      await page.getByRole('heading', { level: 1, name: t.newName }).waitFor();
      await hasCount(page.getByRole('region').getByRole('heading', { level: 2 }), 1);
      await check();
      await close();
    });
  }

  it('warns about unsaved changes and does not overwrite those of others', async () => {
    const tile = { kind: 'number', title: 'Все', width: 1, query: { types: ['incident'], measures: ['count'] } };
    const { id, revision } = await console.call('POST', '/dashboards', { name: 'Общая', tiles: [tile] });
    const { page, check, close } = await console.open('admin', `/work/dashboards/${id}`);
    await page.getByRole('button', { name: 'Изменить панель' }).click();
    await page.getByRole('textbox', { name: 'Название' }).fill('Моя');
    await page.getByRole('link', { name: 'Все записи' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Изменения не сохранены').waitFor();
    await dialog.getByRole('button', { name: 'Отмена' }).click();
    await console.call('PATCH', `/dashboards/${id}`, { expectedRevision: revision, name: 'Чужая' });
    await page.getByRole('button', { name: WORDS['ru-RU'].save, exact: true }).click();
    await page.getByText('Данные изменил другой пользователь').waitFor();
    await check();
    await page.getByRole('button', { name: 'Отмена' }).click();
    await page.getByRole('heading', { level: 1, name: 'Чужая' }).waitFor();
    await close();
  });

  it('fits a telephone', async () => {
    const { page, check, close } = await console.open('admin', '/work/dashboards', { width: 390, scheme: 'dark' });
    await choose(page, 'ru-RU');
    await page.waitForLoadState('networkidle');
    assert.equal(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'), false);
    await check();
    await close();
  });
});
