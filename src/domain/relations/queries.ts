/** Reads of relations. A relation with an end that the caller may not read is left out or reported as not found. */
import { Reply } from '../../contract/operation.ts';
import { answerInWindows, type OrderedWindow, pageOf } from '../../contract/paging.ts';
import { Fault } from '../../lib/fault.ts';
import type { RowWindow } from '../../platform/database/window.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { named, registry } from '../metadata/index.ts';
import {
  type EventFilter,
  findVisible,
  forget,
  preload,
  requireAction,
  requireVisible,
  visibleIds,
  type VisibleObject,
  readableTitle,
} from '../objects/index.ts';
import { definitions, type KnownDefinition } from './definitions.ts';
import { findRelation, listRelations as listRows, type RelationRow, relationWindows } from './store.ts';

/** @throws Fault NOT_FOUND */
export async function listRelations(
  ctx: ReadContext,
  objectId: string,
  direction: 'incoming' | 'outgoing',
  window?: OrderedWindow,
): Promise<unknown> {
  await requireVisible(ctx, objectId);
  if (window === undefined) return await answerInWindows(answersOf(ctx, objectId, direction), undefined);
  const rows = await listRows(ctx, objectId, direction, window);
  const { rows: shown, ...meta } = pageOf(rows, window);
  return Reply.withMeta(await relationAnswers(ctx, shown, direction), meta);
}

async function* answersOf(
  ctx: ReadContext,
  objectId: string,
  direction: 'incoming' | 'outgoing',
): AsyncGenerator<RowWindow<RelationAnswer>> {
  for await (const { rows, isLast } of relationWindows(ctx, objectId, direction)) {
    yield { rows: await relationAnswers(ctx, rows, direction), isLast };
    forget(
      ctx,
      rows.flatMap(({ sourceId, targetId }) => [sourceId, targetId]),
    );
  }
}

interface RelationAnswer {
  id: string;
  [name: string]: unknown;
}

/** The relations whose other end the caller may read. */
async function relationAnswers(
  ctx: ReadContext,
  rows: readonly RelationRow[],
  direction: 'incoming' | 'outgoing',
): Promise<RelationAnswer[]> {
  const other = (row: RelationRow): string => (direction === 'outgoing' ? row.targetId : row.sourceId);
  await preload(ctx, rows.map(other));
  const answers: RelationAnswer[] = [];
  for (const row of rows) {
    const related = await findVisible(ctx, other(row));
    const definition = definitions(ctx).get(row.definitionId);
    if (related === undefined || definition === undefined) continue;
    answers.push({
      id: row.id,
      definitionId: row.definitionId,
      definitionCode: definition.code,
      name: named(ctx, direction === 'outgoing' ? definition.name : definition.inverseName),
      direction,
      sourceObjectId: row.sourceId,
      targetObjectId: row.targetId,
      related: {
        id: related.row.id,
        number: related.row.number,
        title: readableTitle(related),
        state: related.row.state,
      },
      revision: row.revision,
      state: row.state,
      createdAt: row.createdAt,
    });
  }
  return answers;
}

/** Whether a grant of the caller concerns the type, as in the metadata. */
function isKnown(ctx: ReadContext, typeCode: string): boolean {
  const type = registry(ctx).byCode.get(typeCode);
  return type !== undefined && (ctx.actor.mayEver(type.id, 'read') || ctx.actor.mayEver(type.id, 'create'));
}

function definitionAnswer(ctx: ReadContext, definition: KnownDefinition): unknown {
  const types = registry(ctx);
  const ids = (codes: readonly string[]): string[] =>
    codes.flatMap((code) => (isKnown(ctx, code) ? (types.byCode.get(code)?.id ?? []) : []));
  return {
    id: definition.id,
    code: definition.code,
    name: named(ctx, definition.name),
    inverseName: named(ctx, definition.inverseName),
    sourceTypeIds: ids(definition.sourceTypes),
    targetTypeIds: ids(definition.targetTypes),
    cardinality: definition.cardinality,
    acyclic: definition.acyclic,
    active: definition.active,
  };
}

/** @throws Fault NOT_FOUND, RIGHT_MISSING */
export async function listDefinitions(ctx: ReadContext, sourceObjectId: string | undefined): Promise<unknown[]> {
  let fits = (definition: KnownDefinition): boolean => definition.sourceTypes.some((code) => isKnown(ctx, code));
  if (sourceObjectId !== undefined) {
    const source = await requireVisible(ctx, sourceObjectId);
    requireAction(source, 'relation.create');
    fits = (definition) => definition.sourceTypes.includes(source.type.code);
  }
  return [...definitions(ctx).values()]
    .filter((definition) => definition.active && fits(definition))
    .map((definition) => definitionAnswer(ctx, definition));
}

/** The relation with both ends. @throws Fault NOT_FOUND, also if the caller may not read one of the ends */
export async function requireRelation(
  ctx: ReadContext,
  relationId: string,
): Promise<{ row: RelationRow; source: VisibleObject; target: VisibleObject }> {
  const missing = new Fault('NOT_FOUND', 'There is no such relation, or you may not see it.');
  const row = await findRelation(ctx, relationId);
  if (row === undefined) throw missing;
  await preload(ctx, [row.sourceId, row.targetId]);
  const source = await findVisible(ctx, row.sourceId);
  const target = await findVisible(ctx, row.targetId);
  if (source === undefined || target === undefined) throw missing;
  return { row, source, target };
}

/** Returns the stored response of an addition if the caller may still read both ends. @throws Fault NOT_FOUND */
export async function replayRelation(ctx: ReadContext, data: unknown): Promise<unknown> {
  await requireRelation(ctx, (data as { relation: { id: string } }).relation.id);
  return data;
}

/** Hides history events about relations whose other end the caller may not read. */
export const relationEvents: EventFilter = async (ctx, object, events) => {
  const other = (data: Record<string, unknown>): string =>
    (data.sourceObjectId === object.row.id ? data.targetObjectId : data.sourceObjectId) as string;
  const about = events.flatMap((event) =>
    event.data !== null && typeof event.data.relationId === 'string' ? [{ id: event.id, end: other(event.data) }] : [],
  );
  const visible = await visibleIds(ctx, [...new Set(about.map((one) => one.end))]);
  return new Set(about.flatMap((one) => (visible.has(one.end) ? [] : [one.id])));
};
