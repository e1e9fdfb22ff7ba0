/**
 * Pickers: nothing can be chosen before the answer to what was typed, users with the same name can be distinguished, and an
 * assignee is someone who can work on the record.
 */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { byTurns, hasCount, LANGUAGES, startConsole, type TestConsole } from '../support/console.ts';

const WORDS = {
  'ru-RU': { edit: 'Изменить: Исполнитель', assignee: 'Исполнитель', save: 'Сохранить', saved: 'Сохранено' },
  'en-US': { edit: 'Edit Assignee', assignee: 'Assignee', save: 'Save', saved: 'Saved' },
} as const;

const ALIKE = `
users:
  - { login: belova.hr, displayName: Ольга Белова, email: belova.hr@example.org }
  - { login: belova.it, displayName: Ольга Белова, email: belova.it@example.org }
  - { login: belova.guest, displayName: Ольга Белова, email: belova.guest@example.org }
roles:
  - code: engineer
    interface: desk
    records: [{ type: incident, actions: [read, update], fields: { read: '*' } }]
    assignedTo: { users: [belova.hr, belova.it] }
`;

describe('pickers', () => {
  let desk: TestConsole;

  before(async () => {
    desk = await startConsole();
    await desk.call('POST', '/config/apply', { files: [{ name: 'alike.yaml', text: ALIKE }] });
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    const it = byTurns(language);
    it(`choose only from the answer to what was typed: ${language}`, async () => {
      const words = WORDS[language];
      const { id } = await desk.call('POST', '/objects', {
        typeDefinitionId: 'incident',
        // What is typed replaces the present name.
        values: { title: 'Кому это', assignee: desk.seeded.people['sokolov'] },
      });
      const watched = await desk.open('petrova', `/records/${id}`, { language });
      const { page } = watched;
      // Answers to a text come late, as on a slow network.
      await page.route(/desk\/lookup\?.*q=\S/, async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 700));
        await route.continue();
      });
      await page.getByRole('button', { name: words.edit }).click();
      const input = page.getByRole('combobox', { name: words.assignee });
      await page.getByRole('option', { name: 'Анна Петрова' }).waitFor();
      await hasCount(page.getByRole('option', { name: 'Тимур Гулиев' }), 0);
      await input.pressSequentially('бело');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      assert.equal(await page.getByRole('option').count(), 0, 'older answers are not offered');
      assert.equal(await input.inputValue(), 'бело', 'nothing was chosen');
      const second = page.getByRole('option', { name: /belova\.it@example\.org/ });
      await second.waitFor();
      await hasCount(page.getByRole('option'), 2);
      assert.match((await second.textContent()) ?? '', /belova\.it · belova\.it@example\.org/);
      await watched.check();
      await second.click();
      // A choice is saved at once.
      await page.getByText(words.saved).first().waitFor();
      const users = await desk.call('GET', '/config/users');
      const wanted = users.find((one: { code: string }) => one.code === 'belova.it').id;
      assert.equal((await desk.call('GET', `/objects/${id}`)).values.assignee, wanted);
      await watched.close();
    });
  }
});
