import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkTree, checkUnique, cyclesOf } from './checks.ts';
import { isTimeZone } from '../lib/date-format.ts';
import type { Report } from './section.ts';

function collect(run: (report: Report) => void): string[] {
  const found: string[] = [];
  run((path, { code }) => found.push(`${path.join('.')} ${code}`));
  return found;
}

describe('checks that sections share', () => {
  it('accept time zones by name only', () => {
    for (const zone of ['Europe/Moscow', 'UTC', 'Asia/Kolkata', 'America/Argentina/Ushuaia'])
      assert.ok(isTimeZone(zone), zone);
    for (const zone of ['', 'Mars/Base', '+03:00', 'Europe/Moscou', '../etc/passwd'])
      assert.ok(!isTimeZone(zone), zone);
  });

  it('report every cycle once from each of its members', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c', 'x']],
      ['c', ['a']],
      ['d', ['a', 'd']],
      ['e', ['d', 'unknown']],
      ['x', []],
    ]);
    assert.deepEqual(Object.fromEntries(cyclesOf(graph)), {
      a: ['a', 'b', 'c', 'a'],
      b: ['b', 'c', 'a', 'b'],
      c: ['c', 'a', 'b', 'c'],
      d: ['d', 'd'],
    });
  });

  it('follow a long chain without recursion', () => {
    const names = Array.from({ length: 50_000 }, (_, index) => `n${index}`);
    const graph = new Map(names.map((name, index) => [name, index === 0 ? [] : [`n${index - 1}`]]));
    assert.equal(cyclesOf(graph).size, 0);
    graph.set('n0', ['n2']);
    assert.deepEqual([...cyclesOf(graph).keys()].sort(), ['n0', 'n1', 'n2']);
  });

  it('validate lists that form trees', () => {
    const list = [
      { code: 'a' },
      { code: 'b', parent: 'a' },
      { code: 'c', parent: 'd' },
      { code: 'd', parent: 'c' },
      { code: 'e', parent: 'no' },
    ];
    assert.deepEqual(
      collect((report) => checkTree(list, ['list'], report)),
      ['list.2.parent CYCLE', 'list.3.parent CYCLE', 'list.4.parent UNKNOWN_REFERENCE'],
    );
  });

  it('report the second of two equal elements', () => {
    assert.deepEqual(
      collect((report) => checkUnique(['a', 'b', 'a'], (one) => one, ['list'], '', report)),
      ['list.2 DUPLICATE'],
    );
  });
});
