/** Indexes of filterable fields (docs/spec/configuration.md#bundle). */
import { createHash } from 'node:crypto';
import { descriptorOf } from '../../lib/data-types/index.ts';
import { jsonOf, keyOf, type ValueField } from './filter-sql-fields.ts';

export interface FieldIndex {
  /** Derived from the index's definition: if the shape of the field changes, so does the name. */
  name: string;
  /** `CREATE INDEX CONCURRENTLY …`, must run outside a transaction. */
  sql: string;
  /**
   * Extended statistics that tell the planner how many records match a condition on the field; null if none are needed. The
   * planner does not use the statistics of a partial index. Without these, it assumes that every condition is selective, and
   * would sort most of a table for one page.
   */
  statistics: { name: string; sql: string } | null;
}

/**
 * The index for conditions on one field of one type, for active records. For single values it supports `equals`, `in`, `range`,
 * `before`, `after` and `starts-with`, followed by the last update so that pages are read in order; for multiple values
 * `equals` and `in`. Null for `json` fields, which only support `is-empty`.
 *
 * A query uses it only if it contains `type_id = …` and `state = 'ACTIVE'`.
 */
export function fieldIndex(typeId: string, field: ValueField): FieldIndex | null {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(typeId)) throw new Error('not a type id');
  const { comparison, document = false } = descriptorOf(field.dataType);
  if (comparison === 'none' || (field.multiple && document)) return null;
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

/** The index for conditions on the creator of a record, for active records of one type. */
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
