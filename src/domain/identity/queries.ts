/** Reads of users, groups and units. All of them need `user.administer`, except `whoIs`. */
import type { ItemState } from '../../contract/state.ts';
import * as store from './store.ts';
import * as members from './store-members.ts';
import type { Localized } from '../../contract/schemas.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { answerInWindows } from '../../contract/paging.ts';
import { allRows, eachOf } from '../../platform/database/window.ts';
import { localized, registry } from '../metadata/index.ts';
import { fold, nfc } from '../../lib/text.ts';
import { findKey } from './rules.ts';
import {
  listNamed,
  type LocalizedName,
  type NamedKind,
  type PeopleRange,
  type PersonRow,
  searchPeople,
} from './store.ts';

export interface UserAnswer extends store.UserRow {
  userId: string;
}

export interface GroupAnswer extends Omit<store.GroupRow, 'name'> {
  groupId: string;
  name: string;
}

export interface UnitAnswer extends Omit<store.UnitRow, 'name'> {
  organizationUnitId: string;
  name: string;
}

function defaultLocale(ctx: ReadContext): string {
  return registry(ctx).settings.defaultLocale;
}

function nameOf(ctx: ReadContext, name: Localized): string {
  const locale = defaultLocale(ctx);
  return localized(name, locale, locale);
}

export function userAnswer(row: store.UserRow): UserAnswer {
  return { ...row, userId: row.id };
}

export function groupAnswer(ctx: ReadContext, row: store.GroupRow): GroupAnswer {
  return { ...row, groupId: row.id, name: nameOf(ctx, row.name) };
}

export function unitAnswer(ctx: ReadContext, row: store.UnitRow): UnitAnswer {
  return { ...row, organizationUnitId: row.id, name: nameOf(ctx, row.name) };
}

const usersOf = (ctx: ReadContext, state: ItemState) => eachOf(store.userWindows(ctx, state), userAnswer);
const groupsOf = (ctx: ReadContext, state: ItemState) =>
  eachOf(store.groupWindows(ctx, state, defaultLocale(ctx)), (row) => groupAnswer(ctx, row));
const unitsOf = (ctx: ReadContext, state: ItemState) =>
  eachOf(store.unitWindows(ctx, state, defaultLocale(ctx)), (row) => unitAnswer(ctx, row));

/** @throws Fault RIGHT_MISSING */
export async function listUsers(ctx: ReadContext): Promise<unknown> {
  ctx.actor.require('user.administer');
  return await answerInWindows(usersOf(ctx, 'ACTIVE'), undefined);
}

/** @throws Fault RIGHT_MISSING */
export async function listGroups(ctx: ReadContext): Promise<unknown> {
  ctx.actor.require('user.administer');
  return await answerInWindows(groupsOf(ctx, 'ACTIVE'), undefined);
}

/** @throws Fault RIGHT_MISSING */
export async function listUnits(ctx: ReadContext): Promise<unknown> {
  ctx.actor.require('user.administer');
  return await answerInWindows(unitsOf(ctx, 'ACTIVE'), undefined);
}

/** Lists archived users, groups and units: what can be restored. @throws Fault RIGHT_MISSING */
export async function listArchived(
  ctx: ReadContext,
): Promise<{ users: UserAnswer[]; groups: GroupAnswer[]; orgUnits: UnitAnswer[] }> {
  ctx.actor.require('user.administer');
  return {
    users: await allRows(usersOf(ctx, 'ARCHIVED')),
    groups: await allRows(groupsOf(ctx, 'ARCHIVED')),
    orgUnits: await allRows(unitsOf(ctx, 'ARCHIVED')),
  };
}

/** Returns one user, archived or not; undefined if there is none. @throws Fault RIGHT_MISSING */
export async function findUser(ctx: ReadContext, id: string): Promise<UserAnswer | undefined> {
  ctx.actor.require('user.administer');
  const row = await store.findUser(ctx, id);
  return row === undefined ? undefined : userAnswer(row);
}

/** @throws Fault RIGHT_MISSING */
export async function findGroup(ctx: ReadContext, id: string): Promise<GroupAnswer | undefined> {
  ctx.actor.require('user.administer');
  const row = await store.findGroup(ctx, id);
  return row === undefined ? undefined : groupAnswer(ctx, row);
}

/** @throws Fault RIGHT_MISSING */
export async function findUnit(ctx: ReadContext, id: string): Promise<UnitAnswer | undefined> {
  ctx.actor.require('user.administer');
  const row = await store.findUnit(ctx, id);
  return row === undefined ? undefined : unitAnswer(ctx, row);
}

/** Lists memberships of groups, oldest first. @throws Fault RIGHT_MISSING */
export async function listGroupMembers(
  ctx: ReadContext,
  of: { groupId?: string; memberId?: string },
): Promise<unknown> {
  ctx.actor.require('user.administer');
  return await answerInWindows(members.groupMemberWindows(ctx, of), undefined);
}

/** Lists memberships of units, oldest first. @throws Fault RIGHT_MISSING */
export async function listOrgMembers(ctx: ReadContext, of: { organizationUnitId?: string }): Promise<unknown> {
  ctx.actor.require('user.administer');
  return await answerInWindows(members.orgMemberWindows(ctx, of.organizationUnitId), undefined);
}

/** Identifies a user by id, for modules that store ids of users. Needs no right and returns nothing but these properties. */
export async function whoIs(
  ctx: ReadContext,
  id: string,
): Promise<Pick<store.UserRow, 'id' | 'login' | 'displayName' | 'state'> | undefined> {
  const row = await store.findUser(ctx, id);
  if (row === undefined) return undefined;
  const { login, displayName, state } = row;
  return { id, login, displayName, state };
}

/** A user, group or unit to choose. Only users have the other properties. */
export type NameChoice = { id: string; name: LocalizedName } & Partial<Omit<store.PersonRow, 'id' | 'name'>>;

function capitalised(text: string): string {
  return text.replaceAll(
    /(^|[\s-])(\p{L})/gu,
    (_match, before: string, letter: string) => before + letter.toUpperCase(),
  );
}

/** LIKE patterns for common spellings of the text: display names are stored without a normal form. */
function patternsOf(text: string): string[] {
  const lower = text.toLowerCase();
  const spellings = new Set([text, lower, capitalised(lower), text.toUpperCase()]);
  return [...spellings].map((spelling) => `%${spelling.replaceAll(/[\\%_]/g, (char) => `\\${char}`)}%`);
}

/** Active items whose name contains the text (empty: all), at most `limit`, sorted by name for users, by code otherwise. */
export async function searchNames(
  ctx: ReadContext,
  kind: NamedKind,
  text: string,
  limit: number,
): Promise<NameChoice[]> {
  if (kind === 'user') return await searchUsers(ctx, text, limit);
  const wanted = nfc(text).trim();
  const folded = fold(wanted);
  const all = await listNamed(ctx, kind);
  const texts = (name: LocalizedName): string[] => (typeof name === 'string' ? [name] : Object.values(name));
  return all.filter(({ name }) => texts(name).some((one) => fold(one).includes(folded))).slice(0, limit);
}

/** The same of users, of those in the range. */
export async function searchUsers(
  ctx: ReadContext,
  text: string,
  limit: number,
  range?: PeopleRange,
): Promise<PersonRow[]> {
  const wanted = nfc(text).trim();
  return await searchPeople(ctx, patternsOf(wanted), findKey(wanted) ?? wanted, limit, range);
}
