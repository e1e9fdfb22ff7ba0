/** Places of rules in the diagram of which rule can fire which. Pure. */

export const BOX = { width: 184, height: 56, gapX: 36, gapY: 24, margin: 12 };
/** Room for the arrows beside the boxes of one column, and the widest of these boxes. */
const GUTTER = 64;
const WIDEST = 280;

/** What the diagram needs to know of a rule. */
export interface DrawnRule {
  code: string;
  name: string;
  order: number;
  /** Codes of the rules that it can fire. */
  fires: string[];
  /** The shortest chain back to the rule, which is its first and last. */
  loop: string[] | null;
}

export interface RuleBox {
  rule: DrawnRule;
  x: number;
  y: number;
  width: number;
}

export interface Edge {
  from: RuleBox;
  to: RuleBox;
  /** Whether it is a part of a possible loop. */
  isLoop: boolean;
  path: string;
}

export interface Drawing {
  places: RuleBox[];
  edges: Edge[];
  width: number;
  height: number;
}

/**
 * Rules in columns, or in one column if these need more room. Rules that neither fire others nor are fired by others are left out.
 *
 * @param room width in pixels
 */
export function layoutOf(rules: readonly DrawnRule[], room: number): Drawing {
  const fired = new Set(rules.flatMap(({ fires }) => fires));
  const drawn = rules.filter(({ code, fires }) => fires.length > 0 || fired.has(code));
  // Rules that no other rule fires first, and those of loops.
  const starts = [...drawn.filter(({ code }) => !fired.has(code)), ...drawn];
  const wide = drawingOf(inColumns(drawn, starts, room), pathRight);
  return wide.width <= room ? wide : { ...drawingOf(inOneColumn(starts, room), pathBeside), width: room };
}

/** Each rule as far right as the longest way to it, without the edges that lead back. Boxes are wider if there is room. */
function inColumns(drawn: readonly DrawnRule[], starts: readonly DrawnRule[], room: number): RuleBox[] {
  const byCode = new Map(drawn.map((rule) => [rule.code, rule]));
  const columns = new Map<string, number>();
  const visit = (code: string, column: number, above: readonly string[]): void => {
    if (above.includes(code) || (columns.get(code) ?? -1) >= column) return;
    columns.set(code, column);
    for (const next of byCode.get(code)?.fires ?? []) visit(next, column + 1, [...above, code]);
  };
  for (const { code } of starts) if (!columns.has(code)) visit(code, 0, []);
  const count = Math.max(0, ...columns.values()) + 1;
  const fitting = Math.floor((room - 4 * BOX.margin - (count - 1) * BOX.gapX) / count);
  const width = Math.min(WIDEST, Math.max(BOX.width, fitting));
  const filled = new Map<number, number>();
  return drawn.map((rule): RuleBox => {
    const column = columns.get(rule.code) ?? 0;
    const row = filled.get(column) ?? 0;
    filled.set(column, row + 1);
    const x = BOX.margin + column * (width + BOX.gapX);
    return { rule, x, y: BOX.margin + row * (BOX.height + BOX.gapY), width };
  });
}

/** Each rule below one that fires it, if possible. */
function inOneColumn(starts: readonly DrawnRule[], room: number): RuleBox[] {
  const byCode = new Map(starts.map((rule) => [rule.code, rule]));
  const order = new Set<DrawnRule>();
  const visit = (rule: DrawnRule | undefined): void => {
    if (rule === undefined || order.has(rule)) return;
    order.add(rule);
    for (const next of rule.fires) visit(byCode.get(next));
  };
  for (const rule of starts) visit(rule);
  const x = BOX.margin + GUTTER;
  const width = Math.min(WIDEST, Math.max(BOX.width, room - x - BOX.margin));
  return [...order].map((rule, row) => ({ rule, x, y: BOX.margin + row * (BOX.height + BOX.gapY), width }));
}

function drawingOf(places: RuleBox[], pathOf: (from: RuleBox, to: RuleBox) => string): Drawing {
  const byCode = new Map(places.map((place) => [place.rule.code, place]));
  const edges = places.flatMap((from) =>
    from.rule.fires.flatMap((code): Edge[] => {
      const to = byCode.get(code);
      if (to === undefined) return [];
      const { loop } = from.rule;
      const isLoop = loop?.some((one, index) => one === from.rule.code && loop[index + 1] === code) === true;
      return [{ from, to, isLoop, path: pathOf(from, to) }];
    }),
  );
  const right = Math.max(0, ...places.map(({ x, width }) => x + width));
  const bottom = Math.max(0, ...places.map(({ y }) => y + BOX.height + BOX.gapY));
  return { places, edges, width: right + 2 * BOX.margin, height: bottom + 2 * BOX.margin };
}

/** A curve to the right, or below the boxes if the target is not to the right. */
function pathRight(from: RuleBox, to: RuleBox): string {
  const [x1, y1] = [from.x + from.width, from.y + BOX.height / 2];
  const [x2, y2] = [to.x, to.y + BOX.height / 2];
  if (to.x > from.x) {
    const bend = Math.max(30, (x2 - x1) / 2);
    return `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
  }
  const below = Math.max(from.y, to.y) + BOX.height + BOX.gapY * 0.8;
  const middle = from.x + from.width / 2;
  const end = to.x + to.width / 2 + (from === to ? 30 : 0);
  return `M${middle},${from.y + BOX.height} C${middle},${below + 14} ${end},${below + 14} ${end},${to.y + BOX.height}`;
}

/** A curve on the left of the boxes, the wider the farther the target is. It leaves a box below the arrows that lead to it. */
function pathBeside(from: RuleBox, to: RuleBox): string {
  const [y1, y2] = [from.y + BOX.height * 0.7, to.y + BOX.height * 0.3];
  const rows = Math.abs(to.y - from.y) / (BOX.height + BOX.gapY);
  // A curve reaches three quarters of the way to its control points.
  const bend = from.x - Math.min(GUTTER, 20 + 12 * rows) * (4 / 3);
  return `M${from.x},${y1} C${bend},${y1} ${bend},${y2} ${to.x},${y2}`;
}
