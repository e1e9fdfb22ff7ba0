/** Transitions: the only API command that changes a record's workflow state. */
import { canName } from '../../contract/rights.ts';
import { Fault, type FaultDetail, invalidValues, isFault } from '../../lib/fault.ts';
import { fieldsOf } from '../../lib/filter.ts';
import { deepEqualJson, pointer } from '../../lib/json.ts';
import { problem, problemAt } from '../../lib/problem.ts';
import { inTurns } from '../../lib/yielding.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import {
  checkValue,
  type FieldDefinition,
  type InlineImage,
  isBlankText,
  registry,
  setValue,
  withLongTextsRead,
} from '../metadata/index.ts';
import {
  applyChange,
  imagesIn,
  type PlannedChange,
  planChange,
  requireAction,
  requireActive,
  requireGranted,
  requireNoneReadOnly,
  requireReferences,
  requireRevision,
  strangeImages,
  type VisibleObject,
} from '../objects/index.ts';
import { conditionHolds, holds, REMARKS } from './queries.ts';
import { leaves, type Transition, transitionsOf } from './registry.ts';

export interface TransitionInput {
  objectId: string;
  transitionId: string;
  expectedRevision: number;
  expectedStateId: string;
  values?: Record<string, unknown>;
  /** Values of fields outside of the transition's form, changed with it. They need the right `update`. */
  changes?: Record<string, unknown>;
}

/**
 * Makes a transition (docs/spec/workflow-and-sla.md#transitions). Values, `set`, state, history and events are one change.
 *
 * @throws Fault NOT_FOUND, RIGHT_MISSING, ARCHIVED, REVISION_CONFLICT, STATE_CONFLICT, TRANSITION_NOT_AVAILABLE,
 *   TRANSITION_CONDITION_NOT_MET, INVALID_VALUES, FIELD_READ_ONLY
 */
export async function transitionObject(
  ctx: WriteContext,
  input: TransitionInput,
): Promise<{ object: { id: string; revision: number }; transition: { id: string } }> {
  const object = await requireGranted(ctx, input.objectId, 'transition');
  const transition = transitionsOf(ctx, object.type, object.version).get(input.transitionId);
  if (transition !== undefined && !holds(object, transition)) throw notHeld(transition);
  const named = Object.keys(input.values ?? {}).filter((code) => transition?.fields.some((part) => part.code === code));
  requireNoneReadOnly(object.version, object.right, named, 'values');
  const beside = input.changes ?? {};
  if (Object.keys(beside).length > 0) {
    requireAction(object, 'update');
    requireNoneReadOnly(object.version, object.right, Object.keys(beside), 'changes');
  }
  ctx.markAuthorized();
  requireActive(object);
  await requireRevision(ctx, object, input.expectedRevision);
  if (object.row.workflowStateId === null) throw notAvailable();
  if (input.expectedStateId !== object.row.workflowStateId) {
    throw new Fault('STATE_CONFLICT', problem('OTHER_STATE'));
  }
  if (transition === undefined || !leaves(transition, object.row.workflowStateId)) throw notAvailable();
  if (!conditionHolds(ctx, object, transition)) throw notMet(object, transition);
  const { values, changes, images, remarks } = await plan(ctx, object, transition, input.values ?? {}, beside);
  const to = registry(ctx).states.get(transition.toId);
  const changed = await applyChange(ctx, object, {
    event: {
      type: 'ObjectTransitioned',
      data: { transition: { id: transition.id, code: transition.code }, ...remarks },
    },
    workflowStateId: transition.toId,
    ...(Object.keys(changes).length === 0 ? {} : { values }),
    images,
    changes: { ...changes, workflowState: [object.state?.code ?? null, to?.code ?? null] },
  });
  return { object: { id: changed.row.id, revision: changed.row.revision }, transition: { id: transition.id } };
}

function notHeld(transition: Transition): Fault {
  return new Fault('RIGHT_MISSING', problem('TRANSITION_NOT_ALLOWED', { transition: transition.code }), {
    right: `transition:${transition.code}`,
  });
}

function notAvailable(): Fault {
  return new Fault(
    'TRANSITION_NOT_AVAILABLE',
    'The current state has no such transition. Read the workflow of the record.',
  );
}

function notMet(object: VisibleObject, transition: Transition): Fault {
  const fields = transition.condition === null ? [] : fieldsOf(transition.condition);
  const readable = fields.filter((field) => field.kind === 'system' || object.right.canRead(field.code));
  return new Fault(
    'TRANSITION_CONDITION_NOT_MET',
    'The record does not meet the condition of the transition. Change the fields in details first.',
    [...new Set(readable.map((field) => field.code))].map((code) =>
      problemAt(pointer('values', code), 'CONDITION_NOT_MET'),
    ),
  );
}

interface Planned extends PlannedChange {
  /** Values stored with the event: `reason`, `decisionReport`. */
  remarks: Record<string, unknown>;
}

async function plan(
  ctx: WriteContext,
  object: VisibleObject,
  transition: Transition,
  given: Record<string, unknown>,
  beside: Record<string, unknown>,
): Promise<Planned> {
  const isRich = (code: string): boolean =>
    (REMARKS.get(code)?.dataType ?? object.version.fields.get(code)?.dataType) === 'rich-text' &&
    transition.fields.some((part) => part.code === code);
  const read = await withLongTextsRead(given, isRich, 'values', ctx.actor.userId);
  const isRichBeside = (code: string): boolean =>
    object.version.fields.get(code)?.dataType === 'rich-text' && canName(object.right, code);
  const readBeside = await withLongTextsRead(beside, isRichBeside, 'values', ctx.actor.userId);
  const { remarks, fields, images, problems } = readForm(object, transition, read);
  const nothing: PlannedChange = { values: { ...object.row.values }, changes: {}, images: [] };
  const planned = await collect(
    problems,
    () => inTurns(planChange(object.version, object.row.values, { ...readBeside, ...fields }, 'values', object.right)),
    nothing,
  );
  await requireReferences(ctx, object.version, pickChanged(planned), 'values');
  configured(ctx, object, transition, planned);
  const named = new Set(problems.map((problem) => problem.path));
  problems.push(...missing(object, transition, planned.values, remarks).filter((problem) => !named.has(problem.path)));
  if (problems.length > 0) throw invalidValues(problems);
  return { ...planned, images: [...planned.images, ...images], remarks };
}

interface GivenForm {
  remarks: Record<string, unknown>;
  /** Field code → given value, only fields of the form. */
  fields: Record<string, unknown>;
  /** Images of the decision report. */
  images: InlineImage[];
  problems: FaultDetail[];
}

/** Splits the given values into those stored with the event and those stored in the record. */
function readForm(object: VisibleObject, transition: Transition, given: Record<string, unknown>): GivenForm {
  const inForm = new Set(transition.fields.map((part) => part.code));
  const form: GivenForm = { remarks: {}, fields: {}, images: [], problems: [] };
  for (const [code, value] of Object.entries(given)) {
    const path = pointer('values', code);
    const remark = REMARKS.get(code);
    if (!inForm.has(code)) form.problems.push(problemAt(path, 'NO_FIELD_OF_TRANSITION'));
    else if (remark === undefined) form.fields[code] = value;
    else {
      const checked = checkValue(remarkField(code, remark.dataType), value, path);
      if (!checked.ok) form.problems.push(...checked.problems);
      else if (checked.stored !== null) {
        form.remarks[remark.key] = checked.stored;
        form.images.push(...checked.images);
        if (remark.dataType === 'rich-text') form.problems.push(...strangeImages(checked, visibleImages(object), path));
      }
    }
  }
  return form;
}

function visibleImages({ version, row, right }: VisibleObject): Set<string> {
  return imagesIn(version, row.values, (code) => right.canRead(code));
}

/** Returns the result of `decide`. If it throws INVALID_VALUES, adds its details to `problems` and returns `otherwise`. */
async function collect<T>(problems: FaultDetail[], decide: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await decide();
  } catch (error) {
    if (!isFault(error) || error.code !== 'INVALID_VALUES') throw error;
    problems.push(...(error.details as FaultDetail[]));
    return otherwise;
  }
}

function remarkField(code: string, dataType: 'text' | 'rich-text'): FieldDefinition {
  const search = { text: false, filter: false, facet: false };
  return { code, name: code, dataType, required: false, readOnly: false, multiple: false, constraints: {}, search };
}

function pickChanged(planned: { values: Record<string, unknown>; changes: object }): Record<string, unknown> {
  const codes = Object.keys(planned.changes).filter((code) => Object.hasOwn(planned.values, code));
  return Object.fromEntries(codes.map((code) => [code, planned.values[code]]));
}

/**
 * Applies the values that the transition sets. They come from the configuration, so they need no field right, and override
 * given values.
 */
function configured(
  ctx: WriteContext,
  object: VisibleObject,
  transition: Transition,
  planned: { values: Record<string, unknown>; changes: Record<string, [unknown, unknown]> },
): void {
  for (const [code, configuredValue] of Object.entries(transition.set)) {
    const field = object.version.fields.get(code);
    if (field === undefined) continue;
    const value = setValue(ctx, field, configuredValue);
    const before = Object.hasOwn(object.row.values, code) ? object.row.values[code] : null;
    if (value === null) delete planned.values[code];
    else planned.values[code] = value;
    if (deepEqualJson(before, value)) delete planned.changes[code];
    else planned.changes[code] = [before, value];
  }
}

/** Required fields of the form without a value. Fields that the caller may neither read nor write are not named. */
function missing(
  object: VisibleObject,
  transition: Transition,
  values: Record<string, unknown>,
  remarks: Record<string, unknown>,
): FaultDetail[] {
  const lacking = transition.fields.filter(({ code, required }) => {
    if (!required) return false;
    const remark = REMARKS.get(code);
    if (remark !== undefined) return !Object.hasOwn(remarks, remark.key) || isBlank(remarks[remark.key]);
    // An older version of the record's type may not have the field.
    const field = object.version.fields.get(code);
    return field !== undefined && (!Object.hasOwn(values, code) || isBlankText(field, values[code]));
  });
  const known = lacking.filter(({ code }) => REMARKS.has(code) || canName(object.right, code));
  const problems = known.map(({ code }) => problemAt(pointer('values', code), 'TRANSITION_NEEDS_VALUE'));
  if (known.length === lacking.length) return problems;
  return [...problems, problemAt(pointer('values'), 'TRANSITION_NEEDS_HIDDEN')];
}

function isBlank(remark: unknown): boolean {
  return typeof remark === 'string' && remark.trim() === '';
}
