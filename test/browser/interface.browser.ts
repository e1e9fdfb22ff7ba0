/** Portal or desk: what a user gets, and the switch of users with both. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AGENT, REQUESTER } from '../support/console-seed.ts';
import { startConsole, type TestConsole } from '../support/console.ts';

let desk: TestConsole;

describe('the interface of a user', () => {
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  it('keeps the portal for a requester who may read the whole knowledge base', async () => {
    const text = `roles: [{ code: reader, name: Reader, rights: [kb.read], assignedTo: { users: [${REQUESTER}] } }]`;
    await desk.call('POST', '/config/apply', { files: [{ name: 'reader.yaml', text }] });
    const watched = await desk.open(REQUESTER, '/');
    await watched.page.getByRole('heading', { name: 'Чем помочь?' }).waitFor();
    await watched.page.goto(`${desk.url}/records`);
    await watched.page.getByRole('heading', { name: 'Чем помочь?' }).waitFor();
    await watched.page.getByRole('button', { name: 'Мария Иванова' }).click();
    await watched.page.getByRole('menuitem', { name: 'Выйти' }).waitFor();
    assert.equal(await watched.page.getByRole('menuitem', { name: /Перейти/ }).count(), 0, 'nothing to switch to');
    await watched.close();
  });

  it('opens the desk for an agent who is a requester too, and switches in the account menu', async () => {
    const text = `roles: [{ code: asks, name: Asks, interface: portal, assignedTo: { users: [${AGENT}] } }]`;
    await desk.call('POST', '/config/apply', { files: [{ name: 'asks.yaml', text }] });
    const watched = await desk.open(AGENT, '/');
    const { page } = watched;
    const choose = async (item: string): Promise<void> => {
      await page.getByRole('button', { name: 'Анна Петрова' }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await page.waitForURL(/\/records/);
    await choose('Перейти на портал');
    await page.getByRole('heading', { name: 'Чем помочь?' }).waitFor();
    await watched.check();
    await page.reload();
    await page.getByRole('heading', { name: 'Чем помочь?' }).waitFor();
    await choose('Перейти в рабочее место');
    await page.waitForURL(/\/records/);
    await page
      .getByRole('link', { name: 'Создать' })
      .or(page.getByRole('button', { name: 'Создать' }))
      .first()
      .waitFor();
    await watched.check();
    await watched.close();
  });
});
