/** Converts cells of the tracker to field values. The bundle defines the fields. */
import { TICKET_COLUMNS } from './data.ts';

/** The part of a bundle's field that matters here. */
export interface FieldSpec {
  code: string;
  dataType: string;
  required?: boolean;
  multiple?: boolean;
  constraints?: { maxLength?: number; options?: { code: string; name?: string }[] };
}

/** A value on the wire. `null` is the empty value. */
export type Wire = string | string[] | null;

export interface Converted {
  value: Wire;
  /** What the conversion lost, as text; absent if nothing was lost. */
  problem?: string;
}

export interface Field {
  code: string;
  required: boolean;
  convert(cell: string): Converted;
}

const CODES = new Map([
  ['id', 'trackerId'],
  ['opened_at', 'openedAt'],
  ['closed_at', 'closedAt'],
  ['modified_at', 'modifiedAt'],
  ['blockedby', 'blockedBy'],
]);

/** Code of the field by the tracker's name for it. */
export function codeOf(name: string): string {
  return CODES.get(name) ?? name;
}

/** Fields that the history changes though `tickets.csv` has no such column. */
export const HISTORY_ONLY = ['need', 'blocking', 'blockedby'] as const;

/** The only column that is not a field: the status of a record is its workflow state and changes by transitions. */
export const STATUS = 'status';

const LONGEST = new Map([
  ['string', 1_000],
  ['text', 100_000],
]);
const SEPARATOR = ', ';
const MAX_ELEMENTS = 100;

/**
 * The fields by the name that the tracker has for them; the status is none.
 *
 * @param userIds id of the user by the person's handle in the tracker
 * @throws Error when the type lacks a field that the data needs
 */
export function fieldsOf(specs: readonly FieldSpec[], userIds: ReadonlyMap<string, string>): Map<string, Field> {
  const byCode = new Map(specs.map((spec) => [spec.code, spec]));
  const names = [...TICKET_COLUMNS, ...HISTORY_ONLY].filter((name) => name !== STATUS);
  return new Map(
    names.map((name) => {
      const code = codeOf(name);
      const spec = byCode.get(code);
      if (spec === undefined) throw new Error(`the bundle's type has no field ${code} for the tracker's ${name}`);
      const convert = converter(spec, userIds);
      const required = spec.required === true;
      return [name, { code, required, convert: (cell) => (cell === '' ? { value: null } : convert(cell)) }];
    }),
  );
}

function converter(spec: FieldSpec, userIds: ReadonlyMap<string, string>): (cell: string) => Converted {
  if (spec.multiple === true) return list;
  switch (spec.dataType) {
    case 'enum': {
      const codes = new Map(spec.constraints?.options?.map((option) => [option.name ?? option.code, option.code]));
      return (cell) => known(codes.get(cell), `"${cell}" is no option`);
    }
    case 'user':
      return (cell) => known(userIds.get(cell), `"${cell}" is nobody`);
    case 'datetime':
      return instant;
    default: {
      const longest = spec.constraints?.maxLength ?? LONGEST.get(spec.dataType) ?? 0;
      return (cell) => storable(cell, longest, spec.dataType === 'string');
    }
  }
}

function known(value: string | undefined, problem: string): Converted {
  return value === undefined ? { value: null, problem } : { value };
}

/** An instant in the form that the service gives it back in. */
export function instant(cell: string): Converted {
  const time = Date.parse(cell);
  return Number.isNaN(time)
    ? { value: null, problem: `"${cell}" is no instant` }
    : { value: new Date(time).toISOString() };
}

function list(cell: string): Converted {
  const elements = cell.split(SEPARATOR);
  const value = [...new Set(elements)];
  if (value.length > MAX_ELEMENTS) {
    return { value: value.slice(0, MAX_ELEMENTS), problem: `of ${value.length} elements ${MAX_ELEMENTS} are kept` };
  }
  return value.length < elements.length
    ? { value, problem: `repeated elements of "${cell}" are kept once` }
    : { value };
}

/** Text as the service stores it: NFC, no U+0000, no half surrogate pairs, within bounds; a `string` is one line. */
export function storable(cell: string, longest: number, oneLine: boolean): Converted & { value: string } {
  const problems: string[] = [];
  const change = (next: string, problem: string): string => {
    if (next !== value) problems.push(problem);
    return next;
  };
  let value = cell;
  value = change(value.replaceAll('\u0000', '\ufffd').toWellFormed(), 'U+0000 or half a surrogate pair became U+FFFD');
  value = change(value.normalize('NFC'), 'the text was brought into normal form C');
  if (oneLine) value = change(value.replace(/[\n\v\f\r\u0085\u2028\u2029]+/g, ' '), 'line breaks became spaces');
  if (value.length > longest) {
    const points = [...value];
    value = change(points.slice(0, longest).join(''), `of ${points.length} characters ${longest} are kept`);
  }
  return problems.length === 0 ? { value } : { value, problem: problems.join('; ') };
}
