/**
 * The reference model: what each call must answer and change, written from docs/spec. It is deliberately simple: maps in memory,
 * no concurrency. `judge` tells whether an answer is the one that the model gives in a state.
 */
import { isDeepStrictEqual } from 'node:util';
import type { TestAnswer } from '../support/app.ts';
import type { Archive, Call, Change, Move, Op } from './calls.ts';
import { judgeIdentity } from './reference-identity.ts';
import { judgeAround, visible } from './reference-around.ts';
import { judgeReads } from './reference-reads.ts';
import {
  done,
  type Judged,
  type Outcome,
  pointersOf,
  refuse,
  type Refusal,
  replayed,
  sameRecord,
  succeed,
} from './outcome.ts';
import { followPolicies, startPolicies } from './sla.ts';
import { having, type Installation, type RecordState, type State, type Values } from './state.ts';
import { canWrite, canRead, changed, checkForm, transitionsOf, wrongReferences } from './values.ts';
import { type Caller, ESCALATED_FROM, REFUSED_TAG } from './world.ts';

/** One atomic step of a call: a bulk call has one for each item. */
export interface Step {
  call: Call;
  answer: TestAnswer;
}

/** @returns the state after the step, or why the answer is not that of the model */
export function judge(state: State, { call, answer }: Step, installation: Installation): Judged {
  const outcome = expected(state, call, answer, installation);
  if ('code' in outcome) return compareRefusal(outcome, answer, state);
  if (answer.status !== outcome.status) return { mismatch: `expected ${outcome.status}` };
  const mismatch = outcome.check(answer.body.data);
  return mismatch === undefined ? { state: outcome.next(answer.body.data) } : { mismatch };
}

function compareRefusal(refusal: Refusal, answer: TestAnswer, state: State): Judged {
  const { status, code, at, or } = refusal;
  // One of the others, of which there may be several.
  if (or !== undefined && answer.body?.error?.code !== code) return compareRefusal(or, answer, state);
  if (answer.status !== status || answer.body?.error?.code !== code) return { mismatch: `expected ${status} ${code}` };
  const found = pointersOf(answer);
  if (at !== undefined && !isDeepStrictEqual(found, [...new Set(at)].sort()))
    return { mismatch: `expected ${code} at ${at.join(' ')}, not at ${found.join(' ')}` };
  return { state };
}

function expected(state: State, call: Call, answer: TestAnswer, installation: Installation): Outcome {
  const { op, who } = call;
  switch (op.kind) {
    case 'malformed':
      return refuse(400, 'INVALID_REQUEST');
    case 'create':
      return create(state, { ...call, op }, answer);
    case 'update':
      return update(state, who, op);
    case 'archive':
      return archive(state, who, op);
    case 'restore':
      return restore(state, who, op.objectId);
    case 'move':
      return move(state, who, op, installation);
    case 'bulk-update':
    case 'bulk-archive':
    case 'bulk-move':
      throw new Error('a bulk call is judged item by item');
    default:
      return (
        judgeAround(state, call, answer) ?? judgeReads(state, call) ?? judgeIdentity(state, call, answer, installation)
      );
  }
}

/** Splits a call into its atomic steps. */
export function stepsOf(call: Call, answer: TestAnswer): Step[] {
  const { op } = call;
  if (op.kind !== 'bulk-update' && op.kind !== 'bulk-archive' && op.kind !== 'bulk-move') return [{ call, answer }];
  const kind = op.kind.slice('bulk-'.length) as 'update' | 'archive' | 'move';
  return op.items.map((item, index) => ({
    call: { who: call.who, op: { kind, ...item } as Op },
    answer: itemAnswer(answer, index),
  }));
}

/** The result of an item of a bulk call in the form of the answer that the single call would have. */
function itemAnswer(answer: TestAnswer, index: number): TestAnswer {
  if (answer.status !== 200) return answer;
  const { status, error, ...data } = answer.body.data[index];
  if (status === 'SUCCEEDED') return { ...answer, body: { data: { ...data, isItem: true } } };
  return { ...answer, status: STATUS_OF[error.code] ?? 400, body: { error } };
}

const STATUS_OF: Readonly<Record<string, number>> = {
  NOT_FOUND: 404,
  RIGHT_MISSING: 403,
  FIELD_READ_ONLY: 403,
  ARCHIVED: 409,
  REVISION_CONFLICT: 409,
  STATE_CONFLICT: 409,
  RULE_REFUSED: 409,
};

// ---------------------------------------------------------------- changes of records

function create(state: State, call: Call & { op: Extract<Op, { kind: 'create' }> }, answer: TestAnswer): Outcome {
  const { who, op } = call;
  const { type, values } = op;
  const knows = who === 'chief' || type === 'ticket' || (who === 'agent' && type === 'part');
  if (!knows) return refuse(400, 'INVALID_REQUEST', ['/typeDefinitionId']);
  if (who === 'viewer' || (who === 'agent' && type !== 'ticket')) return refuse(403, 'RIGHT_MISSING');
  const replay = replayed(state, call, answer);
  if (replay !== undefined) return replay;
  const { stored, refused } = checkForm(who, type, values);
  const withDefault = type !== 'ticket' || Object.hasOwn(values, 'grade') ? stored : { ...stored, grade: 'low' };
  const { values: kept } = changed({}, withDefault);
  const isBlank = typeof kept['title'] !== 'string' || kept['title'].trim() === '';
  const missing = isBlank && !refused.includes('title') ? ['title'] : [];
  if (refused.length + missing.length > 0) return invalid('values', [...refused, ...missing]);
  const readOnly = Object.keys(values).filter((field) => !canWrite(who, type, field));
  if (readOnly.length > 0) return refuse(403, 'FIELD_READ_ONLY', pointers('values', readOnly));
  const wrong = wrongReferences(state, who, stored);
  const id = op.objectId ?? String(answer.body?.data?.id);
  const record: RecordState = {
    id,
    type,
    values: kept,
    revision: 1,
    archived: false,
    workflow: type === 'ticket' ? 'new' : null,
    createdAt: state.now,
    updatedAt: state.now,
    number: (answer.body?.data?.number as string | null | undefined) ?? null,
    history: [{ type: 'ObjectCreated', revision: 1, fields: Object.keys(kept).sort() }],
    sla: [],
    ignoresStart: false,
  };
  const started = type === 'ticket' ? startPolicies(record, state.now) : record;
  const ruled = runRules(state, started, {});
  const taken = state.records.has(id) ? refuse(409, 'ALREADY_EXISTS') : undefined;
  const refusals = [
    ...(wrong.length > 0 ? [invalid('values', wrong)] : []),
    ...('code' in ruled ? [ruled] : []),
    ...(taken === undefined ? [] : [taken]),
  ];
  if ('code' in ruled || refusals.length > 0) return anyOf(refusals);
  return done(201, ruled.state, call, (data) => sameRecord(ruled.record, who, data));
}

function invalid(member: string, fields: readonly string[]): Refusal {
  return refuse(400, 'INVALID_VALUES', pointers(member, fields));
}

/** The first of several refusals, or one of the others: ids, rules and the id of the record are judged with the write. */
function anyOf([first, ...others]: readonly Refusal[]): Refusal {
  if (first === undefined) throw new Error('no refusal');
  return others.length === 0 ? first : { ...first, or: anyOf(others) };
}

function pointers(member: string, fields: readonly string[]): string[] {
  return fields.map((field) => `/${member}/${field}`);
}

const ABSENT = refuse(404, 'NOT_FOUND');
const NO_RIGHT = refuse(403, 'RIGHT_MISSING');

/** Whether a call that needs the action may go on; record, right, archive and revision are checked in this order. */
function atRevision(record: RecordState, expectedRevision: number): Refusal | undefined {
  if (record.archived) return refuse(409, 'ARCHIVED');
  if (record.revision !== expectedRevision) return refuse(409, 'REVISION_CONFLICT');
  return undefined;
}

function update(state: State, who: Caller, op: Change): Outcome {
  const record = visible(state, who, op.objectId);
  if (record === undefined) return ABSENT;
  if (who !== 'chief' && (who !== 'agent' || record.type !== 'ticket')) return NO_RIGHT;
  const { type } = record;
  const given = Object.keys(op.changes);
  const readOnly = given.filter((field) => canRead(who, type, field) && !canWrite(who, type, field));
  if (readOnly.length > 0) return refuse(403, 'FIELD_READ_ONLY', pointers('changes', readOnly));
  const stale = atRevision(record, op.expectedRevision);
  if (stale !== undefined) return stale;
  const { stored, refused } = checkForm(who, type, op.changes);
  const { title } = stored;
  const cleared = title === null || (typeof title === 'string' && title.trim() === '') ? ['title'] : [];
  if (refused.length + cleared.length > 0) return invalid('changes', [...refused, ...cleared]);
  const { values, fields } = changed(record.values, stored);
  const kept = (data: unknown): string | undefined => sameRecord(record, who, data);
  if (fields.length === 0) return succeed(200, state, kept);
  const wrong = wrongReferences(state, who, Object.fromEntries(fields.map((field) => [field, stored[field]])));
  const next = withEvent({ ...record, values }, state.now, 'ObjectUpdated', fields);
  const ruled = runRules(state, next, record.values);
  if ('code' in ruled) return wrong.length > 0 ? anyOf([invalid('changes', wrong), ruled]) : ruled;
  if (wrong.length > 0) return invalid('changes', wrong);
  return succeed(200, ruled.state, (data) => sameRecord(ruled.record, who, data));
}

/** The next revision of a record, with its event. */
function withEvent(record: RecordState, now: number, type: string, fields: readonly string[]): RecordState {
  const revision = record.revision + 1;
  const event = { type, revision, fields: [...fields].sort() };
  return { ...record, revision, updatedAt: now, history: [...record.history, event] };
}

function archive(state: State, who: Caller, { objectId, expectedRevision }: Archive): Outcome {
  const record = visible(state, who, objectId);
  if (record === undefined) return ABSENT;
  if (who !== 'chief') return NO_RIGHT;
  const stale = atRevision(record, expectedRevision);
  if (stale !== undefined) return stale;
  const next = withEvent({ ...record, archived: true }, state.now, 'ObjectArchived', ['state']);
  const { id, revision } = next;
  const stored = having(state, 'records', id, followPolicies(next, state.now));
  return succeed(200, stored, (data) => partly(data, revision, { id, revision, state: 'ARCHIVED' }));
}

/** Compares the members of an answer that have an expected value; a result of a bulk item has fewer members. */
function partly(data: any, revision: number, wanted: Record<string, unknown>): string | undefined {
  if (data?.isItem === true) return data.revision === revision ? undefined : `expected revision ${revision}`;
  for (const [name, value] of Object.entries(wanted))
    if (!isDeepStrictEqual(data?.[name], value)) return `expected ${name} ${JSON.stringify(value)}`;
  return undefined;
}

function restore(state: State, who: Caller, objectId: string): Outcome {
  const record = visible(state, who, objectId);
  if (record === undefined) return ABSENT;
  if (who !== 'chief') return NO_RIGHT;
  if (!record.archived) return refuse(409, 'STATE_CONFLICT');
  const next = withEvent({ ...record, archived: false }, state.now, 'ObjectRestored', ['state']);
  const stored = having(state, 'records', next.id, followPolicies(next, state.now));
  return succeed(200, stored, (data) => sameRecord(next, who, data));
}

function move(state: State, who: Caller, op: Move, installation: Installation): Outcome {
  const record = visible(state, who, op.objectId);
  if (record === undefined) return ABSENT;
  if (who === 'viewer' || (who === 'agent' && record.type !== 'ticket')) return NO_RIGHT;
  const transition = transitionsOf('chief').find(({ code }) => code === op.transition);
  if (transition === undefined) throw new Error(`no transition ${op.transition}`);
  if (record.type === 'ticket' && !transitionsOf(who).includes(transition)) return NO_RIGHT;
  const stale = atRevision(record, op.expectedRevision);
  if (stale !== undefined) return stale;
  if (record.workflow === null) return refuse(400, 'TRANSITION_NOT_AVAILABLE');
  if (record.workflow !== op.expectedState) return refuse(409, 'STATE_CONFLICT');
  if (!transition.from.includes(record.workflow)) return refuse(400, 'TRANSITION_NOT_AVAILABLE');
  if (transition.ofKindA && record.values['kind'] !== 'a')
    return refuse(400, 'TRANSITION_CONDITION_NOT_MET', ['/values/kind']);
  const { form } = transition;
  const strange = Object.keys(op.values).filter((code) => form[code] === undefined);
  const { $reason, ...fields } = op.values;
  const named = Object.fromEntries(Object.entries(fields).filter(([code]) => form[code] !== undefined));
  const { stored, refused } = checkForm(who, record.type, named);
  const given = changed(record.values, stored);
  const missing = Object.keys(form).filter((code) => {
    if (form[code] !== true) return false;
    if (code === '$reason') return typeof $reason !== 'string' || $reason.trim() === '';
    return (given.values[code] ?? null) === null && !refused.includes(code);
  });
  const wrong = [...strange, ...refused, ...missing];
  if (wrong.length > 0) return invalid('values', wrong);
  const set = changed(record.values, { ...stored, ...transition.set(installation.people[who]) });
  const next = followPolicies(
    withEvent({ ...record, values: set.values, workflow: transition.to }, state.now, 'ObjectTransitioned', [
      ...set.fields,
      'workflowState',
    ]),
    state.now,
  );
  const { id, revision } = next;
  const after = having(state, 'records', id, next);
  return succeed(200, after, (data) => partly(data, revision, { object: { id, revision } }));
}

// ---------------------------------------------------------------- rules

/**
 * Fires the rules on a creation or an update, in the order of their codes; what they change fires rules again, behind.
 *
 * @param before the values before the change; `{}` for a creation
 */
function runRules(state: State, record: RecordState, before: Values): { state: State; record: RecordState } | Refusal {
  if (record.type !== 'ticket') return { state: having(state, 'records', record.id, record), record };
  let current = record;
  let comments = state;
  const images: { before: Values; after: Values }[] = [{ before, after: record.values }];
  const fired = new Set<string>();
  const rules: readonly [string, (values: Values) => boolean, () => Refusal | undefined][] = [
    [
      'a-refuse',
      (values) => (values['tags'] as string[] | undefined)?.includes(REFUSED_TAG) === true,
      () => {
        if (current.workflow !== 'work' || (current.values['count'] ?? null) === null)
          return refuse(409, 'RULE_REFUSED');
        apply('ObjectTransitioned', { flag: true }, 'done');
        return undefined;
      },
    ],
    [
      'b-grade',
      (values) => values['escalated'] === true,
      () => {
        apply('ObjectUpdated', { grade: 'high' });
        return undefined;
      },
    ],
    [
      'z-escalate',
      (values) => typeof values['count'] === 'number' && values['count'] >= ESCALATED_FROM,
      () => {
        apply('ObjectUpdated', { escalated: true });
        const id = `by rule ${comments.comments.size}`;
        comments = having(comments, 'comments', id, {
          id,
          objectId: record.id,
          body: 'Escalated',
          visibility: 'internal',
          revision: 1,
          archived: false,
          author: 'chief',
        });
        const event = { type: 'CommentAdded', revision: record.revision, fields: [], about: id };
        current = { ...current, history: [...current.history, event] };
        return undefined;
      },
    ],
  ];
  /** Changes the record as a rule does: within the revision of the call. */
  function apply(type: string, changes: Values, workflow = current.workflow): void {
    const next = changed(current.values, changes);
    const fields = workflow === current.workflow ? next.fields : [...next.fields, 'workflowState'];
    if (fields.length === 0) return;
    if (type === 'ObjectUpdated') images.push({ before: current.values, after: next.values });
    const event = { type, revision: record.revision, fields: [...fields].sort() };
    current = { ...current, values: next.values, workflow, history: [...current.history, event] };
  }
  for (let index = 0; index < images.length; index++) {
    const image = images[index] as (typeof images)[number];
    for (const [code, holds, act] of rules) {
      if (fired.has(code) || !holds(image.after) || holds(image.before)) continue;
      fired.add(code);
      const refusal = act();
      if (refusal !== undefined) return refusal;
    }
  }
  const ruled = followPolicies(current, state.now);
  return { state: having(comments, 'records', ruled.id, ruled), record: ruled };
}
