/** Integrations in the console: set up disabled, tried out, enabled in a step of its own, called, and read about. The log of mails. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AGENT } from '../support/console-seed.ts';
import { byTurns, LANGUAGES, startConsole, type TestConsole } from '../support/console.ts';
import { bounce } from '../proofs/mail-bounces.ts';
import { mail } from '../support/mail-messages.ts';
import { changeRights } from '../support/small-configuration.ts';

let desk: TestConsole;

const WORDS = {
  'ru-RU': {
    create: 'Создать интеграцию',
    code: 'Код',
    type: 'Тип записи',
    category: 'Категория',
    source: 'Откуда 1',
    target: 'Куда 1',
    save: 'Сохранить выключенной',
    disabled: 'Выключено',
    body: 'Тело запроса',
    run: 'Проверить',
    enable: 'Включить',
    enabled: 'Включено',
    done: 'Выполнено',
    refused: 'Ошибка',
    close: 'Закрыть',
    disable: 'Выключить',
  },
  'en-US': {
    create: 'Create integration',
    code: 'Code',
    type: 'Record type',
    category: 'Category',
    source: 'From 1',
    target: 'To 1',
    save: 'Save disabled',
    disabled: 'Disabled',
    body: 'Request body',
    run: 'Test',
    enable: 'Enable',
    enabled: 'Enabled',
    done: 'Done',
    refused: 'Failed',
    close: 'Close',
    disable: 'Disable',
  },
} as const;

/** Its host is private, so it cannot be read. */
const MAILBOX = `
signingSecrets: [support-mail]
mailboxes:
  - code: support
    address: support@example.org
    type: incident
    defaults: { priority: p3 }
    imap: { host: 127.0.0.1, user: support, secretRef: support-mail }
    enabled: true
`;

describe('integrations in the console', () => {
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  for (const language of LANGUAGES) {
    const it = byTurns(language, 'en-US');
    it(`are created, tested, enabled and monitored: ${language}`, async () => {
      const words = WORDS[language];
      const code = `alerts-${language.slice(0, 2)}`;
      const watched = await desk.open('admin', '/admin/integrations', { language });
      const { page } = watched;
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: words.create }).first().click();
      await dialog.getByRole('textbox', { name: words.code }).fill(code);
      await dialog.getByRole('combobox', { name: words.type }).click();
      await page.getByRole('option', { name: words.category, exact: true }).click();
      await dialog.getByRole('textbox', { name: words.source }).fill('alert.summary');
      await dialog.getByRole('combobox', { name: words.target, exact: true }).fill('title');
      await page.keyboard.press('Tab');
      await watched.check();
      await dialog.getByRole('button', { name: words.save }).click();
      await page.getByRole('heading', { name: code }).waitFor();
      await page.getByText(words.disabled, { exact: true }).waitFor();

      // Tried out while it is disabled: the call is shown, and nothing stays.
      await page.getByRole('textbox', { name: words.body }).fill(`{"alert": {"summary": "Диск полон ${code}"}}`);
      await page.getByRole('button', { name: words.run }).click();
      await page.getByText('POST /objects').waitFor();
      await watched.check();
      const { rows } = await desk.call('GET', '/objects?typeId=category&pageSize=100');
      assert.ok(!rows.some((row: { title: string }) => row.title === `Диск полон ${code}`));

      await page.getByRole('button', { name: words.enable, exact: true }).click();
      await dialog.getByRole('button', { name: words.enable, exact: true }).click();
      await page.getByText(words.enabled, { exact: true }).waitFor();
      const id = new URL(page.url()).pathname.split('/').at(-1);
      const { key } = await desk.app.createKey({ login: 'admin', scopes: ['integrations:execute', 'objects:write'] });
      const good = await desk.app.request('POST', `/api/v1/inbound/${id}`, {
        key,
        body: { alert: { summary: 'Тест' } },
      });
      assert.equal(good.status, 201, JSON.stringify(good.body));
      const bad = await desk.app.request('POST', `/api/v1/inbound/${id}`, { key, body: { alert: {} } });
      assert.ok(bad.status >= 400);
      await page.reload();
      await page.getByRole('row').filter({ hasText: words.done }).waitFor();
      await page.getByRole('row').filter({ hasText: words.refused }).click();
      await dialog.getByText('title').first().waitFor();
      await watched.check();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: words.disable, exact: true }).click();
      await dialog.getByRole('button', { name: words.disable, exact: true }).click();
      await page.getByText(words.disabled, { exact: true }).waitFor();
      await watched.close();
    });
  }

  it('list received mail with reasons, mailboxes that cannot be read, and sent mail', async () => {
    const { app } = desk;
    await app.apply([{ name: 'mail.yaml', text: MAILBOX }]);
    await app.app.versions.refresh();
    const { key } = await app.createKey({ login: 'admin', scopes: ['integrations:execute'] });
    const raw = mail({ from: 'Eve <eve@example.net>', subject: 'Please help' }).toBase64();
    await app.request('POST', '/api/v1/mailboxes/support/messages', { key, body: { raw } });
    await changeRights(
      app,
      `INSERT INTO mail_outgoing (id, user_id, notification_ids, status, attempts, due_at, next_at, finished_at, error)
      SELECT id, id, ARRAY[id, gen_random_uuid()], 'FAILED', 3, now(), now(), now(), '550 5.1.1 No such mailbox' FROM users WHERE login = 'petrova'`,
      [],
    );
    const sent = '01a206fc-9149-7d9e-b6de-00000000000a';
    await changeRights(app, `UPDATE users SET email = 'petrova@example.com' WHERE login = 'petrova'`, []);
    await changeRights(
      app,
      `INSERT INTO mail_outgoing (id, user_id, notification_ids, status, attempts, due_at, next_at, finished_at, mailbox_id, address)
      SELECT $1, u.id, ARRAY[$1::uuid, gen_random_uuid()], 'SENT', 1, now(), now(), now(), i.id, u.email
      FROM users u, config_items i WHERE u.login = 'petrova' AND i.section = 'mailboxes'`,
      [sent],
    );
    const returned = bounce({ about: `<docket.${sent}.several@example.org>`, recipient: 'petrova@example.com' });
    await app.request('POST', '/api/v1/mailboxes/support/messages', { key, body: { raw: returned.toBase64() } });
    const watched = await desk.open('admin', '/admin/mail');
    const { page } = watched;
    const dialog = page.getByRole('dialog');
    await page.getByText('Ящик support, с').waitFor();
    await watched.check();
    await page.getByRole('row').filter({ hasText: 'Пользователя с таким адресом нет' }).click();
    await dialog.getByText('Please help').waitFor();
    await watched.check();
    await dialog.getByRole('button', { name: 'Повторить' }).click();
    await page.getByText('Письмо по-прежнему нельзя обработать').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('row').filter({ hasText: 'Undelivered Mail' }).click();
    await dialog.getByText('Не доставлено: вернулось').waitFor();
    await watched.check();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Отправленная' }).click();
    await page.getByText('DOCKET_SMTP_URL').waitFor();
    await watched.check();
    await page
      .getByRole('row')
      .filter({ hasText: 'Не доставлено: вернулось' })
      .getByText('Recipient address rejected')
      .waitFor();
    await page.getByRole('row').filter({ hasText: 'No such mailbox' }).click();
    await dialog.getByText('Не отправлено').waitFor();
    await watched.check();
    await dialog.getByRole('button', { name: 'Отправить снова' }).click();
    await dialog.getByText('Ожидает').waitFor();
    await watched.close();
  });

  it('are not offered to an agent', async () => {
    const watched = await desk.open(AGENT, '/admin/integrations');
    await watched.page.getByRole('heading', { name: 'Интеграции' }).waitFor({ state: 'detached' });
    assert.equal(await watched.page.getByRole('link', { name: 'Интеграции' }).count(), 0);
    await watched.close();
  });
});
