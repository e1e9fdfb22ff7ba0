/** The log of inbound calls shows ids of records and comments only to users who may read them now. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RecordFixture, startRecordFixture } from '../../../test/support/record-fixture.ts';
import { COMMENT, CREATE, type InboundFixture, inboundOf } from '../../../test/support/inbound-fixture.ts';
import { bundle } from '../../../test/support/small-configuration.ts';

let around: RecordFixture;
let inbound: InboundFixture;

describe('the call log of an integration', () => {
  before(async () => {
    around = await startRecordFixture();
    inbound = await inboundOf(around);
    await around.app.apply(
      bundle('roles: [{ code: connector, rights: [integration.manage], assignedTo: { users: [stranger, viewer] } }]'),
    );
  });
  after(() => around.close());

  it('names created records and comments only to users who may read them', async () => {
    const integration = await inbound.integration(CREATE);
    const comments = await inbound.integration(COMMENT);
    const ids: string[] = [];
    for (const kind of ['a', 'b']) {
      const made = await inbound.call('chief', integration, { title: 'x', kind });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      ids.push(made.body.data.id);
    }
    const [seen = '', hidden = ''] = ids;
    const said: string[] = [];
    for (const [objectId, visibility] of [
      [seen, 'public'],
      [seen, 'internal'],
      [hidden, 'public'],
    ]) {
      const made = await inbound.call('chief', comments, { objectId, body: 'x', visibility });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      said.push(made.body.data.id);
    }
    const log = async (login: 'chief' | 'viewer' | 'stranger', id: string): Promise<unknown[]> => {
      const { key } = await around.app.createKey({ login, scopes: ['admin:manage'] });
      const answer = await around.app.request('GET', `/api/admin/v1/integrations/${id}/runs`, { key });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.data
        .map(({ objectId, commentId }: Record<string, unknown>) => [objectId, commentId])
        .reverse();
    };
    assert.deepEqual(await log('chief', integration), [
      [seen, null],
      [hidden, null],
    ]);
    assert.deepEqual(await log('viewer', integration), [
      [seen, null],
      [null, null],
    ]);
    assert.deepEqual(await log('stranger', integration), [
      [null, null],
      [null, null],
    ]);
    assert.deepEqual(await log('chief', comments), [
      [seen, said[0]],
      [seen, said[1]],
      [hidden, said[2]],
    ]);
    assert.deepEqual(await log('viewer', comments), [
      [seen, said[0]],
      [null, null],
      [null, null],
    ]);
  });
});
