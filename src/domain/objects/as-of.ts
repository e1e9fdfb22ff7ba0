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
import { requireGranted } from './load.ts';
import { actorAnswer, type HistoryEventAnswer } from './history.ts';
import { type ObjectAnswer, project, type VisibleObject } from './record.ts';
import type { Values } from './rules.ts';
import { listRevisions, type RevisionRow } from './store-lookups.ts';

interface PastState {
  values: Values;
  state: ItemState;
  archivedAt: string | null;
  workflowStateId: string | null;
  typeVersion: number;
}

/** The record after the events, which must begin with its creation. */
function replay(ctx: ReadContext, object: VisibleObject, events: readonly RevisionRow[]): PastState {
  const past: PastState = {
    values: {},
    state: 'ACTIVE',
    archivedAt: null,
    workflowStateId: null,
    typeVersion: object.row.typeVersion,
  };
  for (const { type, at, changes, typeVersion, hasStateId, workflowStateId } of events) {
    past.typeVersion = typeVersion ?? past.typeVersion;
    if (hasStateId) past.workflowStateId = workflowStateId;
    if (type === 'ObjectArchived' || type === 'ObjectRestored') {
      past.state = type === 'ObjectArchived' ? 'ARCHIVED' : 'ACTIVE';
      past.archivedAt = type === 'ObjectArchived' ? at : null;
      continue;
    }
    for (const [code, [, to]] of Object.entries(changes ?? {})) {
      if (code === 'workflowState') {
        if (!hasStateId) past.workflowStateId = stateOfCode(ctx, object, to);
      } else if (to === null) delete past.values[code];
      else past.values[code] = to;
    }
  }
  return past;
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

/** The events that made the revisions up to `last`. @throws Fault NOT_FOUND */
async function revisionsUpTo(ctx: ReadContext, { row }: VisibleObject, last: number): Promise<RevisionRow[]> {
  // The rights were judged on this revision of the record: a newer one may be hidden.
  if (last > row.revision) throw noRevision();
  return await listRevisions(ctx, row, last);
}

/** The highest revision that was made not later than `at`, else 0. Clocks may have been set back between revisions. */
function revisionAt(events: readonly RevisionRow[], at: string): number {
  const moment = Date.parse(at);
  return events.findLast((event) => Date.parse(event.at) <= moment)?.revision ?? 0;
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
  const known = await revisionsUpTo(ctx, object, asked.revision ?? object.row.revision);
  const revision = at === undefined ? asked.revision : revisionAt(known, at);
  const events = known.filter((event) => event.revision <= (revision ?? 0));
  const last = events.at(-1);
  if (last === undefined) throw noRevision();
  const { row } = object;
  const past = replay(ctx, object, events);
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
      updatedAt: events.reduce((latest, { at: time }) => (time > latest ? time : latest), last.at),
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
  const events = await revisionsUpTo(ctx, object, to);
  const split = events.findLastIndex(({ revision }) => revision <= from) + 1;
  const later = events.slice(split);
  const before = comparable(ctx, object, events.slice(0, split));
  const after = comparable(ctx, object, events);
  const changes = [...after.keys()].flatMap((field) => {
    const [old, now] = [before.get(field) ?? null, after.get(field) ?? null];
    const last = later.findLast((event) => Object.hasOwn(event.changes ?? {}, field));
    if (last === undefined || deepEqualJson(old, now)) return [];
    return [{ field, from: old, to: now, at: last.at, actor: actorAnswer(last) }];
  });
  return { from, to, changes };
}

/** What can differ between revisions: the fields that the caller may read, and the two kinds of state. */
function comparable(ctx: ReadContext, object: VisibleObject, events: readonly RevisionRow[]): Map<string, unknown> {
  const { values, state, workflowStateId } = replay(ctx, object, events);
  const codes = [...object.version.fields.keys()].filter((code) => object.right.canRead(code));
  const found = new Map<string, unknown>(codes.map((code) => [code, values[code] ?? null]));
  const workflowState = workflowStateId === null ? null : (registry(ctx).states.get(workflowStateId)?.code ?? null);
  return found.set('workflowState', workflowState).set('state', state);
}
