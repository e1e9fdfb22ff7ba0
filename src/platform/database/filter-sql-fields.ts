/**
 * SQL expressions for the values of a record's fields, and the indexes of filterable fields
 * (docs/spec/configuration.md#bundle). Conditions and indexes both take their expressions from here, because an index is only
 * used if they are identical.
 *
 * All expressions are total: for any JSON they return a value or NULL and never raise an error, since one record of an older
 * type version must not break a query or the creation of an index.
 */
import { createHash } from 'node:crypto';
import { raw, type Sql } from 'sql-template-tag';
import { type Comparison, descriptorOf } from '../../lib/data-types/index.ts';
import { DECIMAL_DIGITS } from '../../lib/decimal.ts';
import type { TypedField } from '../../lib/filter.ts';

export type ValueField = Pick<TypedField, 'code' | 'dataType' | 'multiple' | 'storedAs'>;

/** The length of an indexed text prefix. 200 characters are at most 800 bytes, well below the limit of a B-tree entry. */
export const TEXT_KEY_CHARS = 200;

/** Longer than every date, datetime, time, duration, id and option code, so truncation only affects texts that cannot match. */
const SHORT_KEY_CHARS = 64;

/** Length of the longest stored number, including its sign and decimal point. */
const NUMBER_CHARS = DECIMAL_DIGITS + 2;

/**
 * A field code as an SQL literal. Field codes are part of the statement's text rather than parameters, because expression
 * indexes would not match otherwise. This function is the only way to put them there.
 */
export function literal(code: string): string {
  if (!/^[a-zA-Z][a-zA-Z0-9_]{0,62}$/.test(code)) throw new Error('not a field code');
  return `'${code}'`;
}

function storedName({ code, storedAs = code }: ValueField): string {
  return literal(storedAs);
}

function prefix(alias: string): string {
  if (alias === '') return '';
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(alias)) throw new Error('not a table alias');
  return `${alias}.`;
}

/** A column of the table of records. With an empty alias, as in an index, the bare name. */
export function column(alias: string, name: string): Sql {
  return raw(`${prefix(alias)}${name}`);
}

/** The stored value as JSON. */
export function jsonOf(field: ValueField, alias: string): Sql {
  return raw(`(${prefix(alias)}"values"->${storedName(field)})`);
}

/** The stored value as text. */
export function textOf(field: ValueField, alias: string): Sql {
  return raw(`(${prefix(alias)}"values"->>${storedName(field)})`);
}

/** The folded copy as JSON, for lists of multiple fields. */
export function foldedJsonOf(field: ValueField, alias: string): Sql {
  return raw(`(${prefix(alias)}folded->${storedName(field)})`);
}

/** The folded copy of a single text. */
export function foldedOf(field: ValueField, alias: string): Sql {
  return raw(`(${prefix(alias)}folded->>${storedName(field)})`);
}

/**
 * The number in `text`, or NULL if it is not a number. The regular expression guards the cast, and the length is limited to
 * that of stored numbers.
 */
function numberIn(text: string): string {
  return `(CASE WHEN length(${text}) <= ${NUMBER_CHARS} AND ${text} ~ '^-?[0-9]+([.][0-9]+)?$' THEN ${text}::numeric END)`;
}

/** A prefix of the text that is long enough to distinguish short values. */
function shortKeyIn(text: string): string {
  return `(left(${text}, ${SHORT_KEY_CHARS}) COLLATE "C")`;
}

/** How values of a data type become keys that SQL compares and indexes. */
interface KeyForm {
  /** PostgreSQL type of the key's operands. */
  operand: 'numeric' | 'text';
  /** The key of a text that holds an element of a list. */
  ofElement(text: string): string;
  /** The key of a single value. */
  ofField(field: ValueField, alias: string): string;
}

const TEXT_KEY: KeyForm = {
  operand: 'text',
  ofElement: shortKeyIn,
  ofField: (field, alias) => shortKeyIn(textOf(field, alias).text),
};

const KEY_FORMS = {
  number: {
    operand: 'numeric',
    ofElement: numberIn,
    ofField: (field, alias) => numberIn(textOf(field, alias).text),
  },
  // The stored text, which sorts by code point.
  text: TEXT_KEY,
  none: TEXT_KEY,
  // A prefix of the folded copy serves `starts-with` and narrows `equals`.
  folded: {
    ...TEXT_KEY,
    ofField: (field, alias) => `(left(${foldedOf(field, alias).text}, ${TEXT_KEY_CHARS}) COLLATE "C")`,
  },
} satisfies Record<Comparison, KeyForm>;

export function keyFormOf(field: Pick<ValueField, 'dataType'>): KeyForm {
  return KEY_FORMS[descriptorOf(field.dataType).comparison];
}

/** The key by which a single value is compared and indexed. */
export function keyOf(field: ValueField, alias: string): Sql {
  return raw(keyFormOf(field).ofField(field, alias));
}

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

/** The codes of the fields by which the work of a type is divided, in the order of the index of states. */
export const WORK_FIELDS = ['assignmentGroup', 'assignee'] as const;

/**
 * The index for the active records of one type in some states of its workflow, for example all unfinished ones. It also holds the
 * given single fields of the type, so that the unfinished records of a group, or without an assignee, are found without reading
 * those of others.
 */
export function stateIndex(typeId: string, fields: readonly ValueField[]): FieldIndex {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(typeId)) throw new Error('not a type id');
  const keys = ['workflow_state_id', ...fields.map((field) => keyOf(field, '').text)];
  const { name, create } = indexOn(typeId, `(${keys.join(', ')})`);
  return { name, sql: create, statistics: null };
}

function indexOn(typeId: string, on: string): { name: string; create: string } {
  return namedIndex('objects_field_', `ON objects ${on} WHERE type_id = '${typeId}' AND state = 'ACTIVE'`);
}

/** @param body the text of CREATE INDEX after the name. Another text gives another name */
export function namedIndex(prefixOfName: string, body: string): { name: string; create: string } {
  const name = `${prefixOfName}${createHash('sha256').update(body).digest('hex').slice(0, 24)}`;
  return { name, create: `CREATE INDEX CONCURRENTLY ${name} ${body}` };
}
