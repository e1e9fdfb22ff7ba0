/** Webhooks in the console: a secret, a subscription enabled in a step of its own, deliveries, and who is not offered any of it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AGENT } from '../support/console-seed.ts';
import { byTurns, LANGUAGES, startConsole, type TestConsole } from '../support/console.ts';

let desk: TestConsole;

const WORDS = {
  'ru-RU': {
    secrets: 'Секреты подписи',
    createSecret: 'Создать секрет',
    code: 'Код',
    done: 'Готово',
    rotate: 'Заменить',
    none: 'Подписок пока нет',
    create: 'Создать подписку',
    endpoint: 'Адрес',
    events: 'События',
    recordCreated: 'Запись создана',
    secret: 'Секрет подписи',
    attempts: 'Попыток',
    save: 'Сохранить выключенной',
    disabled: 'Выключено',
    enabled: 'Включено',
    enable: 'Включить',
    disable: 'Выключить',
    change: 'Изменить',
    saveChange: 'Сохранить',
    failed: 'Не доставлено',
    retry: 'Повторить',
    attempt: 'Попытка 1',
    sendTest: 'Отправить тестовый запрос',
    sample: 'Что отправить',
    notAccepted: 'Не принято; доставка повторилась бы',
    request: 'Запрос',
    archive: 'В архив',
    archived: 'В архиве',
    restore: 'Восстановить из архива',
    close: 'Закрыть',
    closeUnsaved: 'Закрыть без сохранения',
  },
  'en-US': {
    secrets: 'Signing secrets',
    createSecret: 'Create secret',
    code: 'Code',
    done: 'Done',
    rotate: 'Rotate',
    none: 'No subscriptions yet',
    create: 'Create subscription',
    endpoint: 'Address',
    events: 'Events',
    recordCreated: 'Record created',
    secret: 'Signing secret',
    attempts: 'Attempts',
    save: 'Save disabled',
    disabled: 'Disabled',
    enabled: 'Enabled',
    enable: 'Enable',
    disable: 'Disable',
    change: 'Change',
    saveChange: 'Save',
    failed: 'Failed',
    retry: 'Retry',
    attempt: 'Attempt 1',
    sendTest: 'Send a test',
    sample: 'What to send',
    notAccepted: 'Not accepted; a delivery would be retried',
    request: 'Request',
    archive: 'Archive',
    archived: 'Archived',
    restore: 'Restore',
    close: 'Close',
    closeUnsaved: 'Close without saving',
  },
} as const;

describe('webhooks in the console', () => {
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    const it = byTurns(language);
    it(`manages a subscription from its secret to the archive: ${language}`, async () => {
      const words = WORDS[language];
      const code = `portal-${language.slice(0, 2)}`;
      const watched = await desk.open('admin', '/admin/webhooks/secrets', { language });
      const { page } = watched;
      const dialog = page.getByRole('dialog');

      await page.getByRole('button', { name: words.createSecret }).first().click();
      await dialog.getByRole('textbox', { name: words.code }).fill(code);
      await dialog.getByRole('button', { name: words.createSecret }).click();
      const first = await dialog.locator('[data-secret]').textContent();
      assert.match(first ?? '', /^whsec_/);
      await watched.check();
      await dialog.getByRole('button', { name: words.done }).click();
      await page.getByRole('row', { name: code }).getByRole('button', { name: words.rotate }).click();
      await dialog.getByRole('button', { name: words.rotate }).click();
      await dialog.locator('[data-secret]').waitFor();
      assert.notEqual(await dialog.locator('[data-secret]').textContent(), first);
      await dialog.getByRole('button', { name: words.done }).click();
      await watched.check();

      await page.getByRole('button', { name: words.create }).first().click();
      await dialog.getByRole('textbox', { name: words.code }).fill(code);
      await dialog.getByRole('textbox', { name: words.endpoint }).fill('https://hooks.example.org/docket');
      await dialog.getByRole('combobox', { name: words.events }).fill(words.recordCreated);
      await page.getByRole('option', { name: words.recordCreated }).click();
      await page.keyboard.press('Tab');
      await dialog.getByRole('combobox', { name: words.secret }).click();
      await page.getByRole('option', { name: code }).click();
      await dialog.getByRole('textbox', { name: words.attempts }).fill('1');
      await watched.check();
      // Neither Escape nor a click outside loses what is typed.
      for (const leave of [() => page.keyboard.press('Escape'), () => page.mouse.click(5, 5)]) {
        await leave();
        await page.getByRole('button', { name: words.closeUnsaved }).waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: words.closeUnsaved }).waitFor({ state: 'hidden' });
      }
      await dialog.getByRole('button', { name: words.save }).click();
      await page.getByRole('heading', { name: code }).waitFor();
      await page.getByText(words.disabled, { exact: true }).waitFor();
      const stored = async () =>
        (await desk.call('GET', '/webhooks')).find((one: { code: string }) => one.code === code);
      assert.equal((await stored()).enabled, false);
      assert.deepEqual((await stored()).eventTypes, ['ObjectCreated']);

      // An enabled subscription cannot be changed; saving and enabling are separate steps.
      await page.getByRole('button', { name: words.change }).click();
      await dialog.getByRole('textbox', { name: words.endpoint }).fill('https://hooks.example.org/other');
      await dialog.getByRole('button', { name: words.saveChange, exact: true }).click();
      await page.getByText('https://hooks.example.org/other').waitFor();
      await page.getByRole('button', { name: words.enable, exact: true }).click();
      assert.equal((await stored()).enabled, false, 'not before it is confirmed');
      await dialog.getByRole('button', { name: words.enable, exact: true }).click();
      await page.getByText(words.enabled, { exact: true }).waitFor();

      await desk.call('POST', '/objects', { typeDefinitionId: 'category', values: { title: `Вебхук ${code}` } });
      const row = page.getByRole('row', { name: words.recordCreated });
      await row.filter({ hasText: words.failed }).waitFor();
      await row.click();
      await dialog.getByRole('heading', { name: words.attempt }).waitFor();
      await watched.check();
      await dialog.getByRole('button', { name: words.retry }).click();
      await dialog.getByRole('heading', { name: words.attempt.replace('1', '2') }).waitFor();
      await page.keyboard.press('Escape');

      await page.getByRole('button', { name: words.sendTest }).click();
      await page.getByText(words.notAccepted).waitFor();
      await page.getByRole('group', { name: words.request }).getByText('webhook-signature: v1,').waitFor();
      await watched.check();

      // The message of a rule that posts to the subscription.
      const rule = {
        code: `chat-${code}`,
        name: `Chat ${code}`,
        enabled: false,
        on: ['ObjectCreated'],
        types: ['incident'],
      };
      const post = { connection: code, body: { text: 'New: {{ number }}' } };
      const text = JSON.stringify({ rules: [{ ...rule, runAs: 'admin', do: [{ post }] }] });
      await desk.call('POST', '/config/apply', { files: [{ name: 'rules.yaml', text }] });
      await page.reload();
      await page.getByRole('combobox', { name: words.sample }).click();
      await page.getByRole('option', { name: rule.name }).click();
      await page.getByRole('button', { name: words.sendTest }).click();
      await page.getByRole('group', { name: words.request }).getByText('"text": "New: SAMPLE-1"').waitFor();
      await watched.check();

      await page.getByRole('button', { name: words.archive }).click();
      await dialog.getByRole('button', { name: words.archive }).click();
      await page.getByText(words.archived, { exact: true }).waitFor();
      await page.getByRole('button', { name: words.restore }).click();
      await dialog.getByRole('button', { name: words.restore }).click();
      await page.getByText(words.disabled, { exact: true }).waitFor();
      await watched.check();
      await watched.close();
    });
  }

  it('fits a phone in dark mode', async () => {
    const watched = await desk.open('admin', '/admin/webhooks', { width: 390, height: 844, scheme: 'dark' });
    await watched.page.getByRole('row', { name: 'portal-ru' }).waitFor();
    assert.equal(await watched.page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0);
    await watched.check();
    await watched.close();
  });

  it('is not offered to an agent', async () => {
    const watched = await desk.open(AGENT, '/admin/webhooks');
    await watched.page.getByRole('heading', { name: 'Вебхуки' }).waitFor({ state: 'detached' });
    assert.equal(await watched.page.getByRole('link', { name: 'Вебхуки' }).count(), 0);
    await watched.close();
  });
});
