/**
 * The SQL expressions under which conditions see a record's values. Conditions and the indexes that serve them take their
 * expressions from here, so that they are the same to the byte.
 *
 * All of them are total: whatever JSON a value is, they give a value or NULL and never an error, since one record of an
 * older type version must not break a query or the building of an index.
 */
import { raw, type Sql } from 'sql-template-tag';
import { TEXT_TYPES } from '../../lib/data-types.ts';
import { DECIMAL_DIGITS } from '../../lib/decimal.ts';
import type { TypedField } from '../../lib/filter.ts';

export type ValueField = Pick<TypedField, 'code' | 'dataType' | 'multiple'>;

/** How much of a text an index holds; 200 characters are at most 800 bytes, well under what a B-tree entry may have. */
export const TEXT_KEY_CHARS = 200;

/** Longer than every date, instant, time, duration, id and option code, so that nothing is cut but what cannot match. */
const SHORT_KEY_CHARS = 64;

/** The longest number that is stored, with its sign and point. */
const NUMBER_CHARS = DECIMAL_DIGITS + 2;

/**
 * A field code as an SQL literal. Field codes stand in the text of statements, not among the parameters, or no expression
 * index could match; this is the only way they get there.
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

/** A column of the table of records. Without alias, as in an index, by its bare name. */
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

/** The folded copy as JSON, for the lists of multiple fields. */
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

/** A number written in `text`, NULL where none is: the cast is guarded, and bounded as `numeric` and index entries are. */
export function numberIn(text: string): string {
  return `(CASE WHEN length(${text}) <= ${NUMBER_CHARS} AND ${text} ~ '^-?[0-9]+([.][0-9]+)?$' THEN ${text}::numeric END)`;
}

/** The beginning of a text that is certainly long enough to tell short values apart. */
export function shortKeyIn(text: string): string {
  return `(left(${text}, ${SHORT_KEY_CHARS}) COLLATE "C")`;
}

/**
 * The key by which a single value is compared and indexed: the number; of texts the beginning of the folded copy, which
 * serves `starts-with` and narrows `equals`; of all else the stored text, which is in order by code point.
 */
export function keyOf(field: ValueField, alias: string): Sql {
  if (isNumeric(field)) return raw(numberIn(textOf(field, alias).text));
  if (TEXT_TYPES.has(field.dataType)) {
    return raw(`(left(${foldedOf(field, alias).text}, ${TEXT_KEY_CHARS}) COLLATE "C")`);
  }
  return raw(shortKeyIn(textOf(field, alias).text));
}
