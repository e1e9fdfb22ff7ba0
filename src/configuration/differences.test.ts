import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { differencesOf } from './differences.ts';

describe('differences between two definitions', () => {
  it('are empty for equal definitions, regardless of key order', () => {
    assert.deepEqual(differencesOf({ a: 1, b: [{ code: 'x' }] }, { b: [{ code: 'x' }], a: 1 }), []);
  });

  it('are reported at the smallest path, without a value for what is absent', () => {
    assert.deepEqual(differencesOf({ a: { b: 1, c: 2, gone: null } }, { a: { b: 1, c: 3, new: [1] } }), [
      { path: 'a.c', before: 2, after: 3 },
      { path: 'a.new', after: [1] },
      { path: 'a.gone', before: null },
    ]);
  });

  it('identify list members by code, so that an insertion does not change the others', () => {
    const before = { fields: [{ code: 'title', required: true }, { code: 'old' }] };
    const after = { fields: [{ code: 'new' }, { code: 'title', required: false }] };
    assert.deepEqual(differencesOf(before, after), [
      { path: 'fields[new]', after: { code: 'new' } },
      { path: 'fields[title].required', before: true, after: false },
      { path: 'fields[old]', before: { code: 'old' } },
    ]);
  });

  it('report a changed order separately, and lists without codes as a whole', () => {
    const a = { code: 'a' };
    const b = { code: 'b' };
    assert.deepEqual(differencesOf({ l: [a, b] }, { l: [b, a] }), [
      { path: 'l', before: ['a', 'b'], after: ['b', 'a'] },
    ]);
    assert.deepEqual(differencesOf({ l: [1, 2] }, { l: [2, 1] }), [{ path: 'l', before: [1, 2], after: [2, 1] }]);
    // Members with the same code cannot be distinguished.
    assert.deepEqual(differencesOf([a, a], [a]), [{ path: '', before: [a, a], after: [a] }]);
  });

  it('quote keys that would be ambiguous in a path', () => {
    assert.deepEqual(differencesOf({ 'a b': 1 }, {}), [{ path: '["a b"]', before: 1 }]);
    assert.deepEqual(differencesOf({ x: { 'a b': 1 } }, { x: {} }), [{ path: 'x["a b"]', before: 1 }]);
  });
});
