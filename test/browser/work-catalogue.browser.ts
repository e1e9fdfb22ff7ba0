/** The catalogue: browsing, searching, requests for oneself and for another user. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REQUESTER } from '../support/console-seed.ts';
import { byTurns, hasValue, LANGUAGES, startConsole, type TestConsole } from '../support/console.ts';

let desk: TestConsole;

const BUNDLE = `
catalogs:
  - code: main
    name: { ru-RU: Каталог, en-US: Catalogue }
    active: true
    categories:
      - { code: hardware, name: { ru-RU: Оборудование, en-US: Hardware }, parent: null }
      - { code: laptops, name: { ru-RU: Ноутбуки, en-US: Laptops }, parent: hardware }
      - { code: access, name: { ru-RU: Доступы, en-US: Access }, parent: null }
    items:
      - code: broken-laptop
        name: { ru-RU: Сломался ноутбук, en-US: My laptop is broken }
        description: { ru-RU: Заменим или починим, en-US: We mend or replace it }
        category: laptops
        type: incident
        form: [{ code: title, required: true }, { code: description, required: false }]
        requesterField: requester
        audience: { everyone: true }
      - code: vpn
        name: { ru-RU: Доступ к VPN, en-US: VPN access }
        category: access
        type: incident
        form: [{ code: title, required: true }]
        requesterField: requester
        audience: { everyone: true }
`;

const WORDS = {
  'ru-RU': {
    hardware: 'Оборудование',
    laptop: 'Сломался ноутбук',
    vpn: 'Доступ к VPN',
    search: 'Найти в каталоге',
    all: 'Все позиции',
    forWhom: 'Получатель',
    title: 'Тема',
    submit: 'Отправить заявку',
    required: 'Обязательное поле.',
    number: 'Номер заявки',
    open: 'Открыть заявку',
    ask: 'Что произойдёт?',
    wouldBe: 'Будет создана запись «Не включается с утра»',
  },
  'en-US': {
    hardware: 'Hardware',
    laptop: 'My laptop is broken',
    vpn: 'VPN access',
    search: 'Search the catalog',
    all: 'All items',
    forWhom: 'Requested for',
    title: 'Title',
    submit: 'Submit request',
    required: 'This field is required.',
    number: 'Request number',
    open: 'Open request',
    ask: 'What would happen?',
    wouldBe: 'A record "Не включается с утра" would be created',
  },
} as const;

describe('the catalogue in the console', () => {
  before(async () => {
    desk = await startConsole();
    await desk.call('POST', '/config/apply', { files: [{ name: 'catalogue.yaml', text: BUNDLE }] });
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    const it = byTurns(language, 'en-US');
    it(`can be browsed, and a request sent for another user: ${language}`, async () => {
      const words = WORDS[language];
      const watched = await desk.open('admin', '/work/catalogue', { language });
      const { page } = watched;
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: words.hardware }).click();
      await page.getByRole('button', { name: words.laptop }).waitFor();
      assert.equal(await page.getByRole('button', { name: words.vpn }).count(), 0);
      await page.getByRole('button', { name: words.all }).click();
      await page.getByRole('searchbox', { name: words.search }).fill('vpn');
      await page.getByRole('button', { name: words.laptop }).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: words.vpn }).waitFor();
      await page.getByRole('searchbox', { name: words.search }).fill('');
      await watched.check();

      await page.getByRole('button', { name: words.laptop }).click();
      const title = dialog.getByRole('textbox', { name: words.title });
      await hasValue(title, words.laptop, 'the name of the item is the title to start with');
      await title.fill('');
      await dialog.getByRole('button', { name: words.submit }).click();
      await dialog.getByText(words.required).waitFor();
      await dialog.getByRole('combobox', { name: words.forWhom }).fill('иванова');
      await page.getByRole('option', { name: 'Мария Иванова' }).click();
      await title.fill('Не включается с утра');
      await dialog.getByRole('button', { name: words.ask }).click();
      await dialog.getByText(words.wouldBe).waitFor();
      await watched.check();
      await dialog.getByRole('button', { name: words.submit }).click();
      await dialog.getByText(words.number).waitFor();
      await dialog.getByRole('button', { name: words.open }).click();
      await page.getByRole('heading', { name: 'Не включается с утра' }).waitFor();
      const id = new URL(page.url()).pathname.split('/').at(-1);
      const { values } = await desk.call('GET', `/objects/${id}`);
      assert.equal(values.requester, desk.seeded.people['ivanova']);
      await watched.close();
    });
  }

  it('offers requests only for oneself without the right to request for others, and fits a phone', async () => {
    const watched = await desk.open(REQUESTER, '/work/catalogue', { width: 390, height: 844, scheme: 'dark' });
    const { page } = watched;
    await page.getByRole('button', { name: WORDS['ru-RU'].laptop }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: WORDS['ru-RU'].submit }).waitFor();
    assert.equal(await dialog.getByRole('combobox', { name: WORDS['ru-RU'].forWhom }).count(), 0);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0);
    await watched.check();
    await watched.close();
  });
});
