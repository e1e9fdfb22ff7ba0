/** Write commands on records. Each command checks rights, plans its writes and returns; the unit of work executes them. */
import { isArchived, type ItemState } from '../../contract/state.ts';
import { Fault, faultAt } from '../../lib/fault.ts';
import { inTurns } from '../../lib/yielding.ts';
import { problem } from '../../lib/problem.ts';
import { deepEqualJson } from '../../lib/json.ts';
import { canName, type FieldAccess } from '../../contract/rights.ts';
import type { ReadContext, TypedEvent, UnitPart, WriteContext } from '../../platform/unit-of-work/context.ts';
import {
  findType,
  type InlineImage,
  numberSequence,
  type RecordType,
  registry,
  storedCodes,
  withLongTextsRead,
} from '../metadata/index.ts';
import {
  plannedWrite,
  planOn,
  rememberRow,
  rememberWrite,
  requireAction,
  requireActive,
  requireGranted,
  requireRevision,
  requireUnused,
} from './load.ts';
import { requireAssignable } from './assignable.ts';
import { type Authorized, evaluateAccess, type ObjectAnswer, type VisibleObject } from './record.ts';
import { liveAnswer } from './live-answers.ts';
import { requireReferences } from './references.ts';
import {
  changesText,
  derive,
  type LongTexts,
  pick,
  planChange,
  planValues,
  requireNoneReadOnly,
  requireWritable,
  type Values,
} from './rules.ts';
import { changeObject, insertObject, type ObjectChange, type ObjectRow } from './store.ts';
import { useImage } from './store-lookups.ts';

export interface CreateInput {
  typeDefinitionId: string;
  values: Values;
  objectId?: string;
  /**
   * The values form a complete record, as in a row of an import. A field that the caller may read but not write is refused only
   * if its value would change the record.
   */
  whole?: boolean;
}

/**
 * Creates a record (docs/spec/records.md#a-record). The right is checked on the record as it would be stored.
 *
 * @throws Fault INVALID_REQUEST (type unknown to the caller), RIGHT_MISSING, INVALID_VALUES, FIELD_READ_ONLY, ALREADY_EXISTS
 */
export async function createObject(ctx: WriteContext, input: CreateInput, unit: UnitPart = {}): Promise<ObjectAnswer> {
  const type = requireType(ctx, input.typeDefinitionId);
  // If the right has no condition, no check of it is left that depends on the record.
  if (ctx.actor.alwaysMay(type.id, 'create')) ctx.markAuthorized(unit);
  return liveAnswer(ctx, ctx, await create(ctx, ctx, type, input, unit));
}

/** Parts of a create that a catalogue item adds. They come from the configuration, not from the caller. */
export interface ConfiguredCreate {
  /**
   * Codes of the accepted fields. The value says whether the field must have a value in the end. No other field may be named.
   */
  form: ReadonlyMap<string, boolean>;
  /** Values that the configuration writes, computed from the given ones: stored values, null to clear. Needs no field right. */
  writes(given: Values): Values;
  /** Added to the data of the `ObjectCreated` event. */
  data?: Record<string, unknown>;
}

/**
 * Creates a record on behalf of another user, with the rules of `createObject`. `onBehalf` has the rights of the user for
 * whom the record is created, `ctx` is that of the user who creates it.
 *
 * @returns the record as that user may see it
 * @throws Fault RIGHT_MISSING, INVALID_VALUES, FIELD_READ_ONLY
 */
export async function createFor(
  ctx: WriteContext,
  onBehalf: ReadContext,
  type: RecordType,
  input: { values: Values; configured: ConfiguredCreate },
): Promise<VisibleObject> {
  return await create(ctx, onBehalf, type, input);
}

async function create(
  ctx: WriteContext,
  onBehalf: ReadContext,
  type: RecordType,
  input: { values: Values; objectId?: string; whole?: boolean; configured?: ConfiguredCreate },
  unit: UnitPart = {},
): Promise<VisibleObject> {
  const { actor } = onBehalf;
  if (!actor.mayEver(type.id, 'create')) throw createMissing();
  ctx.markAuthorized();
  const { configured } = input;
  const version = type.newest;
  const given = Object.keys(input.values);
  const inForm = (code: string): boolean => configured === undefined || configured.form.has(code);
  // Field rights of a create depend on the record as it would be stored. Until that is known, accept the fields that the caller
  // may access on at least some records of the type.
  const ofType = actor.fieldAccess(type.id);
  const access: FieldAccess = {
    canRead: (code) => inForm(code) && ofType.canRead(code),
    canWrite: (code) => inForm(code) && ofType.canWrite(code),
  };
  const isRich = (code: string): boolean => version.fields.get(code)?.dataType === 'rich-text' && canName(access, code);
  const read = await withLongTextsRead(input.values, isRich, 'values', ctx.actor.userId);
  const { values, images, longTexts } = await inTurns(planValues(version, read, 'values', access, configured));
  const row = newRow(ctx, type, input.objectId ?? ctx.newId(), values, longTexts);
  const object = evaluateAccess(onBehalf, row);
  if (!object.right.can('create')) throw createMissing();
  ctx.markAuthorized(unit);
  const idle = (code: string): boolean =>
    object.right.canRead(code) && deepEqualJson(values[code] ?? null, version.fields.get(code)?.default ?? null);
  requireWritable(object.right, input.whole === true ? given.filter((code) => !idle(code)) : given, 'values');
  await requireReferences(ctx, version, pick(values, given), 'values', onBehalf);
  await requireAssignable(ctx, object, row.values, 'ObjectCreated');
  if (input.objectId !== undefined) await requireUnused(ctx, input.objectId);
  planInsert(ctx, requireAction(object, 'create'), configured?.data);
  keepImages(ctx, row.id, images);
  return object;
}

/** @throws Fault INVALID_REQUEST when no grant of the caller concerns the type, as if it were not configured */
function requireType(ctx: WriteContext, idOrCode: string): RecordType {
  const type = findType(registry(ctx), idOrCode);
  const known = type?.active === true && (ctx.actor.mayEver(type.id, 'read') || ctx.actor.mayEver(type.id, 'create'));
  if (type === undefined || !known) throw faultAt('INVALID_REQUEST', '/typeDefinitionId', 'NO_TYPE');
  return type;
}

function createMissing(): Fault {
  return new Fault('RIGHT_MISSING', problem('CREATE_NOT_ALLOWED'), { right: 'create' });
}

function newRow(ctx: WriteContext, type: RecordType, id: string, values: Values, longTexts: LongTexts): ObjectRow {
  return {
    id,
    typeId: type.id,
    typeVersion: type.newest.version,
    number: null,
    ...derive(type.newest, values, longTexts),
    revision: 1,
    state: 'ACTIVE',
    workflowStateId: type.newest.workflow?.initialId ?? null,
    values,
    createdAt: ctx.now,
    createdBy: ctx.actor.userId,
    createdByName: ctx.actor.displayName,
    updatedAt: ctx.now,
    updatedBy: ctx.actor.userId,
    updatedByName: ctx.actor.displayName,
    archivedAt: null,
  };
}

function planInsert(ctx: WriteContext, object: Authorized<'create'>, data: Record<string, unknown> | undefined): void {
  const { row, type } = object;
  const codes = storedCodes(registry(ctx), type.id);
  const { numbering } = type.newest.definition;
  planOn(ctx, object, insertObject, {
    id: row.id,
    type_id: row.typeId,
    type_version: row.typeVersion,
    sequence: numbering === undefined ? null : numberSequence(numbering.prefix),
    prefix: numbering?.prefix ?? null,
    digits: numbering?.digits ?? null,
    title: row.title,
    workflow_state_id: row.workflowStateId,
    values: codes.encode(row.values),
    folded: codes.encode(row.folded ?? derive(type.newest, row.values).folded),
    at: ctx.now,
    by: ctx.actor.userId,
    updated_by: ctx.actor.userId,
  });
  rememberWrite(ctx, row.id, 'insert');
  if (numbering !== undefined) ctx.returning('number', { write: insertObject.write.name, id: row.id });
  const changes = Object.fromEntries(Object.entries(row.values).map(([code, value]) => [code, [null, value]]));
  ctx.emit({
    type: 'ObjectCreated',
    objectId: row.id,
    revision: 1,
    changes: changes as Record<string, [unknown, unknown]>,
    storedChanges: codes.encodeChanges(changes as Record<string, [unknown, unknown]>),
    ...(data === undefined ? {} : { data }),
    stored: { type: row.typeId, version: row.typeVersion, workflowState: row.workflowStateId },
  });
  rememberRow(ctx, row);
}

export interface UpdateInput {
  objectId: string;
  expectedRevision: number;
  changes: Values;
  /** As in `CreateInput`: a field that the caller may read but not write is refused only if its value would change. */
  whole?: boolean;
}

/**
 * Changes fields of a record (docs/spec/records.md#a-record). If all values equal the stored ones, the revision stays and
 * no event is emitted.
 *
 * @throws Fault NOT_FOUND, RIGHT_MISSING, ARCHIVED, REVISION_CONFLICT, INVALID_VALUES, FIELD_READ_ONLY
 */
export async function updateObject(ctx: WriteContext, input: UpdateInput): Promise<ObjectAnswer> {
  const object = await requireGranted(ctx, input.objectId, 'update');
  const whole = input.whole === true;
  if (!whole) requireNoneReadOnly(object.version, object.right, Object.keys(input.changes), 'changes');
  ctx.markAuthorized();
  requireActive(object);
  await requireRevision(ctx, object, input.expectedRevision);
  const { version, right } = object;
  const isRich = (code: string): boolean => version.fields.get(code)?.dataType === 'rich-text' && canName(right, code);
  const read = await withLongTextsRead(input.changes, isRich, 'changes', ctx.actor.userId);
  const planned = await inTurns(planChange(version, object.row.values, read, 'changes', right, whole));
  const codes = Object.keys(planned.changes);
  if (codes.length === 0) return liveAnswer(ctx, ctx, object);
  await requireReferences(ctx, object.version, pick(planned.values, codes), 'changes');
  return liveAnswer(ctx, ctx, await applyChange(ctx, object, { event: { type: 'ObjectUpdated' }, ...planned }));
}

/**
 * Archives a record (docs/spec/records.md#a-record). An archived record is kept, cannot be changed, and is listed only
 * with `state=ARCHIVED`.
 *
 * @throws Fault NOT_FOUND, RIGHT_MISSING, ARCHIVED, REVISION_CONFLICT
 */
export async function archiveObject(
  ctx: WriteContext,
  input: { objectId: string; expectedRevision: number },
): Promise<{ id: string; revision: number; state: ItemState }> {
  const object = await requireGranted(ctx, input.objectId, 'archive');
  ctx.markAuthorized();
  requireActive(object);
  await requireRevision(ctx, object, input.expectedRevision);
  const { row } = await applyChange(ctx, object, {
    event: { type: 'ObjectArchived' },
    state: 'ARCHIVED',
    changes: { state: ['ACTIVE', 'ARCHIVED'] },
  });
  return { id: row.id, revision: row.revision, state: row.state };
}

/**
 * Restores an archived record with the workflow state that it had (docs/spec/configuration.md#administration-api). Only the
 * administration API offers this.
 *
 * @throws Fault NOT_FOUND, RIGHT_MISSING, STATE_CONFLICT when the record is not archived
 */
export async function restoreObject(ctx: WriteContext, objectId: string): Promise<ObjectAnswer> {
  const object = await requireGranted(ctx, objectId, 'archive');
  ctx.markAuthorized();
  if (!isArchived(object.row)) throw new Fault('STATE_CONFLICT', problem('NOT_ARCHIVED'));
  return liveAnswer(
    ctx,
    ctx,
    await applyChange(ctx, object, {
      event: { type: 'ObjectRestored' },
      state: 'ACTIVE',
      changes: { state: ['ARCHIVED', 'ACTIVE'] },
    }),
  );
}

/** The right on the record that each kind of change needs. */
interface ChangeActions {
  ObjectUpdated: 'update';
  ObjectTransitioned: 'transition';
  ObjectArchived: 'archive';
  ObjectRestored: 'archive';
}
type ChangeEvent = keyof ChangeActions;

/** A decided change: the differences from the record as it was loaded. */
export interface ObjectPlan {
  event: TypedEvent<ChangeEvent>;
  changes: Record<string, [unknown, unknown]>;
  values?: Values;
  state?: ItemState;
  /** Null if the record's type no longer has a workflow. */
  workflowStateId?: string | null;
  typeVersion?: number;
  /** Images that were sent with the values. */
  images?: readonly InlineImage[];
  longTexts?: LongTexts;
}

/**
 * Writes every change that makes a new revision of an existing record: updates, archiving, transitions and all variants pass a
 * plan to it. The write requires the revision that the plan was made on; otherwise the unit of work is retried. Further changes
 * of the record in the same unit of work become part of its one write and share the revision.
 *
 * @returns the record as it will be stored, with the caller's rights after the change
 */
export async function applyChange<Event extends ChangeEvent>(
  ctx: WriteContext,
  object: Authorized<ChangeActions[NoInfer<Event>]>,
  plan: ObjectPlan & { event: TypedEvent<Event> },
): Promise<VisibleObject> {
  const { row } = object;
  const codes = storedCodes(registry(ctx), row.typeId);
  const event: TypedEvent<ChangeEvent> = plan.event;
  const typeVersion = plan.typeVersion ?? row.typeVersion;
  const version = object.type.versions.get(typeVersion) ?? object.version;
  const state = plan.state ?? row.state;
  // Skip the folding if no text changes.
  const needsRefold = typeVersion !== row.typeVersion || changesText(version, Object.keys(plan.changes));
  const derived = needsRefold && plan.values !== undefined ? derive(version, plan.values, plan.longTexts) : {};
  const next: ObjectRow = {
    ...row,
    ...(plan.values === undefined ? {} : { values: plan.values, ...derived }),
    typeVersion,
    revision: plannedWrite(ctx, row.id) === undefined ? row.revision + 1 : row.revision,
    state,
    workflowStateId: plan.workflowStateId === undefined ? row.workflowStateId : plan.workflowStateId,
    // Clocks of several processes differ a little. Clients and lists that follow the time of the last change must not miss one.
    updatedAt: ctx.now > row.updatedAt ? ctx.now : row.updatedAt,
    updatedBy: ctx.actor.userId,
    updatedByName: ctx.actor.displayName,
    archivedAt: isArchived({ state }) ? (row.archivedAt ?? ctx.now) : null,
  };
  const changed = evaluateAccess(ctx, next);
  // A migration keeps the values that were stored.
  if (typeVersion === row.typeVersion) await requireAssignable(ctx, changed, plan.changes, event.type);
  planWrite(ctx, object, {
    id: row.id,
    expected: row.revision,
    type_version: next.typeVersion,
    newest: object.type.newest.version,
    title: next.title,
    state: next.state,
    workflow_state_id: next.workflowStateId,
    values: plan.values === undefined ? null : codes.encode(plan.values),
    folded: needsRefold ? codes.encode(next.folded ?? derive(version, next.values).folded) : null,
    at: next.updatedAt,
    by: ctx.actor.userId,
    archived_at: next.archivedAt,
  });
  keepImages(ctx, row.id, plan.images ?? []);
  ctx.emit({
    ...event,
    objectId: row.id,
    revision: next.revision,
    changes: plan.changes,
    storedChanges: codes.encodeChanges(plan.changes),
    ...(next.typeVersion === row.typeVersion && next.workflowStateId === row.workflowStateId
      ? {}
      : { stored: { version: next.typeVersion, workflowState: next.workflowStateId } }),
  });
  rememberRow(ctx, next);
  return changed;
}

/** Plans the change, or makes it part of the write of the record that the unit of work has planned already. */
function planWrite(
  ctx: WriteContext,
  object: Authorized<'update' | 'archive' | 'transition'>,
  change: ObjectChange,
): void {
  const { id, title, type_version, workflow_state_id, by } = change;
  switch (plannedWrite(ctx, id)) {
    case undefined:
      rememberWrite(ctx, id, 'change');
      return planOn(ctx, object, changeObject, change);
    case 'change':
      return ctx.replan(changeObject.write, (row) => {
        if (row.id !== id) return row;
        const { expected, values, folded } = row;
        return { ...change, expected, values: change.values ?? values, folded: change.folded ?? folded };
      });
    case 'insert':
      if (isArchived(change)) throw new Error(`record ${id} cannot be archived by the unit that creates it`);
      return ctx.replan(insertObject.write, (row) => {
        if (row.id !== id) return row;
        const { values, folded } = { values: change.values ?? row.values, folded: change.folded ?? row.folded };
        return { ...row, title, type_version, workflow_state_id, values, folded, updated_by: by };
      });
  }
}

function keepImages(ctx: WriteContext, objectId: string, images: readonly InlineImage[]): void {
  for (const { sha256, mediaType, bytes } of images) {
    ctx.storeBlob(sha256, bytes);
    ctx.plan(useImage, { objectId, sha256, mediaType, size: bytes.length });
  }
}
