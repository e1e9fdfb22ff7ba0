/** What agents do on a record all day, with as few clicks as possible: macros, merging, mentions, people, unread comments. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import {
  byTurns,
  hasValue,
  LANGUAGES,
  startConsole,
  type TestConsole,
  until,
  type WatchedPage,
} from '../support/console.ts';

let desk: TestConsole;

const WORDS = {
  'ru-RU': {
    take: 'Взять в работу',
    inProgress: 'В работе',
    resolve: 'Решить',
    resolved: 'Решён',
    solution: 'Решение',
    priority: 'Приоритет',
    editPriority: 'Изменить: Приоритет',
    critical: 'Критический',
    editAssignee: 'Изменить: Исполнитель',
    saved: 'Сохранено',
    reply: 'Ответ заявителю',
    send: 'Отправить ответ',
    note: 'Добавить комментарий',
    comment: 'Комментарий',
    menu: 'Действия с записью',
    merge: 'Объединить с…',
    merged: 'Записи объединены',
    closed: 'Закрыт',
    findMacro: 'Название или текст макроса',
    macro: 'попросить проверить',
    needed: 'Обязательное поле.',
    requester: 'Заявитель',
    open: 'Открытые обращения',
    assets: 'Активы',
    unread: 'К первому непрочитанному (3)',
    palette: 'Перейти или выполнить',
  },
  'en-US': {
    take: 'Take',
    inProgress: 'In progress',
    resolve: 'Resolve',
    resolved: 'Resolved',
    solution: 'Solution',
    priority: 'Priority',
    editPriority: 'Edit Priority',
    critical: 'Critical',
    editAssignee: 'Edit Assignee',
    saved: 'Saved',
    reply: 'Reply to requester',
    send: 'Send reply',
    note: 'Add comment',
    comment: 'Comment',
    menu: 'Record actions',
    merge: 'Merge into…',
    merged: 'Records merged',
    closed: 'Closed',
    findMacro: 'Name or text of the macro',
    macro: 'ask to check',
    needed: 'This field is required.',
    requester: 'Requester',
    open: 'Open requests',
    assets: 'Assets',
    unread: 'First unread (3)',
    palette: 'Go to or run',
  },
} as const;

async function make(title: string, values: object = {}): Promise<any> {
  return await desk.call('POST', '/objects', { typeDefinitionId: 'incident', values: { title, ...values } });
}

/** Counts the clicks in the page from here on. */
async function counter(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(
    `globalThis.__clicks ?? addEventListener('pointerdown', (event) => event.isTrusted && globalThis.__clicks++, true); globalThis.__clicks = 0;`,
  );
  return async () => await page.evaluate<number>('globalThis.__clicks');
}

async function open(id: string, language: (typeof LANGUAGES)[number]): Promise<WatchedPage> {
  const watched = await desk.open('petrova', `/records/${id}`, { language });
  await watched.page.locator('[data-record-head] h1').waitFor();
  return watched;
}

describe('working on a record', () => {
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    const it = byTurns(language, 'en-US');
    const words = WORDS[language];
    const headState = (page: Page, text: string) => page.locator('[data-record-head]').getByText(text, { exact: true });

    it(`needs few clicks: ${language}`, async () => {
      const { id } = await make('Не печатает принтер', { priority: 'p3', requester: desk.seeded.people['ivanova'] });
      const watched = await open(id, language);
      const { page } = watched;
      const used = async (most: number, what: string, run: () => Promise<void>): Promise<void> => {
        const clicks = await counter(page);
        await run();
        assert.ok((await clicks()) <= most, `${what}: ${await clicks()} clicks`);
      };
      await used(1, 'take', async () => {
        await page.getByRole('button', { name: words.take, exact: true }).click();
        await headState(page, words.inProgress).waitFor();
      });
      await used(2, 'priority', async () => {
        await page.getByRole('button', { name: words.editPriority }).click();
        await page.getByRole('option', { name: words.critical }).click();
        await page.getByText(words.saved).first().waitFor();
      });
      assert.equal((await desk.call('GET', `/objects/${id}`)).values.priority, 'p1');
      await page.getByText(words.saved).first().waitFor({ state: 'hidden' });
      await used(2, 'reassign', async () => {
        await page.getByRole('button', { name: words.editAssignee }).click();
        await page.getByRole('option', { name: 'Илья Соколов' }).click();
        await page.getByText(words.saved).first().waitFor();
      });
      assert.equal((await desk.call('GET', `/objects/${id}`)).values.assignee, desk.seeded.people['sokolov']);
      await used(2, 'public reply', async () => {
        await page.getByText(words.reply, { exact: true }).click();
        await page.keyboard.type('Уже смотрим.');
        await page.getByRole('button', { name: words.send }).click();
        await page.locator('article[data-visibility=public]', { hasText: 'Уже смотрим.' }).waitFor();
      });
      await used(1, 'note', async () => {
        await page.keyboard.press('n');
        await page.keyboard.type('Картридж заказан.');
        await page.getByRole('button', { name: words.note }).click();
        await page.locator('article[data-visibility=internal]', { hasText: 'Картридж заказан.' }).waitFor();
      });
      await used(2, 'resolve', async () => {
        await page.getByRole('button', { name: words.resolve, exact: true }).click();
        await page.keyboard.type('Заменён картридж');
        await page.getByRole('dialog').getByRole('button', { name: words.resolve, exact: true }).click();
        await headState(page, words.resolved).waitFor();
      });
      const { values } = await desk.call('GET', `/objects/${id}`);
      assert.deepEqual([values.solution, values.closeCode], ['Заменён картридж', 'solved']);
      await watched.check();
      await watched.close();
    });

    it(`merges a duplicate with three clicks: ${language}`, async () => {
      const requester = desk.seeded.people['ivanova'];
      const [duplicate, target] = [await make('Нет сети в зале', { requester }), await make('В зале нет Wi-Fi')];
      const watched = await open(duplicate.id, language);
      const { page } = watched;
      const clicks = await counter(page);
      await page.locator('[data-record-head]').getByRole('button', { name: words.menu }).click();
      await page.getByRole('menuitem', { name: words.merge }).click();
      await page.getByRole('dialog').getByRole('button', { name: target.number }).waitFor();
      await watched.check();
      await page.getByRole('dialog').getByRole('button', { name: target.number }).click();
      await page.getByText(words.merged).waitFor();
      assert.equal(await clicks(), 3);
      await headState(page, words.closed).waitFor();
      await page.locator('article[data-visibility=public]', { hasText: target.number }).waitFor();
      const [relation] = await desk.call('GET', `/objects/${duplicate.id}/relations?direction=outgoing`);
      assert.equal(relation.related.id, target.id);
      await watched.close();
    });

    it(`fills, completes and sends a macro: ${language}`, async () => {
      const { id, number } = await make('Не открывается отчёт', {
        assignee: desk.seeded.people['petrova'],
        requester: desk.seeded.people['ivanova'],
      });
      const watched = await open(id, language);
      const { page } = watched;
      await page.getByRole('button', { name: words.take, exact: true }).click();
      await headState(page, words.inProgress).waitFor();
      const writes: string[] = [];
      page.on('request', (request) => {
        if (request.method() !== 'GET') writes.push(new URL(request.url()).pathname.split('/').at(-1) ?? '');
      });
      await page.keyboard.press('m');
      await page.getByRole('combobox', { name: words.findMacro }).waitFor();
      await page.keyboard.type(words.macro);
      await page.getByRole('dialog').getByText(number).waitFor();
      await watched.check();
      await page.keyboard.press('Enter');
      const text = page.getByRole('textbox', { name: words.comment });
      await text.waitFor();
      const reply = new RegExp(`Мария Иванова[^]*${number}[^]*Анна Петрова`);
      await until('the text of the macro', async () => reply.test(await text.inputValue()));
      await page.getByRole('button', { name: words.send }).click();
      await page.getByText(words.needed).waitFor();
      await page.getByRole('textbox', { name: words.solution }).fill('Обновлён драйвер');
      await page.reload();
      await page.getByRole('textbox', { name: words.solution }).waitFor();
      await hasValue(page.getByRole('textbox', { name: words.solution }), 'Обновлён драйвер');
      await watched.check();
      await text.focus();
      await page.keyboard.press('Control+End');
      await page.keyboard.type(' PS');
      await page.getByRole('button', { name: words.send }).click();
      await headState(page, words.resolved).waitFor();
      // A record that is shown marks its notifications as read.
      assert.deepEqual(
        writes.filter((one) => one !== 'read'),
        ['macros'],
        'one request',
      );
      await page.locator('article[data-visibility=public]', { hasText: 'PS' }).waitFor();
      await hasValue(text, '');
      await watched.check();
      await watched.close();
    });

    it(`shows the requester, and jumps to the first unread comment: ${language}`, async () => {
      const requester = desk.seeded.people['ivanova'];
      const { id } = await make('Мигает экран', { requester });
      const other = await make('Шумит вентилятор', { requester });
      const asset = await desk.call('POST', '/objects', {
        typeDefinitionId: 'asset',
        values: { title: 'Ноутбук Ивановой', owner: requester },
      });
      const watched = await open(id, language);
      const { page } = watched;
      const card = page.getByRole('region', { name: words.requester, exact: true });
      await card.getByText('ivanova@example.org').waitFor();
      await card.getByRole('link', { name: other.number }).waitFor();
      await card.getByRole('link', { name: asset.number }).waitFor();
      for (const heading of [words.open, words.assets]) await card.getByText(heading).waitFor();
      await watched.check();
      // The comments count as seen after three seconds.
      const seen = `Object.keys(localStorage).some((key) => key.startsWith('docket.seen.') && localStorage[key].includes('${id}'))`;
      await until('the comments count as seen', () => page.evaluate<boolean>(seen));
      for (const body of ['Раз', 'Два', 'Три']) {
        await desk.call('POST', `/objects/${id}/comments`, { body, visibility: 'public' });
      }
      await page.reload();
      await page.getByRole('button', { name: words.unread }).click();
      await page.locator('article:focus', { hasText: 'Раз' }).waitFor();
      await watched.check();
      await watched.close();
    });
  }

  it('mentions a colleague who may read the record, and no other', async () => {
    const { id } = await make('Нужен доступ');
    const watched = await open(id, 'ru-RU');
    const { page } = watched;
    await page.keyboard.press('n');
    await page.keyboard.type('Посмотри, @соколов');
    await page.getByRole('option', { name: /@sokolov/ }).waitFor();
    await watched.check();
    await page.keyboard.press('Enter');
    const text = page.getByRole('textbox', { name: 'Комментарий' });
    await hasValue(text, 'Посмотри, @sokolov ');
    await page.keyboard.type('и @иванова');
    const hidden = page.getByRole('option', { name: /не видит эту запись/ });
    await hidden.click({ force: true });
    await hasValue(text, 'Посмотри, @sokolov и @иванова', 'a person who cannot read it is not chosen');
    await page.keyboard.press('Enter');
    await hidden.waitFor({ state: 'hidden' });
    await hasValue(text, 'Посмотри, @sokolov и @иванова\n', 'the key works as without the list');
    await page.keyboard.press('Control+Enter');
    await page.locator('article[data-visibility=internal] [data-mention]', { hasText: '@sokolov' }).waitFor();
    await watched.check();
    await watched.close();
  });

  it('adds the text of a macro to what is written already', async () => {
    const { id, number } = await make('Не открывается отчёт', { requester: desk.seeded.people['ivanova'] });
    const watched = await open(id, 'ru-RU');
    const { page } = watched;
    await page.keyboard.press('n');
    await page.keyboard.type('Сам смотрел.');
    await page.keyboard.press('Escape');
    await page.keyboard.press('m');
    await page.getByRole('combobox', { name: 'Название или текст макроса' }).waitFor();
    await page.keyboard.type('попросить проверить');
    await page.getByRole('dialog').getByText(number).waitFor();
    await page.keyboard.press('Enter');
    const text = page.getByRole('textbox', { name: 'Комментарий' });
    await text.waitFor();
    const both = new RegExp(`^Сам смотрел\\.\n\n[^]*${number}`);
    await until('both texts', async () => both.test(await text.inputValue()));
    await page.getByRole('radio', { name: 'Внутренний комментарий', checked: true }).waitFor({ state: 'attached' });
    await watched.check();
    await watched.close();
  });

  it('suggests the user first, then who solved similar records', async () => {
    const [category] = (await desk.call('GET', '/objects?typeId=category&pageSize=1')).rows;
    for (let n = 0; n < 2; n++) {
      const done = await make(`Решено ${n}`, { category: category.id, assignee: desk.seeded.people['kim'] });
      const { state, transitions } = await desk.call('GET', `/objects/${done.id}/workflow`);
      const { id: transitionId } = transitions.find(({ code }: { code: string }) => code === 'close-duplicate');
      const body = { transitionId, expectedRevision: 1, expectedStateId: state.id };
      await desk.call('POST', `/objects/${done.id}/transitions`, body);
    }
    const { id } = await make('Похожее', { category: category.id });
    const watched = await open(id, 'ru-RU');
    const { page } = watched;
    await page.getByRole('button', { name: 'Изменить: Исполнитель' }).click();
    await page.getByRole('option', { name: /Виктория Ким решено похожих: \d/ }).waitFor();
    const names = await page.getByRole('option').allInnerTexts();
    assert.match(names[0] ?? '', /Анна Петрова\s+я/);
    assert.match(names[1] ?? '', /Виктория Ким\s+решено похожих/);
    await watched.check();
    await watched.close();
  });

  it('keeps the form of a transition that is opened while the record is loaded after the one before', async () => {
    const words = WORDS['ru-RU'];
    const values = { title: 'Не печатает принтер', priority: 'p3', assignee: desk.seeded.people['sokolov'] };
    const { id } = await desk.call('POST', '/objects', { typeDefinitionId: 'incident', values });
    const { page, close } = await desk.open('admin', `/records/${id}`);
    const head = page.locator('[data-record-head]');
    await page.getByRole('textbox', { name: words.comment }).waitFor();
    let load = (): void => {};
    const loads = new Promise<void>((resolve) => (load = resolve));
    await page.route('**/comments?**', async (route) => {
      await loads;
      await route.continue();
    });
    await page.getByRole('button', { name: words.take }).click();
    await head.getByText(words.inProgress).waitFor();
    await page.getByRole('button', { name: 'Отложить' }).click();
    const reason = page.getByRole('dialog').getByRole('textbox', { name: 'Причина' });
    await reason.fill('Ждём электрика');
    load();
    await page.getByText(`Состояние: ${words.inProgress}`).waitFor();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await hasValue(reason, 'Ждём электрика');
    await page.getByRole('dialog').getByRole('button', { name: 'Отложить' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await close();
  });

  it('offers commands of the record in the palette', async () => {
    const { id } = await make('Палитра');
    const watched = await open(id, 'ru-RU');
    const { page } = watched;
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: WORDS['ru-RU'].palette }).waitFor();
    await page.keyboard.type('объединить');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByPlaceholder('Номер или тема').waitFor();
    await watched.check();
    await watched.close();
  });
});
