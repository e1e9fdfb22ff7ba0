/** Who may see a comment: the check of one comment and the SQL predicate for lists. Both derive from `rightForVisibility`. */
import sql, { join, raw, type Sql } from 'sql-template-tag';
import { COMMENT_VISIBILITIES, type CommentVisibility, rightForVisibility } from '../../contract/comment-visibility.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { visibleRecord, type VisibleObject } from '../objects/index.ts';

/** True if the caller may see comments of this visibility on the record. */
export function canSeeComment(object: VisibleObject, visibility: CommentVisibility): boolean {
  const right = rightForVisibility(visibility);
  return right === null || object.right.can(right);
}

/**
 * The same check in SQL.
 *
 * @param rows alias of a relation with a column `visibility`
 * @param objects alias of `objects`, joined to the record of the row, which the caller may read
 */
export function visibleComments(ctx: ReadContext, rows: string, objects: string): Sql {
  const column = raw(`${rows}.visibility`);
  const parts = COMMENT_VISIBILITIES.flatMap((visibility) => {
    const right = rightForVisibility(visibility);
    if (right === null) return [sql`${column} = ${visibility}`];
    const holds = ctx.actor.visible(objects, right, ctx.now);
    return holds === null ? [] : [sql`(${column} = ${visibility} AND ${holds})`];
  });
  return parts.length === 0 ? sql`false` : sql`(${join(parts, ' OR ')})`;
}

/** Predicate: the caller may see the comment that `column` names, or it names none. @param alsoArchived for past events */
export function ofVisibleComment(ctx: ReadContext, column: string, alsoArchived = false): Sql {
  const id = raw(column);
  const shown = visibleComments(ctx, 'c', 'o');
  const visible = visibleRecord(ctx, 'c.object_id', alsoArchived ? shown : sql`c.state = 'ACTIVE' AND ${shown}`);
  return sql`(${id} IS NULL OR EXISTS (SELECT FROM comments c WHERE c.id = ${id} AND ${visible ?? sql`false`}))`;
}
