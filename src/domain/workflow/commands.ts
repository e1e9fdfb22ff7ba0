/** The only way in which a record changes its workflow state. */
import { Fault, type FaultDetail } from '../../lib/fault.ts';
import { fieldsOf } from '../../lib/filter.ts';
import { deepEqualJson, pointer } from '../../lib/json.ts';
import type { WriteContext } from '../../mechanisms/context.ts';
import { checkValue, type FieldDefinition, registry } from '../metadata/door.ts';
import {
  applyChange,
  invalidValues,
  planChange,
  requireActive,
  requireGranted,
  requireReferences,
  requireRevision,
  type VisibleObject,
} from '../objects/door.ts';
import { conditionHolds, DECISION_REPORT, holds, REASON } from './queries.ts';
import { leaves, type Transition, transitionsOf } from './registry.ts';
import { setValue } from './set.ts';

export interface TransitionInput {
  objectId: string;
  transitionId: string;
  expectedRevision: number;
  expectedStateId: string;
  values?: Record<string, unknown>;
}

/**
 * Makes a transition (api.md, `POST /objects/{objectId}/transitions`): values, `set`, state, history and events in one change.
 *
 * @throws Fault NOT_FOUND, RIGHT_MISSING, ARCHIVED, REVISION_CONFLICT, STATE_CONFLICT, TRANSITION_NOT_AVAILABLE,
 * TRANSITION_CONDITION_NOT_MET, INVALID_VALUES, FIELD_READ_ONLY
 */
export async function transitionObject(
  ctx: WriteContext,
  input: TransitionInput,
): Promise<{ object: { id: string; revision: number }; transition: { id: string } }> {
  const object = await requireGranted(ctx, input.objectId, 'transition');
  const transition = transitionsOf(ctx, object.type, object.version).get(input.transitionId);
  if (transition !== undefined && !holds(object, transition)) throw notHeld(transition);
  ctx.rightsChecked();
  requireActive(object);
  await requireRevision(ctx, object, input.expectedRevision);
  if (input.expectedStateId !== object.row.workflowStateId) {
    throw new Fault('STATE_CONFLICT', 'The record is in another state than you expected; read its workflow again.');
  }
  if (transition === undefined || !leaves(transition, object.row.workflowStateId)) throw notAvailable();
  if (!conditionHolds(ctx, object, transition)) throw notMet(object, transition);
  const { values, changes, remarks } = await plan(ctx, object, transition, input.values ?? {});
  const to = registry(ctx).states.get(transition.toId);
  const changed = applyChange(ctx, object, {
    type: 'ObjectTransitioned',
    workflowStateId: transition.toId,
    values,
    changes: { ...changes, workflowState: [object.state?.code ?? null, to?.code ?? null] },
    data: { transition: { id: transition.id, code: transition.code }, ...remarks },
  });
  return { object: { id: changed.row.id, revision: changed.row.revision }, transition: { id: transition.id } };
}

function notHeld(transition: Transition): Fault {
  return new Fault('RIGHT_MISSING', `You may not make the transition "${transition.code}" on this record.`, {
    right: `transition:${transition.code}`,
  });
}

function notAvailable(): Fault {
  return new Fault(
    'TRANSITION_NOT_AVAILABLE',
    'There is no such transition from the present state; read the workflow of the record.',
  );
}

function notMet(object: VisibleObject, transition: Transition): Fault {
  const fields = transition.condition === null ? [] : fieldsOf(transition.condition);
  const readable = fields.filter((field) => field.kind === 'system' || object.right.reads(field.code));
  return new Fault(
    'TRANSITION_CONDITION_NOT_MET',
    'The condition of the transition does not hold on the record as it stands.',
    [...new Set(readable.map((field) => field.code))].map((code) => ({
      path: pointer('values', code),
      code: 'CONDITION_NOT_MET',
      message: 'The condition of the transition asks for another value here.',
    })),
  );
}

interface Planned {
  values: Record<string, unknown>;
  changes: Record<string, [unknown, unknown]>;
  remarks: Record<string, unknown>;
}

async function plan(
  ctx: WriteContext,
  object: VisibleObject,
  transition: Transition,
  given: Record<string, unknown>,
): Promise<Planned> {
  const { [REASON]: reason, [DECISION_REPORT]: report, ...fields } = given;
  const inForm = new Set(transition.fields.map((part) => part.code));
  const remarks: Record<string, unknown> = {};
  const problems: FaultDetail[] = [];
  const remark = (code: string, key: string, dataType: 'text' | 'rich-text', value: unknown): void => {
    if (value === undefined || value === null) return;
    const path = pointer('values', code);
    if (!inForm.has(code)) problems.push(outOfForm(path));
    else {
      const checked = checkValue(remarkField(code, dataType), value, path);
      if (checked.ok) remarks[key] = checked.stored;
      else problems.push(...checked.problems);
    }
  };
  remark(REASON, 'reason', 'text', reason);
  remark(DECISION_REPORT, 'decisionReport', 'rich-text', report);
  for (const code of Object.keys(fields)) if (!inForm.has(code)) problems.push(outOfForm(pointer('values', code)));
  if (problems.length > 0) throw invalidValues(problems);
  const planned = planChange(object.version, object.row.values, fields, 'values', object.right);
  await requireReferences(ctx, object.version, pickChanged(planned), 'values');
  configured(ctx, object, transition, planned);
  requireForm(transition, planned.values, remarks);
  return { ...planned, remarks };
}

function outOfForm(path: string): FaultDetail {
  return { path, code: 'UNKNOWN_FIELD', message: 'This is no field of the transition.' };
}

function remarkField(code: string, dataType: 'text' | 'rich-text'): FieldDefinition {
  const search = { text: false, filter: false, facet: false };
  return { code, name: code, dataType, required: false, readOnly: false, multiple: false, constraints: {}, search };
}

function pickChanged(planned: { values: Record<string, unknown>; changes: object }): Record<string, unknown> {
  const codes = Object.keys(planned.changes).filter((code) => Object.hasOwn(planned.values, code));
  return Object.fromEntries(codes.map((code) => [code, planned.values[code]]));
}

/** The transition's own writes: the configuration's, so they need no field right. They go last. */
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

function requireForm(transition: Transition, values: Record<string, unknown>, remarks: Record<string, unknown>): void {
  const missing = transition.fields.filter((part) => {
    if (!part.required) return false;
    if (part.code === REASON) return remarks.reason === undefined || remarks.reason === '';
    if (part.code === DECISION_REPORT) return remarks.decisionReport === undefined;
    return !Object.hasOwn(values, part.code);
  });
  if (missing.length === 0) return;
  throw invalidValues(
    missing.map((part) => ({
      path: pointer('values', part.code),
      code: 'REQUIRED',
      message: 'The transition needs a value here.',
    })),
  );
}
