/** Writes of groups. `commands-members.ts` writes their members. */
import { Fault } from '../../lib/fault.ts';
import type { Localized } from '../../configuration/schemas.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { writeGroup } from './changes.ts';
import { requireMayHandOn } from './escalation.ts';
import { nameKey } from './names.ts';
import { type GroupAnswer, groupAnswer } from './queries.ts';
import { codeOf, differences, exists, Judgement, requireActive, requireArchived, stale } from './rules.ts';
import { findGroup, type GroupRow, takenCodes } from './store.ts';

export interface NewGroup {
  code: string;
  name: string;
  groupId?: string | undefined;
}

export interface GroupChange {
  groupId: string;
  expectedRevision: number;
  /** Absent: unchanged. A plain text replaces the texts of all locales. */
  name?: Localized | undefined;
}

/**
 * Creates a group without members (docs/spec/identity.md).
 *
 * @throws Fault RIGHT_MISSING, INVALID_VALUES, ALREADY_EXISTS with `{field}` (groupId or code)
 */
export async function createGroup(ctx: WriteContext, input: NewGroup): Promise<GroupAnswer> {
  ctx.actor.require('user.administer');
  ctx.markAuthorized();
  const judged = new Judgement();
  const row: GroupRow = {
    id: input.groupId ?? ctx.newId(),
    code: codeOf(judged, input.code),
    name: judged.line('name', input.name),
    state: 'ACTIVE',
    revision: 1,
    createdAt: ctx.now,
    updatedAt: ctx.now,
  };
  judged.settle();
  const taken = await takenCodes(ctx, 'groups', row.id, nameKey(row.code));
  if (taken.id) throw exists('groupId', 'There is something with this id already.');
  if (taken.code) throw exists('code', 'There is a group with this code, perhaps archived.');
  writeGroup(ctx, undefined, row);
  return groupAnswer(ctx, row);
}

async function requireGroup(ctx: WriteContext, id: string): Promise<GroupRow> {
  ctx.actor.require('user.administer');
  const row = await findGroup(ctx, id);
  if (row === undefined) throw new Fault('NOT_FOUND', 'There is no such group.');
  return row;
}

/**
 * Changes a group if it still has the revision that the caller saw. The code cannot be changed: the configuration refers to
 * groups by it.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED, REVISION_CONFLICT, INVALID_VALUES
 */
export async function updateGroup(ctx: WriteContext, input: GroupChange): Promise<GroupAnswer> {
  const row = await requireGroup(ctx, input.groupId);
  ctx.markAuthorized();
  requireActive('group', row.state);
  if (row.revision !== input.expectedRevision) throw stale('group');
  const judged = new Judgement();
  const changes = differences(row, { name: judged.name('name', input.name) });
  judged.settle();
  if (Object.keys(changes).length === 0) return groupAnswer(ctx, row);
  return groupAnswer(ctx, write(ctx, row, { name: changes['name']?.[1] as Localized }));
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED, REVISION_CONFLICT, LAST_ADMINISTRATOR */
export async function archiveGroup(ctx: WriteContext, id: string, expectedRevision?: number): Promise<GroupAnswer> {
  const row = await requireGroup(ctx, id);
  ctx.markAuthorized();
  requireActive('group', row.state);
  if (expectedRevision !== undefined && expectedRevision !== row.revision) throw stale('group');
  return groupAnswer(ctx, write(ctx, row, { state: 'ARCHIVED' }));
}

/**
 * Restores an archived group with its members. They get its roles again, so the checks are those of new memberships.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ROLE_ESCALATION, STATE_CONFLICT if it is not archived, REVISION_CONFLICT
 */
export async function restoreGroup(ctx: WriteContext, id: string, expectedRevision?: number): Promise<GroupAnswer> {
  const row = await requireGroup(ctx, id);
  await requireMayHandOn(ctx, { members: [{ groupId: id, memberId: id, memberType: 'group' }] });
  ctx.markAuthorized();
  requireArchived('group', row.state);
  if (expectedRevision !== undefined && expectedRevision !== row.revision) throw stale('group');
  return groupAnswer(ctx, write(ctx, row, { state: 'ACTIVE' }));
}

function write(ctx: WriteContext, row: GroupRow, change: Partial<GroupRow>): GroupRow {
  const next: GroupRow = { ...row, ...change, revision: row.revision + 1, updatedAt: ctx.now };
  writeGroup(ctx, row, next);
  return next;
}
