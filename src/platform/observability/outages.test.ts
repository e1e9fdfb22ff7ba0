import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fault } from '../../lib/fault.ts';
import { Outages } from './outages.ts';

interface Said {
  message: string;
  fields: Record<string, unknown>;
}

function fixture() {
  const said: Said[] = [];
  const state = { now: 0, up: true };
  const note = (fields: object, message: string): void => void said.push({ message, fields: { ...fields } });
  const outages = new Outages({
    log: { info: note, warn: note },
    probe: async () => {
      if (!state.up) throw new Error('Connection terminated');
    },
    now: () => state.now,
  });
  return { said, state, outages };
}

const lost = (): Error =>
  Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });

describe('failures of background work', () => {
  it('of all tasks are one outage of the database, with two lines', async () => {
    const { said, state, outages } = fixture();
    state.up = false;
    for (; state.now < 70_000; state.now += 1000) {
      await outages.failed('places', lost());
      await outages.failed('dispatch', new Fault('DATABASE_UNAVAILABLE', 'no database'));
      outages.pollFailed(lost());
    }
    state.up = true;
    outages.pollSucceeded();
    // A statement that was sent before the end fails after it.
    await outages.failed('places', lost());
    outages.succeeded('places');
    assert.deepEqual(
      said.map(({ message }) => message),
      ['database unavailable', 'database available again after 70 s; 211 attempts failed'],
    );
    assert.deepEqual(Object.fromEntries(outages.failures), {
      none: { database: 0, own: 0 },
      places: { database: 71, own: 0 },
      dispatch: { database: 70, own: 0 },
    });
  });

  it('are those of the task itself where the database responds', async () => {
    const { said, state, outages } = fixture();
    for (let attempt = 1; attempt <= 50; attempt++) {
      await outages.failed('audit-heads', lost());
      state.now += 1000;
    }
    state.now += 20_000;
    outages.succeeded('audit-heads');
    outages.succeeded('audit-heads');
    assert.deepEqual(
      said.map(({ message, fields }) => [message, fields['task']]),
      [
        ['background task failed, will retry', 'audit-heads'],
        ['background task works again after 70 s; 50 attempts failed', 'audit-heads'],
      ],
    );
    assert.deepEqual(outages.failures.get('audit-heads'), { database: 0, own: 50 });
  });

  it('say another reason, and do not end by the success of another part', async () => {
    const { said, state, outages } = fixture();
    await outages.failed('imap', new Error('refused'), 'a');
    outages.succeeded('imap', 'b');
    await outages.failed('imap', new Error('refused'), 'a');
    state.now = 61_000;
    await outages.failed('imap', new Error('wrong password'), 'a');
    outages.succeeded('imap', 'a');
    assert.deepEqual(
      said.map(({ fields }) => [(fields['err'] as Error).message, fields['part']]),
      [
        ['refused', 'a'],
        ['wrong password', 'a'],
      ],
    );
  });
});
