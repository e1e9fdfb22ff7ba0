/** SQL that looks up the users, groups, units and records that values refer to. */
import sql, { join, type Sql } from 'sql-template-tag';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';

/** Ids in values, by the kind of item that they must refer to. */
export interface NamedThings {
  users: readonly string[];
  groups: readonly string[];
  units: readonly string[];
  objects: readonly string[];
}

export interface FoundThings {
  /** Ids of users, groups and units. */
  people: ReadonlySet<string>;
  /** Record id → type id. */
  objects: ReadonlyMap<string, string>;
}

/** The users, groups, units and records that exist and are active, in one statement; records only under `visible`. */
export async function findNamed(ctx: ReadContext, ids: NamedThings, visible: Sql | null): Promise<FoundThings> {
  const parts: Sql[] = [];
  const look = (table: Sql, named: readonly string[]): void => {
    if (named.length === 0) return;
    parts.push(
      sql`SELECT id, NULL::uuid AS "typeId" FROM ${table} WHERE ${isAmong(sql`id`, named)} AND state = 'ACTIVE'`,
    );
  };
  look(sql`users`, ids.users);
  look(sql`groups`, ids.groups);
  look(sql`org_units`, ids.units);
  if (ids.objects.length > 0 && visible !== null) {
    parts.push(sql`SELECT o.id, o.type_id AS "typeId" FROM objects o
      WHERE ${isAmong(sql`o.id`, ids.objects)} AND o.state = 'ACTIVE' AND ${visible}`);
  }
  const people = new Set<string>();
  const objects = new Map<string, string>();
  if (parts.length === 0) return { people, objects };
  for (const { id, typeId } of await ctx.query<{ id: string; typeId: string | null }>(join(parts, ' UNION ALL '))) {
    if (typeId === null) people.add(id);
    else objects.set(id, typeId);
  }
  return { people, objects };
}

/**
 * A single id is compared with `=`. A statement with a list is planned at each execution, because the planner assumes ten
 * elements for an unknown list, and planning costs several times as much as the lookup.
 */
function isAmong(column: Sql, ids: readonly string[]): Sql {
  return ids.length === 1 ? sql`${column} = ${ids[0]}::uuid` : sql`${column} = ANY(${[...ids]}::uuid[])`;
}

/** Guards: each id must refer to an active user, group or unit. */
export const namedUsers = named('named_users', sql`users`);
export const namedGroups = named('named_groups', sql`groups`);
export const namedUnits = named('named_units', sql`org_units`);

function named(name: string, table: Sql): TableWrite<{ id: string }> {
  return {
    name,
    guard: true,
    columns: { id: 'uuid' },
    sql: (rows: Sql) => sql`SELECT n.id FROM ${rows} JOIN ${table} n ON n.id = r.id WHERE n.state = 'ACTIVE'`,
  };
}

export interface NamedObject {
  id: string;
  /** Allowed types of the record; null for any type. */
  types: string[] | null;
}

/** Guard: each id must refer to an active record of one of its types that satisfies `visible`. */
export function namedObjects(visible: Sql): TableWrite<NamedObject> {
  return {
    name: 'named_objects',
    guard: true,
    varies: true,
    columns: { id: 'uuid', types: 'uuid[]' },
    sql: (rows: Sql) => sql`
      SELECT o.id FROM ${rows} JOIN objects o ON o.id = r.id
      WHERE o.state = 'ACTIVE' AND (r.types IS NULL OR o.type_id = ANY(r.types)) AND ${visible}`,
  };
}
