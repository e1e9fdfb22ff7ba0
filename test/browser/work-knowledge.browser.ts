/** The knowledge base: a draft is written, previewed, published, revised, archived and restored. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REQUESTER } from '../support/console-seed.ts';
import { byTurns, hasValue, LANGUAGES, startConsole, type TestConsole } from '../support/console.ts';

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
    nobody: 'выбрать аудиторию',
    saveDraft: 'Сохранить черновик',
    ready: 'Статья готова к публикации.',
    missingSaved: 'сохранить изменения',
    reviewOn: 'Дата пересмотра',
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
    nobody: 'choose an audience',
    saveDraft: 'Save draft',
    ready: 'The article is ready to be published.',
    missingSaved: 'save the changes',
    reviewOn: 'Review date',
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
    const it = byTurns(language);
    it(`takes an article from draft to archive and back: ${language}`, async () => {
      const words = WORDS[language];
      const title = `Настройка VPN (${language})`;
      const watched = await desk.open('admin', '/work/knowledge', { language });
      const { page } = watched;
      const dialog = page.getByRole('dialog');
      await page.getByRole('link', { name: words.create }).click();
      await page.getByRole('textbox', { name: words.name }).fill(title);
      await page.getByText(`nastroyka-vpn-${language.slice(0, 2)}`).waitFor();
      await page.getByRole('textbox', { name: words.text }).click();
      await page.keyboard.type('Для удалённой работы.');
      await watched.check();
      await page.getByRole('button', { name: words.saveDraft }).click();
      await page.getByRole('heading', { name: title }).waitFor();
      await page.getByText(words.ready).waitFor();

      await page.getByRole('textbox', { name: words.summary }).fill('Для ноутбуков');
      await page.getByRole('textbox', { name: words.text }).click();
      await page.keyboard.press('End');
      await page.keyboard.type(' Откройте программу и войдите.');
      await page.getByText(words.missingSaved).waitFor();
      await page.getByRole('button', { name: words.publish, disabled: true }).waitFor();
      await page.getByRole('button', { name: words.save }).first().click();
      await page.getByText(words.ready).waitFor();
      // Without an audience it cannot be published, and the page says so.
      await page.getByRole('switch', { name: words.everyone }).uncheck();
      await page.getByRole('button', { name: words.save }).last().click();
      await page.getByText(words.nobody).waitFor();
      await watched.check();
      await page.getByRole('switch', { name: words.everyone }).check();
      await page.getByRole('button', { name: words.save }).last().click();
      await page.getByText(words.ready).waitFor();
      await page.getByLabel(words.reviewOn).fill('2030-05-31');
      await page.getByLabel(words.reviewOn).blur();
      await page.getByRole('button', { name: words.publish }).click();
      await page.locator('header').getByText(words.published).waitFor();
      await watched.check();

      const listed = await desk.call('GET', `/kb/articles?locale=${language}`);
      const article = listed.find((one: { title: string }) => one.title === title);
      assert.equal(article.summary, 'Для ноутбуков');
      const version = await desk.call('GET', `/kb/article-versions/${article.versionId}`);
      assert.deepEqual([version.reviewOn, version.code.startsWith('nastroyka-vpn')], ['2030-05-31', true]);
      await page.goto(`${desk.url}/work/knowledge/articles`);
      await page.getByRole('link', { name: title }).click();
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

  it('starts an article with the description and the solution of a record, and lands on drafts', async () => {
    const { incident } = desk.seeded;
    const { values } = await desk.call('GET', `/objects/${incident}`);
    const watched = await desk.open('admin', `/records/${incident}`);
    const { page } = watched;
    // The transitions may have a menu of that name, too; the menu of the record is the last one of the header.
    await page.locator('[data-record-head]').getByRole('button', { name: 'Действия с записью' }).click();
    await page.getByRole('menuitem', { name: 'Создать статью' }).click();
    const title = page.getByRole('textbox', { name: 'Заголовок' });
    await title.waitFor();
    await hasValue(title, values.title);
    await page.getByRole('textbox', { name: 'Текст' }).getByRole('heading', { name: 'Описание' }).waitFor();
    await watched.check();
    await page.getByRole('button', { name: 'Сохранить черновик' }).click();
    await page.getByText('Статья готова к публикации.').waitFor();
    await page.goto(`${desk.url}/work/knowledge`);
    await page.getByRole('tab', { name: 'Мои черновики', selected: true }).waitFor();
    await page.getByRole('row').filter({ hasText: values.title }).waitFor();
    await watched.check();
    await watched.close();
  });

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
