/** Indexes of filterable fields (configuration, section 3: built and dropped by a reconciler outside of transactions). */
import { createHash } from 'node:crypto';
import { jsonOf, keyOf, type ValueField } from './filter-sql-fields.ts';

export interface FieldIndex {
  /** Follows from what the index is: another shape of the field is another name. */
  name: string;
  /** `CREATE INDEX CONCURRENTLY …`, to be run outside of a transaction. */
  sql: string;
  /**
   * What tells the planner how many records a condition on the field admits, or null: it never looks into the statistics of
   * a partial index, takes every condition for a rare one, and would sort most of a table for a page of it.
   */
  statistics: { name: string; sql: string } | null;
}

/**
 * The index that serves conditions on one field of one type among its active records: for a single value `equals`, `in`,
 * `range`, `before`, `after` and `starts-with`, with the last update behind it so that a page comes in order; for a
 * multiple one `equals` and `in`. Null for free JSON, of which only emptiness can be asked.
 *
 * A query uses it only if it says `type_id = …` and `state = 'ACTIVE'` itself.
 */
export function fieldIndex(typeId: string, field: ValueField): FieldIndex | null {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(typeId)) throw new Error('not a type id');
  if (field.dataType === 'json' || (field.multiple && field.dataType === 'rich-text')) return null;
  const on = field.multiple
    ? `USING gin (${jsonOf(field, '').text} jsonb_path_ops)`
    : `(${keyOf(field, '').text}, updated_at DESC, id DESC)`;
  const { name, create } = indexOn(typeId, on);
  const key = field.multiple ? null : keyOf(field, '').text;
  const known = key === null ? '' : `objects_known_${createHash('sha256').update(key).digest('hex').slice(0, 24)}`;
  return {
    name,
    sql: create,
    statistics:
      key === null ? null : { name: known, sql: `CREATE STATISTICS IF NOT EXISTS ${known} ON (${key}) FROM objects` },
  };
}

/** The index that serves conditions on who created a record, among the active records of one type. */
export function creatorIndex(typeId: string): FieldIndex {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(typeId)) throw new Error('not a type id');
  const { name, create } = indexOn(typeId, '(created_by, updated_at DESC, id DESC)');
  return { name, sql: create, statistics: null };
}

function indexOn(typeId: string, on: string): { name: string; create: string } {
  const body = `ON objects ${on} WHERE type_id = '${typeId}' AND state = 'ACTIVE'`;
  const name = `objects_field_${createHash('sha256').update(body).digest('hex').slice(0, 24)}`;
  return { name, create: `CREATE INDEX CONCURRENTLY ${name} ${body}` };
}
