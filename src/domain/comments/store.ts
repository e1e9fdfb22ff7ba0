/** SQL on the table `comments`. */
import { type LastChange, lastChanges, userName } from '../../platform/journal/journal.ts';
import sql, { empty, raw } from 'sql-template-tag';
import type { CommentVisibility } from '../../contract/comment-visibility.ts';
import { byId } from '../../platform/database/lookups.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { type RowWindow, readWindows } from '../../platform/database/window.ts';
import { allBut, columns } from '../../platform/database/table.ts';
import { type CommentsRow, tables } from '../../platform/database/tables.ts';
import { insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import { guarded } from '../objects/index.ts';

export interface CommentRow extends CommentsRow {
  authorName: string | null;
}

const COLUMNS = sql`${columns(tables.comments, 'c')}, ${userName('c.author_id')} AS "authorName"`;

const commentById = byId<CommentRow>((id) => sql`SELECT ${COLUMNS} FROM comments c WHERE c.id = ${id}`);

export async function findComment(ctx: ReadContext, id: string): Promise<CommentRow | undefined> {
  return await ctx.find(commentById, { id });
}

export async function findComments(ctx: ReadContext, ids: readonly string[]): Promise<CommentRow[]> {
  return await ctx.query<CommentRow>(sql`SELECT ${COLUMNS} FROM comments c WHERE c.id = ANY(${[...ids]}::uuid[])`);
}

/** The active comments of these visibilities in windows, oldest first or newest first, behind `after`. */
export function commentWindows(
  ctx: ReadContext,
  objectId: string,
  seen: readonly CommentVisibility[],
  { after: start, newestFirst = false }: { after?: string | undefined; newestFirst?: boolean },
): AsyncGenerator<RowWindow<CommentRow & { key: string }>> {
  const behind = raw(newestFirst ? '<' : '>');
  const order = newestFirst ? sql`ORDER BY c.created_at DESC, c.id DESC` : sql`ORDER BY c.created_at, c.id`;
  return readWindows<CommentRow>(ctx, (reached, limit) => {
    const after = reached ?? start;
    const later =
      after === undefined
        ? empty
        : sql`AND (c.created_at, c.id) ${behind} (SELECT a.created_at, a.id FROM comments a WHERE a.id = ${after}::uuid)`;
    return sql`SELECT ${COLUMNS}, c.id AS key, octet_length(c.body) AS "windowBytes" FROM comments c
      WHERE c.object_id = ${objectId}::uuid AND c.state = 'ACTIVE' AND c.visibility = ANY(${[...seen]}::text[]) ${later}
      ${order} LIMIT ${limit}::int`;
  });
}

/** The last change of each property after the revision `after` of the comment, oldest first. */
export async function listChanges(ctx: ReadContext, row: CommentRow, after: number): Promise<LastChange[]> {
  return await lastChanges(
    ctx,
    sql`SELECT k.field, j.seq FROM journal j CROSS JOIN LATERAL jsonb_array_elements_text(j.data->'changed') AS k (field)
      WHERE j.object_id = ${row.objectId}::uuid AND j.type = 'CommentUpdated' AND j.data->>'commentId' = ${row.id}
        AND (j.data->>'commentRevision')::bigint > ${after}::bigint`,
  );
}

/** Those of the comments, including archived ones, whose visibility is none of `seen`. */
export async function listHiddenIds(
  ctx: ReadContext,
  ids: readonly string[],
  seen: readonly CommentVisibility[],
): Promise<Set<string>> {
  const rows = await ctx.query<{ id: string }>(
    sql`SELECT id FROM comments WHERE id = ANY(${[...ids]}::uuid[]) AND visibility <> ALL(${[...seen]}::text[])`,
  );
  return new Set(rows.map((row) => row.id));
}

export const insertComment = guarded(
  'comment.create',
  insertInto(tables.comments, {
    name: 'insert_comment',
    records: ({ objectId }) => [objectId],
    frequent: true,
  }),
);

export const changeComment = guarded(
  'comment.edit',
  update(tables.comments, {
    name: 'change_comment',
    records: ({ id }) => [id],
    set: allBut(tables.comments, ['objectId', 'authorId', 'createdAt']),
    next: 'revision',
  }),
);
