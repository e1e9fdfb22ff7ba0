/** Calendars drawn by the year, time limits tried out, values that an apply would discard, and rules. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AGENT } from '../support/console-seed.ts';
import { LANGUAGES, startConsole, type TestConsole } from '../support/console.ts';

let desk: TestConsole;

const BUNDLE = `
calendars:
  - code: office
    timezone: Europe/Moscow
    week: { mon: ['09:00-18:00'], tue: ['09:00-18:00'] }
    exceptions: [{ date: '2026-03-09', hours: [] }]
`;

const WORDS = {
  'ru-RU': {
    year: 'Год 2026',
    monday: '2026-03-02: открыто 09:00–18:00',
    special: '2026-03-09: закрыто',
    openedAt: 'Открыта',
    priority: 'Приоритет',
    critical: 'Критический',
    run: 'Рассчитать',
    dueAt: 'Срок',
    target: '4 ч',
    due: '2 мар. 2026 г., 14:00',
    tryOut: 'Проверка SLA',
    resolution: 'Решение инцидента',
    reaction: 'Реакция на инцидент',
    open: 'рабочее время',
  },
  'en-US': {
    year: 'Year 2026',
    monday: '2026-03-02: open',
    special: '2026-03-09: closed',
    openedAt: 'Opened at',
    priority: 'Priority',
    critical: 'Critical',
    run: 'Calculate',
    dueAt: 'Due at',
    target: '4 hr',
    due: 'Mar 2, 2026, 2:00 PM',
    tryOut: 'Test SLA',
    resolution: 'Incident resolution',
    reaction: 'Reaction to an incident',
    open: 'working hours',
  },
} as const;

describe('calendars, SLA policies and rules in the console', () => {
  before(async () => {
    desk = await startConsole();
    await desk.call('POST', '/config/apply', { files: [{ name: 'calendar.yaml', text: BUNDLE }] });
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    it(`show the year and preview due times: ${language}`, async () => {
      const words = WORDS[language];
      const watched = await desk.open('admin', '/admin/calendars/office', { language });
      const { page } = watched;
      await page.getByRole('heading', { name: words.year }).waitFor();
      await page.getByText(words.monday).first().waitFor({ state: 'attached' });
      await page.locator('li[data-special]', { hasText: words.special }).waitFor({ state: 'attached' });
      await watched.check();
      await page.goto(`${desk.url}/admin/sla/incident-resolution`);
      await page.getByLabel(words.openedAt).fill('2026-03-02T10:00');
      await page.getByRole('combobox', { name: words.priority }).click();
      await page.getByRole('option', { name: words.critical }).click();
      await page.getByRole('button', { name: words.run, exact: true }).click();
      await page
        .getByRole('status')
        .filter({ hasText: words.target })
        .getByText(words.dueAt, { exact: true })
        .waitFor();
      await page.getByRole('status').getByText(words.due).waitFor();
      await page.getByRole('cell', { name: words.open }).waitFor();
      await watched.check();
      // Everything that applies to a record of a type, on one screen.
      await page.goto(`${desk.url}/admin/sla`);
      // A policy that loads after the others is calculated too.
      await page.route('**/config/slaPolicies/incident-reaction', async (route) => {
        await page.waitForTimeout(500);
        await route.continue();
      });
      await page.getByRole('button', { name: words.tryOut }).click();
      await page.getByRole('button', { name: words.run, exact: true }).click();
      for (const name of [words.resolution, words.reaction])
        await page.getByRole('region', { name }).getByRole('status').waitFor();
      await watched.check();
      await watched.close();
    });
  }

  it('values of records are discarded only after a confirmation', async () => {
    const type = (more: string) => `types: [ { code: risk, fields: [ { code: title, dataType: string }${more} ] } ]\n`;
    const text = type(', { code: impact, dataType: string }');
    await desk.call('POST', '/config/apply', { files: [{ name: 'a.yaml', text }] });
    await desk.call('POST', '/objects', { typeDefinitionId: 'risk', values: { impact: 'high' } });
    const watched = await desk.open('admin', '/admin/configuration');
    const { page } = watched;
    await page.getByRole('textbox', { name: 'Текст конфигурации' }).fill(type(''));
    await page.getByRole('button', { name: 'Показать изменения' }).click();
    await page.getByText('Записи с этими значениями').waitFor();
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Применить', exact: true }).click();
    await dialog.getByRole('button', { name: 'Применить', exact: true }).click();
    await dialog.getByText('types.risk.impact').waitFor();
    await watched.check();
    await dialog.getByRole('button', { name: 'Удалить значения и применить' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Применено').first().waitFor();
    assert.doesNotMatch((await desk.call('GET', '/config/types/risk')).text, /impact/);
    await watched.close();
  });

  it('a rule is previewed, applied, tried, and shows its runs and what it can fire', async () => {
    const rules = `signingSecrets: [chat]
webhooks: [{ code: chat, endpoint: 'https://hooks.example.org/chat', secretRef: chat, executionPrincipal: admin, eventTypes: [], enabled: false }]
rules:
  - code: fired
    on: [ObjectUpdated]
    types: [incident]
    runAs: admin
    when: { field: priority, operator: equals, value: p4 }
    do: [{ comment: { visibility: internal, body: Fired } }]
`;
    await desk.call('POST', '/config/apply', { files: [{ name: 'rules.yaml', text: rules }] });
    const watched = await desk.open('admin', '/admin/rules/new');
    const { page } = watched;
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await page.getByRole('textbox', { name: 'Название по-английски' }).fill('From the browser');
    await page.getByRole('switch', { name: 'Включено' }).click();
    await button('Изменить поля').click();
    await button('Поле: Поля и новые значения').click();
    await page.getByRole('combobox', { name: 'Поля и новые значения: Поле 1' }).click();
    await page.getByRole('option', { name: 'Приоритет' }).click();
    await page.getByRole('combobox', { name: 'Поля и новые значения: Приоритет' }).click();
    await page.getByRole('option', { name: 'Низкий' }).click();
    await button('Отправить сообщение').click();
    await page.getByRole('combobox', { name: 'Вебхук' }).click();
    await page.getByRole('option', { name: 'chat' }).click();
    const message = page.getByRole('textbox', { name: 'Сообщение (JSON)' });
    await message.fill('{"text": ');
    await page.getByText('Это не объект JSON.').waitFor();
    await message.fill('{"text": "{{ title }}", "silent": true}');
    await page.getByText('Это не объект JSON.').waitFor({ state: 'detached' });
    await button('Проверить').click();
    await page.getByText(/правило сработало бы на \d+ записях:/).waitFor();
    await watched.check();
    await button('Применить').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Применить', exact: true }).click();
    await page.waitForURL('**/admin/rules/from-the-browser');
    assert.equal(await message.inputValue(), '{\n  "text": "{{ title }}",\n  "silent": true\n}');

    const values = { title: 'Проверка правила' };
    const made = await desk.call('POST', '/objects', { typeDefinitionId: 'incident', values });
    assert.equal((await desk.call('GET', `/objects/${made.id}`)).values.priority, 'p4');
    const history = await desk.call('GET', `/objects/${made.id}/history`);
    assert.ok(history.some(({ type }: { type: string }) => type === 'RulePosted'));
    await page.getByRole('combobox', { name: 'Запись' }).fill('Проверка правила');
    await page.getByRole('option', { name: 'Проверка правила' }).click();
    await button('Что произойдёт?').click();
    await page.getByText('Правило from-the-browser: сработает').waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Все срабатывания' }).click();
    await page
      .getByRole('row', { name: /Проверка правила/ })
      .getByText('Выполнено')
      .waitFor();
    await page.getByRole('combobox', { name: 'Результат' }).selectOption({ label: 'Ошибка' });
    await page.getByRole('row', { name: /Проверка правила/ }).waitFor({ state: 'detached' });
    await watched.check();
    await page.goto(`${desk.url}/admin/rules/_map`);
    const box = page.getByRole('link', { name: /from-the-browser, .*может запустить: fired/ });
    await box.waitFor();
    await watched.check();
    await box.focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/admin/rules/from-the-browser');
    // Nothing can use a rule, so the list does not ask.
    await page.goto(`${desk.url}/admin/rules`);
    await page.getByRole('columnheader', { name: 'Изменено' }).waitFor();
    assert.equal(await page.getByRole('columnheader', { name: 'Используется' }).count(), 0);
    await watched.close();
  });

  it('are not offered to an agent', async () => {
    const watched = await desk.open(AGENT, '/admin/sla');
    await watched.page.getByRole('heading', { name: 'SLA' }).waitFor({ state: 'detached' });
    assert.equal(await watched.page.getByRole('link', { name: 'SLA' }).count(), 0);
    await watched.close();
  });
});
