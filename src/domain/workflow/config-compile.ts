/** Whether a workflow can work, and its compiled form: ids of states and transitions, conditions and values with ids. */
import { checkUnique } from '../../configuration/checks.ts';
import type { CompileView, ConfigView, Report } from '../../configuration/section.ts';
import { compileTypedCondition } from '../../configuration/record-types.ts';
import { compileSet } from '../../configuration/values.ts';
import {
  checkValue,
  type FieldDefinition,
  type TransitionDefinition,
  type TypeDefinition,
  type WorkflowDefinition,
} from '../metadata/index.ts';

/** The scope of the ids of a workflow's states. */
export function stateScope(workflow: string): string {
  return `workflows/${workflow}/states`;
}

/** The active types that use the workflow. */
function usersOf(workflow: WorkflowDefinition, view: ConfigView): TypeDefinition[] {
  return [...view.active<TypeDefinition>('types').values()].filter((type) => type.workflow === workflow.code);
}

function checkStates(workflow: WorkflowDefinition, report: Report): void {
  const states = new Set(workflow.states.map((state) => state.code));
  const unknown = (code: string): string => `There is no state ${code} in this workflow.`;
  if (!states.has(workflow.initial)) report(['initial'], 'UNKNOWN_STATE', unknown(workflow.initial));
  for (const [index, { from, to }] of workflow.transitions.entries()) {
    const path = ['transitions', index];
    if (!states.has(to)) report([...path, 'to'], 'UNKNOWN_STATE', unknown(to));
    if (from === '*') continue;
    for (const [at, code] of from.entries()) {
      if (!states.has(code)) report([...path, 'from', at], 'UNKNOWN_STATE', unknown(code));
    }
  }
  const reached = new Set([workflow.initial]);
  for (const state of reached) {
    for (const { from, to } of workflow.transitions) if (from === '*' || from.includes(state)) reached.add(to);
  }
  for (const [index, { code }] of workflow.states.entries()) {
    if (!reached.has(code)) {
      const message = `No transition leads from ${workflow.initial} to the state ${code}, over however many steps.`;
      report(['states', index], 'UNREACHABLE_STATE', message);
    }
  }
}

function checkForm(
  transition: TransitionDefinition,
  users: readonly TypeDefinition[],
  path: (string | number)[],
  report: Report,
): void {
  checkUnique(transition.fields, (field) => field.code, [...path, 'fields'], 'code', report);
  for (const [index, { code }] of transition.fields.entries()) {
    if (code.startsWith('$')) continue;
    const lacking = users.find((user) => !user.fields.some((field) => field.code === code));
    if (lacking !== undefined) {
      report([...path, 'fields', index, 'code'], 'UNKNOWN_FIELD', `The type ${lacking.code} has no field ${code}.`);
    }
  }
}

function compileTransition(
  transition: TransitionDefinition,
  index: number,
  users: readonly TypeDefinition[],
  view: CompileView,
  report: Report,
): { condition?: unknown; set: Record<string, unknown> } {
  const path = ['transitions', index];
  checkForm(transition, users, path, report);
  const types = new Map(users.map((user) => [user.code, new Map(user.fields.map((field) => [field.code, field]))]));
  const judge = (field: FieldDefinition, value: unknown) => checkValue(field, value, '');
  const set = compileSet(transition.set, [...path, 'set'], types, judge, { view, report });
  if (transition.condition === undefined) return { set };
  const condition = compileTypedCondition(transition.condition, [...path, 'condition'], users, { view, report });
  return { condition, set };
}

/**
 * Judges the workflow by itself and against every type that uses it. Conditions and values of a workflow that no type uses
 * cannot be judged and stay as they are; they are when a type begins to use it.
 */
export function compileWorkflow(workflow: WorkflowDefinition, view: CompileView, report: Report): unknown {
  checkStates(workflow, report);
  const users = usersOf(workflow, view);
  const stateId = (code: string): string => view.nested(stateScope(workflow.code), code);
  const states = workflow.states.map((state) => ({ id: stateId(state.code), ...state }));
  const known = new Set(workflow.states.map((state) => state.code));
  const transitions = workflow.transitions.flatMap((transition, index) => {
    const { condition, set } = compileTransition(transition, index, users, view, report);
    const { code, name, from, to, fields } = transition;
    // Unknown ones were reported and must not get an id.
    if (!known.has(to) || (from !== '*' && !from.every((one) => known.has(one)))) return [];
    return [
      {
        id: view.nested(`workflows/${workflow.code}/transitions`, code),
        code,
        name,
        from: from === '*' ? from : from.map(stateId),
        toId: stateId(to),
        ...(condition === undefined ? {} : { condition }),
        fields,
        set: users.length === 0 ? transition.set : set,
      },
    ];
  });
  const initialId = known.has(workflow.initial) ? stateId(workflow.initial) : null;
  return { code: workflow.code, name: workflow.name, initialId, states, transitions };
}
