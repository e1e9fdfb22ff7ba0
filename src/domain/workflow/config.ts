/** The bundle's section `workflows` (docs/spec/configuration.md#bundle): its schema, validation and compiled form. */
import Type, { type Static } from 'typebox';
import { closed, Code, described, type Localized, Name, oneOf, optional } from '../../contract/schemas.ts';
import { checkUnique } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { hiddenConditionNotes } from '../../configuration/hidden-conditions.ts';
import {
  ConditionSchema,
  FieldOf,
  SetSchema,
  StateCode,
  TransitionCode,
  WasCode,
} from '../../configuration/schemas.ts';
import type {
  Change,
  CompileView,
  ConfigSection,
  ConfigView,
  HeldCount,
  ItemPath,
  Report,
} from '../../configuration/section.ts';
import { type PlanNote, planNote, problem, type Problem } from '../../lib/problem.ts';
import { canonicalDuration } from '../../lib/data-types/times.ts';
import { planItem } from '../../configuration/store.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { removeState, returnState } from './store.ts';
import {
  type WorkflowDefinition,
  checkValue,
  type FieldDefinition,
  type TransitionDefinition,
  type TypeDefinition,
} from '../metadata/index.ts';
import { compileTypedCondition } from '../../configuration/record-types.ts';
import { compileSet } from '../../configuration/values.ts';

const WorkflowItem = closed({
  code: Code,
  name: Type.Optional(Name),
  initial: described('Code of the state in which new records begin.', StateCode),
  states: described(
    'The states of a record. Each must be reachable from the initial one.',
    Type.Array(
      closed(
        {
          code: Code,
          was: WasCode,
          name: Type.Optional(Name),
          category: described(
            'What the state means: open is worked on, waiting for somebody else, done is finished. Lists and reports use it.',
            oneOf(['open', 'waiting', 'done']),
          ),
          onRequesterReply: optional(
            'Code of the transition that a public comment of the requester or of a participant fires. Absent: none.',
            TransitionCode,
          ),
          reopenWithin: optional(
            'ISO 8601 duration, such as P7D: how long after the record came to the state an answer fires the transition. Absent: always.',
            Type.String({ minLength: 1, maxLength: 100 }),
          ),
        },
        { part: 'state' },
      ),
      {
        minItems: 1,
        maxItems: 200,
      },
    ),
  ),
  transitions: optional(
    'The ways from state to state. Who may make one is decided by roles.',
    Type.Array(
      closed(
        {
          code: Code,
          was: WasCode,
          name: Type.Optional(Name),
          from: described(
            'Codes of the states where it can start, or * for all except its target.',
            Type.Union([Type.Literal('*'), Type.Array(StateCode, { minItems: 1, maxItems: 200, uniqueItems: true })]),
          ),
          to: described('Code of the state that the record gets.', StateCode),
          condition: optional(
            'The transition is possible only while the record meets this condition. Absent: always.',
            ConditionSchema,
          ),
          fields: optional(
            'Form of the transition: what the user can enter with it, in this order.',
            Type.Array(
              closed({
                code: described(
                  'Code of a field of the record, or $reason (text) or $decisionReport (rich text), which only the history keeps.',
                  Type.Union([oneOf(['$reason', '$decisionReport']), FieldOf]),
                ),
                required: optional('If true, the transition needs a value here. Default: false.', Type.Boolean()),
              }),
              { maxItems: 200 },
            ),
          ),
          set: optional(
            'Field code to value that the transition writes, without a right to write it: values, variables such as $me and $now, null to clear.',
            SetSchema,
          ),
        },
        { part: 'transition' },
      ),
      { maxItems: 1000 },
    ),
  ),
});

type Item = Static<typeof WorkflowItem>;

function normalise(item: Item): WorkflowDefinition {
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    initial: item.initial,
    states: item.states.map(({ code, name, category, onRequesterReply, reopenWithin }) => ({
      code,
      name: (name as Localized | undefined) ?? code,
      category,
      ...(onRequesterReply === undefined ? {} : { onRequesterReply }),
      ...(reopenWithin === undefined ? {} : { reopenWithin: canonicalDuration(reopenWithin) ?? reopenWithin }),
    })),
    transitions: (item.transitions ?? []).map((transition) => ({
      code: transition.code,
      name: (transition.name as Localized | undefined) ?? transition.code,
      from: transition.from,
      to: transition.to,
      ...(transition.condition === undefined ? {} : { condition: transition.condition as never }),
      fields: (transition.fields ?? []).map(({ code, required }) => ({ code, required: required ?? false })),
      set: (transition.set ?? {}) as { [code: string]: unknown },
    })),
  };
}

/** Queries on stored records. The objects module implements them. */
export interface StateProbe {
  /** The number of records in each state. */
  countInStates(ctx: ReadContext, stateIds: readonly string[]): Promise<HeldCount[]>;
}

/** Writes the item, and which of its states no record may enter any more. */
function write(ctx: WriteContext, change: Change, view: CompileView): void {
  planItem(ctx, change);
  if (change.action === 'archive' || change.stored === undefined) return;
  const codesOf = (definition: unknown): Set<string> =>
    new Set((definition as WorkflowDefinition).states.map(({ code }) => code));
  const before = codesOf(change.stored.definition);
  const after = codesOf(change.definition);
  const row = (code: string) => ({ id: view.nested(stateScope(change.code), code) });
  for (const code of before.difference(after)) ctx.plan(removeState, row(code));
  for (const code of after.difference(before)) ctx.plan(returnState, row(code));
}

export function workflowsSection(probe: StateProbe): ConfigSection {
  return defineSection<Item, WorkflowDefinition>({
    key: 'workflows',
    summary: 'Workflows: states and transitions of records.',
    schema: WorkflowItem,
    normalise,
    compile: (workflow, view, report) => {
      checkUnique(workflow.states, (state) => state.code, ['states'], 'code', report);
      checkUnique(workflow.transitions, (transition) => transition.code, ['transitions'], 'code', report);
      checkReplies(workflow, report);
      return compileWorkflow(workflow, view, report);
    },
    countRecords: async (ctx, { code }, gone, view) =>
      await probe.countInStates(
        ctx,
        gone.map(({ codes: [state = ''] }) => view.nested(stateScope(code), state)),
      ),
    write,
    notes: async (change, view, yielder) => [
      ...(change.action === 'archive' ? [] : replyNotes(change.definition as WorkflowDefinition)),
      ...(await hiddenConditionNotes(change, view, yielder)),
    ],
  });
}

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
  const unknown = (code: string): Problem => problem('UNKNOWN_STATE', { code });
  if (!states.has(workflow.initial)) report(['initial'], unknown(workflow.initial));
  for (const [index, { from, to }] of workflow.transitions.entries()) {
    const path = ['transitions', index];
    if (!states.has(to)) report([...path, 'to'], unknown(to));
    if (from === '*') continue;
    for (const [at, code] of from.entries()) {
      if (!states.has(code)) report([...path, 'from', at], unknown(code));
    }
  }
  const reached = new Set([workflow.initial]);
  for (const state of reached) {
    for (const { from, to } of workflow.transitions) if (from === '*' || from.includes(state)) reached.add(to);
  }
  for (const [index, { code }] of workflow.states.entries()) {
    if (!reached.has(code)) {
      report(['states', index], problem('UNREACHABLE_STATE', { from: workflow.initial, code }));
    }
  }
}

/** An answer can only fire a transition that leaves the state and asks for nothing that only a form can give. */
function checkReplies({ states, transitions }: WorkflowDefinition, report: Report): void {
  for (const [index, { code, onRequesterReply, reopenWithin }] of states.entries()) {
    const at = (property: 'onRequesterReply' | 'reopenWithin'): ItemPath => ['states', index, property];
    if (reopenWithin !== undefined && (canonicalDuration(reopenWithin) ?? 'PT0S').replace('-', '') === 'PT0S') {
      report(at('reopenWithin'), problem('REPLY_PERIOD'));
    }
    if (onRequesterReply === undefined) {
      if (reopenWithin !== undefined) report(at('reopenWithin'), problem('REPLY_WITHOUT_TRANSITION'));
      continue;
    }
    const transition = transitions.find((one) => one.code === onRequesterReply);
    const refuse = (reason: 'REPLY_UNKNOWN' | 'REPLY_NOT_FROM' | 'REPLY_NEEDS_TEXT'): void =>
      report(at('onRequesterReply'), problem(reason, { transition: onRequesterReply, state: code }));
    if (transition === undefined) refuse('REPLY_UNKNOWN');
    else if (
      transition.from === '*' ? transition.to === code : !transition.from.includes(code) || transition.to === code
    )
      refuse('REPLY_NOT_FROM');
    else if (transition.fields.some((field) => field.required && field.code.startsWith('$')))
      refuse('REPLY_NEEDS_TEXT');
  }
}

/** Answers fire nothing on records without a value for the required fields of the transition. */
function replyNotes({ states, transitions }: WorkflowDefinition): PlanNote[] {
  return states.flatMap(({ code: state, onRequesterReply }) => {
    const transition = transitions.find(({ code }) => code === onRequesterReply);
    const needed = (transition?.fields ?? []).filter(({ required }) => required).map(({ code }) => code);
    if (transition === undefined || needed.length === 0) return [];
    return planNote('REPLY_NEEDS_VALUES', { state, transition: transition.code, fields: needed.join(', ') });
  });
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
      report([...path, 'fields', index, 'code'], problem('TYPE_HAS_NO_FIELD', { type: lacking.code, field: code }));
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
  const check = (field: FieldDefinition, value: unknown) => checkValue(field, value, '');
  const set = compileSet(transition.set, [...path, 'set'], types, check, { view, report });
  if (transition.condition === undefined) return { set };
  const condition = compileTypedCondition(transition.condition, [...path, 'condition'], users, { view, report });
  return { condition, set };
}

/**
 * Validates the workflow alone and with each type that uses it. If no type uses it, its conditions and values cannot be
 * validated and stay as written until a type uses it.
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
    // Unknown states were reported and must not get an id.
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
