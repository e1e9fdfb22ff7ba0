import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Category } from './registry.ts';
import { filledCategories } from './queries.ts';

const category = (id: string, parentId: string | null = null): Category => ({ id, code: id, name: id, parentId });

describe('filledCategories', () => {
  it('keeps categories with items in them or below, in order', () => {
    const tree = [category('c', 'b'), category('a'), category('b', 'a'), category('d', 'a'), category('e')];
    const left = (...items: string[]): string[] => filledCategories(tree, items).map(({ id }) => id);
    assert.deepEqual(left(), []);
    assert.deepEqual(left('c'), ['c', 'a', 'b']);
    assert.deepEqual(left('d', 'd'), ['a', 'd']);
    assert.deepEqual(left('a', 'e'), ['a', 'e']);
  });

  it('returns each category with its parents and none without an item below', () => {
    const forest = fc
      .array(fc.nat(), { minLength: 1, maxLength: 12 })
      .map((picks) =>
        picks.map((pick, index) => category(`${index}`, index === 0 || pick % 3 === 0 ? null : `${pick % index}`)),
      );
    fc.assert(
      fc.property(forest, fc.array(fc.nat({ max: 11 })), (tree, picks) => {
        const items = picks.map((pick) => `${pick % tree.length}`);
        const left = new Set(filledCategories(tree, items).map(({ id }) => id));
        for (const { id, parentId } of tree) {
          if (left.has(id) && parentId !== null) assert.ok(left.has(parentId));
          const has = items.includes(id) || tree.some((one) => one.parentId === id && left.has(one.id));
          assert.equal(left.has(id), has);
        }
      }),
    );
  });
});
