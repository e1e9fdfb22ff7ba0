/** SQL that looks for what values name: people, groups, units and records. */
import sql, { join, type Sql } from 'sql-template-tag';
import type { ReadContext, TableWrite } from '../../mechanisms/context.ts';

/** Ids that values name, by what they should be. */
export interface NamedThings {
  users: readonly string[];
  groups: readonly string[];
  units: readonly string[];
  objects: readonly string[];
}

export interface FoundThings {
  /** Ids of users, groups and units. */
  people: ReadonlySet<string>;
  /** Ids of records, with their types. */
  objects: ReadonlyMap<string, string>;
}

/** Which of the people, groups, units and records are there and active, in one statement; records only under `visible`. */
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
 * For one id an equation: a list is planned anew at each execution, since the planner takes it to be ten long when it does not
 * look, and that costs several times the look-up itself.
 */
function isAmong(column: Sql, ids: readonly string[]): Sql {
  return ids.length === 1 ? sql`${column} = ${ids[0]}::uuid` : sql`${column} = ANY(${[...ids]}::uuid[])`;
}

/** The guards that each id names a person, a group or a unit that is there and active. */
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
  /** Types that the record may be of; null: any. */
  types: string[] | null;
}

/** The guard that each id names a record that is there and active, of one of its types, and under `visible`. */
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
