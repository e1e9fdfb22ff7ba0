import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCondition } from '../../lib/filter.ts';
import { isIndexed } from './filter.ts';

const FIELDS = new Set(['requester', 'team']);

function indexed(condition: unknown): boolean {
  const typed = parseCondition(condition, {
    resolve: (code) => ({ code, kind: 'value', dataType: 'string', multiple: false }),
    variables: 'refused',
    base: '',
  });
  return isIndexed(typed, ({ code }) => FIELDS.has(code));
}

const mine = { field: 'requester', operator: 'equals', value: 'ann' };
const ours = { field: 'team', operator: 'in', value: ['a', 'b'] };
const open = { field: 'status', operator: 'equals', value: 'open' };

describe('conditions that indexes answer', () => {
  it('compare an indexed field with values', () => {
    assert.equal(indexed(mine), true);
    assert.equal(indexed(ours), true);
    assert.equal(indexed(open), false);
    assert.equal(indexed({ ...mine, operator: 'not-equals' }), false);
    assert.equal(indexed({ ...mine, operator: 'contains' }), false);
  });

  it('need an index for each alternative, and for one of several parts', () => {
    assert.equal(indexed({ logic: 'OR', conditions: [mine, ours] }), true);
    assert.equal(indexed({ logic: 'OR', conditions: [mine, open] }), false);
    assert.equal(indexed({ logic: 'AND', conditions: [open, mine] }), true);
    assert.equal(indexed({ logic: 'AND', conditions: [{ logic: 'OR', conditions: [mine, open] }, open] }), false);
  });
});
