/** The bundle's section `workflows` (docs/spec/configuration.md#bundle); one that cannot work is refused with the reason. */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { checkUnique } from '../../configuration/checks.ts';
import { defineSection } from '../../configuration/define.ts';
import { hiddenConditionNote } from '../../configuration/hidden-conditions.ts';
import {
  Code,
  ConditionSchema,
  FieldCode,
  type Localized,
  Name,
  oneOf,
  SetSchema,
} from '../../configuration/schemas.ts';
import type { Change, CompileView, ConfigSection, SectionReport } from '../../configuration/section.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { WorkflowDefinition } from '../metadata/index.ts';
import { compileWorkflow, stateScope } from './config-compile.ts';

const WorkflowItem = closed({
  code: Code,
  name: Type.Optional(Name),
  initial: Code,
  states: Type.Array(closed({ code: Code, name: Type.Optional(Name), category: oneOf(['open', 'waiting', 'done']) }), {
    minItems: 1,
    maxItems: 200,
  }),
  transitions: Type.Optional(
    Type.Array(
      closed({
        code: Code,
        name: Type.Optional(Name),
        from: Type.Union([Type.Literal('*'), Type.Array(Code, { minItems: 1, maxItems: 200, uniqueItems: true })]),
        to: Code,
        condition: Type.Optional(ConditionSchema),
        fields: Type.Optional(
          Type.Array(
            closed({
              code: Type.Union([oneOf(['$reason', '$decisionReport']), FieldCode]),
              required: Type.Optional(Type.Boolean()),
            }),
            { maxItems: 200 },
          ),
        ),
        set: Type.Optional(SetSchema),
      }),
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
    states: item.states.map(({ code, name, category }) => ({
      code,
      name: (name as Localized | undefined) ?? code,
      category,
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

/** What stored records tell; the room of records answers. */
export interface StateProbe {
  /** Those of the states in which records stand. */
  occupiedStates(ctx: ReadContext, stateIds: readonly string[]): Promise<string[]>;
}

/** A state that is taken away while records stand in it would leave them nowhere. */
async function verifyStates(
  ctx: ReadContext,
  change: Change,
  view: CompileView,
  probe: StateProbe,
  report: SectionReport,
): Promise<void> {
  const before = change.stored?.definition as WorkflowDefinition | undefined;
  const stay = new Set((change.definition as WorkflowDefinition).states.map((state) => state.code));
  const gone = (before?.states ?? []).filter((state) => !stay.has(state.code));
  if (gone.length === 0) return;
  const ids = new Map(gone.map(({ code }) => [view.nested(stateScope(change.code), code), code]));
  for (const id of await probe.occupiedStates(ctx, [...ids.keys()])) {
    report(
      change.code,
      ['states'],
      'STATE_IN_USE',
      `Records stand in the state ${ids.get(id)}; move them out before it is taken away.`,
    );
  }
}

export function workflowsSection(probe: StateProbe): ConfigSection {
  return defineSection<Item, WorkflowDefinition>({
    key: 'workflows',
    schema: WorkflowItem,
    normalise,
    compile: (workflow, view, report) => {
      checkUnique(workflow.states, (state) => state.code, ['states'], 'code', report);
      checkUnique(workflow.transitions, (transition) => transition.code, ['transitions'], 'code', report);
      return compileWorkflow(workflow, view, report);
    },
    verify: async (ctx, changes, view, report) => {
      for (const change of changes) {
        if (change.action !== 'archive') await verifyStates(ctx, change, view, probe, report);
      }
    },
    note: hiddenConditionNote,
  });
}
