/**
 * Dashboards: those of the configuration, and those that users make. A tile shows figures with the rights of the user who looks
 * at it, so sharing a dashboard gives no access to records.
 */
import { isActive } from '../../contract/state.ts';
import { checkedName, Fault, faultAt } from '../../lib/fault.ts';
import { Yielder } from '../../lib/yielding.ts';
import type { ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import { findNames } from '../identity/index.ts';
import { type LocalizedText, named } from '../metadata/index.ts';
import type { Tile } from './contract-dashboards.ts';
import { requireReadableQuery } from './queries.ts';
import { checkTile } from './rules.ts';
import * as store from './store-dashboards.ts';
import type { DashboardRow, Viewer } from './store-dashboards.ts';

const SHARE_RIGHT = 'config.manage';

interface SharedWith {
  roles: readonly string[];
  groups: readonly string[];
}

export interface DashboardAnswer {
  id: string;
  code: string | null;
  name: string;
  owner: { id: string; displayName: string } | null;
  shared: boolean;
  sharedWith: SharedWith | null;
  mayChange: boolean;
  tiles: Tile[];
  revision: number | null;
  updatedAt: string | null;
}

/** A compiled item of the section `dashboards`: roles and groups are ids. */
interface ConfiguredDashboard {
  id: string;
  code: string;
  name: LocalizedText;
  tiles: readonly (Omit<Tile, 'title'> & { title: LocalizedText })[];
  sharedWith: SharedWith;
}

const configured: DerivedView<{ dashboards: readonly ConfiguredDashboard[]; roles: ReadonlySet<string> }> = {
  name: 'reports.dashboards',
  build: (source: ConfigSource) => {
    const active = source.items.filter(isActive);
    return {
      dashboards: active
        .filter(({ section }) => section === 'dashboards')
        .map(({ id, compiled }) => ({ ...(compiled as ConfiguredDashboard), id })),
      roles: new Set(active.filter(({ section }) => section === 'roles').map(({ id }) => id)),
    };
  },
};

/** A dashboard belongs to a user; the system actor has none. */
function viewerOf({ actor }: ReadContext): Viewer {
  if (actor.userId === null) throw new Fault('NOT_FOUND', 'Only users have dashboards.');
  return { userId: actor.userId, roles: actor.roles, groups: actor.variables.groups, all: actor.has(SHARE_RIGHT) };
}

function isSharedWith(viewer: Viewer, { roles, groups }: SharedWith): boolean {
  return viewer.all || roles.some((id) => viewer.roles.includes(id)) || groups.some((id) => viewer.groups.includes(id));
}

/** @throws Fault INVALID_REQUEST, INVALID_FILTER; what the caller may not read gives the same errors as what is missing */
function requireReadable(ctx: ReadContext, tile: Pick<Tile, 'kind' | 'query'>, base: string): void {
  requireReadableQuery(ctx, tile.query, `${base}/query`);
  checkTile(tile, base);
}

function isReadable(ctx: ReadContext, tile: Pick<Tile, 'kind' | 'query'>): boolean {
  try {
    requireReadable(ctx, tile, '');
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** The tiles whose queries the caller may ask. Their filters can be long, so other requests run between tiles. */
async function readableTiles<T extends Pick<Tile, 'kind' | 'query'>>(
  ctx: ReadContext,
  tiles: readonly T[],
  yielder: Yielder,
): Promise<T[]> {
  const readable: T[] = [];
  for (const tile of tiles) {
    await yielder.next();
    if (isReadable(ctx, tile)) readable.push(tile);
  }
  return readable;
}

/** Own dashboards are always visible, those of others only if all their tiles are. */
async function isVisible(ctx: ReadContext, row: DashboardRow, yielder: Yielder): Promise<boolean> {
  if (row.ownerId === ctx.actor.userId) return true;
  return (await readableTiles(ctx, row.tiles, yielder)).length === row.tiles.length;
}

function isShared(row: DashboardRow): boolean {
  return row.sharedRoles.length > 0 || row.sharedGroups.length > 0;
}

function mayChange(ctx: ReadContext, row: DashboardRow): boolean {
  return isShared(row) ? ctx.actor.has(SHARE_RIGHT) : row.ownerId === ctx.actor.userId;
}

function answer(ctx: ReadContext, row: DashboardRow, ownerName: string): DashboardAnswer {
  const { id, ownerId, name, tiles, sharedRoles, sharedGroups, revision, updatedAt } = row;
  const changeable = mayChange(ctx, row);
  return {
    id,
    code: null,
    name,
    owner: { id: ownerId, displayName: ownerName },
    shared: isShared(row),
    sharedWith: changeable ? { roles: sharedRoles, groups: sharedGroups } : null,
    mayChange: changeable,
    tiles,
    revision,
    updatedAt,
  };
}

async function configuredFor(ctx: ReadContext, viewer: Viewer, yielder: Yielder): Promise<DashboardAnswer[]> {
  const answers: DashboardAnswer[] = [];
  for (const { id, code, name, tiles, sharedWith } of ctx.config.get(configured).dashboards) {
    if (!isSharedWith(viewer, sharedWith)) continue;
    const shown = await readableTiles(ctx, tiles, yielder);
    if (shown.length === 0) continue;
    answers.push({
      id,
      code,
      name: named(ctx, name),
      owner: null,
      shared: true,
      sharedWith: null,
      mayChange: false,
      tiles: shown.map((tile) => ({ ...tile, title: named(ctx, tile.title) })),
      revision: null,
      updatedAt: null,
    });
  }
  return answers;
}

/** The largest number of stored dashboards in the list; the caller's own come first. */
const MAX_LISTED = 200;

async function storedFor(ctx: ReadContext, viewer: Viewer, yielder: Yielder): Promise<DashboardRow[]> {
  const rows: DashboardRow[] = [];
  // Whether tiles are readable is not decided in SQL, so pages are read until the list is full.
  for (let offset = 0; ; offset += MAX_LISTED) {
    const page = await store.listDashboards(ctx, viewer, MAX_LISTED, offset);
    for (const row of page) {
      if (await isVisible(ctx, row, yielder)) rows.push(row);
      if (rows.length === MAX_LISTED) return rows;
    }
    if (page.length < MAX_LISTED) return rows;
  }
}

export async function listDashboards(ctx: ReadContext): Promise<DashboardAnswer[]> {
  const viewer = viewerOf(ctx);
  const yielder = new Yielder();
  const rows = await storedFor(ctx, viewer, yielder);
  const owners = rows.length === 0 ? [] : await findNames(ctx, [...new Set(rows.map((row) => row.ownerId))]);
  const names = new Map(owners.map((owner) => [owner.id, owner.name as string]));
  return [
    ...(await configuredFor(ctx, viewer, yielder)),
    ...rows.map((row) => answer(ctx, row, names.get(row.ownerId) ?? '')),
  ];
}

export interface DashboardInput {
  name: string;
  tiles: Tile[];
  sharedWith?: SharedWith;
}

/** @throws Fault INVALID_REQUEST, INVALID_FILTER */
async function requireTiles(ctx: ReadContext, tiles: readonly Tile[]): Promise<void> {
  const yielder = new Yielder();
  for (const [index, tile] of tiles.entries()) {
    await yielder.next();
    requireReadable(ctx, tile, `/tiles/${index}`);
  }
}

/** @throws Fault RIGHT_MISSING, INVALID_REQUEST */
async function requireSharing(ctx: ReadContext, { roles, groups }: SharedWith): Promise<void> {
  if (roles.length + groups.length > 0) ctx.actor.require(SHARE_RIGHT);
  const known = ctx.config.get(configured).roles;
  for (const [index, id] of roles.entries()) {
    if (!known.has(id)) throw faultAt('INVALID_REQUEST', `/sharedWith/roles/${index}`, 'NO_ROLE');
  }
  const found = groups.length === 0 ? [] : await findNames(ctx, groups);
  const existing = new Set(found.filter(({ kind }) => kind === 'group').map(({ id }) => id));
  for (const [index, id] of groups.entries()) {
    if (!existing.has(id)) throw faultAt('INVALID_REQUEST', `/sharedWith/groups/${index}`, 'NO_GROUP');
  }
}

/** @throws Fault RIGHT_MISSING, INVALID_REQUEST, INVALID_FILTER */
export async function createDashboard(ctx: WriteContext, input: DashboardInput): Promise<DashboardAnswer> {
  const { userId } = viewerOf(ctx);
  const { roles, groups } = input.sharedWith ?? { roles: [], groups: [] };
  await requireSharing(ctx, { roles, groups });
  await requireTiles(ctx, input.tiles);
  const row: DashboardRow = {
    id: ctx.newId(),
    ownerId: userId,
    name: checkedName(input.name),
    tiles: input.tiles,
    sharedRoles: [...roles],
    sharedGroups: [...groups],
    revision: 1,
    updatedAt: ctx.now,
  };
  planWrite(ctx, row);
  return answer(ctx, row, ctx.actor.displayName);
}

function planWrite(ctx: WriteContext, row: DashboardRow): void {
  const { id, name } = row;
  if (row.revision === 1) ctx.plan(store.insertDashboard, row);
  else ctx.plan(store.updateDashboard, row);
  if (isShared(row)) ctx.emit({ type: 'DashboardShared', subject: `dashboard:${id}`, data: { name } });
}

/** The dashboard if the caller may change it. @throws Fault NOT_FOUND, RIGHT_MISSING, REVISION_CONFLICT */
async function requireChangeable(ctx: WriteContext, id: string, expectedRevision: number): Promise<DashboardRow> {
  const row = await store.findDashboard(ctx, id, viewerOf(ctx));
  if (row === undefined || !(await isVisible(ctx, row, new Yielder()))) {
    throw new Fault('NOT_FOUND', 'There is no such dashboard, or you may not see it.');
  }
  if (!mayChange(ctx, row)) ctx.actor.require(SHARE_RIGHT);
  ctx.markAuthorized();
  if (row.revision !== expectedRevision) {
    const message = 'The dashboard was changed after the expected revision. Read it again.';
    throw new Fault('REVISION_CONFLICT', message, { changedSince: [] });
  }
  return row;
}

/** @throws Fault NOT_FOUND, RIGHT_MISSING, REVISION_CONFLICT, INVALID_REQUEST, INVALID_FILTER */
export async function changeDashboard(
  ctx: WriteContext,
  id: string,
  input: { expectedRevision: number } & Partial<DashboardInput>,
): Promise<DashboardAnswer> {
  const row = await requireChangeable(ctx, id, input.expectedRevision);
  if (input.sharedWith !== undefined) await requireSharing(ctx, input.sharedWith);
  if (input.tiles !== undefined) await requireTiles(ctx, input.tiles);
  const next: DashboardRow = {
    ...row,
    name: input.name === undefined ? row.name : checkedName(input.name),
    tiles: input.tiles ?? row.tiles,
    sharedRoles: [...(input.sharedWith?.roles ?? row.sharedRoles)],
    sharedGroups: [...(input.sharedWith?.groups ?? row.sharedGroups)],
    revision: row.revision + 1,
    updatedAt: ctx.now,
  };
  planWrite(ctx, next);
  const [owner] = await findNames(ctx, [row.ownerId]);
  return answer(ctx, next, (owner?.name as string | undefined) ?? '');
}

/** @throws Fault NOT_FOUND, RIGHT_MISSING, REVISION_CONFLICT */
export async function deleteDashboard(
  ctx: WriteContext,
  id: string,
  expectedRevision: number,
): Promise<{ id: string }> {
  const row = await requireChangeable(ctx, id, expectedRevision);
  ctx.plan(store.removeDashboard, { id, revision: expectedRevision });
  if (isShared(row)) ctx.emit({ type: 'DashboardRemoved', subject: `dashboard:${id}`, data: { name: row.name } });
  return { id };
}
