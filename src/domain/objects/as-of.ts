/**
 * Records as of an earlier revision, and the differences between two revisions (docs/spec/records.md#as-of). Values are replayed
 * from the history; rights are those of the caller now.
 */
import { Reply } from '../../contract/operation.ts';
import type { ItemState } from '../../contract/state.ts';
import { canonicalInstant } from '../../lib/data-types/index.ts';
import { Fault, faultAt } from '../../lib/fault.ts';
import { deepEqualJson } from '../../lib/json.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { registry, titleText } from '../metadata/index.ts';
import { RECORD_CHANGES, requireGranted } from './load.ts';
import { actorAnswer, type HistoryEventAnswer } from './history.ts';
import { type ObjectAnswer, project, type VisibleObject } from './record.ts';
import type { Values } from './rules.ts';
import { type FieldRow, findRevision, findRevisionAt, listFieldsAt, type RevisionRow } from './store-revisions.ts';

interface PastState {
  values: Values;
  state: ItemState;
  archivedAt: string | null;
  workflowStateId: string | null;
  typeVersion: number;
}

/** A revision of a record: the record then, the event that made it, and the last change of each field until then. */
interface Revision extends RevisionRow {
  past: PastState;
  fields: ReadonlyMap<string, FieldRow>;
}

/** Events up to the revision that is asked for. The database reads the names in all of them, 200,000 in about 0.3 s. */
const MAX_EVENTS = 200_000;

/** @throws Fault NOT_FOUND, RESULT_TOO_LARGE */
async function loadRevision(ctx: ReadContext, object: VisibleObject, revision: number): Promise<Revision> {
  // The rights were judged on this revision of the record: a newer one may be hidden.
  const row = revision > object.row.revision ? undefined : await findRevision(ctx, object.row, revision);
  if (row === undefined) throw noRevision();
  if (row.events > MAX_EVENTS) {
    const message = `The record has more than ${MAX_EVENTS} changes up to this revision. Ask for an earlier one.`;
    throw new Fault('RESULT_TOO_LARGE', message);
  }
  const fields = new Map<string, FieldRow>();
  for (const change of await listFieldsAt(ctx, object.row, revision)) fields.set(change.field, change);
  return { ...row, fields, past: pastState(ctx, object, row, fields) };
}

function pastState(
  ctx: ReadContext,
  object: VisibleObject,
  { typeVersion, stateSeq, stateId }: RevisionRow,
  fields: ReadonlyMap<string, FieldRow>,
): PastState {
  const values: Record<string, unknown> = {};
  for (const { field, value } of fields.values()) {
    if (!RECORD_CHANGES.has(field) && value !== null) values[field] = value;
  }
  const state = fields.get('state');
  const isArchived = state?.value === 'ARCHIVED';
  const code = fields.get('workflowState');
  // Older events tell the code alone.
  const isByCode = code !== undefined && code.seq > (stateSeq ?? 0);
  return {
    values,
    state: isArchived ? 'ARCHIVED' : 'ACTIVE',
    archivedAt: isArchived ? (state?.at ?? null) : null,
    workflowStateId: isByCode ? stateOfCode(ctx, object, code.value) : stateId,
    typeVersion: typeVersion ?? object.row.typeVersion,
  };
}

/** The state of the type's workflows with that code, for events that were stored without the id. */
function stateOfCode(ctx: ReadContext, { type }: VisibleObject, code: unknown): string | null {
  const workflows = [...type.versions.values()].flatMap(({ workflow }) => workflow ?? []);
  const own = workflows.flatMap(({ states }) => [...states.values()]);
  return [...own, ...registry(ctx).states.values()].find((state) => state.code === code)?.id ?? null;
}

function noRevision(): Fault {
  return new Fault('NOT_FOUND', 'The record has no such revision.');
}

/** @throws Fault INVALID_REQUEST */
function pastInstant(ctx: ReadContext, given: string): string {
  const at = canonicalInstant(given);
  if (at === undefined) throw faultAt('INVALID_REQUEST', 'query.at', 'NOT_AN_INSTANT');
  if (Date.parse(at) > Date.parse(ctx.now)) throw faultAt('INVALID_REQUEST', 'query.at', 'INSTANT_IN_FUTURE');
  return at;
}

/** The title that the values had; null if the caller may not read its field, or the record no longer has that field. */
function titleOf({ type, version, right }: VisibleObject, { values, typeVersion }: PastState): string | null {
  const then = type.versions.get(typeVersion) ?? version;
  const field = then.titleField;
  return field !== null && version.fields.has(field) && right.canRead(field) ? titleText(then, values) : null;
}

/**
 * The record as of a revision, or as of the last revision that was made not later than `at`.
 *
 * @throws Fault INVALID_REQUEST for both parameters at once, or a time in the future; NOT_FOUND, RIGHT_MISSING
 */
export async function getObjectAsOf(
  ctx: ReadContext,
  id: string,
  asked: { revision?: number; at?: string },
): Promise<Reply<ObjectAnswer>> {
  if (asked.revision !== undefined && asked.at !== undefined) {
    throw faultAt('INVALID_REQUEST', 'query.at', 'REVISION_OR_AT');
  }
  const at = asked.at === undefined ? undefined : pastInstant(ctx, asked.at);
  const object = await requireGranted(ctx, id, 'history');
  const { row } = object;
  const revision = at === undefined ? (asked.revision ?? row.revision) : await findRevisionAt(ctx, row, at);
  // A change that was committed since has a higher revision than the record that was loaded.
  const last = await loadRevision(
    ctx,
    object,
    at === undefined ? (revision ?? 0) : Math.min(revision ?? 0, row.revision),
  );
  const { past } = last;
  const state = past.workflowStateId === null ? null : (registry(ctx).states.get(past.workflowStateId) ?? null);
  const answer = project(ctx, {
    ...object,
    state,
    row: {
      ...row,
      ...past,
      typeVersion: row.typeVersion,
      revision: last.revision,
      // As in `applyChange`: it never goes back.
      updatedAt: last.updatedAt,
      updatedBy: last.actorId,
      updatedByName: last.actorName,
    },
  });
  // Stored records keep their title when the title field of the type changes.
  const title = last.revision === row.revision ? answer.title : titleOf(object, past);
  return Reply.withMeta({ ...answer, title }, { asOf: { revision: last.revision, at: last.at } });
}

export interface RevisionDiff {
  from: number;
  to: number;
  changes: { field: string; from: unknown; to: unknown; at: string; actor: HistoryEventAnswer['actor'] }[];
}

/**
 * The net changes between two revisions, each with the time and the user of the last change of that field.
 *
 * @throws Fault INVALID_REQUEST if `from` is above `to`; NOT_FOUND, RIGHT_MISSING
 */
export async function diffRevisions(
  ctx: ReadContext,
  id: string,
  { from, to }: { from: number; to: number },
): Promise<RevisionDiff> {
  if (from > to) throw faultAt('INVALID_REQUEST', 'query.to', 'REVISIONS_REVERSED');
  const object = await requireGranted(ctx, id, 'history');
  const [old, now] = [await loadRevision(ctx, object, from), await loadRevision(ctx, object, to)];
  const before = comparable(ctx, object, old.past);
  const changes = [...comparable(ctx, object, now.past)].flatMap(([field, value]) => {
    const last = now.fields.get(field);
    const past = before.get(field) ?? null;
    if (last === undefined || last.revision <= from || deepEqualJson(past, value)) return [];
    return [{ field, from: past, to: value ?? null, at: last.at, actor: actorAnswer(last) }];
  });
  return { from, to, changes };
}

/** What can differ between revisions: the fields that the caller may read, and the two kinds of state. */
function comparable(ctx: ReadContext, object: VisibleObject, past: PastState): Map<string, unknown> {
  const { values, state, workflowStateId } = past;
  const codes = [...object.version.fields.keys()].filter((code) => object.right.canRead(code));
  const found = new Map<string, unknown>(codes.map((code) => [code, values[code] ?? null]));
  const workflowState = workflowStateId === null ? null : (registry(ctx).states.get(workflowStateId)?.code ?? null);
  return found.set('workflowState', workflowState).set('state', state);
}
