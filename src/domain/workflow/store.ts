/** SQL on the table `removed_states`. Writes of records refuse to enter these states. */
import sql, { type Sql } from 'sql-template-tag';
import type { TableWrite } from '../../platform/unit-of-work/context.ts';

export const removeState: TableWrite<{ id: string }> = {
  name: 'remove_state',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO removed_states (id) SELECT id FROM jsonb_to_recordset(${rows}) AS r (id uuid) ON CONFLICT DO NOTHING`,
};

export const returnState: TableWrite<{ id: string }> = {
  name: 'return_state',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM removed_states s USING jsonb_to_recordset(${rows}) AS r (id uuid) WHERE s.id = r.id`,
};
