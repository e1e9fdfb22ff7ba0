/** Users by the roles that they hold, as a predicate: people are limited to them before LIMIT. */
import sql, { type Sql } from 'sql-template-tag';
import type { RecordAction } from '../../contract/rights.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { roleView } from './roles.ts';

/** What a role must grant on the type, so that its holders are selected. */
export interface Holding {
  typeId: string;
  /** Actions that select each holder, and those that select holders of a role for the desk. */
  actions: { anybody: readonly RecordAction[]; desk: readonly RecordAction[] };
  /** If false, grants with a condition select only holders of a role for the desk. */
  onRecord: boolean;
}

/** A predicate on ids of users. It selects everybody whose rights could suffice; the rights of each decide. */
export function whoHolds(ctx: ReadContext, { typeId, actions, onRecord }: Holding): (id: Sql) => Sql {
  const roles = ctx.config.get(roleView);
  const ids = [...roles.ids.values()];
  const granting = (wanted: readonly RecordAction[], conditional: boolean): string[] =>
    ids.filter((id) =>
      (roles.one(id)?.grants.get(typeId) ?? []).some(
        (grant) => (conditional || grant.where === null) && wanted.some((action) => grant.actions.has(action)),
      ),
    );
  const anybody = granting(actions.anybody, onRecord);
  const working = granting([...actions.anybody, ...actions.desk], true);
  const desk = ids.filter((id) => roles.one(id)?.interfaces.has('desk'));
  return (id) =>
    sql`(${id} IN (${holdersOf(anybody)}) OR (${id} IN (${holdersOf(working)}) AND ${id} IN (${holdersOf(desk)})))`;
}

/** Selects who holds one of the roles: directly, or by groups and the groups inside them. */
function holdersOf(roleIds: readonly string[]): Sql {
  return sql`
    WITH RECURSIVE held AS (
      SELECT a.member_type AS kind, a.member_id AS id FROM role_assignments a
        LEFT JOIN groups g ON a.member_type = 'group' AND g.id = a.member_id
      WHERE a.role_id = ANY(${[...roleIds]}::uuid[]) AND (a.member_type = 'user' OR g.state = 'ACTIVE')
      UNION
      SELECT m.member_type, m.member_id FROM held h
        JOIN group_members m ON h.kind = 'group' AND m.group_id = h.id
        LEFT JOIN groups g ON m.member_type = 'group' AND g.id = m.member_id
      WHERE m.member_type = 'user' OR g.state = 'ACTIVE'
    )
    SELECT id FROM held WHERE kind = 'user'`;
}
