/**
 * The history of the configuration outside users, groups and units. Every change of an item, by an apply or a single call, adds
 * a version with the items that it changed (`planItem` in `store.ts`). Versions are never deleted and hold no secrets.
 */
import type { Static } from 'typebox';
import sql from 'sql-template-tag';
import { pageOf, type Paging, windowOf } from '../contract/paging.ts';
import { isArchived, type ItemState } from '../contract/state.ts';
import { Fault } from '../lib/fault.ts';
import { deepEqualJson } from '../lib/json.ts';
import { joinedUser } from '../platform/journal/journal.ts';
import { type Check, rowCheck } from '../platform/audit/checks.ts';
import type { ReadContext } from '../platform/unit-of-work/context.ts';
import type { diffConfigVersions, listConfigVersions } from './contract.ts';
import { listedDifferences } from './differences.ts';
import { mayRead } from './require-readable.ts';
import type { Action, ConfigSection } from './section.ts';

const AUTHOR = joinedUser('v.changed_by', 'u');

/** The number that every change of what a bundle holds raises, outside users, groups and units. */
export async function currentVersion(ctx: Pick<ReadContext, 'query'>): Promise<number> {
  const [row] = await ctx.query<{ version: number }>(sql`SELECT config AS version FROM cache_versions`);
  if (row === undefined) throw new Error('the table cache_versions is empty');
  return row.version;
}

/**
 * Call it while the configuration is locked, so that the answer holds until the unit ends.
 *
 * @throws Fault CONFIGURATION_CHANGED with `{expected, version, sections}` if the configuration has another version
 */
export async function requireVersion(ctx: ReadContext, expected: number): Promise<void> {
  const version = await currentVersion(ctx);
  if (version === expected) return;
  const rows = await ctx.query<{ section: string }>(sql`
    SELECT DISTINCT section FROM config_item_versions WHERE version > ${expected}::bigint ORDER BY section`);
  const sections = rows.map(({ section }) => section);
  throw new Fault(
    'CONFIGURATION_CHANGED',
    `The configuration changed since version ${expected}; it is now version ${version}. Plan again and check the changes.`,
    { expected, version, sections },
  );
}

interface VersionRow {
  version: number;
  at: string;
  byId: string | null;
  byName: string | null;
}

function versionOf({ version, at, byId, byName }: VersionRow): ConfigVersion {
  return { version, at, by: byId === null ? null : { id: byId, displayName: byName ?? '' } };
}

type VersionAction = Exclude<Action, 'leave'>;

export type VersionPage = Static<typeof listConfigVersions.answer>;
export type ListedVersion = VersionPage['rows'][number];
type ChangedItem = ListedVersion['items'][number];
type ConfigVersion = Pick<ListedVersion, 'version' | 'at' | 'by'>;

/** Changed items that the list of versions names. The summary counts all of them. */
const MAX_ITEMS = 50;

/**
 * A page of the versions, newest first. Items of sections that the caller may not read are left out.
 *
 * @throws Fault RIGHT_MISSING
 */
export async function listVersions(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  paging: Paging,
): Promise<VersionPage> {
  ctx.actor.require('config.manage');
  const window = windowOf(paging);
  const readable = sections.filter((section) => mayRead(ctx, section)).map(({ key }) => key);
  const rows = await ctx.query<VersionRow & { items: ChangedItem[] | null }>(sql`
    SELECT v.version, v.changed_at AS at, v.changed_by AS "byId", ${AUTHOR.name} AS "byName", (
      SELECT jsonb_agg(jsonb_build_object('section', i.section, 'code', i.code, 'action', CASE
          WHEN p.state IS NULL THEN 'create' WHEN p.state = i.state THEN 'change'
          WHEN i.state = 'ACTIVE' THEN 'restore' ELSE 'archive' END) ORDER BY i.section, i.code)
      FROM config_item_versions i LEFT JOIN LATERAL (
        SELECT state FROM config_item_versions WHERE item_id = i.item_id AND version < i.version
        ORDER BY version DESC LIMIT 1) p ON true
      WHERE i.version = v.version AND i.section = ANY(${readable}::text[])) AS items
    FROM config_versions v ${AUTHOR.join}
    ORDER BY v.version DESC LIMIT ${window.limit}::int OFFSET ${window.offset}::int`);
  const shown = rows.map((row) => {
    const items = row.items ?? [];
    const count = (wanted: VersionAction): number => items.filter(({ action }) => action === wanted).length;
    return {
      ...versionOf(row),
      sections: [...new Set(items.map(({ section }) => section))],
      summary: {
        create: count('create'),
        change: count('change'),
        archive: count('archive'),
        restore: count('restore'),
      },
      items: items.slice(0, MAX_ITEMS),
    };
  });
  return { current: await currentVersion(ctx), ...pageOf(shown, window) };
}

/** @throws Fault NOT_FOUND if the history does not hold the version */
export async function readVersion(ctx: ReadContext, version: number): Promise<ConfigVersion> {
  const [row] = await ctx.query<VersionRow>(sql`
    SELECT v.version, v.changed_at AS at, v.changed_by AS "byId", ${AUTHOR.name} AS "byName"
    FROM config_versions v ${AUTHOR.join} WHERE v.version = ${version}::bigint`);
  if (row === undefined) {
    throw new Fault('NOT_FOUND', `The history holds no configuration version ${version}. List the versions.`);
  }
  return versionOf(row);
}

/** An item of the configuration as it was at a version. */
export interface PastItem {
  id: string;
  section: string;
  code: string;
  state: ItemState;
  definition: unknown;
}

/** All items at the version, also archived ones. Definitions of roles have no assignments. @throws Fault NOT_FOUND */
export async function itemsAt(ctx: ReadContext, version: number): Promise<PastItem[]> {
  await readVersion(ctx, version);
  return await ctx.query<PastItem>(sql`
    SELECT DISTINCT ON (item_id) item_id AS id, section, code, state, definition FROM config_item_versions
    WHERE version <= ${version}::bigint ORDER BY item_id, version DESC`);
}

export type VersionDifference = Static<typeof diffConfigVersions.answer>[number];

function actionBetween(before: PastItem | undefined, after: PastItem | undefined): VersionAction | 'leave' {
  const was = before !== undefined && !isArchived(before);
  const is = after !== undefined && !isArchived(after);
  if (was !== is) {
    if (was) return 'archive';
    return before === undefined ? 'create' : 'restore';
  }
  if (!was || deepEqualJson(before?.definition, after?.definition)) return 'leave';
  return 'change';
}

/**
 * What changed from one version to another, which may be the older one. Sections that the caller may not read are left out.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND
 */
export async function diffVersions(
  ctx: ReadContext,
  sections: readonly ConfigSection[],
  { from, to }: { from: number; to: number },
): Promise<VersionDifference[]> {
  ctx.actor.require('config.manage');
  const order = new Map(sections.filter((section) => mayRead(ctx, section)).map(({ key }, index) => [key, index]));
  const before = new Map((await itemsAt(ctx, from)).map((item) => [item.id, item]));
  const after = new Map((await itemsAt(ctx, to)).map((item) => [item.id, item]));
  const schemas = new Map(sections.map(({ key, schema }) => [key, schema]));
  const found: VersionDifference[] = [];
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(id), after.get(id)];
    const { section, code } = (now ?? old) as PastItem;
    const action = actionBetween(old, now);
    if (action === 'leave' || !order.has(section)) continue;
    const listed =
      action === 'archive'
        ? listedDifferences()
        : listedDifferences(old?.definition, now?.definition, schemas.get(section));
    found.push({ section, code, id, action, ...listed });
  }
  const place = ({ section }: VersionDifference): number => order.get(section) ?? 0;
  return found.sort((a, b) => place(a) - place(b) || (a.code < b.code ? -1 : 1));
}

/** Finds items whose newest version in the history is not the stored item. */
export const configurationChecks: readonly Check[] = [
  rowCheck(
    'I13 the configuration is what its history says',
    sql`
      SELECT i.section || '/' || i.code AS what FROM config_items i LEFT JOIN LATERAL (
        SELECT code, state, definition FROM config_item_versions WHERE item_id = i.id ORDER BY version DESC LIMIT 1) v
        ON true
      WHERE (i.code, i.state, i.definition) IS DISTINCT FROM (v.code, v.state, v.definition)`,
  ),
];
