/** What happens with timers that fail, and when stored moments are looked at again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fault } from '../../lib/fault.ts';
import { fireEach, MomentUpdater } from './timers.ts';

describe('timers', () => {
  it('are fired each once, and do not hold up others when they fail', async () => {
    const calls: string[] = [];
    const note = (what: string) => async (key: number) => void calls.push(`${what} ${key}`);
    const firing = fireEach([1, 2, 3, 4, 5], {
      atOnce: 2,
      fire: async (key) => {
        if (key === 2) throw new Fault('RULE_REFUSED', 'refused');
        if (key === 3) throw new Error('broken');
        if (key === 4) throw new Fault('OVERLOADED', 'busy');
        await note('fired')(key);
      },
      isRefusal: ({ code }) => code === 'RULE_REFUSED',
      refused: note('refused'),
      putOff: note('put off'),
    });
    await assert.rejects(firing, ({ errors }: AggregateError) => errors.length === 2);
    assert.deepEqual(calls.toSorted(), ['fired 1', 'fired 5', 'put off 3', 'refused 2']);
  });

  it('are computed again after a change, until that is done, and again from time to time', async () => {
    const updater = new MomentUpdater();
    const runs: boolean[] = [];
    const run = (key: string, nowMs: number, result: 'done' | 'more' | 'wait') =>
      updater.run({ key, nowMs, recheckMs: 1000 }, async (isChanged) => {
        runs.push(isChanged);
        return result;
      });
    assert.equal(await run('a', 0, 'more'), true);
    assert.equal(await run('a', 1, 'wait'), false);
    assert.equal(await run('a', 2, 'done'), false);
    assert.equal(await run('a', 900, 'done'), false);
    assert.deepEqual(runs.splice(0), [true, true, true]);
    await run('a', 1002, 'done');
    // The clock was set back.
    await run('a', -5000, 'done');
    await run('b', -4999, 'done');
    assert.deepEqual(runs, [false, false, true]);
  });
});
