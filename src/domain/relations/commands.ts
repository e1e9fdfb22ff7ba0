/**
 * Write commands on relations. Unique indexes, locks and guards in the database enforce cardinality, absence of cycles and the
 * protection by a field.
 */
import { isArchived, type ItemState } from '../../contract/state.ts';
import type { EventOf } from '../../contract/events.ts';
import { Fault, faultAt } from '../../lib/fault.ts';
import type { PlannedEvent, WriteContext } from '../../platform/unit-of-work/context.ts';
import {
  findVisible,
  planHold,
  holdRevision,
  preload,
  planOn,
  requireAction,
  requireActive,
  requireGranted,
  type Authorized,
  type VisibleObject,
} from '../objects/index.ts';
import { definitions, type KnownDefinition, onlyOne } from './definitions.ts';
import { requireRelation } from './queries.ts';
import { archiveRelation, cycleLock, insertRelation, listInTheWay, reaches } from './store.ts';

export interface AddInput {
  objectId: string;
  definitionId: string;
  targetObjectId: string;
}

interface Added {
  relation: { id: string; revision: number };
  idempotent: boolean;
}

async function requireTarget(ctx: WriteContext, input: AddInput, definition: KnownDefinition): Promise<VisibleObject> {
  if (input.targetObjectId === input.objectId) {
    throw faultAt('INVALID_REQUEST', '/targetObjectId', 'RELATED_TO_ITSELF');
  }
  const target = await findVisible(ctx, input.targetObjectId);
  if (target === undefined || !definition.targetTypes.includes(target.type.code)) {
    throw faultAt('INVALID_REQUEST', '/targetObjectId', 'NO_RELATION_TARGET');
  }
  return target;
}

/**
 * Relates two records (docs/spec/around-records.md#relations). An existing relation is returned with `idempotent: true`.
 *
 * @throws Fault NOT_FOUND, RIGHT_MISSING, ARCHIVED, INVALID_REQUEST, RELATION_CARDINALITY, RELATION_CYCLE
 */
export async function addRelation(ctx: WriteContext, input: AddInput): Promise<Added> {
  await preload(ctx, [input.objectId, input.targetObjectId]);
  const source = await requireGranted(ctx, input.objectId, 'relation.create');
  ctx.markAuthorized();
  requireActive(source);
  const definition = definitions(ctx).get(input.definitionId);
  if (definition?.active !== true || !definition.sourceTypes.includes(source.type.code)) {
    throw faultAt('INVALID_REQUEST', '/definitionId', 'NO_RELATION_DEFINITION');
  }
  const target = await requireTarget(ctx, input, definition);
  requireActive(target);
  if (definition.acyclic) await ctx.lock(cycleLock(definition.id));
  const sourceId = source.row.id;
  const targetId = target.row.id;
  const once = onlyOne(definition);
  const standing = await listInTheWay(ctx, definition.id, sourceId, targetId, once);
  const same = standing.find((row) => row.sourceId === sourceId && row.targetId === targetId);
  if (same !== undefined) return { relation: { id: same.id, revision: same.revision }, idempotent: true };
  if (standing.length > 0)
    throw new Fault('RELATION_CARDINALITY', 'The relation definition allows no more relations here. Remove one first.');
  if (definition.acyclic && (await reaches(ctx, definition.id, targetId, sourceId))) {
    throw new Fault(
      'RELATION_CYCLE',
      'This relation would create a cycle, which its definition forbids. Choose another target.',
    );
  }
  const id = ctx.newId();
  planHold(ctx, sourceId);
  planHold(ctx, targetId);
  planOn(ctx, source, insertRelation, {
    id,
    definitionId: definition.id,
    sourceId,
    targetId,
    uniqueSourceId: once.source ? sourceId : null,
    uniqueTargetId: once.target ? targetId : null,
    createdAt: ctx.now,
    createdBy: ctx.actor.userId,
  });
  emit(
    ctx,
    source,
    'RelationAdded',
    { relationId: id, definitionCode: definition.code, targetId },
    { definition: definition.id },
  );
  return { relation: { id, revision: 1 }, idempotent: false };
}

function emit(
  ctx: WriteContext,
  source: Authorized<'relation.create' | 'relation.delete'>,
  type: EventOf<'relation'>,
  about: { relationId: string; definitionCode: string; targetId: string },
  stored?: PlannedEvent['stored'],
): void {
  const { relationId, definitionCode, targetId } = about;
  const data = { relationId, definitionCode, sourceObjectId: source.row.id, targetObjectId: targetId };
  ctx.emit({ type, objectId: source.row.id, data, ...(stored === undefined ? {} : { stored }) });
}

/**
 * Removes a relation. It is archived and no longer counts for the cardinality.
 *
 * @throws Fault NOT_FOUND, RIGHT_MISSING, ARCHIVED, REVISION_CONFLICT, RELATION_REQUIRED_BY_FIELD
 */
export async function removeRelation(
  ctx: WriteContext,
  input: { relationId: string; expectedRevision: number },
): Promise<{ id: string; state: ItemState; revision: number }> {
  const { row, source: visible } = await requireRelation(ctx, input.relationId);
  const source = requireAction(visible, 'relation.delete');
  ctx.markAuthorized();
  requireActive(source);
  if (isArchived(row)) throw new Fault('ARCHIVED', 'The relation is already removed.');
  if (row.revision !== input.expectedRevision) {
    throw new Fault('REVISION_CONFLICT', 'The relation was changed after the expected revision. Read it again.', {
      changedSince: [],
    });
  }
  const definition = definitions(ctx).get(row.definitionId);
  const { values } = source.row;
  const field = definition?.field;
  const held = field !== undefined && Object.hasOwn(values, field) ? values[field] : undefined;
  if (held === row.targetId || (Array.isArray(held) && held.includes(row.targetId))) {
    throw new Fault(
      'RELATION_REQUIRED_BY_FIELD',
      'A field of the source still refers to the target. Clear the field first.',
    );
  }
  // The field was checked on this revision of the source, so the source must not change until the unit of work ends.
  ctx.plan(holdRevision, { id: source.row.id, expected: source.row.revision });
  planOn(ctx, source, archiveRelation, { id: row.id, revision: row.revision + 1 });
  const definitionCode = definition?.code ?? '';
  emit(ctx, source, 'RelationArchived', { relationId: row.id, definitionCode, targetId: row.targetId });
  return { id: row.id, state: 'ARCHIVED', revision: row.revision + 1 };
}
