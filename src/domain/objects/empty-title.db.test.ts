import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';

describe('titles of records', () => {
  let app: TestApp;
  let key: string;
  before(async () => {
    app = await startTestApp();
    ({ key } = await app.createKey({ login: 'admin' }));
  });
  after(() => app?.close());

  it('are refused when they are empty, with the place', async () => {
    const body = { typeDefinitionId: 'incident', values: { title: '' } };
    const answer = await app.request('POST', '/api/v1/objects', { key, body });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.error.details[0].path, '/values/title');
  });
});
