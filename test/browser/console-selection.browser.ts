/** Selection in lists: ranges by click, check box and keyboard from the anchor; and what happens to records that failed. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { byTurns, hasCount, LANGUAGES, startConsole, type TestConsole } from '../support/console.ts';

const WORDS = {
  'ru-RU': {
    selected: (names: string) => `Выбрано: ${names.split(', ').length}. ${names}`,
    clear: 'Снять выбор',
    update: 'Изменить поле',
    field: 'Поле',
    priority: 'Приоритет',
    value: 'Новое значение',
    low: 'Низкий',
    ask: 'Что произойдёт?',
    would: 'Будет изменено записей: 2',
    run: 'Применить к 3 записям',
    repeat: 'Повторить для записей с ошибками: 1',
    failed: 'Ошибок: 1',
    done: 'Выполнено: 1',
    close: 'Закрыть',
  },
  'en-US': {
    selected: (names: string) => `${names.split(', ').length} selected. ${names}`,
    clear: 'Clear selection',
    update: 'Edit field',
    field: 'Field',
    priority: 'Priority',
    value: 'New value',
    low: 'Low',
    ask: 'What would happen?',
    would: '2 records would change',
    run: 'Apply to 3 records',
    repeat: 'Try the failed ones again: 1',
    failed: 'Failed: 1',
    done: 'Done: 1',
    close: 'Close',
  },
} as const;

/** The numbers of the seeded incidents, newest first. */
const number = (row: number): string => `INC${String(17 - row).padStart(7, '0')}`;
const numbers = (...rows: number[]): string => rows.map(number).join(', ');

describe('selection in lists', () => {
  let desk: TestConsole;

  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    it(`selects ranges from the anchor and says what is selected: ${language}`, async () => {
      const words = WORDS[language];
      const watched = await desk.open('petrova', '/records?type=incident', { language });
      const { page } = watched;
      const grid = page.getByRole('grid');
      const row = (index: number) => grid.getByRole('row', { name: new RegExp(number(index)) });
      const says = (...rows: number[]) => page.getByText(words.selected(numbers(...rows)), { exact: true }).waitFor();
      const clear = () => page.getByRole('button', { name: words.clear }).click();
      const click = (index: number, ...modifiers: ('Shift' | 'Control')[]) =>
        row(index).click({ modifiers, position: { x: 400, y: 10 } });
      await row(1).waitFor();

      // Ctrl sets the anchor; each Shift click makes another range from it.
      await click(4, 'Control');
      await click(6, 'Shift');
      await says(4, 5, 6);
      await click(2, 'Shift');
      await says(2, 3, 4);
      await click(8, 'Control');
      await click(9, 'Shift');
      await says(2, 3, 4, 8, 9);
      await watched.check();
      await clear();

      // Check boxes.
      await row(3).getByRole('checkbox').click();
      await row(5)
        .getByRole('checkbox')
        .click({ modifiers: ['Shift'] });
      await says(3, 4, 5);
      await row(2)
        .getByRole('checkbox')
        .click({ modifiers: ['Shift'] });
      await says(2, 3);
      await clear();

      // Keys.
      await grid.focus();
      for (const key of ['Home', 'j', 'x', 'Shift+ArrowDown', 'Shift+J']) await page.keyboard.press(key);
      await says(2, 3, 4);
      await page.keyboard.press('Shift+ArrowUp');
      await says(2, 3);
      for (const key of ['Control+ArrowDown', 'Control+Space']) await page.keyboard.press(key);
      await says(2, 3, 4);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: words.clear }).waitFor({ state: 'detached' });
      assert.ok(page.url().endsWith('/records?type=incident'), 'no record was opened');
      await watched.close();
    });

    byTurns(language, 'en-US')(`offers the records that failed again: ${language}`, async () => {
      const words = WORDS[language];
      const watched = await desk.open('petrova', '/records?type=incident', { language });
      const { page } = watched;
      const grid = page.getByRole('grid');
      await grid.getByText(number(1)).waitFor();
      await grid.focus();
      for (const key of ['Home', 'x', 'Shift+j', 'Shift+j']) await page.keyboard.press(key);
      await page.getByRole('button', { name: words.update }).click();
      const dialog = page.getByRole('dialog');
      const { rows } = await desk.call('GET', '/objects?typeId=incident&pageSize=3');
      await desk.call('PATCH', `/objects/${rows[1].id}`, {
        expectedRevision: rows[1].revision,
        changes: { description: `Уже другое ${language}` },
      });
      await dialog.getByRole('combobox', { name: words.field }).click();
      await page.getByRole('option', { name: words.priority, exact: true }).click();
      await dialog.getByRole('combobox', { name: words.value }).click();
      await page.getByRole('option', { name: words.low }).click();
      await dialog.getByRole('button', { name: words.ask }).click();
      const answer = dialog.getByRole('region', { name: words.ask });
      await answer.getByText(words.would).waitFor();
      await answer.getByText(number(2)).waitFor();
      await watched.check();
      // The list is loaded again while the form is open, and has the new revision.
      const reloaded = page.waitForResponse((response) => response.url().includes('/desk/objects'));
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await reloaded;
      await dialog.getByRole('button', { name: words.run }).click();
      await page.getByText(words.failed).waitFor();
      await page.locator('tr[data-result=FAILED]', { hasText: number(2) }).waitFor();
      await watched.check();
      await dialog.getByRole('button', { name: words.repeat }).click();
      await page.getByText(words.done, { exact: true }).waitFor();
      await hasCount(page.locator('tr[data-result]'), 1, 'the others are not changed again');
      await dialog.getByRole('button', { name: words.close }).last().click();
      assert.equal((await desk.call('GET', `/objects/${rows[1].id}`)).values.priority, 'p4');
      await watched.close();
    });
  }

  it('shows what archiving, and a transition that asks nothing, would do', async () => {
    const words = WORDS['en-US'];
    const watched = await desk.open('admin', '/records?type=incident', { language: 'en-US' });
    const { page } = watched;
    const grid = page.getByRole('grid');
    await grid.getByText(number(1)).waitFor();
    await grid.focus();
    for (const key of ['Home', 'x', 'Shift+j']) await page.keyboard.press(key);
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    const dialog = page.getByRole('dialog');
    const answer = dialog.getByRole('region', { name: words.ask });
    await dialog.getByRole('button', { name: words.ask }).click();
    await answer.getByText(words.would).waitFor();
    await watched.check();
    const { rows } = await desk.call('GET', '/objects?typeId=incident&pageSize=100');
    await desk.call('PATCH', `/objects/${rows[0].id}`, {
      expectedRevision: rows[0].revision,
      changes: { description: 'Changed meanwhile' },
    });
    await page.route('**/bulk', (route) => {
      // The first record only, so that others stay for the tests after this one.
      const { items, ...body } = route.request().postDataJSON();
      return route.continue({ postData: JSON.stringify({ ...body, items: items.slice(0, 1) }) });
    });
    await dialog.getByRole('button', { name: 'Archive' }).click();
    await page.locator('tr[data-result=FAILED]').getByRole('button', { name: 'Why was this refused?' }).click();
    await page.getByText('409 REVISION_CONFLICT').waitFor();
    await watched.check();
    await page.keyboard.press('Escape');
    await page.unroute('**/bulk');

    const fresh = rows.find((row: { workflowState: { code: string } }) => row.workflowState.code === 'new');
    await page.goto(`${desk.url}/records/${fresh.id}`);
    await page.getByRole('button', { name: 'Record actions' }).click();
    await page.getByRole('menuitem', { name: 'Take' }).click();
    await dialog.getByRole('button', { name: words.ask }).click();
    await answer.getByText('In progress').waitFor();
    await watched.check();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('button', { name: 'Record actions' }).click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await dialog.getByRole('button', { name: words.ask }).click();
    await answer.getByText('archived').waitFor();
    await watched.check();
    const error = { code: 'RIGHT_MISSING', message: 'You lack a right.', details: {} };
    await page.route(`**/objects/${fresh.id}`, (route) =>
      route.request().method() === 'DELETE'
        ? route.fulfill({ status: 403, json: { error, meta: {} } })
        : route.continue(),
    );
    await dialog.getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('alert').getByRole('button', { name: 'Why was this refused?' }).click();
    await dialog.getByText(`DELETE /api/admin/v1/objects/${fresh.id}`).waitFor();
    await watched.check();
    assert.equal((await desk.call('GET', `/objects/${fresh.id}`)).revision, fresh.revision, 'nothing was done');
    await watched.close();
  });
});
