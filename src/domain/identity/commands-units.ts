/** Writes of organisation units. `commands-groups.ts` writes their members. */
import { isActive } from '../../contract/state.ts';
import { Fault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import type { Localized } from '../../contract/schemas.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { writeUnit } from './changes.ts';
import { requireMayGrant } from './escalation.ts';
import {
  nameKey,
  afterwards,
  codeOf,
  differences,
  exists,
  Validation,
  madeCode,
  requireActive,
  requireArchived,
  stale,
} from './rules.ts';
import { type UnitAnswer, unitAnswer } from './queries.ts';
import { accessLock, findUnit, findUser, isAbove, takenCodes, type UnitRow } from './store.ts';

export interface NewUnit {
  name: string;
  /** Derived from the name if absent. */
  code?: string | undefined;
  organizationUnitId?: string | undefined;
  parentId?: string | undefined;
  managerUserId?: string | undefined;
  location?: string | undefined;
}

/** Absent properties stay unchanged; null clears. */
export interface UnitChange {
  organizationUnitId: string;
  expectedRevision: number;
  name?: Localized | undefined;
  parentId?: string | null | undefined;
  managerUserId?: string | null | undefined;
  location?: string | null | undefined;
}

/** Checks that the parent unit and the manager exist and are active. */
async function checkLinks(
  ctx: WriteContext,
  validation: Validation,
  links: { parentId?: string | null | undefined; managerUserId?: string | null | undefined },
): Promise<void> {
  const { parentId, managerUserId } = links;
  if (typeof parentId === 'string' && !isActive(await findUnit(ctx, parentId))) {
    validation.report('parentId', problem('NO_ACTIVE_UNIT'));
  }
  if (typeof managerUserId === 'string' && !isActive(await findUser(ctx, managerUserId))) {
    validation.report('managerUserId', problem('NO_ACTIVE_MANAGER'));
  }
}

/**
 * Creates a unit without members (docs/spec/identity.md). A new unit cannot close a cycle, so no lock is needed.
 *
 * @throws Fault RIGHT_MISSING, INVALID_VALUES, ALREADY_EXISTS with `{field}` (organizationUnitId or code)
 */
export async function createUnit(ctx: WriteContext, input: NewUnit): Promise<UnitAnswer> {
  ctx.actor.require('user.administer');
  ctx.markAuthorized();
  const validation = new Validation();
  const name = validation.line('name', input.name);
  const row: UnitRow = {
    id: input.organizationUnitId ?? ctx.newId(),
    code: input.code === undefined ? madeCode(name, ctx.newId()) : codeOf(validation, input.code),
    name,
    parentId: input.parentId ?? null,
    managerUserId: input.managerUserId ?? null,
    location: validation.line('location', input.location) ?? null,
    state: 'ACTIVE',
    revision: 1,
    createdAt: ctx.now,
    updatedAt: ctx.now,
  };
  await checkLinks(ctx, validation, row);
  validation.throwIfInvalid();
  const taken = await takenCodes(ctx, 'org_units', row.id, nameKey(row.code));
  if (taken.id) throw exists('organizationUnitId', 'ID_TAKEN');
  if (taken.code) throw exists('code', 'CODE_TAKEN');
  writeUnit(ctx, undefined, row);
  return unitAnswer(ctx, row);
}

async function requireUnit(ctx: WriteContext, id: string): Promise<UnitRow> {
  ctx.actor.require('user.administer');
  const row = await findUnit(ctx, id);
  if (row === undefined) throw new Fault('NOT_FOUND', 'There is no such organisation unit.');
  ctx.markAuthorized();
  return row;
}

/**
 * Changes a unit if it still has the revision that the caller saw. The code cannot be changed: the configuration refers to
 * units by it.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED, REVISION_CONFLICT, ROLE_ESCALATION, INVALID_VALUES (a parent below the
 * unit, too)
 */
export async function updateUnit(ctx: WriteContext, input: UnitChange): Promise<UnitAnswer> {
  const row = await requireUnit(ctx, input.organizationUnitId);
  requireActive('organisation unit', row.state);
  if (row.revision !== input.expectedRevision) throw stale('organisation unit');
  const validation = new Validation();
  const changes = differences(row, {
    name: validation.name('name', input.name),
    parentId: input.parentId,
    managerUserId: input.managerUserId,
    location: validation.line('location', input.location),
  });
  const changed = afterwards(changes) as Partial<UnitRow>;
  // From here on no concurrent transaction can move a unit. The guard of the write checks that this unit is unchanged.
  if (typeof changed.parentId === 'string') await ctx.lock(accessLock());
  if (changed.parentId !== undefined) {
    const moved = { unitId: row.id, parentId: changed.parentId, formerParentId: row.parentId, restored: false };
    await requireMayGrant(ctx, { units: [moved] });
  }
  await checkLinks(ctx, validation, changed);
  if (typeof changed.parentId === 'string' && (await isAbove(ctx, row.id, changed.parentId))) {
    validation.report('parentId', problem('PARENT_IS_BELOW'));
  }
  validation.throwIfInvalid();
  if (Object.keys(changes).length === 0) return unitAnswer(ctx, row);
  return unitAnswer(ctx, write(ctx, row, changed));
}

/**
 * Archives a unit. Its members and the units below it stay unchanged.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED, REVISION_CONFLICT
 */
export async function archiveUnit(ctx: WriteContext, id: string, expectedRevision?: number): Promise<UnitAnswer> {
  const row = await requireUnit(ctx, id);
  requireActive('organisation unit', row.state);
  return turn(ctx, row, 'ARCHIVED', expectedRevision);
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND, ROLE_ESCALATION, STATE_CONFLICT if it is not archived, REVISION_CONFLICT */
export async function restoreUnit(ctx: WriteContext, id: string, expectedRevision?: number): Promise<UnitAnswer> {
  const row = await requireUnit(ctx, id);
  const { parentId } = row;
  await requireMayGrant(ctx, { units: [{ unitId: id, parentId, formerParentId: parentId, restored: true }] });
  requireArchived(row.state);
  return turn(ctx, row, 'ACTIVE', expectedRevision);
}

function turn(
  ctx: WriteContext,
  row: UnitRow,
  state: UnitRow['state'],
  expectedRevision: number | undefined,
): UnitAnswer {
  if (expectedRevision !== undefined && expectedRevision !== row.revision) throw stale('organisation unit');
  return unitAnswer(ctx, write(ctx, row, { state }));
}

function write(ctx: WriteContext, row: UnitRow, change: Partial<UnitRow>): UnitRow {
  const next: UnitRow = { ...row, ...change, revision: row.revision + 1, updatedAt: ctx.now };
  writeUnit(ctx, row, next);
  return next;
}
