/** Lists as a user arranges them: columns, filter chips, preview, place in the list, neighbours of a record, and clicks. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { addManyRecords } from '../support/console-sample-data.ts';
import { byTurns, LANGUAGES, startConsole, type TestConsole, until } from '../support/console.ts';

let desk: TestConsole;

const WORDS = {
  'ru-RU': {
    columns: 'Столбцы',
    wider: 'Шире: Состояние',
    later: 'Правее: Номер',
    filter: 'Условие',
    add: 'Условие',
    field: 'Поле',
    assignee: 'Исполнитель',
    value: 'Значение',
    me: 'Я',
    apply: 'Применить',
    chip: 'Исполнитель: Я',
    remove: 'Убрать фильтр: Исполнитель: Я',
    preview: 'Предварительный просмотр',
    next: 'Следующая запись',
    back: 'К списку',
    overdue: 'Просрочено',
    saveAs: 'Сохранить как очередь…',
    name: 'Название очереди',
    save: 'Сохранить очередь',
    bulk: 'Изменить поле',
    mine: 'Назначено мне',
    run: 'Применить к 30 записям',
    done: 'Выполнено: 30',
    priority: 'Приоритет',
    low: 'Низкий',
  },
  'en-US': {
    columns: 'Columns',
    wider: 'Wider: State',
    later: 'Move right: Number',
    filter: 'Condition',
    add: 'Condition',
    field: 'Field',
    assignee: 'Assignee',
    value: 'Value',
    me: 'Me',
    apply: 'Apply',
    chip: 'Assignee: Me',
    remove: 'Remove filter: Assignee: Me',
    preview: 'Preview',
    next: 'Next record',
    back: 'Back to the list',
    overdue: 'Overdue',
    saveAs: 'Save as queue…',
    name: 'Queue name',
    save: 'Save queue',
    bulk: 'Edit field',
    mine: 'Assigned to me',
    run: 'Apply to 30 records',
    done: 'Done: 30',
    priority: 'Priority',
    low: 'Low',
  },
} as const;

/** Counts the clicks in the page from now on. */
async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(
    `globalThis.__clicks = 0; addEventListener('pointerdown', () => { globalThis.__clicks += 1; }, true);`,
  );
  return () => page.evaluate<number>('globalThis.__clicks');
}

const heads = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('[data-head]')].map((one) => one.dataset.head)`);

const widthOf = (page: Page, code: string): Promise<number> =>
  page.evaluate<number>(`document.querySelector('[data-head="${code}"]').getBoundingClientRect().width`);

describe('the layout of lists', () => {
  before(async () => {
    desk = await startConsole();
    await addManyRecords(desk, 400);
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    const it = byTurns(language);
    const words = WORDS[language];

    it(`keeps order and widths of columns on the device: ${language}`, async () => {
      const watched = await desk.open('admin', '/records?type=incident', { language });
      const { page } = watched;
      await page.getByRole('grid').getByText('INC0000016').waitFor();
      const before = await widthOf(page, 'workflowState');
      await page.getByRole('button', { name: words.columns }).click();
      await page.getByRole('button', { name: words.wider }).click();
      await page.getByRole('button', { name: words.later }).click();
      await watched.check();
      await page.keyboard.press('Escape');
      assert.deepEqual((await heads(page)).slice(0, 2), ['title', 'number']);
      assert.ok((await widthOf(page, 'workflowState')) > before);
      const edge = page.locator('[data-head=workflowState] [role=separator]');
      const box = (await edge.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + 80, box.y + 5, { steps: 4 });
      await page.mouse.up();
      const dragged = await widthOf(page, 'workflowState');
      assert.ok(dragged > before + 60, `${dragged}`);
      await edge.focus();
      await page.keyboard.press('ArrowLeft');
      await until('the column is narrower', async () => (await widthOf(page, 'workflowState')) < dragged);
      const kept = await widthOf(page, 'workflowState');
      await page.reload();
      await page.getByRole('grid').getByText('INC0000016').waitFor();
      assert.deepEqual((await heads(page)).slice(0, 2), ['title', 'number']);
      assert.ok(Math.abs((await widthOf(page, 'workflowState')) - kept) < 2);
      await watched.close();
    });

    it(`shows each part of a condition as a chip, and offers "me": ${language}`, async () => {
      const watched = await desk.open('admin', '/records?type=incident', { language });
      const { page } = watched;
      await page.getByRole('button', { name: words.filter, exact: true }).click();
      const panel = page.getByRole('dialog');
      await panel.getByRole('button', { name: words.add, exact: true }).click();
      await panel.getByRole('combobox', { name: words.field }).click();
      await page.getByRole('option', { name: words.assignee, exact: true }).click();
      await panel.getByRole('combobox', { name: words.value }).click();
      await page.getByRole('option', { name: words.me, exact: true }).click();
      await watched.check();
      await panel.getByRole('button', { name: words.apply }).click();
      await page.getByRole('button', { name: words.chip, exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: words.apply }).click();
      await watched.check();
      await page.getByRole('button', { name: words.remove }).click();
      await page.waitForURL((url) => !url.searchParams.has('filter'));
      await watched.close();
    });

    it(`shows the current record beside the list: ${language}`, async () => {
      const watched = await desk.open('admin', '/records?type=incident', { language });
      const { page } = watched;
      const grid = page.getByRole('grid');
      await grid.getByText('INC0000016').waitFor();
      await page.getByRole('button', { name: words.preview }).click();
      const pane = page.getByRole('complementary', { name: words.preview });
      const titleAt = (row: number): Promise<string> =>
        grid.locator(`[aria-rowindex="${row}"] [data-column=title]`).innerText();
      await pane.getByRole('heading', { name: await titleAt(2) }).waitFor();
      await grid.focus();
      await page.keyboard.press('j');
      await pane.getByRole('heading', { name: await titleAt(3) }).waitFor();
      await pane.locator('dl').waitFor();
      await watched.check();
      await page.reload();
      await pane.waitFor();
      await page.getByRole('button', { name: words.preview }).click();
      await pane.waitFor({ state: 'detached' });
      await watched.close();
    });

    it(`goes through the records of a list and comes back to the same place: ${language}`, async () => {
      const watched = await desk.open('admin', '/records?type=incident', { language });
      const { page } = watched;
      const grid = page.getByRole('grid');
      await grid.getByText('INC0000016').waitFor();
      await grid.focus();
      await page.keyboard.press('x');
      for (let turn = 0; turn < 5; turn += 1) await page.keyboard.press('PageDown');
      await grid.locator('[aria-rowindex="77"]').waitFor();
      const offset = await page.evaluate<number>("document.querySelector('[role=grid]').scrollTop");
      await page.keyboard.press('Enter');
      await page.locator('[data-record-head] h1').waitFor();
      const first = page.url();
      await page.getByRole('button', { name: words.next }).click();
      await page.waitForURL((url) => url.href !== first);
      const at = (place: string) => page.locator('[data-neighbours]').getByText(place).waitFor();
      await at('77');
      await page.keyboard.press('k');
      await at('76');
      await page.keyboard.press('j');
      await at('77');
      await watched.check();
      await page.getByRole('button', { name: words.back }).click();
      await grid.locator('[aria-rowindex="78"]').waitFor();
      const now = await page.evaluate<number>("document.querySelector('[role=grid]').scrollTop");
      assert.ok(Math.abs(now - offset) < 80, `${now} ${offset}`);
      assert.equal(await page.locator('[data-cursor]').getAttribute('aria-rowindex'), '78');
      assert.equal(await page.getByRole('grid').getAttribute('aria-multiselectable'), 'true');
      await page.locator('[data-selected]').getByText(/\S/).waitFor();
      await watched.close();
    });

    it(`needs few clicks: ${language}`, async () => {
      const watched = await desk.open('admin', '/records?type=incident', { language });
      const { page } = watched;
      const grid = page.getByRole('grid');
      await grid.getByText('INC0000016').waitFor();
      const clicks = await countClicks(page);
      await grid.locator('[aria-rowindex="2"] input').click();
      await grid.evaluate('(list) => { list.scrollTop = 500; }');
      await grid.locator('[aria-rowindex="31"]').click({ modifiers: ['Shift'], position: { x: 300, y: 10 } });
      await page.getByRole('button', { name: words.bulk }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('combobox').first().waitFor();
      await page.keyboard.type(words.priority);
      await page.keyboard.press('Enter');
      await page.keyboard.press('ArrowDown');
      await page.getByRole('option', { name: words.low }).click();
      await dialog.getByRole('button', { name: words.run }).click();
      await page.getByText(words.done, { exact: true }).waitFor();
      assert.ok((await clicks()) <= 5, `thirty records: ${await clicks()}`);
      await watched.close();

      const again = await desk.open('admin', '/records?type=incident', { language });
      await again.page.getByRole('grid').getByText('INC0000016').waitFor();
      const counted = await countClicks(again.page);
      await again.page.getByText(words.overdue, { exact: true }).last().click();
      await again.page.getByRole('button', { name: words.saveAs }).click();
      await again.page.getByRole('textbox', { name: words.name }).fill(`Поздно ${language}`);
      await again.page.getByRole('dialog').getByRole('button', { name: words.save }).click();
      await again.page.waitForURL('**/queues/*');
      assert.equal(await counted(), 3, 'a filter becomes a queue');
      const mine = await counted();
      await again.page.getByRole('link', { name: words.mine }).click();
      await again.page.getByRole('heading', { name: words.mine }).waitFor();
      assert.equal((await counted()) - mine, 1, 'my incidents');
      await again.close();
    });
  }

  it('shows the time left on a phone', async () => {
    const watched = await desk.open('admin', '/records?type=incident&sort=sla.dueAt', { width: 390, height: 844 });
    const { page } = watched;
    await page.getByRole('grid').locator('[role=row]').first().waitFor();
    const shown =
      await page.evaluate<boolean>(`[...document.querySelectorAll('[role=row]')].slice(0, 3).every((row) => {
      const time = row.querySelector('[class*=timeLeft]')?.getBoundingClientRect();
      return time !== undefined && time.width > 20 && time.right <= innerWidth;
    })`);
    assert.ok(shown);
    await watched.check();
    await watched.close();
  });
});
