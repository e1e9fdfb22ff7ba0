/** Reads of records, of their images, and lookups of records. Answers go through `project` and hold only what the caller may see. */
import { isItemState, type ItemState } from '../../contract/state.ts';
import type * as contract from './contract.ts';
import type { Static } from 'typebox';
import { pageOf, windowOf } from '../../contract/paging.ts';
import { Fault, faultAt } from '../../lib/fault.ts';
import type { JsonText } from '../../lib/json.ts';
import { ServicePart } from '../../platform/module.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import {
  fieldSchema,
  findType,
  registry,
  imageHandles,
  type RichNode,
  checkValue,
  conditionEnvironment,
  fieldResolver,
  type RecordType,
  today,
  valueOfCell,
} from '../metadata/index.ts';
import { findVisible, preload, rememberRow, requireVisible } from './load.ts';
import { evaluateAccess, type ObjectAnswer, project, type VisibleObject } from './record.ts';
import { listAsText } from './page-text.ts';
import { listVisible, objectOf } from './store.ts';
import type { Reply } from '../../contract/operation.ts';
import type { RequestFacts, Runner } from '../../platform/unit-of-work/binding.ts';
import { type ContentParts as Parts, serveImage } from '../../platform/blobs/serve.ts';
import { imagesIn } from './rules.ts';
import { findImage, type ImageRow, eventsNaming, listByValue, listPage, type PageEnd } from './store-lookups.ts';
import { operatorFits, parseCondition, type TypedCondition } from '../../lib/filter.ts';
import { withCurrentFields } from '../../configuration/current-codes.ts';
import { compileCondition } from '../../platform/database/filter-sql.ts';

/** @throws Fault NOT_FOUND */
export async function getObject(ctx: ReadContext, id: string): Promise<ObjectAnswer> {
  return project(ctx, await requireVisible(ctx, id));
}

/** The record and its answer for this caller; undefined if it does not exist or the caller may not read it. */
export async function readCard(
  ctx: ReadContext,
  id: string,
): Promise<{ object: VisibleObject; card: ObjectAnswer } | undefined> {
  const object = await findVisible(ctx, id);
  return object === undefined ? undefined : { object, card: project(ctx, object) };
}

type ListQuery = Static<(typeof contract.listObjects)['query']>;

/**
 * Returns the ids of the records that match the words of `q`, newest first. The module search provides it, which depends on this
 * one.
 */
export type WordMatch = (
  ctx: ReadContext,
  asked: {
    q: string;
    typeIds?: readonly string[];
    state: ItemState;
    workflowStateIds?: readonly string[];
    limit: number;
    offset: number;
  },
) => Promise<string[]>;

export const wordMatch = new ServicePart<WordMatch>('search in the words of records');

/**
 * Lists records that the caller may read, newest first (docs/spec/records.md#lists).
 *
 * @throws Fault INVALID_REQUEST for an unknown type or state, or one that the caller may not read
 */
export async function listObjects(ctx: ReadContext, query: ListQuery, matches: WordMatch): Promise<JsonText | object> {
  const window = windowOf(query);
  const { type, typeIds, filter, visible } = readScope(ctx, query);
  if (visible === null) return pageOf([], window);
  if (query.q !== undefined && query.q !== '') {
    const { limit, offset } = window;
    const among = type === undefined ? {} : { typeIds };
    const page = pageOf(await matches(ctx, { q: query.q, ...among, ...filter, limit, offset }), window);
    await preload(ctx, page.rows);
    const found = await Promise.all(page.rows.map((id) => findVisible(ctx, id)));
    return { ...page, rows: found.flatMap((object) => (object === undefined ? [] : [project(ctx, object)])) };
  }
  const { limit, offset } = window;
  const asked = { visible, ...(type === undefined ? {} : { typeId: type.id }), ...filter, limit, offset };
  const types = typeIds.flatMap((id) => registry(ctx).byId.get(id) ?? []);
  const text = await listAsText(ctx, types, asked, window);
  if (text !== undefined) return text;
  const page = pageOf(await listVisible(ctx, asked), window);
  return { ...page, rows: page.rows.map((row) => project(ctx, evaluateAccess(ctx, row))) };
}

/** The records that `typeId` and `state` of a list select, and the predicate of those that the caller may read. */
export interface ListScope {
  type: RecordType | undefined;
  typeIds: string[];
  filter: { state: 'ACTIVE' | 'ARCHIVED'; workflowStateIds?: string[] };
  /** Null if the caller may read no record of the types. */
  visible: ReturnType<ReadContext['actor']['visible']>;
}

/** @throws Fault INVALID_REQUEST for an unknown type or state, or one that the caller may not read */
export function readScope(ctx: ReadContext, query: Pick<ListQuery, 'typeId' | 'state'>): ListScope {
  const readable = new Set(ctx.actor.typesFor('read'));
  const type = query.typeId === undefined ? undefined : findType(registry(ctx), query.typeId);
  if (query.typeId !== undefined && (type === undefined || !readable.has(type.id))) {
    throw faultAt('INVALID_REQUEST', 'query.typeId', 'NO_TYPE');
  }
  const typeIds = type === undefined ? [...readable] : [type.id];
  const filter = stateFilter(ctx, query.state ?? 'ACTIVE', typeIds);
  const visible = ctx.actor.visible('o', 'read', ctx.now, type === undefined ? undefined : [type.id]);
  return { type, typeIds, filter, visible };
}

/** `ACTIVE`, `ARCHIVED`, or the code of a workflow state of a type that the caller may read. */
function stateFilter(
  ctx: ReadContext,
  state: string,
  typeIds: readonly string[],
): { state: ItemState; workflowStateIds?: string[] } {
  if (isItemState(state)) return { state };
  const types = registry(ctx);
  const ids = new Set<string>();
  for (const typeId of typeIds) {
    for (const version of types.byId.get(typeId)?.versions.values() ?? []) {
      for (const known of version.workflow?.states.values() ?? []) if (known.code === state) ids.add(known.id);
    }
  }
  if (ids.size === 0) throw faultAt('INVALID_REQUEST', 'query.state', 'UNKNOWN_STATE_FILTER');
  return { state: 'ACTIVE', workflowStateIds: [...ids] };
}

/** @throws Fault NOT_FOUND */
export async function getSchema(ctx: ReadContext, id: string): Promise<{ id: string; fields: unknown[] }> {
  const object = await requireVisible(ctx, id);
  const { right, version } = object;
  const fields = [...version.fields.values()].filter((field) => right.canRead(field.code));
  return {
    id,
    fields: fields.map((field) => {
      const schema = fieldSchema(ctx, field);
      return right.canWrite(field.code) ? schema : { ...schema, readOnly: true };
    }),
  };
}

/**
 * Filters the stored response of a create by the caller's current rights: fields that the caller may no longer read are left
 * out, and all fields if the record is no longer visible.
 *
 * @param found the row of the record, if it was loaded with the response (`objectById`)
 */
export async function replayObject(ctx: ReadContext, data: unknown, found?: object): Promise<unknown> {
  const kept = data as ObjectAnswer;
  if (found !== undefined) rememberRow(ctx, objectOf(ctx, found));
  const object = await findVisible(ctx, kept.id);
  if (object === undefined) return { ...kept, title: null, values: {} };
  const current = withCurrentFields(ctx, object.row.typeId, kept.values);
  const values = Object.fromEntries(Object.entries(current).filter(([code]) => object.right.canRead(code)));
  const named = object.version.titleField !== null && object.right.canRead(object.version.titleField);
  return { ...kept, title: named ? kept.title : null, values };
}

export type ContentParts = Parts<Runner['caller']>;

/** @throws Fault NOT_FOUND */
async function requireShown(ctx: ReadContext, objectId: string, sha256: string): Promise<ImageRow> {
  const object = await requireVisible(ctx, objectId);
  const image = await findImage(ctx, objectId, sha256);
  if (image !== undefined && (isShown(object, sha256) || (await wasShown(ctx, object, sha256)))) return image;
  throw new Fault('NOT_FOUND', 'There is no such image, or you may not see it.');
}

function isShown({ version, row, right }: VisibleObject, sha256: string): boolean {
  return imagesIn(version, row.values, (code) => right.canRead(code)).has(sha256);
}

/** Only rich text and decision reports count: in any other value, the caller could have written the handle themselves. */
async function wasShown(ctx: ReadContext, object: VisibleObject, sha256: string): Promise<boolean> {
  const { right, type, row } = object;
  if (!right.can('history')) return false;
  const shows = (text: unknown): boolean => text !== null && imageHandles(text as RichNode).includes(sha256);
  const isRichText = (code: string): boolean =>
    [...type.versions.values()].every(({ fields }) => !fields.has(code) || fields.get(code)?.dataType === 'rich-text');
  for await (const { changes, data } of eventsNaming(ctx, row, sha256)) {
    if (shows(data?.decisionReport ?? null)) return true;
    for (const [code, texts] of Object.entries(changes ?? {})) {
      if (right.canRead(code) && isRichText(code) && texts.some(shows)) return true;
    }
  }
  return false;
}

/**
 * Reads an image of a record. As with attachments, rights are checked before storage is read and again afterwards.
 *
 * @throws Fault NOT_FOUND
 */
export async function readImage(
  runner: Runner,
  parts: ContentParts,
  { objectId, sha256 }: { objectId: string; sha256: string },
  request: RequestFacts,
): Promise<Reply> {
  return await serveImage(runner, parts, (ctx) => requireShown(ctx, objectId, sha256), request);
}

/** Maximum number of values in one condition. */
const MAX_RECORD_VALUES = 200;

/**
 * The environment in which the caller's own conditions are compiled. A field counts only on records where the caller may read
 * it.
 */
function callersEnvironment(ctx: ReadContext, type: RecordType) {
  const { actor, now } = ctx;
  const types = registry(ctx);
  const variables = { ...actor.variables, now, today: today(types, now) };
  const { titleField } = type.newest;
  return {
    ...conditionEnvironment(types, type.id, 'o', variables),
    whereReadable: (code: string, field: { kind: 'value' | 'system' }) => {
      // The system field `title` is the text of the type's title field.
      const named = field.kind === 'system' && code === 'title' ? titleField : field.kind === 'value' ? code : null;
      return named === null ? null : actor.fieldAccess(type.id).whereReadable('o', named, now);
    },
  };
}

/**
 * Finds active records of the type that the caller may read and whose field equals one of the texts, written as in a cell
 * (docs/spec/import-export-bulk.md).
 *
 * @returns text → ids, only for texts with a match
 */
export async function findByField(
  ctx: ReadContext,
  type: RecordType,
  fieldCode: string,
  texts: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const field = type.newest.fields.get(fieldCode);
  const visible = ctx.actor.visible('o', 'read', ctx.now, [type.id]);
  if (field === undefined || !operatorFits('in', field.dataType)) return found;
  if (visible === null || !ctx.actor.fieldAccess(type.id).canRead(fieldCode)) return found;
  const element = { ...field, multiple: false };
  /** Stored value → the texts that denote it. */
  const wanted = new Map<string | number | boolean, string[]>();
  for (const text of new Set(texts)) {
    const checked = checkValue(element, valueOfCell(element, text), '');
    const stored = checked.ok ? (checked.stored as string | number | boolean | null) : null;
    if (stored === null || typeof stored === 'object') continue;
    wanted.set(stored, [...(wanted.get(stored) ?? []), text]);
  }
  const values = [...wanted.keys()];
  for (let from = 0; from < values.length; from += MAX_RECORD_VALUES) {
    const condition = parseCondition(
      { field: fieldCode, operator: 'in', value: values.slice(from, from + MAX_RECORD_VALUES) },
      { resolve: fieldResolver(type), variables: 'refused' },
    );
    const compiled = compileCondition(condition, callersEnvironment(ctx, type));
    for (const { id, value } of await listByValue(ctx, type.id, field, visible, compiled)) {
      for (const one of new Set(Array.isArray(value) ? value : [value])) {
        for (const text of wanted.get(one as string) ?? []) found.set(text, [...(found.get(text) ?? []), id]);
      }
    }
  }
  return found;
}

/** Selects the records of a page: active ones of the type that satisfy the caller's condition and match the words. */
export interface Wanted {
  type: RecordType;
  condition: TypedCondition | null;
  words: { matches: WordMatch; q: string } | null;
}

/** The end of a page: a record, or an offset among the matches of words. */
export type PageMark = PageEnd | number;

/**
 * A page of the records that the caller may read, newest first, through `project`.
 *
 * @param after the end of the previous page; absent for the first page
 * @returns the end of this page, undefined for the last one; a page of matches may hold fewer records than `limit`
 */
export async function readPage(
  ctx: ReadContext,
  { type, condition, words }: Wanted,
  after: PageMark | undefined,
  limit: number,
): Promise<{ objects: ObjectAnswer[]; end: PageMark | undefined }> {
  const visible = ctx.actor.visible('o', 'read', ctx.now, [type.id]);
  if (visible === null) return { objects: [], end: undefined };
  const compiled = condition === null ? null : compileCondition(condition, callersEnvironment(ctx, type));
  const page = { typeId: type.id, visible, condition: compiled, limit };
  if (words !== null) {
    const offset = typeof after === 'number' ? after : 0;
    const asked = { q: words.q, typeIds: [type.id], state: 'ACTIVE', limit, offset } as const;
    const ids = await words.matches(ctx, asked);
    const rows = ids.length === 0 ? [] : await listPage(ctx, { ...page, ids, after: undefined });
    const end = ids.length < limit ? undefined : offset + limit;
    return { objects: rows.map((row) => project(ctx, evaluateAccess(ctx, row))), end };
  }
  const behind = typeof after === 'number' ? undefined : after;
  const rows = await listPage(ctx, { ...page, ids: undefined, after: behind });
  const last = rows.at(-1);
  return {
    objects: rows.map((row) => project(ctx, evaluateAccess(ctx, row))),
    end: last === undefined || rows.length < limit ? undefined : { createdAt: last.createdAt, id: last.id },
  };
}
