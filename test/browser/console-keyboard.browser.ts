/** Keys: the command palette, help, keys of a record, the way to the list; and long conversations. */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { byTurns, hasValue, LANGUAGES, startConsole, type TestConsole } from '../support/console.ts';

const WORDS = {
  'ru-RU': {
    palette: 'Перейти или выполнить',
    problem: 'Проблема',
    help: 'Сочетания клавиш',
    saved: 'Сохранено',
    comment: 'Комментарий',
    public: 'Ответ заявителю',
    internal: 'Внутренний комментарий',
    take: 'Взять в работу',
    newest: 'К новым',
    preview: 'Просмотр',
    bold: 'Жирный',
    details: 'Свойства',
    activity: 'Обсуждение',
  },
  'en-US': {
    palette: 'Go to or run',
    problem: 'Problem',
    help: 'Keyboard shortcuts',
    saved: 'Saved',
    comment: 'Comment',
    public: 'Reply to requester',
    internal: 'Internal note',
    take: 'Take',
    newest: 'Newest',
    preview: 'Preview',
    bold: 'Bold',
    details: 'Details',
    activity: 'Discussion',
  },
} as const;

describe('the keyboard and the conversation', () => {
  let desk: TestConsole;

  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    const it = byTurns(language);
    it(`goes everywhere by keys: ${language}`, async () => {
      const words = WORDS[language];
      const watched = await desk.open('petrova', '/records?type=incident', { language });
      const { page } = watched;
      await page.getByRole('grid').getByText('INC0000016').waitFor();
      let presses = 0;
      const inList = () => page.evaluate<boolean>(`document.activeElement?.id === 'list'`);
      for (const key of ['Tab', 'Tab', 'Enter']) {
        await page.keyboard.press(key);
        if (key === 'Tab') presses++;
      }
      while (!(await inList()) && presses < 20) {
        await page.keyboard.press('Tab');
        presses++;
      }
      assert.ok(presses <= 10, `${presses} Tab presses`);

      await page.keyboard.press('Shift+?');
      await page.getByRole('dialog', { name: words.help }).waitFor();
      await watched.check();
      await page.keyboard.press('Escape');

      await page.keyboard.press('Control+k');
      const palette = page.getByRole('dialog', { name: words.palette });
      await palette.getByRole('combobox').fill('PRB0000001');
      await palette.getByRole('option', { name: /PRB0000001/ }).waitFor();
      await watched.check();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/records/${desk.seeded.problem}`);
      await page.keyboard.press('Control+k');
      await palette.getByRole('combobox').fill(words.problem);
      await palette.getByRole('option', { name: words.problem }).first().waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL('**/new/problem');
      // A title of one sign, which is too short for a search.
      await desk.call('POST', '/objects', { typeDefinitionId: 'problem', values: { title: '§' } });
      await page.goto(`${desk.url}/search`);
      const field = page.getByRole('search').getByRole('combobox');
      await field.fill('§');
      await page.getByRole('option', { name: /§/ }).waitFor();
      await watched.check();
      await page.keyboard.press('Enter');
      await page.getByRole('listitem').filter({ hasText: '§' }).getByRole('link').click();
      await page.waitForURL('**/records/*');
      await watched.close();
    });

    it(`acts on a record by keys: ${language}`, async () => {
      const words = WORDS[language];
      const { id } = await desk.call('POST', '/objects', {
        typeDefinitionId: 'incident',
        values: { title: 'По клавишам', description: 'Список:\n\n- **раз**\n- два' },
      });
      const watched = await desk.open('petrova', `/records/${id}`, { language });
      const { page } = watched;
      await page.locator('[data-field=description] li strong', { hasText: 'раз' }).waitFor();
      await page.keyboard.press('a');
      await page.getByText(words.saved).first().waitFor();
      assert.equal((await desk.call('GET', `/objects/${id}`)).values.assignee, desk.seeded.people['petrova']);
      await page.keyboard.press('r');
      const comment = page.getByRole('textbox', { name: words.comment });
      await page.locator('textarea:focus').waitFor();
      await page.getByRole('radio', { name: words.public, checked: true }).waitFor({ state: 'attached' });
      await page.keyboard.press('Escape');
      await page.keyboard.press('n');
      await page.getByRole('radio', { name: words.internal, checked: true }).waitFor({ state: 'attached' });
      await comment.fill('важно');
      await comment.selectText();
      await page.getByRole('button', { name: words.bold }).click();
      await hasValue(comment, '**важно**');
      await page.getByRole('button', { name: words.preview }).click();
      await page.getByRole('region', { name: words.preview }).locator('strong', { hasText: 'важно' }).waitFor();
      await watched.check();
      await page.keyboard.press('t');
      assert.equal(await page.evaluate<string>('document.activeElement?.textContent'), words.take);
      await watched.close();
    });

    it(`shows the newest of 500 comments and the composer: ${language}`, async () => {
      const words = WORDS[language];
      const { id } = await desk.call('POST', '/objects', {
        typeDefinitionId: 'incident',
        values: { title: 'Долгий разговор', description: 'Строка.\n'.repeat(100) },
      });
      for (let index = 1; index <= 500; index++) {
        await desk.call('POST', `/objects/${id}/comments`, { body: `Сообщение ${index}.`, visibility: 'internal' });
      }
      const watched = await desk.open('petrova', `/records/${id}`, { language });
      const { page } = watched;
      const newest = page.getByText('Сообщение 500.', { exact: true });
      await newest.waitFor();
      const inView = async (): Promise<boolean> => ((await newest.boundingBox())?.y ?? 9999) < 900;
      assert.ok(await inView(), 'the newest comment');
      assert.ok(((await page.getByRole('textbox', { name: words.comment }).boundingBox())?.y ?? 9999) < 900);
      assert.ok((await page.locator('article').count()) < 60, 'only the visible ones are rendered');
      await watched.check();
      await page.mouse.move(500, 600);
      for (let step = 0; step < 10; step++) await page.mouse.wheel(0, 800);
      await page.getByRole('button', { name: words.newest }).click();
      await newest.waitFor();
      assert.ok(await inView());
      await watched.close();

      const phone = await desk.open('petrova', `/records/${id}`, { language, width: 390, height: 844 });
      const details = phone.page.getByRole('complementary', { name: words.details });
      await details.waitFor();
      const talk = phone.page.getByRole('tab', { name: words.activity });
      const top = async (one: typeof details): Promise<number> => (await one.boundingBox())?.y ?? -1;
      assert.ok((await top(details)) < (await top(talk)), 'properties come before the conversation');
      await phone.check();
      await phone.close();
    });
  }
});
