/** The API reference at /docs in headless Chromium: both documents are shown, and a call with a key can be sent from the page. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startConsole, type TestConsole } from '../support/console.ts';

let desk: TestConsole;

describe('the API reference', () => {
  before(async () => {
    desk = await startConsole();
  });
  after(() => desk.close());

  for (const [document, operation, mount] of [
    ['api', 'tag/metadata/GET/metadata/types', '/api/v1'],
    ['administration', 'tag/keys/GET/keys', '/api/admin/v1'],
  ] as const) {
    it(`sends a call with a key: ${document}`, async () => {
      const { key } = await desk.app.createKey({ login: 'admin', scopes: ['metadata:read', 'admin:manage'] });
      const { page, close } = await desk.open(null, '/healthz', { language: 'en-US' });
      const origins = new Set<string>();
      const refused: string[] = [];
      page.on('request', (request) => {
        if (!request.url().startsWith('data:')) origins.add(new URL(request.url()).origin);
      });
      page.on('console', (message) => {
        if (message.type() === 'error') refused.push(message.text());
      });
      await page.goto(`${desk.url}/docs#${document}/${operation}`);
      await page.getByPlaceholder('Token').first().fill(key);
      const path = operation.slice(operation.indexOf('GET/') + 3);
      await page.getByRole('button', { name: `Test Request (get ${path})` }).click();
      const answered = page.waitForResponse(`**${mount}${path}`);
      await page.getByRole('button', { name: 'Send', exact: false }).last().click();
      const answer = await answered;
      assert.equal(answer.request().headers()['authorization'], `Bearer ${key}`);
      assert.equal(answer.status(), 200);
      await page.getByText('200 OK').first().waitFor();
      assert.deepEqual([...origins], [desk.url], 'all requests go to this server');
      assert.deepEqual(refused, [], 'the browser reports no error and no refusal by the policy');
      // A library in the bundle tests once whether `eval` is allowed, and works without it.
      const breaches = await page.evaluate<string[]>('__breaches');
      assert.deepEqual(
        breaches.filter((breach) => !breach.startsWith('script-src eval ')),
        [],
      );
      assert.deepEqual(
        await page.evaluate<string[]>('Object.values(localStorage).filter((v) => v.includes("dk"))'),
        [],
      );
      await close();
    });
  }
});
