import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { differencesOf, listedDifferences } from './differences.ts';

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

  it('report a changed order separately, and lists of plain values as a whole', () => {
    const a = { code: 'a' };
    const b = { code: 'b' };
    assert.deepEqual(differencesOf({ l: [a, b] }, { l: [b, a] }), [
      { path: 'l', before: ['a', 'b'], after: ['b', 'a'] },
    ]);
    assert.deepEqual(differencesOf({ l: [1, 2] }, { l: [2, 1] }), [{ path: 'l', before: [1, 2], after: [2, 1] }]);
  });

  it('align lists without codes at equal members, and between these at members with a text in common', () => {
    const grant = (type: string, ...actions: string[]) => ({ type, actions });
    const [one, two, three] = [grant('a', 'read'), grant('b', 'read'), grant('c', 'read')];
    assert.deepEqual(
      differencesOf({ records: [one, two, three] }, { records: [one, grant('b', 'read', 'update'), three] }),
      [{ path: 'records[1].actions', before: ['read'], after: ['read', 'update'] }],
    );
    const added = grant('d', 'read');
    assert.deepEqual(differencesOf([one, two, three], [added, one, grant('c', 'read', 'update')]), [
      { path: '[0]', after: added },
      { path: '[1]', before: two },
      { path: '[2].actions', before: ['read'], after: ['read', 'update'] },
    ]);
    assert.deepEqual(differencesOf([one], [two]), [{ path: '[0].type', before: 'a', after: 'b' }]);
    // Members with the same code cannot be distinguished by it.
    const a = { code: 'a' };
    assert.deepEqual(differencesOf([a, a], [a]), [{ path: '[1]', before: a }]);
  });

  it('of lists without codes lead from one to the other', () => {
    const member = fc.record(
      { type: fc.constantFrom('a', 'b', 'c'), n: fc.integer({ min: 0, max: 2 }) },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(fc.array(member, { maxLength: 8 }), fc.array(member, { maxLength: 8 }), (before, after) => {
        const found = differencesOf(before, after);
        const gone = new Set(found.flatMap(({ path, after: now }) => (now === undefined ? [path] : [])));
        const kept = before.filter((_, index) => !gone.has(`[${index}]`));
        const result: object[] = [];
        for (const index of after.keys()) {
          const of = found.filter(({ path, after: now }) => now !== undefined && path.startsWith(`[${index}]`));
          const whole = of.find(({ path }) => path === `[${index}]`);
          const next = whole === undefined ? (kept.shift() ?? {}) : (whole.after as object);
          const parts = of
            .filter((one) => one !== whole)
            .map(({ path, after: now }) => [path.split('.')[1] ?? '', now]);
          result.push({ ...next, ...Object.fromEntries(parts) });
        }
        assert.deepEqual([result, kept], [after, []]);
      }),
    );
  });

  it('have properties in the order of the schema', () => {
    const schema = { properties: { list: { items: { properties: { type: {}, where: {}, actions: {} } } } } };
    const { differences } = listedDifferences({}, { list: [{ actions: [], where: 1, type: 'a' }] }, schema);
    assert.equal(JSON.stringify(differences), '[{"path":"list","after":[{"type":"a","where":1,"actions":[]}]}]');
  });

  it('quote keys that would be ambiguous in a path', () => {
    assert.deepEqual(differencesOf({ 'a b': 1 }, {}), [{ path: '["a b"]', before: 1 }]);
    assert.deepEqual(differencesOf({ x: { 'a b': 1 } }, { x: {} }), [{ path: 'x["a b"]', before: 1 }]);
  });
});
