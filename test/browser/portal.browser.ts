/** The portal of requesters: help, catalogue, own requests, articles. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REQUESTER } from '../support/console-seed.ts';
import {
  hasValue,
  type Language,
  LANGUAGES,
  startConsole,
  type TestConsole,
  type WatchedPage,
} from '../support/console.ts';

let desk: TestConsole;
let shots = 0;

const OWN = '{ field: requester, operator: equals, value: $me }';

const BUNDLE = `
knowledgeBases:
  - code: help
    name: { ru-RU: Справка, en-US: Help }
    visibility: portal
    locales: [ru-RU, en-US]
    sections:
      - { code: network, name: { ru-RU: Сеть, en-US: Network } }
      - { code: printing, name: { ru-RU: Печать, en-US: Printing } }
  - code: staff
    name: { ru-RU: Для сотрудников, en-US: Staff }
    visibility: internal
    locales: [ru-RU]
    sections: [{ code: all }]
catalogs:
  - code: main
    name: { ru-RU: Каталог, en-US: Catalog }
    active: true
    categories:
      - { code: hardware, name: { ru-RU: Оборудование, en-US: Hardware } }
      - { code: access, name: { ru-RU: Доступы, en-US: Access } }
    items:
      - code: laptop
        name: { ru-RU: Новый ноутбук, en-US: New laptop }
        description: { ru-RU: Для новых сотрудников и на замену, en-US: For new staff and as a replacement }
        category: hardware
        type: request
        form: [{ code: title, required: true }, { code: neededBy }]
        requesterField: requester
        audience: { everyone: true }
      - code: repair
        name: { ru-RU: Ремонт, en-US: Repair }
        category: hardware
        type: request
        form: [{ code: title, required: true }]
        requesterField: requester
        assetField: affected
        audience: { everyone: true }
      - code: vpn
        name: { ru-RU: Удалённый доступ, en-US: Remote access }
        category: access
        type: request
        form: [{ code: title, required: true }]
        requesterField: requester
        audience: { everyone: true }
roles:
  - code: requester
    name: { ru-RU: Заявитель, en-US: Requester }
    interface: portal
    rights: [kb.portal]
    records:
      - type: incident
        where: ${OWN}
        actions: [read, create, transition, comment.create, attachment.add]
        fields:
          read: [title, description, priority, category, location, requester, solution]
          write: [title, description, category, location, requester]
        transitions: [reopen, close, cancel]
      - type: incident
        where: { logic: AND, conditions: [${OWN}, { field: workflowState, operator: equals, value: closed }] }
        actions: [read, transition]
        fields: { read: [rating, ratingComment], write: [rating, ratingComment] }
        transitions: [rate]
      - type: request
        where: ${OWN}
        actions: [read, create, transition, comment.create, attachment.add]
        fields: { read: [title, description, affected, neededBy, requester], write: [title, description, affected, neededBy, requester] }
        transitions: [reopen, close, cancel]
      - { type: asset, where: { field: owner, operator: equals, value: $me }, actions: [read], fields: { read: [title] } }
      - { type: category, actions: [read], fields: { read: [title, parent, description] } }
      - { type: location, actions: [read], fields: { read: [title, parent, address] } }
    assignedTo: { users: [${REQUESTER}] }
`;

const WORDS = {
  'ru-RU': {
    title: 'Чем помочь?',
    article: 'Как подключить принтер к ноутбуку',
    word: 'драйвер',
    results: 'Результаты поиска',
    report: 'Сообщить о проблеме',
    requests: 'Мои обращения',
    dictionaries: 'Справочники',
    all: 'Все записи',
    hardware: 'Оборудование',
    laptop: 'Новый ноутбук',
    vpn: 'Удалённый доступ',
    topic: 'Тема',
    similar: 'Возможно, поможет',
    submit: 'Отправить',
    order: 'Отправить заявку',
    open: 'Обращение у службы поддержки',
    works: 'Всё работает',
    broken: 'Проблема осталась',
    rate: 'Оценить работу',
    rating: 'Оценка',
    best: '5, отлично',
    details: 'Подробности',
    sections: 'Разделы',
    printing: 'Печать',
    find: 'Найти статью',
    found: 'Найденные статьи',
    helped: 'Статья помогла?',
    yes: 'Да',
    no: 'Нет',
    thanks: 'Спасибо за оценку!',
    write: 'Отправить комментарий',
  },
  'en-US': {
    title: 'How can we help?',
    article: 'How to connect a printer to a laptop',
    word: 'driver',
    results: 'Search results',
    report: 'Report a problem',
    requests: 'My requests',
    dictionaries: 'Dictionaries',
    all: 'All records',
    hardware: 'Hardware',
    laptop: 'New laptop',
    vpn: 'Remote access',
    topic: 'Title',
    similar: 'This may help',
    submit: 'Submit',
    order: 'Submit request',
    open: 'The service desk has your request',
    works: 'It works again',
    broken: 'Still broken',
    rate: 'Rate the service',
    rating: 'Rating',
    best: '5, excellent',
    details: 'Details',
    sections: 'Sections',
    printing: 'Printing',
    find: 'Find an article',
    found: 'Articles found',
    helped: 'Did this help?',
    yes: 'Yes',
    no: 'No',
    thanks: 'Thank you for your feedback!',
    write: 'Send comment',
  },
} as const;

/** Publishes an article for everyone. */
async function publish(article: Record<string, unknown>): Promise<string> {
  const { id, versionId } = await desk.call('POST', '/kb/articles', article);
  await desk.call('PUT', `/kb/article-versions/${versionId}/audiences`, { audiences: [{ kind: 'everyone' }] });
  await desk.call('POST', '/kb/articles/publish', { versionId });
  return id;
}

/** Moves an incident to `resolved` as the service desk. */
async function resolve(id: string): Promise<void> {
  const values = { take: { assignee: desk.seeded.people['petrova'] }, resolve: { solution: '-', closeCode: 'solved' } };
  for (const code of ['take', 'resolve'] as const) {
    const { state, transitions, object } = await desk.call('GET', `/objects/${id}/workflow`);
    const found = transitions.find((one: { code: string }) => one.code === code);
    if (found === undefined) continue;
    await desk.call('POST', `/objects/${id}/transitions`, {
      transitionId: found.id,
      expectedRevision: object.revision,
      expectedStateId: state.id,
      values: values[code],
    });
  }
}

/** Fails if the page is wider than its window. Keeps a picture if `PORTAL_SHOTS` names a folder. */
async function fits({ page }: WatchedPage, name: string): Promise<void> {
  assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, name);
  const folder = process.env['PORTAL_SHOTS'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${shots++}-${name}.png`, fullPage: true });
}

describe('the portal of requesters', () => {
  before(async () => {
    desk = await startConsole();
    await desk.call('POST', '/config/apply', { files: [{ name: 'portal.yaml', text: BUNDLE }] });
    const text = { baseId: 'help', sectionId: 'printing', code: 'printer', visibility: 'portal' };
    const ru = '## Подготовка\n\nСкачайте драйвер.\n\n## Подключение\n\nВключите принтер.';
    const en = '## Before you start\n\nDownload the driver.\n\n## Connect\n\nSwitch the printer on.';
    await publish({ ...text, locale: 'ru-RU', title: WORDS['ru-RU'].article, tags: ['печать'], body: ru });
    await publish({ ...text, locale: 'en-US', title: WORDS['en-US'].article, tags: ['print'], body: en });
    const more = { ...text, code: 'scanner', locale: 'ru-RU', title: 'Сканирование в почту', tags: ['печать'] };
    await publish({ ...more, body: 'Нажмите «Скан».' });
    const hidden = { baseId: 'staff', sectionId: 'all', code: 'secret', visibility: 'internal', locale: 'ru-RU' };
    await publish({ ...hidden, title: 'Внутренний драйвер', body: 'драйвер driver' });
  });
  after(() => desk.close());

  for (const language of LANGUAGES) homeWorks(language);
  requestsWork('en-US');
  articlesWork('ru-RU');

  it('requests a laptop from the home page with two clicks and without typing', async () => {
    for (const language of LANGUAGES) {
      const { laptop, order, open, title } = WORDS[language];
      const watched = await desk.open(REQUESTER, '/', { language });
      const { page } = watched;
      await page.getByRole('heading', { name: title }).waitFor();
      await page.getByRole('link', { name: laptop }).click();
      await page.getByRole('list', { name: WORDS[language].similar }).waitFor();
      await page.getByRole('button', { name: order }).click();
      await page.getByRole('heading', { name: laptop }).waitFor();
      await page.getByText(open).waitFor();
      await watched.check();
      await watched.close();
    }
  });

  it('chooses the only asset of the user, and offers own open requests beside the form', async () => {
    const watched = await desk.open(REQUESTER, '/portal', { width: 1440 });
    const { page } = watched;
    assert.equal(await page.getByText('004-117').count(), 0, 'an asset is no request');
    await page.getByRole('link', { name: 'Ремонт' }).click();
    await page.locator('input[value*="004-117"]').waitFor();
    const title = page.getByRole('textbox', { name: 'Тема' });
    await hasValue(title, 'Ремонт');
    await title.fill(WORDS['ru-RU'].laptop);
    const similar = page.getByRole('list', { name: WORDS['ru-RU'].similar });
    await similar.getByRole('link', { name: WORDS['ru-RU'].laptop }).first().waitFor();
    await fits(watched, 'item-ru-RU-1440');
    await watched.check();
    await page.getByRole('button', { name: WORDS['ru-RU'].order }).click();
    await page.getByRole('definition').getByText('004-117').waitFor();
    await watched.close();
  });

  it('sends requesters from the pages of the desk to their own ones', async () => {
    const watched = await desk.open(REQUESTER, '/records?type=incident');
    await watched.page.getByRole('heading', { name: 'Чем помочь?' }).waitFor();
    await watched.page.goto(`${desk.url}/records/${desk.seeded.incident}`);
    await watched.page.getByRole('list').getByText('В работе').waitFor();
    assert.match(watched.page.url(), /\/portal\/requests\//);
    await watched.check();
    await watched.close();
  });
});

function articlesWork(language: Language): void {
  it(`browses articles, votes, and reports a problem from one that did not help: ${language}`, async () => {
    const words = WORDS[language];
    const watched = await desk.open(REQUESTER, '/portal/articles', { language, width: 390, height: 844 });
    const { page } = watched;
    await page.getByRole('link', { name: words.article }).waitFor();
    await fits(watched, `articles-${language}-390`);
    await page.getByText(words.sections, { exact: true }).click();
    await page.getByRole('navigation', { name: words.sections }).getByRole('link', { name: words.printing }).click();
    await page.getByRole('heading', { name: words.printing }).waitFor();
    await watched.check();
    // A word of the text, not of the title.
    await page.getByRole('searchbox', { name: words.find }).fill(words.word);
    const found = page.getByRole('region', { name: words.found });
    await found.getByRole('link', { name: words.article }).waitFor();
    assert.equal(await page.getByText('Внутренний').count(), 0);
    await watched.check();
    await found.getByRole('link', { name: words.article }).click();
    await page.getByRole('heading', { name: words.article }).waitFor();
    await page.goBack();
    await found.getByRole('link', { name: words.article }).click();
    assert.equal(new URL(page.url()).searchParams.get('q'), words.word, 'the words are kept');
    await page.getByRole('link', { name: 'Сканирование в почту' }).waitFor();
    const helped = page.getByRole('group', { name: words.helped });
    await helped.getByRole('button', { name: words.yes }).click();
    await helped.getByText(words.thanks).waitFor();
    await fits(watched, `article-${language}-390`);
    await helped.getByRole('button', { name: words.no }).click();
    await helped.getByRole('link', { name: words.report }).waitFor();
    await watched.check();
    await page.reload();
    await helped.getByRole('button', { name: words.no, pressed: true }).waitFor();
    const { rows } = await desk.call('GET', '/kb/article-versions?state=ACTIVE');
    const version = rows.find((one: { title: string }) => one.title === words.article);
    assert.deepEqual(version.feedback, { views: 1, helpful: 0, notHelpful: 1 });
    await helped.getByRole('link', { name: words.report }).click();
    await hasValue(page.getByRole('textbox', { name: words.topic }), words.article);
    await watched.close();
  });
}

function homeWorks(language: Language): void {
  it(`finds articles and services as one types, on a phone: ${language}`, async () => {
    const words = WORDS[language];
    const watched = await desk.open(REQUESTER, '/', { language, width: 390, height: 844 });
    const { page } = watched;
    await page.getByRole('heading', { name: words.title }).waitFor();
    for (const name of [words.all, words.dictionaries]) assert.equal(await page.getByText(name).count(), 0);
    assert.equal(await page.getByRole('checkbox').count(), 0);
    await page.getByText('Анна Петрова').or(page.getByText('Администратор')).first().waitFor();
    await fits(watched, `home-${language}-390`);
    await watched.check();
    const field = page.getByRole('searchbox', { name: words.title });
    await field.pressSequentially(words.word);
    const results = page.getByRole('list', { name: words.results });
    await results.getByRole('link', { name: words.article }).waitFor();
    assert.equal(await results.getByText('Внутренний').count(), 0);
    await fits(watched, `search-${language}-390`);
    await field.fill(words.laptop.slice(0, 6));
    await results.getByRole('link', { name: words.laptop }).waitFor();
    await watched.check();
    await field.fill('');
    await page.getByRole('button', { name: words.hardware }).click();
    await page.getByRole('link', { name: words.vpn }).waitFor({ state: 'detached' });

    await page.getByRole('link', { name: words.laptop }).click();
    await page.getByRole('textbox', { name: words.topic }).fill('ThinkPad');
    await fits(watched, `item-${language}-390`);
    await watched.check();
    await page.getByRole('button', { name: words.order }).click();
    await page.getByRole('heading', { name: 'ThinkPad' }).waitFor();
    await page.getByText(words.open).waitFor();
    await fits(watched, `sent-${language}-390`);
    await watched.check();
    await watched.close();
  });
}

function requestsWork(language: Language): void {
  it(`reports a problem, reopens it, confirms and rates it: ${language}`, async () => {
    const words = WORDS[language];
    const watched = await desk.open(REQUESTER, '/', { language, width: 1280 });
    const { page } = watched;
    await page.getByRole('link', { name: words.report }).click();
    await page.getByText('Мария Иванова').first().waitFor();
    const topic = page.getByRole('textbox', { name: words.topic });
    await topic.fill(words.article);
    await page.reload();
    await topic.waitFor();
    await hasValue(topic, words.article, 'the draft of the report');
    await page.getByRole('list', { name: words.similar }).getByRole('link', { name: words.article }).waitFor();
    await fits(watched, `report-${language}-1280`);
    await watched.check();
    await page.getByRole('button', { name: words.submit }).click();
    await page.getByText(words.open).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const { values } = await desk.call('GET', `/objects/${id}`);
    assert.equal(values.requester, desk.seeded.people[REQUESTER]);
    for (const answer of [words.broken, words.works]) {
      await resolve(id);
      await page.reload();
      await page.getByRole('button', { name: words.works }).waitFor();
      await watched.check();
      await page.getByRole('button', { name: answer }).click();
      if (answer === words.broken) {
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('textbox').fill('Опять не печатает');
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'hidden' });
        await page.getByRole('button', { name: answer }).click();
        assert.equal(
          await dialog.getByRole('textbox').inputValue(),
          'Опять не печатает',
          'the draft of the transition',
        );
        await dialog.getByRole('button').last().click();
        await page.getByText(words.open).waitFor();
      }
    }
    await page.getByRole('button', { name: words.rate }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: words.rating }).click();
    await page.getByRole('option', { name: words.best }).click();
    await watched.check();
    await dialog.getByRole('button', { name: words.rate }).click();
    await page.getByRole('definition').getByText(words.best).waitFor();
    await fits(watched, `rated-${language}-1280`);
    const rated = await desk.call('GET', `/objects/${id}`);
    assert.deepEqual([rated.values.rating, rated.workflowState.code], ['5', 'closed']);
    await watched.check();
    await watched.close();
  });
}
