/** The transitions of each type's workflow, with conditions parsed against the type's fields. One registry per snapshot. */
import { conditionFor, parseCondition, type TypedCondition } from '../../lib/filter.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigSnapshot, ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import {
  fieldResolver,
  type LocalizedText,
  type RecordType,
  type TransitionField,
  type TypeVersion,
  typeView,
} from '../metadata/index.ts';

export interface Transition {
  id: string;
  code: string;
  name: LocalizedText;
  from: ReadonlySet<string> | '*';
  toId: string;
  condition: TypedCondition | null;
  fields: readonly TransitionField[];
  /** Field code → stored value, a variable of the condition language, or null to clear. */
  set: Readonly<Record<string, unknown>>;
}

interface CompiledTransition extends Omit<Transition, 'from' | 'condition'> {
  from: string[] | '*';
  condition?: unknown;
}

/** Type id and workflow code → transitions by id. */
type WorkflowRegistry = (type: RecordType, workflowCode: string) => ReadonlyMap<string, Transition>;

function build(source: ConfigSource, snapshot: ConfigSnapshot): WorkflowRegistry {
  const compiled = new Map<string, CompiledTransition[]>();
  for (const item of source.items) {
    if (item.section !== 'workflows') continue;
    compiled.set(item.code, (item.compiled as { transitions: CompiledTransition[] }).transitions);
  }
  const cache = new Map<string, ReadonlyMap<string, Transition>>();
  // Builds the type registry of the same snapshot first, because transitions refer to it.
  snapshot.get(typeView);
  return (type, workflowCode) => {
    const key = `${type.id} ${workflowCode}`;
    let transitions = cache.get(key);
    if (transitions === undefined) {
      const resolve = fieldResolver(type);
      transitions = new Map(
        (compiled.get(workflowCode) ?? []).map((transition) => [
          transition.id,
          {
            ...transition,
            from: transition.from === '*' ? '*' : new Set(transition.from),
            condition:
              transition.condition === undefined
                ? null
                : parseCondition(conditionFor(transition.condition, type.code), {
                    resolve,
                    variables: 'allowed',
                    base: '/condition',
                  }),
          },
        ]),
      );
      cache.set(key, transitions);
    }
    return transitions;
  };
}

const workflowView: DerivedView<WorkflowRegistry> = { name: 'workflow', build };

export function transitionsOf(
  ctx: ReadContext,
  type: RecordType,
  version: TypeVersion,
): ReadonlyMap<string, Transition> {
  return version.workflow === null ? new Map() : ctx.config.get(workflowView)(type, version.workflow.code);
}

/**
 * Whether the transition starts from the state. `'*'` means every state except the target; a transition to the same state must
 * name it.
 */
export function leaves({ from, toId }: Transition, stateId: string | null): boolean {
  if (stateId === null) return false;
  return from === '*' ? stateId !== toId : from.has(stateId);
}
