/** The page of a record: fields, conflict, transitions, comments, files, relations, history, archive; and who may what. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { byTurns, hasCount, hasValue, LANGUAGES, startConsole, type TestConsole } from '../support/console.ts';

let desk: TestConsole;

const WORDS = {
  'ru-RU': {
    edit: 'Изменить: Исполнитель',
    assignee: 'Исполнитель',
    clear: 'Очистить',
    save: 'Сохранить',
    saved: 'Сохранено',
    title: 'Тема',
    editTitle: 'Изменить: Тема',
    required: 'Обязательное поле.',
    discard: 'Отменить изменения',
    take: 'Взять в работу',
    inProgress: 'В работе',
    hold: 'Отложить',
    ask: 'Что произойдёт?',
    reason: 'Причина',
    pending: 'Ожидание',
    internal: 'Внутренний комментарий',
    public: 'Ответ заявителю',
    comment: 'Комментарий',
    send: 'Отправить ответ',
    sendInternal: 'Добавить комментарий',
    files: 'Вложения',
    relations: 'Связи',
    addRelation: 'Добавить связь',
    target: 'С какой записью',
    history: 'История',
    created: 'Запись создана',
    moved: 'Изменено состояние',
    menu: 'Действия с записью',
    archive: 'В архив',
    archived: 'Запись в архиве',
    restore: 'Восстановить из архива',
    graph: 'Граф',
    sla: 'SLA',
    why: 'Как посчитано',
    resolution: 'Решение инцидента',
    open: 'рабочее время',
    close: 'Отмена',
  },
  'en-US': {
    edit: 'Edit Assignee',
    assignee: 'Assignee',
    clear: 'Clear',
    save: 'Save',
    saved: 'Saved',
    title: 'Title',
    editTitle: 'Edit Title',
    required: 'This field is required.',
    discard: 'Discard',
    take: 'Take',
    inProgress: 'In progress',
    hold: 'Put on hold',
    ask: 'What would happen?',
    reason: 'Reason',
    pending: 'Pending',
    internal: 'Internal note',
    public: 'Reply to requester',
    comment: 'Comment',
    send: 'Send reply',
    sendInternal: 'Add comment',
    files: 'Attachments',
    relations: 'Relations',
    addRelation: 'Add relation',
    target: 'Related record',
    history: 'History',
    created: 'Created',
    moved: 'State changed',
    menu: 'Record actions',
    archive: 'Archive',
    archived: 'The record is archived',
    restore: 'Restore',
    graph: 'Graph',
    sla: 'SLA',
    why: 'Explain',
    resolution: 'Incident resolution',
    open: 'working hours',
    close: 'Cancel',
  },
} as const;

describe('the page of a record', () => {
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    byTurns(language)(`takes a record from new to archived: ${language}`, async () => {
      const words = WORDS[language];
      const { id } = await desk.call('POST', '/objects', {
        typeDefinitionId: 'incident',
        values: { title: 'Не греет чайник', description: 'В кухне на втором этаже.' },
      });
      const watched = await desk.open('admin', `/records/${id}`, { language });
      const { page } = watched;
      await page.getByRole('heading', { name: 'Не греет чайник' }).waitFor();

      // A required field shows an error while it is being cleared.
      await page.getByRole('button', { name: words.editTitle }).click();
      await page.getByRole('textbox', { name: words.title }).fill('');
      await page.getByText(words.required).waitFor();
      await page.getByRole('button', { name: words.save, exact: true, disabled: true }).waitFor();
      await page.getByRole('textbox', { name: words.title }).fill('Не греет чайник совсем');
      await page.getByRole('button', { name: words.edit }).click();
      await page.getByRole('combobox', { name: words.assignee }).fill('соколов');
      await page.getByRole('option', { name: 'Илья Соколов' }).click();
      await watched.check();
      await page.getByRole('button', { name: words.save, exact: true }).click();
      await page.getByText(words.saved).first().waitFor();
      const stored = await desk.call('GET', `/objects/${id}`);
      assert.equal(stored.title, 'Не греет чайник совсем');
      assert.equal(stored.values.assignee, desk.seeded.people['sokolov']);

      // The assignee is known, so that nothing is asked.
      await page.getByRole('button', { name: words.take }).click();
      const dialog = page.getByRole('dialog');
      await page.locator('[data-record-head]').getByText(words.inProgress).waitFor();
      await page.getByRole('button', { name: words.hold }).click();
      await dialog.getByRole('button', { name: words.hold }).click();
      await dialog.getByText(words.required).waitFor();
      await dialog.getByRole('textbox', { name: words.reason }).fill('Ждём электрика');
      await dialog.getByRole('button', { name: words.ask }).click();
      await dialog.getByRole('region', { name: words.ask }).getByText(words.pending).waitFor();
      await watched.check();
      await dialog.getByRole('button', { name: words.hold }).click();
      await page.locator('[data-record-head]').getByText(words.pending).waitFor();

      // A comment is internal unless it is marked as visible to the requester.
      await page.getByRole('radio', { name: words.internal, checked: true }).waitFor({ state: 'attached' });
      await page.getByText(words.public, { exact: true }).click();
      await page.getByRole('textbox', { name: words.comment }).fill('Мастер будет завтра, **после обеда**.');
      await page.getByRole('button', { name: words.send }).click();
      await page.locator('article[data-visibility=public] strong', { hasText: 'после обеда' }).waitFor();
      await page.getByText(words.internal).click();
      await page.getByRole('textbox', { name: words.comment }).fill('Чайник куплен мимо бюджета.');
      await page.getByRole('button', { name: words.sendInternal }).click();
      await page.locator('article[data-visibility=internal]', { hasText: 'мимо бюджета' }).waitFor();
      const said = await desk.call('GET', `/objects/${id}/comments`);
      assert.deepEqual(
        said.map((one: { visibility: string }) => one.visibility),
        ['public', 'internal'],
      );

      await page.getByRole('tab', { name: words.files }).click();
      const chooser = page.waitForEvent('filechooser');
      await page.getByRole('tabpanel').getByRole('button').last().click();
      await (await chooser).setFiles({ name: 'фото.txt', mimeType: 'text/plain', buffer: Buffer.from('чайник') });
      const link = page.getByRole('link', { name: 'фото.txt' });
      await link.waitFor();
      const download = page.waitForEvent('download');
      await link.click();
      assert.equal((await download).suggestedFilename(), 'фото.txt');

      await page.getByRole('tab', { name: words.relations }).click();
      await page.getByRole('button', { name: words.addRelation }).click();
      await dialog.getByRole('combobox', { name: words.target }).fill('шлюз');
      await page.getByRole('option', { name: /PRB0000001/ }).click();
      await dialog.getByRole('button', { name: words.addRelation }).click();
      await page.getByRole('link', { name: /PRB0000001/ }).waitFor();
      await watched.check();
      await page.getByText(words.graph).click();
      await page.locator('.react-flow__node', { hasText: 'PRB0000001' }).waitFor();
      await watched.check();

      await page.getByRole('tab', { name: words.history }).click();
      await page.getByText(words.created).waitFor();
      const events = page.locator('article[data-event=ObjectTransitioned]');
      await events.first().getByText('Ждём электрика').waitFor();
      await hasCount(events, 2);
      await page.locator('article[data-event=ObjectUpdated]').getByText('Илья Соколов').waitFor();
      // The history names the attachment and the other record.
      await page.locator('article[data-event=AttachmentAdded]').getByText('фото.txt').waitFor();
      await page
        .locator('article[data-event=RelationAdded]')
        .getByRole('link', { name: /PRB0000001/ })
        .waitFor();
      await watched.check();

      await page.locator('[data-record-head]').getByRole('button', { name: words.menu }).click();
      await page.getByRole('menuitem', { name: words.archive }).click();
      await dialog.getByRole('button', { name: words.archive }).click();
      await page.getByText(words.archived).first().waitFor();
      assert.equal(await page.getByRole('button', { name: words.editTitle }).count(), 0, 'nothing is offered any more');
      await watched.check();
      await page.locator('[data-record-head]').getByRole('button', { name: words.menu }).click();
      await page.getByRole('menuitem', { name: words.restore }).click();
      await page.getByRole('button', { name: words.editTitle }).waitFor();
      await watched.check();
      await watched.close();
    });

    it(`shows running SLA timers and explains them: ${language}`, async () => {
      const words = WORDS[language];
      const watched = await desk.open('admin', `/records/${desk.seeded.incident}`, { language });
      const { page } = watched;
      const panel = page.getByRole('region', { name: words.sla });
      await panel.getByRole('button', { name: `${words.why} ${words.resolution}` }).click();
      await page.getByRole('dialog').getByRole('cell', { name: words.open }).first().waitFor();
      await watched.check();
      await watched.close();
    });
  }

  it('uploads files that are dropped on it, and those pasted into the comment as its drafts', async () => {
    const { id } = await desk.call('POST', '/objects', {
      typeDefinitionId: 'incident',
      values: { title: 'С файлами' },
    });
    const watched = await desk.open('petrova', `/records/${id}`);
    const { page } = watched;
    await page.getByRole('heading', { name: 'С файлами' }).waitFor();
    const filled = (name: string, type: string): string =>
      `(() => { const carried = new DataTransfer(); carried.items.add(new File(['1'], '${name}', { type: '${type}' })); return carried; })()`;
    const dataTransfer = await page.evaluateHandle(filled('брошен.txt', 'text/plain'));
    const heading = page.getByRole('heading', { name: 'С файлами' });
    await heading.dispatchEvent('dragenter', { dataTransfer });
    await page.getByText('Отпустите, чтобы добавить вложение').waitFor();
    await heading.dispatchEvent('drop', { dataTransfer });
    // The list of files is on another tab, so the upload result is announced.
    await page.getByText('Вложение добавлено: брошен.txt').waitFor();
    await page.getByRole('textbox', { name: 'Комментарий' }).focus();
    await page.evaluate(
      `document.activeElement.dispatchEvent(new ClipboardEvent('paste', {
        clipboardData: ${filled('снимок.png', 'image/png')}, bubbles: true, cancelable: true }))`,
    );
    await page.getByRole('list', { name: 'Файлы комментария' }).getByText('снимок.png').waitFor();
    // The administrator does not see what waits for a comment of somebody else.
    const files = await desk.call('GET', `/objects/${id}/attachments`);
    assert.deepEqual(
      files.map((one: { originalFilename: string }) => one.originalFilename),
      ['брошен.txt'],
    );
    await watched.close();
  });

  it('lets the user resolve an edit conflict', async () => {
    const { id } = await desk.call('POST', '/objects', {
      typeDefinitionId: 'incident',
      values: { title: 'Спор', description: 'Было', priority: 'p3' },
    });
    const watched = await desk.open('petrova', `/records/${id}`);
    const { page } = watched;
    await page.getByRole('button', { name: 'Изменить: Описание' }).click();
    await page.getByRole('textbox', { name: 'Описание' }).fill('Моё описание');
    await page.getByRole('button', { name: 'Изменить: Тема' }).click();
    await page.getByRole('textbox', { name: 'Тема' }).fill('Моя тема');
    await desk.call('PATCH', `/objects/${id}`, {
      expectedRevision: 1,
      changes: { description: 'Их описание', title: 'Их тема', priority: 'p1' },
    });
    await page.getByRole('button', { name: 'Сохранить', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Эти поля изменили и вы, и другой пользователь').waitFor();
    await dialog.locator('tr[data-conflict=priority]').getByText('Критический').waitFor();
    const description = dialog.locator('tr[data-conflict=description]');
    for (const text of ['Было', 'Их описание', 'Моё описание', 'Администратор']) {
      await description.getByText(text, { exact: text !== 'Администратор' }).waitFor();
    }
    assert.equal((await desk.call('GET', `/objects/${id}`)).revision, 2, 'nothing was written over');
    await dialog.locator('tr[data-conflict=title]').getByLabel('Взять сохранённое').check();
    await watched.check();
    await dialog.getByRole('button', { name: 'Сохранить выбранное' }).click();
    await page.getByText('Сохранено').waitFor();
    const { values, title, revision } = await desk.call('GET', `/objects/${id}`);
    assert.deepEqual([title, values.description, values.priority, revision], ['Их тема', 'Моё описание', 'p1', 3]);
    await watched.check();
    await watched.close();
  });

  it('saves a chosen value at once and keeps what is chosen meanwhile', async () => {
    const { id } = await desk.call('POST', '/objects', {
      typeDefinitionId: 'incident',
      values: { title: 'Выбор', urgency: 'low' },
    });
    const watched = await desk.open('petrova', `/records/${id}`);
    const { page } = watched;
    const choose = async (field: string, option: string): Promise<void> => {
      await page.getByRole('button', { name: `Изменить: ${field}` }).click();
      await page.getByRole('option', { name: option }).click();
    };
    const answered = Promise.withResolvers<void>();
    const writes: unknown[] = [];
    await page.route(`**/objects/${id}`, async (route) => {
      if (route.request().method() === 'PATCH') {
        writes.push(route.request().postDataJSON().changes);
        await answered.promise;
      }
      await route.continue();
    });
    // The value that the field already has is no change.
    await choose('Срочность', 'Работать можно');
    await page.keyboard.press('Escape');
    await choose('Влияние', 'Подразделение');
    await choose('Срочность', 'Работа стоит');
    answered.resolve();
    await page.getByText('Сохранено').waitFor();
    assert.deepEqual(writes, [{ impact: 'department' }]);
    await watched.check();
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await page.getByRole('button', { name: 'Сохранить', exact: true }).click();
    assert.equal((await saved).status(), 200);
    assert.deepEqual(writes, [{ impact: 'department' }, { urgency: 'high' }]);
    const { impact, urgency } = (await desk.call('GET', `/objects/${id}`)).values;
    assert.deepEqual([impact, urgency], ['department', 'high']);
    await watched.close();
  });

  it('shows what others changed without sending a write', async () => {
    const { id } = await desk.call('POST', '/objects', {
      typeDefinitionId: 'incident',
      values: { title: 'Рядом', priority: 'p3' },
    });
    const watched = await desk.open('petrova', `/records/${id}`);
    const { page } = watched;
    const writes: string[] = [];
    // A record that is shown marks its notifications as read.
    page.on('request', (request) => {
      const isRead = request.url().endsWith('/notifications/read');
      if (request.method() !== 'GET' && !isRead) writes.push(`${request.method()} ${request.url()}`);
    });
    await page.getByRole('button', { name: 'Добавить: Описание' }).click();
    await page.getByRole('textbox', { name: 'Описание' }).fill('Моё описание');
    await desk.call('PATCH', `/objects/${id}`, { expectedRevision: 1, changes: { priority: 'p1' } });
    await page.getByRole('button', { name: 'Показать изменения' }).click();
    const dialog = page.getByRole('dialog');
    const priority = dialog.locator('tr[data-conflict=priority]');
    for (const text of ['Критический', 'Администратор']) await priority.getByText(text).waitFor();
    await hasCount(dialog.locator('tr[data-conflict]'), 1);
    assert.deepEqual(writes, []);
    await watched.check();
    await dialog.getByRole('button', { name: 'Сохранить', exact: true }).click();
    await page.getByText('Сохранено').waitFor();
    const { values, revision } = await desk.call('GET', `/objects/${id}`);
    assert.deepEqual([values.description, values.priority, revision], ['Моё описание', 'p1', 3]);
    await watched.close();
  });

  it('warns about unsaved changes and follows changes by others', async () => {
    const { id } = await desk.call('POST', '/objects', { typeDefinitionId: 'incident', values: { title: 'Живое' } });
    const watched = await desk.open('petrova', `/records/${id}`);
    const { page } = watched;
    await page.getByRole('heading', { name: 'Живое' }).waitFor();
    await desk.call('PATCH', `/objects/${id}`, { expectedRevision: 1, changes: { title: 'Живёт' } });
    await page.getByRole('heading', { name: 'Живёт' }).waitFor();
    await page.getByRole('button', { name: 'Добавить: Решение' }).click();
    await page.getByRole('textbox', { name: 'Решение' }).fill('Почти');
    await page.getByRole('link', { name: 'Все записи' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Изменения не сохранены').waitFor();
    await dialog.getByRole('button', { name: 'Отмена' }).click();
    await hasValue(page.getByRole('textbox', { name: 'Решение' }), 'Почти');
    await page.keyboard.press('Control+s');
    await page.getByText('Сохранено').waitFor();
    await watched.check();
    await watched.close();
  });

  it('offers only permitted actions', async () => {
    const own = await desk.open('ivanova', `/records/${desk.seeded.incident}`);
    const { page } = own;
    await page.getByText('Здравствуйте! Проверили').waitFor();
    assert.equal(await page.getByText('шлюз держит старый пароль').count(), 0, 'no internal note');
    assert.equal(await page.getByText('Внутренний комментарий').count(), 0);
    assert.equal(await page.getByRole('tab', { name: 'История' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: /^Изменить/ }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Администрирование' }).count(), 0);
    assert.equal(await page.getByText('Влияние').count(), 0, 'no hidden field');
    assert.equal(await page.getByRole('button', { name: 'Действия с записью' }).count(), 0, 'no menu with the archive');
    await own.check();
    await page.goto(`${desk.url}/admin`);
    await page.getByText('Нет доступных разделов').waitFor();
    await page.goto(`${desk.url}/admin/audit`);
    await page.getByText('Страница не найдена').waitFor();
    // Forged from within the page, with the session's own token: refused all the same.
    const forged = await page.evaluate<number[]>(`(async () => {
      const { data } = await (await fetch('/api/admin/v1/session')).json();
      const headers = { 'content-type': 'application/json', 'x-docket-csrf': data.csrfToken };
      const patch = (path, body) => fetch('/api/admin/v1' + path, { method: 'PATCH', headers, body: JSON.stringify(body) });
      const answers = [
        await patch('/objects/${desk.seeded.incident}', { expectedRevision: 1, changes: { title: 'x' } }),
        await fetch('/api/admin/v1/objects/${desk.seeded.incidents[1]}'),
        await fetch('/api/admin/v1/audit'),
        await fetch('/api/v1/objects'),
        await fetch('/api/admin/v1/desk/queues', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }),
      ];
      return answers.map((answer) => answer.status);
    })()`);
    assert.deepEqual(forged, [403, 404, 403, 401, 403]);
    await own.close();
  });
});
