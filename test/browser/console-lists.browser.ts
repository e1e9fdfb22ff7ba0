/** Lists: keyboard, columns, conditions, queues, many records, bulk changes, search; in both languages. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { READER } from '../support/console-seed.ts';
import { readXlsx } from '../support/xlsx.ts';
import { byTurns, LANGUAGES, startConsole, type TestConsole, until } from '../support/console.ts';

let desk: TestConsole;

const WORDS = {
  'ru-RU': {
    columns: 'Столбцы',
    source: 'Источник',
    portal: 'Портал',
    state: 'Состояние',
    inProgress: 'В работе',
    filter: 'Условие',
    add: 'Условие',
    field: 'Поле',
    value: 'Значение',
    priority: 'Приоритет',
    critical: 'Критический',
    apply: 'Применить',
    saveAs: 'Сохранить как очередь…',
    name: 'Название очереди',
    save: 'Сохранить очередь',
    bulkUpdate: 'Изменить поле',
    bulkField: 'Поле',
    bulkValue: 'Новое значение',
    low: 'Низкий',
    run: 'Применить к 2 записям',
    done: 'Выполнено: 1',
    failed: 'Ошибок: 1',
    text: 'Текст',
    json: 'Условие в виде JSON',
    words: 'Слова, номер или вопрос…',
    go: 'Найти',
    grid: 'Инциденты',
    close: 'Закрыть',
  },
  'en-US': {
    columns: 'Columns',
    source: 'Source',
    portal: 'Portal',
    state: 'State',
    inProgress: 'In progress',
    filter: 'Condition',
    add: 'Condition',
    field: 'Field',
    value: 'Value',
    priority: 'Priority',
    critical: 'Critical',
    apply: 'Apply',
    saveAs: 'Save as queue…',
    name: 'Queue name',
    save: 'Save queue',
    bulkUpdate: 'Edit field',
    bulkField: 'Field',
    bulkValue: 'New value',
    low: 'Low',
    run: 'Apply to 2 records',
    done: 'Done: 1',
    failed: 'Failed: 1',
    text: 'Text',
    json: 'Condition as JSON',
    words: 'Words, a number or a question…',
    go: 'Find',
    grid: 'Incidents',
    close: 'Close',
  },
} as const;

describe('lists of records', () => {
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    const it = byTurns(language, 'en-US');
    it(`choose columns, states and conditions, and are saved as queues: ${language}`, async () => {
      const words = WORDS[language];
      const watched = await desk.open('admin', '/records?type=incident', { language });
      const { page } = watched;
      const grid = page.getByRole('grid');
      await grid.getByText('INC0000016').waitFor();
      await watched.check();
      await page.getByRole('button', { name: words.columns }).click();
      await page.getByRole('checkbox', { name: words.source }).check();
      await grid.getByText(words.portal).first().waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('combobox', { name: words.state }).selectOption({ label: words.inProgress });
      await grid.getByText('INC0000016').waitFor({ state: 'detached' });
      assert.equal(new URL(page.url()).searchParams.get('state'), 'in-progress');

      await page.getByRole('button', { name: words.filter, exact: true }).click();
      const panel = page.getByRole('dialog');
      await panel.getByRole('button', { name: words.add, exact: true }).click();
      await panel.getByRole('combobox', { name: words.field }).click();
      await page.getByRole('option', { name: words.priority, exact: true }).click();
      await panel.getByRole('combobox', { name: words.value }).click();
      await page.getByRole('option', { name: words.critical }).click();
      await watched.check();
      await panel.getByText(words.text, { exact: true }).click();
      const json = await panel.getByRole('textbox', { name: words.json }).inputValue();
      assert.deepEqual(JSON.parse(json), {
        logic: 'AND',
        conditions: [{ field: 'priority', operator: 'equals', value: 'p1' }],
      });
      await panel.getByRole('button', { name: words.apply }).click();
      await grid.getByText('INC0000001').waitFor({ state: 'detached' });
      await grid.getByText('INC0000003').waitFor();

      await page.getByRole('button', { name: words.saveAs }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox', { name: words.name }).fill(`Горит ${language}`);
      await dialog.getByRole('button', { name: words.save }).click();
      await page.waitForURL('**/queues/*');
      await page.getByRole('heading', { name: `Горит ${language}` }).waitFor();
      await grid.getByText('INC0000003').waitFor();
      await watched.check();
      const queues = await desk.call('GET', '/desk/queues');
      assert.equal(queues.filter((one: { name: string }) => one.name === `Горит ${language}`).length, 1);
      await watched.close();
    });

    it(`change several records and report each result: ${language}`, async () => {
      const words = WORDS[language];
      const watched = await desk.open('admin', '/records?type=incident', { language });
      const { page } = watched;
      const grid = page.getByRole('grid');
      await grid.getByText('INC0000016').waitFor();
      await grid.focus();
      await page.keyboard.press('x');
      await page.keyboard.press('j');
      await page.keyboard.press('x');
      await page.getByRole('button', { name: words.bulkUpdate }).click();
      // Meanwhile another user changes one of the two.
      const [first] = (await desk.call('GET', '/objects?typeId=incident&pageSize=1')).rows;
      await desk.call('PATCH', `/objects/${first.id}`, {
        expectedRevision: first.revision,
        changes: { description: `Другое ${language}` },
      });
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('combobox', { name: words.bulkField }).click();
      await page.getByRole('option', { name: words.priority, exact: true }).click();
      await dialog.getByRole('combobox', { name: words.bulkValue }).click();
      await page.getByRole('option', { name: words.low }).click();
      await dialog.getByRole('button', { name: words.run }).click();
      await page.getByText(words.done, { exact: true }).waitFor();
      await page.getByText(words.failed).waitFor();
      await page.locator('tr[data-result=FAILED]', { hasText: first.number }).waitFor();
      await watched.check();
      await page.getByRole('dialog').getByRole('button', { name: words.close }).last().click();
      await watched.close();
    });

    it(`find records by words: ${language}`, async () => {
      const words = WORDS[language];
      const watched = await desk.open('petrova', '/', { language });
      const { page } = watched;
      await page.getByRole('grid').waitFor();
      await page.keyboard.press('/');
      await page.getByRole('combobox', { name: words.words }).fill('пароля почта');
      await page.getByRole('button', { name: words.go }).click();
      const hit = page.locator('li[data-kind=object]', { hasText: 'INC0000001' });
      await hit.locator('mark').first().waitFor();
      await watched.check();
      await hit.getByRole('link').click();
      await page.waitForURL(`**/records/${desk.seeded.incident}`);
      await watched.close();
    });
  }

  it('export the shown rows for users without the export right, with names instead of ids', async () => {
    const watched = await desk.open(READER, '/records?type=incident');
    const { page } = watched;
    await page.getByRole('grid').getByText('INC0000001').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Экспорт', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Загруженные строки (CSV)' }).click();
    const file = await readFile(await (await download).path(), 'utf8');
    assert.match(file, /INC0000001,Не открывается почта на телефоне после смены пароля,В работе,Высокий/);
    assert.ok(!file.includes('INC0000002'), 'what one may not read is not in it');
    await watched.close();
  });

  it('support keyboard navigation and live updates', async () => {
    const watched = await desk.open('petrova', '/records?type=incident');
    const { page } = watched;
    const grid = page.getByRole('grid');
    await grid.getByText('INC0000016').waitFor();
    await desk.call('POST', '/objects', { typeDefinitionId: 'incident', values: { title: 'Только что' } });
    await grid.getByText('Только что').waitFor();
    const saved = async (format: string) => {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Экспорт', exact: true }).click();
      await page.getByRole('menuitem', { name: format }).click();
      return await download;
    };
    const csv = await saved('CSV');
    assert.match(csv.suggestedFilename(), /^Инциденты .*\.csv$/);
    assert.match(
      await readFile(await csv.path(), 'utf8'),
      /^\uFEFFНомер,Название,.*Осталось \(SLA\), часов.*\r\n.*,Только что,/,
    );
    const { header, rows } = readXlsx(await readFile(await (await saved('Excel')).path()));
    assert.deepEqual([header[1], rows[0]?.[1]], ['Название', 'Только что']);
    await grid.focus();
    for (const key of ['j', 'ArrowDown', 'k', 'Home', 'j']) await page.keyboard.press(key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Забыт пароль от учётной записи' }).waitFor();
    await page.goBack();
    await grid.getByText('Только что').waitFor();
    await watched.check();
    await watched.close();
  });

  it('sort by every column on the server, and keep the columns in place', async () => {
    const watched = await desk.open('admin', '/records?type=incident');
    const { page } = watched;
    const grid = page.getByRole('grid');
    await grid.getByText('INC0000016').waitFor();
    const heads = grid.getByRole('columnheader').filter({ has: page.getByRole('button') });
    for (const name of await heads.allInnerTexts()) {
      const head = grid.getByRole('columnheader', { name, exact: true });
      for (const direction of ['ascending', 'descending']) {
        const answer = page.waitForResponse(
          (one) => one.url().includes('/desk/objects?') && one.url().includes('sort='),
        );
        await head.getByRole('button').click();
        assert.equal((await answer).status(), 200, name);
        await grid.locator(`[data-head="${await head.getAttribute('data-head')}"][aria-sort=${direction}]`).waitFor();
      }
    }
    await grid.getByRole('columnheader', { name: 'Приоритет' }).getByRole('button').click();
    await page.waitForURL(/sort=priority/);
    const left = async (selector: string): Promise<number[]> => {
      const boxes = await Promise.all((await grid.locator(selector).all()).map((cell) => cell.boundingBox()));
      return boxes.flatMap((box) => (box === null ? [] : [Math.round(box.x)]));
    };
    for (const width of [1920, 1280, 900]) {
      await page.setViewportSize({ width, height: 800 });
      // Narrow windows do not show the last change.
      for (const column of ['title', 'workflowState', 'priority', 'assignee']) {
        const places = new Set([...(await left(`[data-head=${column}]`)), ...(await left(`[data-column=${column}]`))]);
        assert.equal(places.size, 1, `${column} at ${width}: ${[...places].join()}`);
      }
    }
    await watched.check();
    await watched.close();
  });

  it('show the time left in words, and filter by time limits', async () => {
    const watched = await desk.open('admin', '/records?type=incident');
    const { page } = watched;
    const grid = page.getByRole('grid');
    await grid
      .locator('[data-column="sla.remaining"]', { hasText: /рабоч|час|мин|д(ень|ня|ней)/ })
      .first()
      .waitFor();
    const chips = page.getByRole('region', { name: 'Фильтры' });
    await chips.getByText('Просрочено').click();
    await page.waitForURL(/sla=overdue/);
    await chips.getByRole('checkbox', { name: 'Просрочено', checked: true }).waitFor({ state: 'attached' });
    await watched.check();
    await chips.getByText('Просрочено').click();
    await page.waitForURL((url) => !url.search.includes('sla='));
    await grid.getByText('INC0000016').waitFor();
    await watched.close();
  });

  it('open built-in queues with their counts from the navigation', async () => {
    const watched = await desk.open('petrova', '/records?type=incident');
    const { page } = watched;
    const link = page.getByRole('link', { name: /^Назначено мне.*[0-9]/ });
    await link.waitFor();
    const counted = Number(/[0-9]+/.exec(await link.innerText())?.[0]);
    assert.ok(counted > 0);
    await link.click();
    await page.getByRole('heading', { name: 'Назначено мне' }).waitFor();
    await page.getByText(new RegExp(`^${counted} запис`)).waitFor();
    await watched.check();
    await watched.close();
  });

  it('sort a queue of several types by a field that they share, and offer the others as columns', async () => {
    const watched = await desk.open('petrova', '/records');
    const { page } = watched;
    await page.getByRole('link', { name: /^Без исполнителя/ }).click();
    await page.getByRole('heading', { name: 'Без исполнителя' }).waitFor();
    const grid = page.getByRole('grid');
    const head = grid.getByRole('columnheader', { name: 'Приоритет' });
    for (const [direction, places] of [
      ['ascending', ['Критический', 'Высокий', 'Средний', 'Низкий']],
      ['descending', ['Низкий', 'Средний', 'Высокий', 'Критический']],
    ] as const) {
      const answer = page.waitForResponse((one) => one.url().includes('/desk/objects?') && one.url().includes('sort='));
      await head.getByRole('button').click();
      assert.equal((await answer).status(), 200);
      await grid.locator(`[data-head=priority][aria-sort=${direction}]`).waitFor();
      await until(`sorted ${direction}`, async () => {
        const shown = (await grid.locator('[data-column=priority]').allInnerTexts()).map((text) =>
          places.findIndex((place) => text.includes(place)),
        );
        return shown.length > 1 && shown.every((place, index) => place >= (shown[index - 1] ?? 0));
      });
    }
    await page.getByRole('button', { name: 'Столбцы' }).click();
    const choice = page.getByRole('dialog');
    for (const name of ['Заявитель', 'Исполнитель']) await choice.getByText(name, { exact: true }).waitFor();
    await watched.check();
    await watched.close();
  });

  it('scroll through thousands of records without delay', async () => {
    await desk.app.db.query(
      (await import('sql-template-tag')).default`
        INSERT INTO objects (id, type_id, type_version, number, title, revision, workflow_state_id, "values", folded, created_at,
          created_by, updated_at, updated_by)
        SELECT gen_random_uuid(), type_id, type_version, 'ZZZ' || lpad(n::text, 7, '0'), 'Много ' || n, 1, workflow_state_id,
          jsonb_build_object('title', 'Много ' || n), '{}', created_at - n * interval '1 second', created_by, updated_at, updated_by
        FROM objects, generate_series(1, 10000) AS n WHERE number = 'INC0000001'`,
    );
    const watched = await desk.open('admin', '/records?type=incident');
    const { page } = watched;
    const grid = page.getByRole('grid');
    await grid.getByText('INC0000016').waitFor();
    const drawn = await grid.getByRole('row').count();
    assert.ok(drawn < 80, `${drawn} rows are drawn`);
    await grid.focus();
    for (let step = 0; step < 30; step++) {
      await page.mouse.move(700, 500);
      await page.mouse.wheel(0, 3000);
    }
    await grid
      .getByText(/ZZZ000[1-9]/)
      .first()
      .waitFor();
    assert.ok((await grid.getByRole('row').count()) < 80);
    await watched.check();
    await watched.close();
  });
});
