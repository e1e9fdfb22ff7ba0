/** Places of rules in the diagram of the console: in columns where there is room, else in one column. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BOX, type DrawnRule, layoutOf } from '../web/src/admin/rules/layout.ts';

const rule = (code: string, fires: string[], loop: string[] | null = null): DrawnRule => ({
  code,
  name: code,
  order: 0,
  fires,
  loop,
});
/** A chain with a loop at its end, and a rule that is left out. */
const RULES = [
  rule('a', ['b']),
  rule('alone', []),
  rule('b', ['c'], ['b', 'c', 'b']),
  rule('c', ['b', 'c'], ['b', 'c', 'b']),
];
/** The numbers of an SVG path, by pairs. */
const points = (path: string): [number, number][] =>
  [...path.matchAll(/(-?[\d.]+),(-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);

describe('the diagram of rules', () => {
  it('has a column for each step if they fit', () => {
    const { places, edges, width } = layoutOf(RULES, 1400);
    assert.deepEqual(
      places.map(({ rule: { code } }) => code),
      ['a', 'b', 'c'],
    );
    assert.equal(new Set(places.map(({ x }) => x)).size, 3);
    assert.deepEqual(
      edges.map(({ from, to, isLoop }) => [from.rule.code, to.rule.code, isLoop]),
      [
        ['a', 'b', false],
        ['b', 'c', true],
        ['c', 'b', true],
        ['c', 'c', false],
      ],
    );
    assert.ok(width > 3 * BOX.width && width <= 1400);
    for (const { width: own } of places) assert.ok(own > BOX.width, 'wider boxes in a wide panel');
    assert.ok(layoutOf(RULES, 800).width <= 800);
  });

  it('has one column in a narrow panel, and nothing sticks out of it', () => {
    for (const room of [300, 364, 600]) {
      const { places, edges, width, height } = layoutOf(RULES, room);
      assert.equal(width, room);
      for (const { x, y, width: own } of places) assert.ok(x >= 0 && x + own <= room && y + BOX.height <= height);
      assert.equal(new Set(places.map(({ y }) => y)).size, 3);
      // A curve stays between its ends and three quarters of the way to its control points.
      for (const { path } of edges) {
        const [[start = 0] = [], [control = 0] = []] = points(path);
        assert.ok(start - ((start - control) * 3) / 4 >= 0, path);
      }
    }
  });

  it('has each rule once in any order, and none without rules', () => {
    assert.deepEqual(layoutOf([], 364).places, []);
    assert.equal(layoutOf(RULES.toReversed(), 364).places.length, 3);
  });
});
