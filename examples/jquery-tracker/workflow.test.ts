import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HistoryRow } from './data.ts';
import { codeOf } from './fields.ts';
import { type Derived, deriveWorkflow, stateCode } from './workflow.ts';

type Step = [ticket: string, minute: number, field: string, from: string, to: string];

function derive(steps: Step[], statuses: string[] = []): Derived {
  const rows = steps.map(
    ([ticket_id, minute, field, old_value, new_value], index): HistoryRow => ({
      ticket_id,
      seq: String(index + 1),
      author: 'john',
      changed_at: `2006-06-10T00:${String(minute).padStart(2, '0')}:00Z`,
      field,
      old_value,
      new_value,
    }),
  );
  return deriveWorkflow('ticket', rows, statuses, codeOf);
}

const formOf = ({ workflow }: Derived, code: string): string[] | undefined =>
  workflow.transitions.find((transition) => transition.code === code)?.fields.map((field) => field.code);

describe('the derived workflow', () => {
  test('has the observed statuses as states and every observed pair as a transition', () => {
    const { workflow, unnamed } = derive(
      [
        ['JQ-1', 1, 'status', 'new', 'closed'],
        ['JQ-1', 2, 'status', 'closed', 'reopened'],
        ['JQ-2', 1, 'status', 'new', 'closed'],
      ],
      ['closed', 'pending'],
    );
    assert.equal(workflow.initial, 'new');
    assert.deepEqual(
      workflow.states.map(({ code, category }) => [code, category]),
      [
        ['new', 'open'],
        ['closed', 'done'],
        ['reopened', 'open'],
        ['pending', 'waiting'],
      ],
    );
    assert.deepEqual(
      workflow.transitions.map(({ code, from, to }) => [code, from, to]),
      [
        ['closed-to-reopened', ['closed'], 'reopened'],
        ['new-to-closed', ['new'], 'closed'],
      ],
    );
    assert.deepEqual(unnamed, []);
  });

  test('asks for the resolution and for the fields that changed with the status', () => {
    const derived = derive([
      ['JQ-1', 1, 'status', 'new', 'closed'],
      ['JQ-1', 1, 'blockedby', '', '#2'],
      ['JQ-1', 2, 'status', 'closed', 'reopened'],
      ['JQ-1', 3, 'milestone', '', '1.0'],
    ]);
    assert.deepEqual(formOf(derived, 'new-to-closed'), ['resolution', 'changedAt', 'blockedBy']);
    assert.deepEqual(formOf(derived, 'closed-to-reopened'), ['resolution', 'changedAt']);
  });

  test('follows the actual path where an old value does not match, and reports it', () => {
    const derived = derive([
      ['JQ-1', 1, 'status', 'new', 'closed'],
      ['JQ-1', 2, 'status', 'new', 'open'],
      ['JQ-1', 3, 'status', 'new', 'open'],
    ]);
    assert.deepEqual(
      derived.workflow.transitions.map(({ code }) => code),
      ['closed-to-open', 'new-to-closed', 'new-to-open'],
    );
    assert.deepEqual(derived.unnamed, ['closed-to-open']);
  });

  test('is rejected if tickets begin in different states', () => {
    const steps: Step[] = [
      ['JQ-1', 1, 'status', 'new', 'closed'],
      ['JQ-2', 1, 'status', 'open', 'closed'],
    ];
    assert.throws(() => derive(steps), /tickets begin as new, open/);
  });
});

test('maps a status to a code', () => {
  assert.equal(stateCode('Needs Review'), 'needs-review');
});
