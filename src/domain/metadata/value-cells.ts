/**
 * Converts stored values to CSV cells and back (docs/spec/import-export-bulk.md). Reading a written cell returns the same
 * value in its API form, so importing an unchanged export changes nothing.
 *
 * Elements of a list are joined by `; `. An element that contains a semicolon or a quote, is empty, or has surrounding blanks
 * is put in double quotes, with inner quotes doubled. Documents and free JSON are written as JSON.
 */
import { descriptorOf, isFolded } from '../../lib/data-types/index.ts';
import { isFault } from '../../lib/fault.ts';
import { parseStrictJson } from '../../lib/json.ts';
import type { FieldDefinition } from './definitions.ts';

const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?$/;

/** The stored value as text; empty for an absent value. */
export function cellOf(field: FieldDefinition, stored: unknown): string {
  if (stored === null || stored === undefined) return '';
  if (!field.multiple || !Array.isArray(stored)) return scalarCell(field, stored);
  return stored.map((element) => quoted(scalarCell(field, element))).join('; ');
}

/** Whether a spreadsheet could misread the cell, for example as a formula. Only a plain number may start with a sign. */
export function needsGuard(field: FieldDefinition, cell: string): boolean {
  return isFolded(field.dataType) || !NUMBER.test(cell);
}

function scalarCell(field: FieldDefinition, stored: unknown): string {
  const { toCell, text = String } = descriptorOf(field.dataType);
  return (toCell ?? text)(stored);
}

function quoted(element: string): string {
  return element === '' || /[;"]|^\s|\s$/.test(element) ? `"${element.replaceAll('"', '""')}"` : element;
}

/**
 * The API value of a cell's text, by the data type of the field; null for an empty cell. Text that is not a value of the type
 * is returned unchanged, and the later check of values reports the problem.
 */
export function valueOfCell(field: FieldDefinition, cell: string): unknown {
  if (cell === '') return null;
  if (!field.multiple) return scalarValue(field, cell);
  return elementsOf(cell).map((element) => scalarValue(field, element));
}

function scalarValue(field: FieldDefinition, text: string): unknown {
  const { fromCell } = descriptorOf(field.dataType);
  return fromCell === undefined ? text : fromCell(text, jsonOf);
}

function jsonOf(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

/** The elements of a joined list. Unquoted elements are trimmed, and empty ones are dropped. */
function elementsOf(cell: string): string[] {
  const elements: string[] = [];
  const element = /\s*(?:"((?:[^"]|"")*)"\s*(?=;|$)|([^;]*))(?:;|$)/y;
  while (element.lastIndex < cell.length) {
    const found = element.exec(cell);
    if (found === null) break;
    const [, inQuotes, bare] = found;
    if (inQuotes !== undefined) elements.push(inQuotes.replaceAll('""', '"'));
    else if (bare !== undefined && bare.trim() !== '') elements.push(bare.trim());
  }
  return elements;
}
