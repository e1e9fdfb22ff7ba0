/**
 * SQL expressions for the values of a record's fields. Conditions and their indexes both take their expressions from here,
 * because an index is only used if they are identical.
 *
 * All expressions are total: for any JSON they return a value or NULL and never raise an error, since one record of an older
 * type version must not break a query or the creation of an index.
 */
import { raw, type Sql } from 'sql-template-tag';
import { TEXT_TYPES } from '../../lib/data-types.ts';
import { DECIMAL_DIGITS } from '../../lib/decimal.ts';
import type { TypedField } from '../../lib/filter.ts';

export type ValueField = Pick<TypedField, 'code' | 'dataType' | 'multiple'>;

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
  return raw(`(${prefix(alias)}"values"->${literal(field.code)})`);
}

/** The stored value as text. */
export function textOf(field: ValueField, alias: string): Sql {
  return raw(`(${prefix(alias)}"values"->>${literal(field.code)})`);
}

/** The folded copy as JSON, for lists of multiple fields. */
export function foldedJsonOf(field: ValueField, alias: string): Sql {
  return raw(`(${prefix(alias)}folded->${literal(field.code)})`);
}

/** The folded copy of a single text. */
export function foldedOf(field: ValueField, alias: string): Sql {
  return raw(`(${prefix(alias)}folded->>${literal(field.code)})`);
}

export function isNumeric(field: Pick<ValueField, 'dataType'>): boolean {
  return field.dataType === 'integer' || field.dataType === 'decimal';
}

/**
 * The number in `text`, or NULL if it is not a number. The regular expression guards the cast, and the length is limited to
 * that of stored numbers.
 */
export function numberIn(text: string): string {
  return `(CASE WHEN length(${text}) <= ${NUMBER_CHARS} AND ${text} ~ '^-?[0-9]+([.][0-9]+)?$' THEN ${text}::numeric END)`;
}

/** A prefix of the text that is long enough to distinguish short values. */
export function shortKeyIn(text: string): string {
  return `(left(${text}, ${SHORT_KEY_CHARS}) COLLATE "C")`;
}

/**
 * The key by which a single value is compared and indexed. For numbers, the number. For text types, a prefix of the folded
 * copy, which serves `starts-with` and narrows `equals`. For all others, the stored text, which sorts by code point.
 */
export function keyOf(field: ValueField, alias: string): Sql {
  if (isNumeric(field)) return raw(numberIn(textOf(field, alias).text));
  if (TEXT_TYPES.has(field.dataType)) {
    return raw(`(left(${foldedOf(field, alias).text}, ${TEXT_KEY_CHARS}) COLLATE "C")`);
  }
  return raw(shortKeyIn(textOf(field, alias).text));
}
