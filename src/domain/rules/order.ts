/** The order of the rules that one event fires, as a plan shows it. Pure. */
import { inOrder, type RuleDefinition } from './registry.ts';

/** Event with type → the rules in their order, and the place of each. */
export type RunOrder = ReadonlyMap<string, { rules: readonly RuleDefinition[]; placeOf: ReadonlyMap<string, number> }>;

/** The events of the rule with each of its types. */
export function occasionsOf({ on, types }: RuleDefinition): string[] {
  return on.flatMap((event) => types.map((type) => `${event} ${type}`));
}

export function runOrder(rules: Iterable<RuleDefinition>): RunOrder {
  const byKey = new Map<string, RuleDefinition[]>();
  for (const rule of [...rules].toSorted(inOrder)) {
    for (const key of occasionsOf(rule)) {
      const list = byKey.get(key);
      if (list === undefined) byKey.set(key, [rule]);
      else list.push(rule);
    }
  }
  return new Map(
    [...byKey].map(([key, list]) => [key, { rules: list, placeOf: new Map(list.map(({ code }, at) => [code, at])) }]),
  );
}

/**
 * The rule between those that run directly before and after it on the same event, for example `… → a → b → c`; undefined if no
 * other rule has an event and a type in common with it.
 */
export function orderAround(rule: RuleDefinition, order: RunOrder): string | undefined {
  const before: RuleDefinition[] = [];
  const after: RuleDefinition[] = [];
  let isFirst = true;
  let isLast = true;
  for (const key of occasionsOf(rule)) {
    const { rules = [], placeOf } = order.get(key) ?? {};
    const place = placeOf?.get(rule.code);
    if (place === undefined) continue;
    before.push(...rules.slice(Math.max(0, place - 1), place));
    after.push(...rules.slice(place + 1, place + 2));
    isFirst &&= place < 2;
    isLast &&= place > rules.length - 3;
  }
  const previous = before.toSorted(inOrder).at(-1);
  const next = after.toSorted(inOrder)[0];
  if (previous === undefined && next === undefined) return undefined;
  const shown = [previous, rule, next].flatMap((one) => (one === undefined ? [] : [one.code]));
  return [...(isFirst ? [] : ['…']), ...shown, ...(isLast ? [] : ['…'])].join(' → ');
}
