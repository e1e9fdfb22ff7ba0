/** For tests: a database with a table of records, independent of the migrations. */
import pg from 'pg';
import { createTestDatabase } from './database.ts';
import type { CompileEnvironment } from '../../src/platform/database/filter-sql.ts';
import { STATES, TYPES, VARIABLES } from './filter-sql-edges.ts';

/** `place` identifies the rows. No column is unique, so ids may repeat like other values. */
export const COLUMNS = `place integer, id uuid, type_id uuid, type_version integer, number text, title text, revision integer,
  state text, workflow_state_id uuid, "values" jsonb, folded jsonb, created_at timestamptz(3), created_by uuid,
  updated_at timestamptz(3), updated_by uuid`;

export const ENVIRONMENT: CompileEnvironment = {
  alias: 'o',
  variables: VARIABLES,
  stateIdsByCode: (code) => STATES.filter((state) => state.code === code).map((state) => state.id),
  stateIdsByCategory: (name) => STATES.filter((state) => state.category === name).map((state) => state.id),
  typeIdByCode: (code) => TYPES.get(code),
};

export interface Testbed {
  client: pg.Client;
  close(): Promise<void>;
}

/** The database uses a Russian collation, so that SQL without an explicit collation fails the tests. */
export async function openTestbed(): Promise<Testbed> {
  const database = await createTestDatabase();
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  const url = new URL(database.url);
  url.pathname += '_ru';
  const name = url.pathname.slice(1);
  await admin.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'
    LOCALE_PROVIDER icu ICU_LOCALE 'ru-RU' LOCALE 'C'`);
  const client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
  await client.query(`CREATE UNLOGGED TABLE objects (${COLUMNS})`);
  return {
    client,
    close: async () => {
      await client.end();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
      await database.drop();
    },
  };
}
