/** Imports and exports in the console: a definition, a look beforehand, a dry run, the run, taking it back; and a file out. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { AGENT } from '../support/console-seed.ts';
import { stored } from '../support/small-configuration.ts';
import { byTurns, LANGUAGES, startConsole, type TestConsole } from '../support/console.ts';

let desk: TestConsole;

const WORDS = {
  'ru-RU': {
    create: 'Новое определение',
    code: 'Код',
    source: 'Код источника',
    type: 'Тип записи',
    category: 'Категория',
    sample: 'Файл-образец',
    field: 'Поле',
    save: 'Сохранить',
    change: 'Изменить',
    mode: 'Режим',
    createOnly: 'Только создавать',
    transform: 'Преобразования',
    trim: 'Убрать пробелы по краям',
    apply: 'Применить',
    file: 'Файл',
    created: 'Создано',
    error: 'Ошибка',
    dryRun: 'Проверить',
    wasDry: 'Ничего не сохранено',
    start: 'Загрузить',
    openRun: 'Открыть запуск',
    undo: 'Отменить импорт',
    undoWord: 'отменить',
    undone: 'Отменена',
    undoBegun: 'Отмена не завершена',
    download: 'Скачать файл',
    nameField: 'Название',
  },
  'en-US': {
    create: 'New definition',
    code: 'Code',
    source: 'Source system code',
    type: 'Record type',
    category: 'Category',
    sample: 'Sample file',
    field: 'Field',
    save: 'Save',
    change: 'Change',
    mode: 'Mode',
    createOnly: 'Create only',
    transform: 'Transforms',
    trim: 'Trim spaces',
    apply: 'Apply',
    file: 'File',
    created: 'Created',
    error: 'Error',
    dryRun: 'Dry run',
    wasDry: 'Nothing was saved',
    start: 'Import',
    openRun: 'Open the run',
    undo: 'Undo the import',
    undoWord: 'undo',
    undone: 'Undone',
    undoBegun: 'The undo is not finished',
    download: 'Download file',
    nameField: 'Name',
  },
} as const;

describe('imports in the console', () => {
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    const it = byTurns(language);
    it(`previews, dry-runs, runs and undoes an import: ${language}`, async () => {
      const words = WORDS[language];
      const code = `categories-${language.slice(0, 2)}`;
      const csv = `number;title\n${code}-1;Лифты ${code}\n${code}-2;\n`;
      const upload = { name: 'categories.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) };
      const count = async (): Promise<number> => {
        const { rows } = await desk.call('GET', '/objects?typeId=category&pageSize=100');
        return rows.filter((row: { title: string }) => row.title === `Лифты ${code}`).length;
      };
      const watched = await desk.open('admin', '/admin/imports', { language });
      const { page } = watched;
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: words.create }).first().click();
      await page.getByRole('textbox', { name: words.code, exact: true }).fill(code);
      await page.getByRole('textbox', { name: words.source }).fill(code);
      await page.getByRole('combobox', { name: words.type }).click();
      await page.getByRole('option', { name: words.category, exact: true }).click();
      const sample = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: words.sample }).click();
      await (await sample).setFiles(upload);
      // The column that is named as a field goes there by itself.
      await page.getByRole('group', { name: 'title' }).waitFor();
      await watched.check();
      await page.getByRole('button', { name: words.save }).click();
      await page.getByRole('heading', { name: code }).waitFor();

      await page.getByRole('button', { name: words.change, exact: true }).click();
      await page.getByRole('combobox', { name: words.mode }).selectOption({ label: words.createOnly });
      await page.getByRole('group', { name: 'title' }).getByRole('combobox', { name: words.transform }).click();
      await page.getByRole('option', { name: words.trim }).click();
      await watched.check();
      await page.getByRole('button', { name: words.apply, exact: true }).click();
      await dialog.getByRole('button', { name: words.apply, exact: true }).click();
      await page.getByText(words.createOnly, { exact: true }).waitFor();
      const definitions = await desk.call('GET', '/import-definitions');
      const { mode, mapping } = definitions.find((one: { code: string }) => one.code === code);
      assert.deepEqual([mode, mapping[0].transform], ['CREATE_ONLY', ['trim']]);

      const chooser = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: words.file, exact: true }).click();
      await (await chooser).setFiles(upload);
      await page.getByRole('row').filter({ hasText: words.created }).getByText(`Лифты ${code}`).waitFor();
      await page.getByRole('row').filter({ hasText: words.error }).getByText(`${words.nameField}:`).waitFor();
      await watched.check();
      await page.getByRole('button', { name: words.dryRun }).click();
      await page.getByText(words.wasDry).waitFor();
      assert.equal(await count(), 0);
      await page.getByRole('button', { name: words.start, exact: true }).click();
      await dialog.getByRole('button', { name: words.start, exact: true }).click();
      await page.getByText(words.wasDry).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: words.openRun }).click();
      await page.getByRole('button', { name: words.undo }).waitFor();
      assert.equal(await count(), 1);
      await watched.check();
      // The state after an undo that was interrupted after the last row.
      await stored(desk.app, "UPDATE import_rows SET undo = 'FAILED' WHERE external_id = $1", [`${code}-1`]);
      await page.reload();
      await page.getByRole('heading', { name: words.undoBegun }).waitFor();
      await page.getByText(/^(?:1 of 1 done|Готово 1 из 1)$/).waitFor();
      await watched.check();
      await page.getByRole('button', { name: words.undo }).click();
      await dialog.getByRole('textbox').fill(words.undoWord);
      await dialog.getByRole('button', { name: words.undo }).click();
      await page.getByText(words.undone, { exact: true }).waitFor();
      assert.equal(await count(), 0);
      await watched.close();
    });
  }

  it('exports records as a file', async () => {
    const watched = await desk.open('admin', '/work/exports');
    const { page } = watched;
    await page.getByRole('combobox', { name: 'Тип записи' }).click();
    await page.getByRole('option', { name: 'Инцидент' }).click();
    await page.getByRole('textbox', { name: 'Поиск' }).fill('принтер');
    await watched.check();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Скачать файл' }).click();
    const file = await download;
    assert.match(file.suggestedFilename(), /^incident-.*\.csv$/);
    const text = await readFile(await file.path(), 'utf8');
    assert.ok(text.includes('Принтер на третьем этаже'));
    assert.ok(!text.includes('VPN'));
    await watched.check();
    await watched.close();
  });

  it('is not offered to an agent', async () => {
    const watched = await desk.open(AGENT, '/records?type=incident');
    await watched.page.getByRole('grid').getByText('VPN').first().waitFor();
    assert.equal(await watched.page.getByRole('link', { name: 'Администрирование' }).count(), 0);
    await watched.page.getByRole('link', { name: 'Экспорт' }).waitFor();
    await watched.page.goto(`${desk.url}/admin/imports`);
    await watched.page.getByRole('heading', { name: 'Страница не найдена' }).waitFor();
    await watched.close();
  });
});
