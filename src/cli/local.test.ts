import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fault } from '../lib/fault.ts';
import { patiently } from './local.ts';

const away = (): Fault =>
  new Fault('DATABASE_UNAVAILABLE', 'The database does not respond. Retry after the time in Retry-After.');

describe('import from the command line', () => {
  it('retries while the database is briefly unavailable', async () => {
    let asked = 0;
    const answer = await patiently(
      async () => {
        if (++asked < 3) throw away();
        return 'here';
      },
      60_000,
      1,
    );
    assert.deepEqual([answer, asked], ['here', 3]);
  });

  it('gives up when the database stays unavailable, and at once on other errors', async () => {
    let asked = 0;
    const never = async (): Promise<never> => {
      asked++;
      throw away();
    };
    await assert.rejects(patiently(never, 0, 1), { code: 'DATABASE_UNAVAILABLE' });
    assert.ok(asked <= 2);
    let other = 0;
    const broken = async (): Promise<never> => {
      other++;
      throw new Fault('NOT_FOUND', 'There is none.');
    };
    await assert.rejects(patiently(broken, 60_000, 1), { code: 'NOT_FOUND' });
    assert.equal(other, 1);
  });
});
