import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Queues, QueueTicket, TurnAwaited } from './turns.ts';

describe('turns of units that change one record', () => {
  it('let units that waited start again, one after another, while a new one may take the turn', async () => {
    const queues: Queues = new Map();
    const waits: string[] = [];
    const started: QueueTicket[] = [];
    const first = new QueueTicket(queues);
    await first.take('a');
    await first.take('a');
    for (const name of ['older', 'newer']) {
      const turn = new QueueTicket(queues, () => waits.push(name));
      void assert.rejects(turn.take('a'), TurnAwaited).then(() => started.push(turn));
    }
    const refused = new QueueTicket(queues, () => waits.push('refused'));
    const answered: string[] = [];
    void refused.refuse('a').then(() => answered.push('refused'));
    const other = new QueueTicket(queues);
    await other.take('b');
    other.end();
    assert.deepEqual(waits, ['older', 'newer', 'refused']);

    first.end();
    await setImmediate();
    assert.equal(started.length, 1, 'the first of the line starts again');
    const fresh = new QueueTicket(queues);
    await fresh.take('a');
    started[0]?.end();
    await setImmediate();
    assert.equal(started.length, 1, 'the line stands while a unit has the turn');
    fresh.end();
    await setImmediate();
    assert.equal(started.length, 2);
    await started[1]?.take('a');
    assert.deepEqual(answered, []);
    started[1]?.end();
    await setImmediate();
    assert.deepEqual(answered, ['refused']);
    refused.end();
    assert.equal(queues.size, 0);
  });

  it('end where nobody competes, and refuse at once', async () => {
    const queues: Queues = new Map();
    const turn = new QueueTicket(queues, () => assert.fail('it waits'));
    await turn.refuse('a');
    turn.end();
    assert.equal(queues.size, 0);
  });
});
