/** A value of each of the twenty data types, made in the form and shown again; and texts that try to be more than text. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { showScreen, startConsole, type TestConsole } from '../support/console.ts';

let desk: TestConsole;

const TYPE = `
types:
  - code: sample
    name: { ru-RU: Образец, en-US: Sample }
    title: string
    fields:
      - { code: string, name: { ru-RU: Строка, en-US: String }, dataType: string, required: true, constraints: { maxLength: 20 } }
      - { code: text, name: Текст, dataType: text }
      - { code: rich, name: Оформленный, dataType: rich-text }
      - { code: integer, name: Целое, dataType: integer, constraints: { min: 1, max: 10 } }
      - { code: decimal, name: Дробное, dataType: decimal, constraints: { scale: 2 } }
      - { code: boolean, name: Признак, dataType: boolean }
      - { code: date, name: Дата, dataType: date }
      - { code: datetime, name: Момент, dataType: datetime }
      - { code: duration, name: Длительность, dataType: duration }
      - { code: enum, name: Выбор, dataType: enum, constraints: { options: [{ code: one, name: Один }, { code: two, name: Два }] } }
      - { code: reference, name: Запись, dataType: reference, constraints: { types: [problem] } }
      - { code: user, name: Человек, dataType: user }
      - { code: group, name: Группа, dataType: group }
      - { code: orgUnit, name: Подразделение, dataType: org-unit }
      - { code: service, name: Услуга, dataType: service }
      - { code: url, name: Адрес, dataType: url }
      - { code: email, name: Почта, dataType: email }
      - { code: phone, name: Телефон, dataType: phone }
      - { code: time, name: Время, dataType: time }
      - { code: json, name: Данные, dataType: json }
      - { code: tags, name: Метки, dataType: string, multiple: true }
orgUnits: [{ code: hq, name: Главный офис }]
services: [{ code: laptops, name: Ноутбуки, audience: { everyone: true } }]
`;

const HOSTILE = [
  '<img src=x onerror="globalThis.__ran = true">',
  '"><svg onload=globalThis.__ran=true>',
  '<script>globalThis.__ran = true</script>',
  '[нажми](javascript:globalThis.__ran=true)',
  '<a href="javascript:globalThis.__ran=true">x</a>',
  '![x](https://example.org/pixel.png)',
  '{{constructor.constructor("globalThis.__ran=true")()}}',
  '<style>body{display:none}</style><iframe srcdoc="<script>parent.__ran=true</script>">',
];

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Configuration in which everything that has a name has this one. */
function hostileNames(name: string): string {
  const said = JSON.stringify(name);
  return `
users: [{ login: hostile, displayName: ${said} }]
groups: [{ code: hostile, name: { ru-RU: ${said} } }]
orgUnits: [{ code: hostile, name: { ru-RU: ${said} }, parent: null }]
services: [{ code: hostile, name: { ru-RU: ${said} }, description: { ru-RU: ${said} }, audience: { everyone: true } }]
calendars: [{ code: hostile, name: { ru-RU: ${said} }, timezone: Europe/Moscow, week: { mon: ['09:00-18:00'] } }]
catalogs:
  - code: hostile
    name: { ru-RU: ${said} }
    active: true
    categories: [{ code: hostile, name: { ru-RU: ${said} }, parent: null }]
    items:
      - code: hostile
        name: { ru-RU: ${said} }
        description: { ru-RU: ${said} }
        category: hostile
        type: incident
        form: [{ code: title, required: true }]
        requesterField: requester
        audience: { everyone: true }
knowledgeBases:
  - code: hostile
    name: { ru-RU: ${said} }
    visibility: internal
    locales: [ru-RU]
    sections: [{ code: hostile, name: { ru-RU: ${said} }, parent: null }]
`;
}

describe('values', () => {
  before(async () => {
    desk = await startConsole();
    await desk.call('POST', '/config/apply', { files: [{ name: 'sample.yaml', text: TYPE }] });
  });
  after(() => desk.close());

  it('of every data type are entered in the form, validated while typing, and shown', async () => {
    const watched = await desk.open('admin', '/new/sample');
    const { page } = watched;
    const box = (name: string) => page.getByRole('textbox', { name });
    const choose = async (name: string, text: string | null, option: string | RegExp): Promise<void> => {
      const input = page.getByRole('combobox', { name, exact: true });
      if (text === null) await input.click();
      else await input.fill(text);
      await page.getByRole('option', { name: option }).click();
    };
    await box('Строка').fill('x'.repeat(21));
    await page.getByText('Не больше 20 знаков.').waitFor();
    await box('Строка').fill('Образец один');
    await box('Целое').fill('11');
    await page.getByText('Не больше 10.').waitFor();
    await box('Целое').fill('7');
    await box('Дробное').fill('1,234');
    await page.getByText('После запятой не больше 2 знаков.').waitFor();
    await box('Дробное').fill('1,25');
    await box('Адрес').fill('javascript:alert(1)');
    await page.getByText('Нужен адрес, начинающийся с').waitFor();
    await box('Адрес').fill('https://example.org/a');
    await box('Почта').fill('nobody');
    await page.getByText('Нужен адрес электронной почты.').waitFor();
    await watched.check();
    await box('Почта').fill('anna@example.org');
    await box('Телефон').fill('+7 495 123-45-67');
    await box('Текст').fill('Первая строка\nвторая');
    await page.getByLabel('Признак').selectOption('true');
    await page.getByLabel('Дата').fill('2026-11-21');
    await page.getByLabel('Момент').fill('2026-11-21T09:15');
    await page.getByLabel('Время').fill('09:15');
    await box('Длительность').fill('1д 4ч 30м');
    await choose('Выбор', null, 'Два');
    await choose('Запись', 'шлюз', /PRB0000001/);
    await choose('Человек', 'ким', 'Виктория Ким');
    await choose('Группа', 'сети', 'Сети');
    await choose('Подразделение', 'главный', 'Главный офис');
    await choose('Услуга', 'ноут', 'Ноутбуки');
    await box('Данные').fill('{"a": [1, 2');
    await page.getByText('Некорректный JSON.').waitFor();
    await box('Данные').fill('{"a": [1, 2]}');
    await box('Метки 1').fill('первая');
    await page.getByRole('button', { name: 'Добавить' }).click();
    await box('Метки 2').fill('вторая');
    await box('Оформленный').click();
    await page.getByRole('button', { name: 'Жирный' }).click();
    await page.keyboard.type('Важное');
    // A pasted picture appears in the text.
    await page.evaluate(`(() => {
      const element = document.querySelector('.tiptap');
      const bytes = Uint8Array.from(atob('${PIXEL}'), (char) => char.charCodeAt(0));
      const files = new DataTransfer();
      files.items.add(new File([bytes], 'pixel.png', { type: 'image/png' }));
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: files, bubbles: true, cancelable: true }));
    })()`);
    await page.locator('.tiptap img').waitFor();
    await watched.check();
    await page.getByRole('button', { name: 'Создать', exact: true }).last().click();
    await page.getByRole('heading', { name: 'Образец один' }).waitFor();
    const id = page.url().split('/').at(-1) ?? '';
    const { values } = await desk.call('GET', `/objects/${id}`);
    const { reference, user, group, orgUnit, service, rich, datetime, ...plain } = values;
    assert.deepEqual(plain, {
      string: 'Образец один',
      text: 'Первая строка\nвторая',
      integer: 7,
      decimal: '1.25',
      boolean: true,
      date: '2026-11-21',
      duration: plain.duration,
      enum: 'two',
      url: 'https://example.org/a',
      email: 'anna@example.org',
      phone: '+7 495 123-45-67',
      time: plain.time,
      json: { a: [1, 2] },
      tags: ['первая', 'вторая'],
    });
    assert.equal(plain.duration, 'P1DT4H30M');
    assert.match(plain.time, /^09:15/);
    // The person's zone decides, not the one of the browser.
    assert.equal(new Date(datetime).getTime(), Date.parse('2026-11-21T09:15+03:00'));
    assert.equal(reference, desk.seeded.problem);
    assert.equal(user, desk.seeded.people['kim']);
    for (const one of [group, orgUnit, service]) assert.match(one, /^[0-9a-f-]{36}$/);
    assert.match(JSON.stringify(rich), /"bold".*"blob:[0-9a-f]{64}"|"blob:[0-9a-f]{64}".*"bold"/);
    for (const shown of ['Виктория Ким', 'Сети', 'Главный офис', 'Ноутбуки', 'Два', '1д 4ч 30м', 'первая']) {
      await page.getByText(shown, { exact: true }).first().waitFor();
    }
    const image = page.locator('img[src*="/images/"]');
    await image.waitFor();
    assert.equal(
      await page.evaluate(`document.querySelector('img[src*="/images/"]').naturalWidth`),
      1,
      'the picture is there',
    );
    await watched.check();
    await watched.close();
  });

  it('that contain markup are shown as text', async () => {
    const all = HOSTILE.join('\n\n');
    const short = HOSTILE[0] ?? '';
    const { id } = await desk.call('POST', '/objects', {
      typeDefinitionId: 'incident',
      values: { title: short, description: all },
    });
    for (const visibility of ['public', 'internal']) {
      await desk.call('POST', `/objects/${id}/comments`, { body: all, visibility });
    }
    await desk.call('POST', `/objects/${id}/attachments`, {
      filename: '<img src=x onerror=alert(1)>.svg',
      contentBase64: 'eA==',
    });
    await desk.call('POST', '/desk/queues', { name: HOSTILE[2], shared: true, definition: { type: 'incident' } });
    await desk.call('POST', '/config/apply', {
      files: [
        {
          name: 'names.yaml',
          text: hostileNames(short),
        },
      ],
    });
    const people = await desk.call('GET', '/config/users');
    const hostile = people.find((one: { code: string }) => one.code === 'hostile').id;
    await desk.call('PATCH', `/objects/${id}`, { expectedRevision: 1, changes: { requester: hostile } });
    const rich = {
      type: 'doc',
      content: [{ type: 'paragraph', content: [{ type: 'text', text: all }] }],
    };
    const sample = await desk.call('POST', '/objects', {
      typeDefinitionId: 'sample',
      values: { string: 'x', rich, json: { [short]: short } },
    });
    const watched = await desk.open('admin', `/records/${id}`);
    const { page } = watched;
    for (const tab of ['', '?tab=files', '?tab=relations', '?tab=history']) {
      await page.goto(`${desk.url}/records/${id}${tab}`);
      await page.getByRole('heading', { name: short }).waitFor();
      await page.waitForLoadState('networkidle');
      await watched.check();
    }
    const article = await desk.call('POST', '/kb/articles', {
      baseId: 'hostile',
      sectionId: 'hostile',
      code: 'hostile',
      title: short,
      summary: short,
      locale: 'ru-RU',
      visibility: 'internal',
      body: all,
      tags: [short.slice(0, 40)],
    });
    await desk.call('PUT', `/kb/article-versions/${article.versionId}/audiences`, {
      audiences: [{ kind: 'everyone' }],
    });
    await desk.call('POST', '/kb/articles/publish', { versionId: article.versionId });
    await desk.call('POST', '/keys', { owner: 'petrova', name: short, scopes: ['objects:read'] });
    const shown = [
      `/records/${sample.id}`,
      '/records?type=incident',
      '/search?q=onerror',
      '/work/knowledge',
      `/work/knowledge/articles/${article.id}`,
      `/work/knowledge/versions/${article.versionId}`,
      '/work/catalogue',
      '/admin/keys',
      '/admin/people',
      '/admin/groups',
      '/admin/units',
      '/admin/services',
      '/admin/calendars/hostile',
      '/admin/catalogs/hostile',
      '/admin/bases/hostile',
      '/admin/audit',
    ];
    for (const path of shown) {
      await showScreen(page, path);
      if (path === '/admin/audit') {
        await page.locator('details').first().waitFor();
        await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
      }
      await page.getByText('onerror').first().waitFor();
      await watched.check();
    }
    await page.goto(`${desk.url}/records/${id}`);
    await page.locator('article[data-visibility=internal]').waitFor();
    assert.equal(
      await page.locator('a[href^="javascript:"], img[src^="https:"], iframe, script:not([src])').count(),
      0,
    );
    assert.equal(await page.evaluate('globalThis.__ran'), undefined, 'nothing ran');
    await watched.close();
  });
});
