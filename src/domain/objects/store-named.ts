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

export interface NamedRow {
  kind: 'user' | 'group' | 'unit' | 'object';
  id: string;
  /** Types that the record may be of; null: any. */
  types: string[] | null;
}

/** The guard that all of the rows name something that is there and active; of records, something under `visible`. */
export function namedThings(visible: Sql | null): TableWrite<NamedRow> {
  return {
    name: 'named_things',
    guard: true,
    sql: (rows: Sql) => sql`
      SELECT r.id FROM jsonb_to_recordset(${rows}) AS r (kind text, id uuid, types uuid[])
      WHERE CASE r.kind
        WHEN 'user' THEN EXISTS (SELECT FROM users u WHERE u.id = r.id AND u.state = 'ACTIVE')
        WHEN 'group' THEN EXISTS (SELECT FROM groups g WHERE g.id = r.id AND g.state = 'ACTIVE')
        WHEN 'unit' THEN EXISTS (SELECT FROM org_units g WHERE g.id = r.id AND g.state = 'ACTIVE')
        ELSE EXISTS (SELECT FROM objects o WHERE o.id = r.id AND o.state = 'ACTIVE'
          AND (r.types IS NULL OR o.type_id = ANY(r.types)) AND ${visible ?? sql`false`})
      END`,
  };
}
