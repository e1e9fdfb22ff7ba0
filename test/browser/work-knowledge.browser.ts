/** The knowledge base: a draft is written, previewed, published, revised, archived and restored. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REQUESTER } from '../harness/console-seed.ts';
import { LANGUAGES, startConsole, type TestConsole } from '../harness/console.ts';

let desk: TestConsole;

const BUNDLE = `
knowledgeBases:
  - code: it
    name: { ru-RU: База ИТ, en-US: IT base }
    visibility: internal
    locales: [ru-RU, en-US]
    sections: [{ code: network, name: { ru-RU: Сеть, en-US: Network }, parent: null }]
`;

const WORDS = {
  'ru-RU': {
    create: 'Новая статья',
    name: 'Заголовок',
    code: 'Код',
    text: 'Текст',
    summary: 'Краткое описание',
    save: 'Сохранить',
    draft: 'Черновик',
    everyone: 'Всем',
    publish: 'Опубликовать',
    nobody: 'Сначала задайте аудиторию',
    published: 'Опубликована',
    newVersion: 'Новая версия',
    archive: 'В архив',
    archived: 'В архиве',
    restore: 'Восстановить как черновик',
    read: 'Читать',
  },
  'en-US': {
    create: 'New article',
    name: 'Title',
    code: 'Code',
    text: 'Text',
    summary: 'Summary',
    save: 'Save',
    draft: 'Draft',
    everyone: 'Everyone',
    publish: 'Publish',
    nobody: 'Set the audience first',
    published: 'Published',
    newVersion: 'New version',
    archive: 'Archive',
    archived: 'Archived',
    restore: 'Restore as a draft',
    read: 'Read',
  },
} as const;

describe('the knowledge base in the console', () => {
  before(async () => {
    desk = await startConsole();
    await desk.call('POST', '/config/apply', { files: [{ name: 'kb.yaml', text: BUNDLE }] });
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    it(`takes an article from draft to archive and back: ${language}`, async () => {
      const words = WORDS[language];
      const title = `Настройка VPN (${language})`;
      const watched = await desk.open('admin', '/work/knowledge', { language });
      const { page } = watched;
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: words.create }).click();
      await dialog.getByRole('textbox', { name: words.name }).fill(title);
      await dialog.getByRole('textbox', { name: words.code }).fill(`vpn-${language}`);
      await dialog.getByRole('textbox', { name: words.text }).fill('Для удалённой работы.');
      await watched.check();
      await dialog.getByRole('button', { name: words.create }).click();
      await page.getByRole('heading', { name: title }).waitFor();

      await page.getByRole('textbox', { name: words.summary }).fill('Для ноутбуков');
      await page.getByRole('textbox', { name: words.text }).click();
      await page.keyboard.press('End');
      await page.keyboard.type(' Откройте программу и войдите.');
      await page.getByRole('button', { name: words.save }).first().click();
      await page.waitForFunction("document.querySelectorAll('button[type=submit][disabled]').length > 0");
      // Without an audience, publishing shows an error.
      await page.getByRole('button', { name: words.publish }).click();
      await dialog.getByRole('button', { name: words.publish }).click();
      await page.getByRole('alert').filter({ hasText: words.nobody }).waitFor();
      await page.getByRole('switch', { name: words.everyone }).check();
      await page.getByRole('button', { name: words.save }).last().click();
      await page.waitForTimeout(500);
      await watched.check();
      await page.getByRole('button', { name: words.publish }).click();
      await dialog.getByRole('button', { name: words.publish }).click();
      await page.locator('header').getByText(words.published).waitFor();
      await watched.check();

      const listed = await desk.call('GET', `/kb/articles?locale=${language}`);
      const article = listed.find((one: { title: string }) => one.title === title);
      assert.equal(article.summary, 'Для ноутбуков');
      await page.goto(`${desk.url}/work/knowledge/read`);
      await page.getByRole('button', { name: title }).click();
      await page.getByText('Для удалённой работы. Откройте программу и войдите.').waitFor();
      await watched.check();

      await page.goto(`${desk.url}/work/knowledge/versions/${article.versionId}`);
      await page.getByRole('button', { name: words.newVersion }).click();
      await dialog.getByRole('button', { name: words.newVersion }).click();
      await page.locator('header').getByText(words.draft).waitFor();
      await page.getByText('Для удалённой работы. Откройте программу и войдите.').waitFor();
      await page.getByRole('button', { name: words.archive }).click();
      await dialog.getByRole('button', { name: words.archive }).click();
      await page.locator('header').getByText(words.archived).waitFor();
      assert.deepEqual(
        (await desk.call('GET', `/kb/articles?locale=${language}`)).filter(
          (one: { title: string }) => one.title === title,
        ),
        [],
      );
      await page.getByRole('button', { name: words.restore }).click();
      await page.locator('header').getByText(words.draft).waitFor();
      await watched.check();
      await watched.close();
    });
  }

  it('fits a phone in dark mode', async () => {
    const watched = await desk.open('admin', '/work/knowledge/write', { width: 390, height: 844, scheme: 'dark' });
    await watched.page.getByRole('row').filter({ hasText: 'VPN' }).first().waitFor();
    assert.equal(await watched.page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0);
    await watched.check();
    await watched.close();
  });

  it('is not offered to users who may not read it', async () => {
    const watched = await desk.open(REQUESTER, '/work/knowledge');
    await watched.page.getByRole('heading', { name: 'База знаний' }).waitFor({ state: 'detached' });
    assert.equal(await watched.page.getByRole('link', { name: 'База знаний' }).count(), 0);
    await watched.close();
  });
});
