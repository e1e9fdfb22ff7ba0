/** Nothing typed is lost: drafts on the device, an ended session, a sign-in in another tab, values of earlier versions. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  byTurns,
  hasValue,
  LANGUAGES,
  PASSWORD,
  startConsole,
  type TestConsole,
  type WatchedPage,
} from '../support/console.ts';

const WORDS = {
  'ru-RU': {
    comment: 'Комментарий',
    all: 'Все записи',
    kept: 'Черновик сохранён на этом устройстве',
    restored: 'Восстановлен несохранённый черновик',
    discard: 'Удалить черновик',
    send: 'Добавить комментарий',
    title: 'Тема',
    description: 'Описание',
    ended: 'Сеанс завершён',
    login: 'Логин',
    signIn: 'Войти',
  },
  'en-US': {
    comment: 'Comment',
    all: 'All records',
    kept: 'The draft is kept on this device',
    restored: 'Your unsent draft is restored',
    discard: 'Discard draft',
    send: 'Add comment',
    title: 'Title',
    description: 'Description',
    ended: 'Your session has ended',
    login: 'Login',
    signIn: 'Sign in',
  },
} as const;

/** Ends the session when the comment is sent. Ended earlier, another call of the page could be the first to be refused. */
async function endSessionWithComment({ page, context }: WatchedPage): Promise<void> {
  let ended = false;
  await page.route('**/comments', async (route) => {
    if (route.request().method() === 'POST' && !ended) {
      ended = true;
      await context.clearCookies();
    }
    await route.continue();
  });
}

describe('what a user typed', () => {
  let desk: TestConsole;

  const incident = async (title: string): Promise<string> =>
    (await desk.call('POST', '/objects', { typeDefinitionId: 'incident', values: { title } })).id;

  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    const it = byTurns(language, 'en-US');
    it(`is kept on the device until it is sent or discarded: ${language}`, async () => {
      const words = WORDS[language];
      const id = await incident('С черновиком');
      const watched = await desk.open('petrova', `/records/${id}`, { language });
      const { page } = watched;
      const comment = page.getByRole('textbox', { name: words.comment });
      await comment.fill('Наполовину написано');
      await page.getByRole('link', { name: words.all }).click();
      await page.getByText(words.kept).waitFor();
      await page.goto(`${desk.url}/records/${id}`);
      await page.getByText(words.restored).waitFor();
      await hasValue(comment, 'Наполовину написано');
      await watched.check();
      await page.getByRole('button', { name: words.send }).click();
      await page.locator('article', { hasText: 'Наполовину написано' }).waitFor();
      await hasValue(comment, '');
      await comment.fill('Ненужное');
      await page.reload();
      await page.getByRole('button', { name: words.discard }).click();
      await hasValue(comment, '');
      await page.reload();
      await comment.waitFor();
      await hasValue(comment, '');

      // A new record.
      await page.goto(`${desk.url}/new/incident`);
      await page.getByRole('textbox', { name: words.title }).fill('Ещё не создан');
      await page.reload();
      await page.getByText(words.restored).waitFor();
      await hasValue(page.getByRole('textbox', { name: words.title }), 'Ещё не создан');
      await watched.check();
      await page.getByRole('button', { name: words.discard }).click();
      await hasValue(page.getByRole('textbox', { name: words.title }), '');
      await watched.close();
    });

    it(`survives the end of the session: ${language}`, async () => {
      const words = WORDS[language];
      const id = await incident('Сеанс');
      const watched = await desk.open('petrova', `/records/${id}`, { language });
      const { page } = watched;
      await page.getByRole('textbox', { name: words.comment }).fill('Написано до конца сеанса');
      await endSessionWithComment(watched);
      await page.getByRole('button', { name: words.send }).click();
      const dialog = page.getByRole('dialog', { name: words.ended });
      await dialog.getByRole('textbox', { name: words.login }).fill('petrova');
      await dialog.locator('input[type=password]').fill('wrong');
      await watched.check();
      await dialog.getByRole('button', { name: words.signIn, exact: true }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.locator('input[type=password]').fill(PASSWORD);
      await dialog.getByRole('button', { name: words.signIn, exact: true }).click();
      // The refused call is repeated.
      await page.locator('article', { hasText: 'Написано до конца сеанса' }).waitFor();
      const said = await desk.call('GET', `/objects/${id}/comments`);
      assert.equal(said.length, 1);
      await watched.close();
    });
  }

  it('is sent after a sign-in in another tab', async () => {
    const words = WORDS['ru-RU'];
    const id = await incident('Две вкладки');
    const watched = await desk.open('petrova', `/records/${id}`);
    const { page, context } = watched;
    await page.getByRole('textbox', { name: words.comment }).fill('Из первой вкладки');
    await endSessionWithComment(watched);
    await page.getByRole('button', { name: words.send }).click();
    const dialog = page.getByRole('dialog', { name: words.ended });
    await dialog.waitFor();
    const other = await context.newPage();
    await other.goto(`${desk.url}/sign-in`);
    await other.getByRole('textbox', { name: words.login }).fill('petrova');
    await other.locator('input[type=password]').fill(PASSWORD);
    await other.getByRole('button', { name: words.signIn, exact: true }).click();
    await other.getByRole('grid').waitFor();
    await page.locator('article', { hasText: 'Из первой вкладки' }).waitFor();
    await dialog.waitFor({ state: 'detached' });
    await watched.close();
  });

  it('is compared with earlier versions, whose values can be brought back, with conflicts', async () => {
    const { id } = await desk.call('POST', '/objects', {
      typeDefinitionId: 'incident',
      values: { title: 'Версии', description: 'Первое', priority: 'p3' },
    });
    const change = (expectedRevision: number, changes: unknown): Promise<unknown> =>
      desk.call('PATCH', `/objects/${id}`, { expectedRevision, changes });
    await change(1, { description: 'Второе' });
    await change(2, { description: 'Третье', priority: 'p1' });
    const watched = await desk.open('petrova', `/records/${id}?tab=history`);
    const { page } = watched;
    await page.getByRole('button', { name: 'Сравнить версии' }).click();
    await page.getByText('Версия 2 из 3').waitFor();
    await page.getByRole('slider', { name: 'Версия записи' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText('Версия 1 из 3').waitFor();
    const description = page.locator('tr[data-difference=description]');
    for (const text of ['Первое', 'Третье']) await description.getByText(text).waitFor();
    await page.locator('tr[data-difference=priority]').waitFor();
    await watched.check();
    await page.getByRole('checkbox', { name: 'Описание' }).check();
    await page.getByRole('button', { name: 'Вернуть выбранные значения' }).click();
    await page.getByText('Значения подставлены в форму').waitFor();
    await change(3, { description: 'Четвёртое' });
    await page.getByRole('button', { name: 'Сохранить', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Эти поля изменили и вы, и другой пользователь').waitFor();
    await dialog.getByRole('button', { name: 'Сохранить выбранное' }).click();
    await page.getByText('Сохранено').waitFor();
    const { values, revision } = await desk.call('GET', `/objects/${id}`);
    assert.deepEqual([values.description, values.priority, revision], ['Первое', 'p1', 5]);
    await watched.close();
  });

  it('keeps its field when the field is renamed in the form of the type', async () => {
    const watched = await desk.open('admin', '/admin/types/asset-model', { language: 'en-US' });
    const { page } = watched;
    await page.getByRole('button', { name: / kind / }).click();
    const code = page.getByLabel('Field code');
    await code.fill('title');
    await page.getByText('This code is already used.').waitFor();
    await code.fill('formFactor');
    await page.getByText('Former code: “kind”.').waitFor();
    await watched.check();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Applied').first().waitFor();
    const { rows } = await desk.call('GET', '/objects?typeId=asset-model');
    assert.equal(rows[0].values.formFactor, 'laptop');
    await watched.close();
  });
});
