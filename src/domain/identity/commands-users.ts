/**
 * Writes of users (docs/spec/identity.md, docs/spec/configuration.md#administration-api). All of them need
 * `user.administer`, except changes of the own profile.
 */
import { writeUser } from './changes.ts';
import { requireMayGrant, requireNotOwn } from './escalation.ts';
import { Fault } from '../../lib/fault.ts';
import { nfc } from '../../lib/text.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import {
  nameKey,
  afterwards,
  differences,
  exists,
  Validation,
  requireActive,
  requireArchived,
  stale,
} from './rules.ts';
import { type UserAnswer, userAnswer } from './queries.ts';
import { findUser, takenNames, type UserRow } from './store.ts';

export interface NewUser {
  login: string;
  displayName: string;
  email: string;
  userId?: string | undefined;
  locale?: string | undefined;
  timezone?: string | undefined;
  employeeId?: string | undefined;
  externalId?: string | undefined;
}

/** Absent properties stay unchanged; null clears. */
export interface UserChange {
  userId: string;
  expectedRevision: number;
  displayName?: string | undefined;
  email?: string | undefined;
  locale?: string | null | undefined;
  timezone?: string | null | undefined;
  employeeId?: string | null | undefined;
  externalId?: string | null | undefined;
}

/**
 * Creates a user without password and without roles (docs/spec/identity.md).
 *
 * @throws Fault RIGHT_MISSING, INVALID_VALUES, ALREADY_EXISTS with `{field}` (userId, login, email or externalId)
 */
export async function createUser(ctx: WriteContext, input: NewUser): Promise<UserAnswer> {
  ctx.actor.require('user.administer');
  ctx.markAuthorized();
  const validation = new Validation();
  const loginKey = validation.key('login', input.login);
  const { email, key: emailKey } = validation.email(input.email);
  const row: UserRow = {
    id: input.userId ?? ctx.newId(),
    login: nfc(input.login),
    displayName: validation.line('displayName', input.displayName),
    email,
    locale: input.locale ?? null,
    timezone: validation.timezone(input.timezone) ?? null,
    employeeId: validation.line('employeeId', input.employeeId) ?? null,
    externalId: validation.line('externalId', input.externalId) ?? null,
    organizationUnitId: null,
    state: 'ACTIVE',
    revision: 1,
    createdAt: ctx.now,
    updatedAt: ctx.now,
  };
  validation.throwIfInvalid();
  const taken = await takenNames(ctx, { id: row.id, login: loginKey, email: emailKey, ...own(row.externalId) }, null);
  if (taken.id) throw exists('userId', 'ID_TAKEN');
  if (taken.login) throw exists('login', 'LOGIN_IN_USE');
  if (taken.email) throw exists('email', 'EMAIL_IN_USE');
  if (taken.externalId) throw sharedExternalId();
  writeUser(ctx, undefined, row);
  return userAnswer(row);
}

function own(externalId: string | null): { externalId?: string } {
  return externalId === null ? {} : { externalId };
}

function sharedExternalId(): Fault {
  return exists('externalId', 'EXTERNAL_ID_IN_USE');
}

async function requireUser(ctx: WriteContext, id: string): Promise<UserRow> {
  ctx.actor.require('user.administer');
  const row = await findUser(ctx, id);
  if (row === undefined) throw new Fault('NOT_FOUND', 'There is no such user.');
  ctx.markAuthorized();
  return row;
}

/**
 * Changes a user if they still have the revision that the caller saw. Values equal to the stored ones change nothing. The
 * login cannot be changed: the configuration refers to users by it.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED, REVISION_CONFLICT, INVALID_VALUES, ROLE_ESCALATION, ALREADY_EXISTS,
 * LAST_ADMINISTRATOR
 */
export async function updateUser(ctx: WriteContext, input: UserChange): Promise<UserAnswer> {
  const row = await requireUser(ctx, input.userId);
  requireActive('user', row.state);
  if (row.revision !== input.expectedRevision) throw stale('user');
  const validation = new Validation();
  const changes = differences(row, {
    displayName: validation.line('displayName', input.displayName),
    email: input.email === undefined ? undefined : validation.email(input.email).email,
    locale: input.locale,
    timezone: validation.timezone(input.timezone),
    employeeId: validation.line('employeeId', input.employeeId),
    externalId: validation.line('externalId', input.externalId),
  });
  validation.throwIfInvalid();
  if (Object.keys(changes).length === 0) return userAnswer(row);
  if (Object.hasOwn(changes, 'email') || Object.hasOwn(changes, 'externalId')) {
    requireNotOwn(ctx, row.id);
    await requireMayGrant(ctx, { users: [row.id] });
  }
  const next = { ...row, ...afterwards(changes), revision: row.revision + 1, updatedAt: ctx.now } as UserRow;
  const names = {
    ...(next.email === null || !Object.hasOwn(changes, 'email') ? {} : { email: nameKey(next.email) }),
    ...(Object.hasOwn(changes, 'externalId') ? own(next.externalId) : {}),
  };
  if (Object.keys(names).length > 0) {
    const taken = await takenNames(ctx, names, row.id);
    if (taken.email) throw exists('email', 'EMAIL_IN_USE');
    if (taken.externalId) throw sharedExternalId();
  }
  writeUser(ctx, row, next);
  return userAnswer(next);
}

/** Absent properties stay unchanged; null clears. */
interface OwnProfileChange {
  expectedRevision?: number | undefined;
  displayName?: string | undefined;
  locale?: string | null | undefined;
  timezone?: string | null | undefined;
}

type OwnProfile = Pick<UserRow, 'id' | 'login' | 'displayName' | 'email' | 'locale' | 'timezone' | 'revision'>;

function profileOf({ id, login, displayName, email, locale, timezone, revision }: UserRow): OwnProfile {
  return { id, login, displayName, email, locale, timezone, revision };
}

/** The caller's own user. @throws Fault NOT_FOUND if the caller is no user */
export async function ownProfile(ctx: ReadContext): Promise<OwnProfile> {
  return profileOf(await ownRow(ctx));
}

async function ownRow(ctx: ReadContext): Promise<UserRow> {
  const row = ctx.actor.userId === null ? undefined : await findUser(ctx, ctx.actor.userId);
  if (row === undefined) throw new Fault('NOT_FOUND', 'The caller is not a user.');
  return row;
}

/**
 * Changes name, locale and time zone of the caller. It needs no right (docs/spec/access.md#own-account).
 *
 * @throws Fault NOT_FOUND, REVISION_CONFLICT, INVALID_VALUES
 */
export async function updateOwnProfile(ctx: WriteContext, input: OwnProfileChange): Promise<OwnProfile> {
  const row = await ownRow(ctx);
  ctx.markAuthorized();
  if (input.expectedRevision !== undefined && input.expectedRevision !== row.revision) throw stale('user');
  const validation = new Validation();
  const changes = differences(row, {
    displayName: validation.line('displayName', input.displayName),
    locale: input.locale,
    timezone: validation.timezone(input.timezone),
  });
  validation.throwIfInvalid();
  if (Object.keys(changes).length === 0) return profileOf(row);
  const next = { ...row, ...afterwards(changes), revision: row.revision + 1, updatedAt: ctx.now } as UserRow;
  writeUser(ctx, row, next);
  return profileOf(next);
}

/**
 * Archives a user. Their keys and sessions are no longer accepted. Their name stays on their actions.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED if they are archived already, REVISION_CONFLICT, LAST_ADMINISTRATOR
 */
export async function archiveUser(ctx: WriteContext, id: string, expectedRevision?: number): Promise<UserAnswer> {
  const row = await requireUser(ctx, id);
  requireActive('user', row.state);
  return turn(ctx, row, 'ARCHIVED', expectedRevision);
}

/**
 * Restores an archived user with the memberships, roles and keys that they had. The caller must hold all of it.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ROLE_ESCALATION, STATE_CONFLICT if the user is not archived, REVISION_CONFLICT
 */
export async function restoreUser(ctx: WriteContext, id: string, expectedRevision?: number): Promise<UserAnswer> {
  const row = await requireUser(ctx, id);
  await requireMayGrant(ctx, { users: [id] });
  requireArchived(row.state);
  return turn(ctx, row, 'ACTIVE', expectedRevision);
}

function turn(
  ctx: WriteContext,
  row: UserRow,
  state: UserRow['state'],
  expectedRevision: number | undefined,
): UserAnswer {
  if (expectedRevision !== undefined && expectedRevision !== row.revision) throw stale('user');
  const next: UserRow = { ...row, state, revision: row.revision + 1, updatedAt: ctx.now };
  writeUser(ctx, row, next);
  return userAnswer(next);
}
