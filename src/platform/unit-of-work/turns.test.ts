import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Queues, Turn, TurnAwaited } from './turns.ts';

describe('turns of units that compete for a record', () => {
  it('let a unit that waited start again, once', async () => {
    const queues: Queues = new Map();
    const first = new Turn(queues);
    first.load('a');
    await first.retry();
    const order: string[] = [];
    const waiting = ['older', 'newer'].map(async (name) => {
      const turn = new Turn(queues);
      turn.load('a');
      await assert.rejects(turn.take(), TurnAwaited, 'it starts again, with the current time');
      order.push(name);
      // Its second attempt, with the turn that it has.
      turn.load('a');
      turn.load('b');
      await turn.take();
      turn.end();
    });
    // A caller without rights loads the record, is refused, and takes no place in the queue.
    const stranger = new Turn(queues);
    stranger.load('a');
    stranger.end();
    assert.equal(queues.get('a')?.waiting.length, 2);
    const other = new Turn(queues);
    other.load('b');
    await other.take();
    first.end();
    await Promise.all(waiting);
    assert.deepEqual(order, ['newer', 'older']);
    assert.equal(queues.size, 0);
  });
});
