/** Places of rules in the diagram of which rule can fire which. Pure. */
import type { RuleInGraph } from './queries.ts';

export const BOX = { width: 184, height: 56, gapX: 36, gapY: 24, margin: 12 };

export interface Place {
  rule: RuleInGraph;
  x: number;
  y: number;
}

export interface Edge {
  from: Place;
  to: Place;
  /** Whether it is a part of a possible loop. */
  isLoop: boolean;
  path: string;
}

/**
 * Rules in columns: each as far right as the longest way to it, without the edges that lead back. Rules that neither fire others nor
 * are fired by others are left out.
 */
export function layoutOf(rules: readonly RuleInGraph[]): {
  places: Place[];
  edges: Edge[];
  width: number;
  height: number;
} {
  const byCode = new Map(rules.map((rule) => [rule.code, rule]));
  const fired = new Set(rules.flatMap(({ fires }) => fires));
  const drawn = rules.filter(({ code, fires }) => fires.length > 0 || fired.has(code));
  const columns = new Map<string, number>();
  const visit = (code: string, column: number, above: readonly string[]): void => {
    if (above.includes(code) || (columns.get(code) ?? -1) >= column) return;
    columns.set(code, column);
    for (const next of byCode.get(code)?.fires ?? []) visit(next, column + 1, [...above, code]);
  };
  const starts = [...drawn.filter(({ code }) => !fired.has(code)), ...drawn];
  for (const { code } of starts) if (!columns.has(code)) visit(code, 0, []);
  const filled = new Map<number, number>();
  const places = new Map(
    drawn.map((rule): [string, Place] => {
      const column = columns.get(rule.code) ?? 0;
      const row = filled.get(column) ?? 0;
      filled.set(column, row + 1);
      const x = BOX.margin + column * (BOX.width + BOX.gapX);
      return [rule.code, { rule, x, y: BOX.margin + row * (BOX.height + BOX.gapY) }];
    }),
  );
  const edges = drawn.flatMap((rule) =>
    rule.fires.flatMap((next): Edge[] => {
      const [from, to] = [places.get(rule.code), places.get(next)];
      if (from === undefined || to === undefined) return [];
      const isLoop = rule.loop?.some((code, index, loop) => code === rule.code && loop[index + 1] === next) === true;
      return [{ from, to, isLoop, path: pathOf(from, to) }];
    }),
  );
  const size = (values: readonly number[], most: number): number => Math.max(0, ...values) + most + 2 * BOX.margin;
  return {
    places: [...places.values()],
    edges,
    width: size(
      [...places.values()].map(({ x }) => x),
      BOX.width,
    ),
    height: size(
      [...places.values()].map(({ y }) => y),
      BOX.height + BOX.gapY,
    ),
  };
}

/** A curve to the right, or below the boxes if the target is not to the right. */
function pathOf(from: Place, to: Place): string {
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2];
  const [x2, y2] = [to.x, to.y + BOX.height / 2];
  if (to.x > from.x) {
    const bend = Math.max(30, (x2 - x1) / 2);
    return `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
  }
  const below = Math.max(from.y, to.y) + BOX.height + BOX.gapY * 0.8;
  const middle = from.x + BOX.width / 2;
  const end = to.x + BOX.width / 2 + (from === to ? 30 : 0);
  return `M${middle},${from.y + BOX.height} C${middle},${below + 14} ${end},${below + 14} ${end},${to.y + BOX.height}`;
}
