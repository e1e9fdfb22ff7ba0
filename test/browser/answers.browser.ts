/** A question and its answer, from the agent who asks to the requester who answers in the portal, and back. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ParsedMail, simpleParser } from 'mailparser';
import { AGENT, REQUESTER } from '../support/console-seed.ts';
import { hasCount, startConsole, type TestConsole, until } from '../support/console.ts';
import { type MailServer, startMailServer } from '../support/smtp-server.ts';

const TITLE = 'Не печатает принтер в приёмной';
const QUESTION = 'В каком кабинете стоит принтер?';
const ANSWER = 'В кабинете 12, у окна.';
const SOLVED = 'Картридж заменён, проверьте, пожалуйста.';

let desk: TestConsole;
let server: MailServer;
const got: ParsedMail[] = [];

const mailed = (text: string): Promise<void> =>
  until(`a mail to the requester: ${text}`, async () =>
    got.some((one) => [one.to].flat()[0]?.text === `${REQUESTER}@example.org` && one.text?.includes(text) === true),
  );

describe('an answer of the requester', () => {
  before(async () => {
    server = await startMailServer(async (raw) => void got.push(await simpleParser(raw)));
    desk = await startConsole({ smtp: server.smtp });
    const text = 'mailboxes: [{ code: support, address: support@example.org, type: incident, enabled: true }]';
    await desk.call('POST', '/config/apply', { files: [{ name: 'mail.yaml', text }] });
  });
  after(async () => {
    await desk.close();
    await server.stop();
  });

  it('given in the portal ends waiting, and reaches the agent who asked; the reply reaches the requester', async () => {
    const { key } = await desk.app.createKey({ login: AGENT, scopes: ['admin:manage'] });
    const asAgent = async (method: string, path: string, body?: object): Promise<any> => {
      const given = body === undefined ? { key } : { key, body };
      const answer = await desk.app.request(method, `/api/admin/v1${path}`, given);
      assert.ok(answer.status < 300, JSON.stringify(answer.body));
      return answer.body.data;
    };
    const { people } = desk.seeded;
    const { id } = await asAgent('POST', '/objects', {
      typeDefinitionId: 'incident',
      values: { title: TITLE, requester: people[REQUESTER], assignee: people[AGENT] },
    });
    await asAgent('POST', '/notifications/read', { all: true });

    // The agent asks, and puts the record on hold.
    const agent = await desk.open(AGENT, `/records/${id}`);
    const head = agent.page.locator('[data-record-head]');
    await agent.page.getByRole('button', { name: 'Взять в работу' }).click();
    await head.getByText('В работе').waitFor();
    await agent.page.getByText('Ответ заявителю', { exact: true }).click();
    await agent.page.getByRole('textbox', { name: 'Комментарий' }).fill(QUESTION);
    await agent.page.getByRole('button', { name: 'Отправить ответ' }).click();
    await agent.page.locator('article[data-visibility=public]', { hasText: QUESTION }).waitFor();
    await agent.page.getByRole('button', { name: 'Отложить' }).click();
    const dialog = agent.page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Причина' }).fill('Ждём ответа');
    await dialog.getByRole('button', { name: 'Отложить' }).click();
    await head.getByText('Ожидание').waitFor();
    await mailed(QUESTION);
    // The time of the first answer has stopped; that of the solution is meant.
    const sla = async (): Promise<string[]> =>
      (await asAgent('GET', `/objects/${id}/sla`)).flatMap(({ status }: { status: string }) =>
        status === 'STOPPED' ? [] : [status],
      );
    assert.deepEqual(await sla(), ['PAUSED']);

    // Their queue shows nothing new.
    await agent.page.goto(`${desk.url}/records?type=incident`);
    const row = agent.page.getByTitle(TITLE, { exact: true });
    await row.waitFor();
    const weight = `Number(getComputedStyle(document.querySelector('[title="${TITLE}"]')).fontWeight)`;
    const isBold = async (): Promise<boolean> => (await agent.page.evaluate<number>(weight)) >= 700;
    const bell = agent.page.getByRole('link', { name: /Уведомления.*непрочитанных/ });
    assert.equal(await isBold(), false);
    await hasCount(bell, 0);

    // The requester signs in to the portal on a telephone, reads the question and answers.
    const portal = await desk.open(REQUESTER, `/records/${id}`, { width: 390, height: 844 });
    await portal.page.getByText(QUESTION).waitFor();
    await portal.page.getByRole('textbox', { name: 'Комментарий' }).fill(ANSWER);
    await portal.page.getByRole('button', { name: 'Отправить ответ' }).click();
    await portal.page.getByRole('article').getByText(ANSWER).waitFor();
    await portal.check();

    // The record waits no more, its time runs, and the agent sees it in the queue and at the bell.
    assert.equal((await asAgent('GET', `/objects/${id}`)).workflowState.code, 'in-progress');
    assert.deepEqual(await sla(), ['ACTIVE']);
    await bell.waitFor();
    await agent.page.reload();
    await row.getByText('есть новое').waitFor({ state: 'attached' });
    assert.equal(await isBold(), true);
    await agent.check();
    await bell.click();
    await agent.page.getByText(ANSWER).waitFor();

    // Opening the record ends it.
    await agent.page.goto(`${desk.url}/records/${id}`);
    await agent.page.locator('article[data-visibility=public]', { hasText: ANSWER }).waitFor();
    await until('the notifications of the record are read', async () => {
      return (await asAgent('GET', '/notifications/count')).unread === 0;
    });
    await hasCount(bell, 0);

    // The reply reaches the requester by mail and in the portal.
    await agent.page.getByText('Ответ заявителю', { exact: true }).click();
    await agent.page.getByRole('textbox', { name: 'Комментарий' }).fill(SOLVED);
    await agent.page.getByRole('button', { name: 'Отправить ответ' }).click();
    await mailed(SOLVED);
    await portal.page.reload();
    await portal.page.getByText(SOLVED).waitFor();
    await agent.page.goto(`${desk.url}/records?type=incident`);
    await row.waitFor();
    assert.equal(await isBold(), false, 'read');
    await agent.close();
    await portal.close();
  });
});
