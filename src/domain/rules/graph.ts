/** Which rule can fire which, for the console. */
import { isActive } from '../../contract/state.ts';
import { Yielder } from '../../lib/yielding.ts';
import { loadItems } from '../../configuration/store.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { named } from '../metadata/index.ts';
import { firingGraph, loopThrough, unmeetableField } from './checker.ts';
import { inOrder, type RuleDefinition } from './registry.ts';

export interface RuleInGraph {
  code: string;
  name: string;
  enabled: boolean;
  order: number;
  on: readonly string[];
  types: readonly string[];
  fires: string[];
  loop: string[] | null;
  unmeetable: string | null;
}

/** The active rules in the order in which one event fires them. @throws Fault RIGHT_MISSING */
export async function ruleGraph(ctx: ReadContext): Promise<RuleInGraph[]> {
  ctx.actor.require('config.manage');
  const items = (await loadItems(ctx, 'rules')).filter(isActive);
  const all = items.map(({ definition }) => definition as RuleDefinition).toSorted(inOrder);
  const enabled = new Map(all.flatMap((rule) => (rule.enabled ? [[rule.code, rule]] : [])));
  const graph = firingGraph(enabled);
  // On the same record a rule does not fire again, so only a loop leads from a rule to itself.
  const fired = (code: string): string[] =>
    (graph.get(code) ?? []).filter((next) => next !== code || loopThrough(code, enabled, graph)?.length === 2);
  const answers: RuleInGraph[] = [];
  const yielder = new Yielder();
  for (const rule of all) {
    await yielder.next();
    answers.push({
      code: rule.code,
      name: named(ctx, rule.name),
      enabled: rule.enabled,
      order: rule.order ?? 0,
      on: rule.on,
      types: rule.types,
      fires: fired(rule.code),
      loop: (rule.enabled ? loopThrough(rule.code, enabled, graph) : undefined) ?? null,
      unmeetable: unmeetableField(rule) ?? null,
    });
  }
  return answers;
}
