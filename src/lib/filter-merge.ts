/**
 * Merges alternatives. Roles often differ in one value ("team is 1", "team is 2"), so the conditions of a user with many roles
 * become a few conditions with `in`. Pure.
 */
import type { Operand, TypedCondition, TypedField, TypedLeaf } from './filter-types.ts';

type EqualityLeaf = { field: TypedField } & (
  | { operator: 'equals'; value: Operand }
  | { operator: 'in'; values: Operand[] }
);

/** Parts that must all hold: canonical JSON → part. */
type Conjunction = Map<string, TypedCondition>;

/**
 * Conditions of which one holds exactly if one of the given conditions holds. Equal conditions become one, and conditions that
 * differ in the values of one `equals` or `in` become one with all these values.
 */
export function mergeAlternatives(conditions: readonly TypedCondition[]): TypedCondition[] {
  let alternatives = flattened(conditions, 'OR').map(conjunctionOf);
  for (let before = Number.POSITIVE_INFINITY; alternatives.length < before; ) {
    before = alternatives.length;
    alternatives = mergeOnce(alternatives);
  }
  return alternatives.map(conditionOf);
}

/** The condition that holds if one of the conditions holds. */
export function anyOfConditions(conditions: readonly TypedCondition[]): TypedCondition {
  const merged = mergeAlternatives(conditions);
  return merged.length === 1 ? (merged[0] as TypedCondition) : { logic: 'OR', conditions: merged };
}

/** The members of nested groups of the same logic. */
function flattened(conditions: readonly TypedCondition[], logic: 'AND' | 'OR'): TypedCondition[] {
  return conditions.flatMap((one) =>
    'logic' in one && one.logic === logic && one.conditions.length > 0 ? flattened(one.conditions, logic) : [one],
  );
}

function conjunctionOf(condition: TypedCondition): Conjunction {
  return new Map(flattened([condition], 'AND').map((part) => [JSON.stringify(part), part]));
}

function conditionOf(conjunction: Conjunction): TypedCondition {
  const parts = [...conjunction.values()];
  return parts.length === 1 ? (parts[0] as TypedCondition) : { logic: 'AND', conditions: parts };
}

function isEquality(condition: TypedCondition): condition is EqualityLeaf {
  return !('logic' in condition) && (condition.operator === 'equals' || condition.operator === 'in');
}

/** For each equality of the conjunction: the field and all other parts. Alternatives with a common shape can be merged. */
function shapesOf(conjunction: Conjunction): { shape: string; part: string }[] {
  const parts = [...conjunction.keys()].sort();
  return parts.flatMap((part) => {
    const condition = conjunction.get(part) as TypedCondition;
    if (!isEquality(condition)) return [];
    return [{ shape: JSON.stringify([condition.field, parts.filter((other) => other !== part)]), part }];
  });
}

function operandsOf(leaf: EqualityLeaf): readonly Operand[] {
  return leaf.operator === 'in' ? leaf.values : [leaf.value];
}

/** Merges each alternative with those that share its most frequent shape. */
function mergeOnce(alternatives: readonly Conjunction[]): Conjunction[] {
  const shapes = alternatives.map(shapesOf);
  const counts = new Map<string, number>();
  for (const { shape } of shapes.flat()) counts.set(shape, (counts.get(shape) ?? 0) + 1);
  const merged = new Map<
    string,
    { rest: Conjunction; leaf: EqualityLeaf; operands: Map<string, Operand> } | Conjunction
  >();
  for (const [index, conjunction] of alternatives.entries()) {
    const best = shapes[index]?.reduce<{ shape: string; part: string } | undefined>(
      (most, one) => (most === undefined || (counts.get(one.shape) ?? 0) > (counts.get(most.shape) ?? 0) ? one : most),
      undefined,
    );
    if (best === undefined || counts.get(best.shape) === 1) {
      merged.set([...conjunction.keys()].sort().join(), conjunction);
      continue;
    }
    const leaf = conjunction.get(best.part) as EqualityLeaf;
    const rest = new Map([...conjunction].filter(([part]) => part !== best.part));
    const found = merged.get(best.shape);
    const group = found === undefined || found instanceof Map ? { rest, leaf, operands: new Map() } : found;
    for (const operand of operandsOf(leaf)) group.operands.set(JSON.stringify(operand), operand);
    merged.set(best.shape, group);
  }
  return [...merged.values()].map((group) => {
    if (group instanceof Map) return group;
    const values = [...group.operands].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, operand]) => operand);
    const [value, ...others] = values;
    if (value !== undefined && others.length === 0)
      return withPart(group.rest, { field: group.leaf.field, operator: 'equals', value });
    return withPart(group.rest, { field: group.leaf.field, operator: 'in', values });
  });
}

function withPart(rest: Conjunction, leaf: TypedLeaf): Conjunction {
  return new Map([[JSON.stringify(leaf), leaf], ...rest]);
}
