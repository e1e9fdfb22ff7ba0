/** What a database holds: a hash of every table, and the place of every sequence. */
import { stored } from './small-configuration.ts';
import type { TestApp } from './app.ts';

/** Tables that requests write beside their work: times of the last use. */
const ASIDE: ReadonlySet<string> = new Set([]);

/** Table or sequence → what it holds. */
export async function databaseState(app: TestApp): Promise<Record<string, unknown>> {
  const tables = await stored<{ name: string }>(
    app,
    `SELECT c.oid::regclass::text AS name FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'`,
  );
  const parts = tables
    .filter(({ name }) => !ASIDE.has(name))
    .map(({ name }) => {
      const rows = `string_agg(md5(t::text), '' ORDER BY md5(t::text))`;
      return `SELECT '${name}' AS name, count(*)::text || ' ' || coalesce(md5(${rows}), '') AS held FROM ${name} t`;
    });
  const sequences = `SELECT sequencename AS name, coalesce(last_value::text, '') AS held FROM pg_sequences`;
  const rows = await stored<{ name: string; held: string }>(app, [...parts, sequences].join(' UNION ALL '));
  return Object.fromEntries(rows.map(({ name, held }) => [name, held]));
}
