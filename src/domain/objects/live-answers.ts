/** Answers of commands that show the record as it is committed, with what reactions change in the same unit of work. */
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { plannedRow } from './load.ts';
import { evaluateAccess, type ObjectAnswer, project, type VisibleObject } from './record.ts';

/**
 * The answer of a command about a record. If reactions in the same unit of work change the record, the answer is updated.
 *
 * @param onBehalf decides what the answer shows
 * @param shape picks what the answer consists of
 */
export function liveAnswer<T extends object = ObjectAnswer>(
  ctx: WriteContext,
  onBehalf: ReadContext,
  object: VisibleObject,
  shape: (answer: ObjectAnswer) => T = (answer) => answer as ObjectAnswer & T,
): T {
  const answer = shape(project(onBehalf, object));
  ctx.onReacted(() => {
    const row = plannedRow(ctx, object.row.id);
    if (row === undefined || row === object.row) return;
    const now = evaluateAccess(onBehalf, row);
    // If a reaction took the record out of the caller's sight, the answer shows of what it did only the revision.
    const left = { title: null, values: {}, revision: row.revision };
    const isSeen = now.right.can('read');
    Object.assign(answer, shape(isSeen ? project(onBehalf, now) : { ...project(onBehalf, object), ...left }));
  });
  return answer;
}

/** The revision of the record at the end of the unit of work, also if reactions change the record. */
export function liveRevision(ctx: WriteContext, object: VisibleObject): { id: string; revision: number } {
  const { id } = object.row;
  const current = (): number => plannedRow(ctx, id)?.revision ?? object.row.revision;
  const answer = { id, revision: current() };
  ctx.onReacted(() => {
    answer.revision = current();
  });
  return answer;
}
