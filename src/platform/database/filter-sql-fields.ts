/**
 * SQL expressions for the values of a record's fields. Conditions and their indexes both take their expressions from here,
 * because an index is only used if they are identical.
 *
 * All expressions are total: for any JSON they return a value or NULL and never raise an error, since one record of an older
 * type version must not break a query or the creation of an index.
 */
import { raw, type Sql } from 'sql-template-tag';
import { type Comparison, descriptorOf } from '../../lib/data-types/index.ts';
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
