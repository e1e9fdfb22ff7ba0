import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bytesOf, contentOf, LARGEST_FILE, type LifePlan, planLife } from './timeline.ts';
import type { AttachmentRow, CommentRow } from './data.ts';
import type { Change, TicketPlan } from './plan.ts';
import { linksOf } from './reading.ts';

const at = (minute: number): string => `2006-06-10T00:${String(minute).padStart(2, '0')}:00.000Z`;

function change(minute: number, revision: number): Change {
  return { kind: 'change', author: 'john', at: at(minute), values: {}, rows: 1, move: undefined, effect: {}, revision };
}

const PLAN: TicketPlan = {
  ticket: 'JQ-1',
  reporter: 'john',
  opening: {},
  changes: [change(1, 2), change(3, 3)],
  final: {},
  states: { opening: 'new', final: 'new' },
  stays: 0,
  breaks: [],
  differences: [],
  splits: 0,
  problems: [],
};

const comment = (minute: number, seq: string, body = 'yes'): CommentRow => ({
  ticket_id: 'JQ-1',
  seq,
  author: 'ann',
  created_at: at(minute),
  body,
});

const file = (minute: number, filename: string, size: string): AttachmentRow => ({
  ticket_id: 'JQ-1',
  filename,
  size,
  author: 'ann',
  added_at: at(minute),
  description: '',
});

const shape = ({ steps }: LifePlan): string[] =>
  steps.map((step) => (step.kind === 'change' ? `change ${step.revision}` : `${step.kind} ${step.slot}`));

describe('the timeline of a ticket', () => {
  test('orders attachment, change and comment within one instant', () => {
    const plan = planLife(PLAN, [comment(0, '1'), comment(1, '2'), comment(4, '3')], [file(1, 'a.png', '1.0 KB')]);
    assert.deepEqual(shape(plan), ['comment 1', 'file 1', 'change 2', 'comment 2', 'change 3', 'comment 3']);
  });

  test('keeps the order of the data where its times run backwards', () => {
    const plan = planLife(PLAN, [comment(4, '1'), comment(2, '2')], []);
    assert.deepEqual(shape(plan), ['change 2', 'change 3', 'comment 1', 'comment 2']);
  });

  test('skips files that the service would reject, and reports them', () => {
    const files = [file(1, 'empty.txt', '0 KB'), file(2, 'film.avi', '7.1 MB'), file(3, 'a.patch', '0.5 KB')];
    const plan = planLife(PLAN, [], files);
    assert.deepEqual(
      plan.leftOut.map(({ filename, why }) => [filename, why]),
      [
        ['empty.txt', 'empty'],
        ['film.avi', 'too large'],
      ],
    );
    const kept = plan.steps.find((step) => step.kind === 'file');
    assert.deepEqual([kept?.size, kept?.mediaType, kept?.slot], [512, 'text/plain', '3']);
  });

  test('reports a comment that cannot be stored as written', () => {
    const plan = planLife(PLAN, [comment(1, '7', 'a\u0000b')], []);
    assert.deepEqual(
      plan.problems.map(({ field }) => field),
      ['comment 7'],
    );
  });
});

describe('sizes', () => {
  test('are parsed in bytes, KB and MB', () => {
    assert.deepEqual(['12 bytes', '62.8 KB', '0.0 KB', '7 MB'].map(bytesOf), [12, 64_307, 0, LARGEST_FILE]);
  });

  test('in any other format are an error', () => {
    for (const size of ['', '12', 'KB', '1,5 KB', '2 TB']) assert.throws(() => bytesOf(size), /is no size/);
  });
});

test('generates the same content of the requested size every time', () => {
  const name = { filename: 'a.txt', size: 20 };
  assert.equal(contentOf('JQ-1', name).toString(), 'JQ-1 a.txt\nJQ-1 a.tx');
  assert.deepEqual(contentOf('JQ-1', name), contentOf('JQ-1', name));
});

test('finds a link from both ends', () => {
  const row = { relation: 'duplicate_of', created_at: at(1), author: 'ann' };
  const { duplicates, duplicatesOf } = linksOf([
    { ...row, source_id: 'JQ-2', target_id: 'JQ-1' },
    { ...row, source_id: 'JQ-3', target_id: 'JQ-1' },
  ]);
  assert.deepEqual(duplicates.get('JQ-3'), { target: 'JQ-1', author: 'ann' });
  assert.deepEqual(duplicatesOf.get('JQ-1'), ['JQ-2', 'JQ-3']);
});
