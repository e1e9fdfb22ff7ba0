import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Fault } from '../../lib/fault.ts';
import { problemAt } from '../../lib/problem.ts';
import { faultErrors, nextGroup } from './rules.ts';

describe('groups of rows', () => {
  const most = { rows: 3, size: 100 };
  const rowsOf = (externalIds: (string | null | undefined)[], size = 1) =>
    externalIds.map((externalId, index) => ({ row: index + 1, externalId, size }));
  const numbers = (rows: { row: number }[]): number[] => rows.map(({ row }) => row);

  it('contain no external id twice; other rows may pass a waiting row', () => {
    const waiting = rowsOf(['a', 'a', 'b', 'a', 'c', 'd']);
    const overtaking = nextGroup(waiting, most, true);
    assert.deepEqual(
      [numbers(overtaking.group), numbers(overtaking.rest)],
      [
        [1, 3, 5],
        [2, 4, 6],
      ],
    );
    const ordered = nextGroup(waiting, most, false);
    assert.deepEqual([numbers(ordered.group), numbers(ordered.rest)], [[1], [2, 3, 4, 5, 6]]);
  });

  it('end at the limit of rows or size', () => {
    assert.deepEqual(numbers(nextGroup(rowsOf(['a', 'b', 'c', 'd']), most, true).group), [1, 2, 3]);
    assert.deepEqual(numbers(nextGroup(rowsOf(['a', 'b', 'c'], 60), most, true).group), [1]);
    assert.deepEqual(
      numbers(nextGroup(rowsOf(['a'], 500), most, true).group),
      [1],
      'one that is larger alone goes alone',
    );
  });

  it('contain every row once, in order per external id', () => {
    const row = fc.record({
      externalId: fc.constantFrom('a', 'b', 'c', null, undefined),
      size: fc.integer({ min: 0, max: 120 }),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), fc.boolean(), (rows, overtaking) => {
        let waiting = rows.map((one, index) => ({ ...one, row: index }));
        const taken: typeof waiting = [];
        while (waiting.length > 0) {
          const { group, rest } = nextGroup(waiting, most, overtaking);
          assert.ok(group.length > 0 && group.length <= most.rows);
          const named = group.flatMap(({ externalId }) => externalId ?? []);
          assert.equal(new Set(named).size, named.length);
          taken.push(...group);
          waiting = rest;
        }
        assert.equal(taken.length, rows.length);
        if (!overtaking)
          assert.deepEqual(
            numbers(taken),
            numbers(taken).toSorted((a, b) => a - b),
          );
        for (const id of ['a', 'b', 'c']) {
          const own = numbers(taken.filter(({ externalId }) => externalId === id));
          assert.deepEqual(
            own,
            own.toSorted((a, b) => a - b),
          );
        }
      }),
    );
  });
});

it('errors of a row are those of the answer, with paths into the values', () => {
  const detail = problemAt('/changes/title', 'REQUIRED');
  assert.deepEqual(faultErrors(new Fault('INVALID_VALUES', 'Wrong.', [detail])), [
    { ...detail, path: '/values/title' },
  ]);
  const missing = problemAt('', 'ACTION_NOT_ALLOWED', { action: 'create' });
  assert.deepEqual(faultErrors(new Fault('RIGHT_MISSING', missing, { right: 'create' })), [missing]);
  const notFound = { path: '', code: 'NOT_FOUND', reason: 'NOT_FOUND', message: 'There is none.' };
  assert.deepEqual(faultErrors(new Fault('NOT_FOUND', 'There is none.')), [notFound]);
});
