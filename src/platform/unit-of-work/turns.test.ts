import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Queues, Turn, TurnAwaited } from './turns.ts';

describe('turns of units that compete for a record', () => {
  it('let a unit that waited start again, once', async () => {
    const queues: Queues = new Map();
    const first = new Turn(queues);
    await first.load('a');
    await first.retry();
    const order: string[] = [];
    const waiting = ['older', 'newer'].map(async (name) => {
      const turn = new Turn(queues);
      await assert.rejects(turn.load('a'), TurnAwaited, 'it starts again, with the current time');
      order.push(name);
      // Its second attempt, with the turn that it has.
      await turn.load('a');
      await turn.load('b');
      turn.end();
    });
    await new Turn(queues).load('b');
    first.end();
    await Promise.all(waiting);
    assert.deepEqual(order, ['newer', 'older']);
    assert.equal(queues.size, 0);
  });
});
