import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HistoryRow, TicketRow } from './data.ts';
import { fieldsOf, type FieldSpec } from './fields.ts';
import { planTicket, type TicketPlan } from './plan.ts';

const options = (...names: string[]): NonNullable<FieldSpec['constraints']> => ({
  options: names.map((name) => ({ code: name.toLowerCase().replace(' ', '-'), name })),
});

const SPECS: FieldSpec[] = [
  { code: 'trackerId', dataType: 'string', required: true },
  { code: 'type', dataType: 'enum', constraints: options('bug') },
  { code: 'resolution', dataType: 'enum', constraints: options('fixed', 'invalid') },
  ...['priority', 'component', 'milestone', 'version', 'keywords', 'summary'].map((code) => ({
    code,
    dataType: 'string',
  })),
  { code: 'reporter', dataType: 'user', required: true },
  { code: 'owner', dataType: 'user' },
  { code: 'cc', dataType: 'string', multiple: true },
  ...['openedAt', 'closedAt', 'modifiedAt', 'changedAt'].map((code) => ({ code, dataType: 'datetime' })),
  { code: 'description', dataType: 'text' },
  { code: 'need', dataType: 'enum', constraints: options('Test Case') },
  { code: 'blocking', dataType: 'string', multiple: true },
  { code: 'blockedBy', dataType: 'string', multiple: true },
];

const IDS = new Map([
  ['john', 'id-of-john'],
  ['joern', 'id-of-joern'],
]);

const TICKET: TicketRow = {
  id: 'JQ-1',
  type: 'bug',
  status: 'closed',
  resolution: 'fixed',
  priority: '',
  component: '',
  milestone: '1.0',
  version: '',
  keywords: '',
  reporter: 'john',
  owner: '',
  cc: '',
  opened_at: '2006-06-09T03:16:00Z',
  closed_at: '',
  modified_at: '',
  summary: 'It breaks',
  description: '',
};

type Step = [author: string, minute: number, field: string, from: string, to: string];

function plan(steps: Step[], ticket: Partial<TicketRow> = {}): TicketPlan {
  const history = steps.map(
    ([author, minute, field, old_value, new_value], index): HistoryRow => ({
      ticket_id: 'JQ-1',
      seq: String(index + 1),
      author,
      changed_at: `2006-06-10T00:${String(minute).padStart(2, '0')}:00Z`,
      field,
      old_value,
      new_value,
    }),
  );
  return planTicket({ ...TICKET, ...ticket }, history, fieldsOf(SPECS, IDS));
}

const at = (minute: number): string => `2006-06-10T00:${String(minute).padStart(2, '0')}:00.000Z`;

describe('the initial state of a ticket', () => {
  test('uses the first old value of each changed field and the final value of the others', () => {
    const { opening } = plan([
      ['joern', 1, 'status', 'new', 'closed'],
      ['joern', 1, 'resolution', '', 'fixed'],
    ]);
    assert.deepEqual(opening, {
      trackerId: 'JQ-1',
      type: 'bug',
      milestone: '1.0',
      reporter: 'id-of-john',
      openedAt: '2006-06-09T03:16:00.000Z',
      summary: 'It breaks',
    });
  });

  test('uses the original reporter', () => {
    const planned = plan([['john', 1, 'reporter', 'joern', 'john']]);
    assert.equal(planned.reporter, 'joern');
    assert.equal(planned.opening.reporter, 'id-of-joern');
    assert.equal(planned.final.reporter, 'id-of-john');
  });
});

describe('changes', () => {
  test('of one author at one instant become one change, and a transition if the status changes', () => {
    const { changes, splits } = plan([
      ['joern', 1, 'status', 'new', 'closed'],
      ['joern', 1, 'resolution', '', 'fixed'],
      ['john', 1, 'status', 'closed', 'reopened'],
      ['john', 2, 'resolution', 'fixed', ''],
    ]);
    assert.deepEqual(
      changes.map(({ author, values, move, rows, revision }) => ({ author, values, move, rows, revision })),
      [
        {
          author: 'joern',
          values: { resolution: 'fixed', changedAt: at(1) },
          move: { from: 'new', to: 'closed' },
          rows: 2,
          revision: 2,
        },
        {
          author: 'john',
          values: { changedAt: at(1) },
          move: { from: 'closed', to: 'reopened' },
          rows: 1,
          revision: 3,
        },
        { author: 'john', values: { resolution: null, changedAt: at(2) }, move: undefined, rows: 1, revision: 4 },
      ],
    );
    assert.equal(splits, 0);
  });

  test('of one field twice in an instant become two changes, so that no value is lost', () => {
    const { changes, splits } = plan([
      ['joern', 1, 'milestone', '1.0', '1.1'],
      ['joern', 1, 'milestone', '1.1', '1.2'],
    ]);
    assert.deepEqual(
      changes.map((patch) => patch.effect.milestone),
      [
        ['1.0', '1.1'],
        ['1.1', '1.2'],
      ],
    );
    assert.equal(splits, 1);
  });

  test('of the status twice in an instant become two transitions, and none to the current status', () => {
    const { changes, states, stays, splits } = plan([
      ['joern', 1, 'status', 'new', 'closed'],
      ['joern', 1, 'status', 'closed', 'reopened'],
      ['joern', 2, 'status', 'closed', 'reopened'],
      ['joern', 2, 'milestone', '1.0', '1.1'],
      ['joern', 3, 'status', 'assigned', 'closed'],
    ]);
    assert.deepEqual(
      changes.map(({ move, revision }) => ({ move, revision })),
      [
        { move: { from: 'new', to: 'closed' }, revision: 2 },
        { move: { from: 'closed', to: 'reopened' }, revision: 3 },
        { move: undefined, revision: 4 },
        { move: { from: 'reopened', to: 'closed' }, revision: 5 },
      ],
    );
    assert.deepEqual(changes[0]?.effect.workflowState, ['new', 'closed']);
    assert.deepEqual({ states, stays, splits }, { states: { opening: 'new', final: 'closed' }, stays: 1, splits: 1 });
  });

  test('without an effect keep the revision', () => {
    const { changes } = plan([
      ['joern', 1, 'milestone', '1.0', '1.1'],
      ['joern', 1, 'milestone', '1.0', '1.1'],
    ]);
    assert.deepEqual(
      changes.map((patch) => patch.revision),
      [2, 2],
    );
    assert.deepEqual(changes[1]?.effect, {});
  });

  test('whose old value does not match are applied and reported as breaks', () => {
    const { breaks, final } = plan([
      ['joern', 1, 'resolution', '', 'invalid'],
      ['joern', 2, 'resolution', '', 'fixed'],
    ]);
    assert.deepEqual(breaks, ['resolution']);
    assert.equal(final.resolution, 'fixed');
  });

  test('may concern fields without a column', () => {
    const { opening, final } = plan([['joern', 1, 'need', '', 'Test Case']]);
    assert.equal(opening.need, undefined);
    assert.equal(final.need, 'test-case');
  });
});

test('reports the difference from the row by column', () => {
  const { differences } = plan([['joern', 1, 'milestone', '1.0', '1.1']], { milestone: '2.0' });
  assert.deepEqual(differences, ['milestone']);
});

describe('values that a record cannot hold', () => {
  test('reports unknown options, unknown users and repeated elements', () => {
    const { problems, final } = plan([
      ['joern', 1, 'type', 'bug', 'whatever'],
      ['joern', 1, 'owner', '', 'ghost'],
      ['joern', 1, 'cc', '', 'a, b, a'],
    ]);
    assert.deepEqual(
      problems.map((problem) => problem.field),
      ['type', 'owner', 'cc'],
    );
    assert.equal(final.type, undefined);
    assert.equal(final.owner, undefined);
    assert.deepEqual(final.cc, ['a', 'b']);
  });

  test('reports a cleared required value and keeps it', () => {
    const { problems, final } = plan([['joern', 1, 'reporter', 'john', '']]);
    assert.deepEqual(
      problems.map((problem) => problem.what),
      ['empty, though a value is required'],
    );
    assert.equal(final.reporter, 'id-of-john');
  });

  test('reports text with U+0000, line breaks in a string field and text over the limit', () => {
    const { problems, final } = plan([], { summary: 'a\u0000\nb', description: 'x'.repeat(100_001) });
    assert.deepEqual(
      problems.map((problem) => problem.field),
      ['summary', 'description'],
    );
    assert.equal(final.summary, 'a\ufffd b');
    assert.equal(final.description?.length, 100_000);
  });
});
