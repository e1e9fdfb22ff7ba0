/** SQL on the values of signing secrets. The secrets themselves are configuration items. */
import sql, { type Sql } from 'sql-template-tag';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';

export interface SecretValueRow {
  secretId: string;
  version: number;
  createdAt: string;
  /** Null for the current value. */
  expiresAt: string | null;
}

/** Current and overlapping values of the secrets, newest first, without their content. */
export async function listValues(ctx: ReadContext, secretIds: readonly string[]): Promise<SecretValueRow[]> {
  return await ctx.query<SecretValueRow>(sql`
    SELECT secret_id AS "secretId", version, created_at AS "createdAt", expires_at AS "expiresAt"
    FROM signing_secret_values
    WHERE secret_id = ANY(${[...secretIds]}::uuid[]) AND (expires_at IS NULL OR expires_at > ${ctx.now}::timestamptz)
    ORDER BY secret_id, version DESC`);
}

export const insertValue: TableWrite<{ secret_id: string; version: number; sealed: string; at: string }> = {
  name: 'insert_secret_value',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO signing_secret_values (secret_id, version, sealed, created_at)
    SELECT secret_id, version, decode(sealed, 'hex'), at
    FROM jsonb_to_recordset(${rows}) AS r (secret_id uuid, version integer, sealed text, at timestamptz)
    ON CONFLICT (secret_id, version) DO NOTHING RETURNING 1`,
};

/**
 * Sets the end of validity of the replaced value, if there is an overlap. `dropValues` deletes all values that are no longer
 * valid.
 */
export const replaceValues: TableWrite<{ secret_id: string; current: number; until: string | null }> = {
  name: 'replace_secret_values',
  guard: false,
  sql: (rows: Sql) => sql`
    UPDATE signing_secret_values v SET expires_at = r.until
    FROM jsonb_to_recordset(${rows}) AS r (secret_id uuid, current integer, until timestamptz)
    WHERE v.secret_id = r.secret_id AND v.version = r.current AND r.until IS NOT NULL`,
};

export const dropValues: TableWrite<{ secret_id: string; below: number }> = {
  name: 'drop_secret_values',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM signing_secret_values v USING jsonb_to_recordset(${rows}) AS r (secret_id uuid, below integer)
    WHERE v.secret_id = r.secret_id AND v.version < r.below`,
};
