/** Available columns of a list, and the chosen ones. */
import { useMemo } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { descriptorOf } from '../../../../src/lib/data-types/index.ts';
import { layoutOf } from '../../fields/view.ts';
import { useText } from '../../i18n/text.ts';
import type { DeskType } from '../queries.ts';
import type { Row } from './source.ts';
import { texts } from './texts.ts';

export interface ListColumn {
  code: string;
  name: string;
  /** Width in rem; a title column of width 0 takes the rest. */
  width: number;
  /** What the service sorts by; undefined for values without an order. */
  sort?: string;
  /** The field of the column; undefined for system columns. */
  field?: FieldSchema;
  /** In a list of several types, the code of the field by the id of the type. */
  codes?: Readonly<Record<string, string>>;
}

/** A field of a list; `codes` if the types of the list share it. */
export type ListField = FieldSchema & Pick<ListColumn, 'codes'>;

/** The value of a record in a column. */
export function valueIn(row: Pick<Row, 'typeDefinitionId' | 'values'>, { code, codes }: ListColumn): unknown {
  const own = codes === undefined ? code : codes[row.typeDefinitionId];
  return own === undefined ? undefined : row.values[own];
}

/** All columns available for a type; without a type, those that its types share. */
export function useColumns(type: DeskType | undefined, fields: readonly ListField[]): readonly ListColumn[] {
  const t = useText(texts);
  return useMemo(() => {
    const numbered = type === undefined || type.numbered;
    return [
      ...(numbered ? [{ code: 'number', name: t.number, width: 6.75, sort: 'number' }] : []),
      { code: 'title', name: t.title, width: 0, sort: 'title' },
      ...(type === undefined ? [{ code: 'type', name: t.type, width: 8, sort: 'typeCode' }] : []),
      ...(type === undefined || type.states.length > 0
        ? [{ code: 'workflowState', name: t.state, width: 8, sort: 'workflowState' }]
        : []),
      ...fields
        .filter((field) => field.code !== type?.titleField)
        .map((field) => ({
          code: field.code,
          name: field.name,
          width: layoutOf(field.dataType).width,
          field,
          ...(field.codes === undefined ? {} : { codes: field.codes }),
          ...(isSortable(field) ? { sort: field.code } : {}),
        })),
      ...(type === undefined || type.states.length > 0
        ? [
            { code: 'sla.remaining', name: t.slaRemaining, width: 12, sort: 'sla.remaining' },
            { code: 'sla.dueAt', name: t.slaDue, width: 10, sort: 'sla.dueAt' },
            { code: 'sla.breached', name: t.slaBreached, width: 7 },
          ]
        : []),
      ...(['createdAt', 'createdBy', 'updatedAt', 'updatedBy'] as const).map((code) => ({
        code,
        name: t[code],
        width: code.endsWith('At') ? 7.25 : 10.5,
        sort: code,
      })),
    ];
  }, [t, type, fields]);
}

function isSortable({ dataType, multiple }: FieldSchema): boolean {
  const { comparison, refersTo } = descriptorOf(dataType);
  return !multiple && comparison !== 'none' && refersTo !== 'records';
}

const COMMON = ['number', 'title', 'type', 'workflowState', 'sla.remaining'];

/** Narrower windows have no room for the last change: the title would be cut too soon. */
const ROOMY = '(min-width: 88em)';
/** The same for lists of several types, which have the column of the type. */
const WIDE = '(min-width: 110em)';

/** The default columns: number and title, priority, assignee and last change, as far as available. */
export function defaultColumns(columns: readonly ListColumn[]): string[] {
  const first = (dataType: FieldSchema['dataType'], code?: string): string[] => {
    const found = columns.filter(({ field }) => field?.dataType === dataType && !field.multiple);
    // Of the fields that several types share, only the usual ones.
    const own = found.find((column) => column.code === code) ?? found.find(({ codes }) => codes === undefined);
    return own === undefined ? [] : [own.code];
  };
  const shared = columns.some(({ codes }) => codes !== undefined);
  return [
    ...COMMON,
    ...first('enum', 'priority'),
    ...(!shared || matchMedia(ROOMY).matches ? first('user', 'assignee') : []),
    ...(matchMedia(shared ? WIDE : ROOMY).matches ? ['updatedAt'] : []),
  ];
}

/** Which columns a list shows, in order, and the widths that the user chose, in rem by column. */
export interface ColumnLayout {
  codes?: readonly string[];
  widths: Readonly<Record<string, number>>;
}

const NARROWEST = 3;
const WIDEST = 60;

export function clampWidth(rem: number): number {
  return Math.round(Math.min(WIDEST, Math.max(NARROWEST, rem)) * 100) / 100;
}

/** The chosen columns in the order of the layout; the title is always included. */
export function chosenColumns(columns: readonly ListColumn[], { codes, widths }: ColumnLayout): ListColumn[] {
  const known = new Map(columns.map((column) => [column.code, column]));
  const wanted = codes ?? columns.map(({ code }) => code).filter((code) => defaultColumns(columns).includes(code));
  const listed = wanted.includes('title') ? wanted : ['title', ...wanted];
  return listed.flatMap((code) => {
    const column = known.get(code);
    return column === undefined ? [] : [{ ...column, width: widths[code] ?? column.width }];
  });
}

/** Moves a column before or after another one. */
export function movedColumn(codes: readonly string[], code: string, to: number): string[] {
  const rest = codes.filter((one) => one !== code);
  return rest.toSpliced(Math.max(0, Math.min(rest.length, to)), 0, code);
}

/** The least width of the title in rem: with the default columns, lists fit in windows of 1280 px. */
export const TITLE = 13;

/** What a list keeps beside an open preview, and after these what it keeps if there is room: what is left out first comes first. */
const KEPT = new Set(['number', 'title', 'workflowState']);
const KEPT_WITH_ROOM = ['type', 'sla.remaining'];

/** The columns that fit into `room` rem. The others are left out from the right. The preview shows the values of the current record. */
export function fittingColumns(columns: readonly ListColumn[], room: number): readonly ListColumn[] {
  const needed = columns.reduce((sum, { width }) => sum + (width === 0 ? TITLE : width), 0);
  const other = columns.findLast(({ code }) => !KEPT.has(code) && !KEPT_WITH_ROOM.includes(code));
  const left = other ?? KEPT_WITH_ROOM.flatMap((kept) => columns.filter(({ code }) => code === kept))[0];
  return needed <= room || left === undefined
    ? columns
    : fittingColumns(
        columns.filter((column) => column !== left),
        room,
      );
}

/** The width of a column in the grid of the list; the same for the head and every row. */
export const trackOf = ({ width }: ListColumn): string => (width === 0 ? `minmax(${TITLE}rem, 1fr)` : `${width}rem`);

const storageKey = (type: string | undefined): string => `docket.columns.${type ?? 'all'}`;

/** The layout that the user chose on this device for a type. */
export function storedLayout(type: string | undefined): ColumnLayout {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey(type)) ?? '{}') as unknown;
    // Before widths were stored, the value was the list of columns.
    const { codes, widths } = (Array.isArray(stored) ? { codes: stored } : stored) as Record<string, unknown>;
    const chosen = Array.isArray(codes) && codes.every((code) => typeof code === 'string') ? { codes } : {};
    const known = Object.entries((widths ?? {}) as object).filter(([, width]) => typeof width === 'number');
    return { ...chosen, widths: Object.fromEntries(known) as Record<string, number> };
  } catch {
    return { widths: {} };
  }
}

export function storeLayout(type: string | undefined, layout: ColumnLayout): void {
  try {
    localStorage.setItem(storageKey(type), JSON.stringify(layout));
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
}
