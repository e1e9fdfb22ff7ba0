/** Available columns of a list, and the chosen ones. */
import { useMemo } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { descriptorOf } from '../../../../src/lib/data-types/index.ts';
import { layoutOf } from '../../fields/view.ts';
import { useText } from '../../i18n/text.ts';
import type { DeskType } from '../queries.ts';
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
}

/** All columns available for a type; without a type, the system columns. */
export function useColumns(type: DeskType | undefined, fields: readonly FieldSchema[]): readonly ListColumn[] {
  const t = useText(texts);
  return useMemo(() => {
    const numbered = type === undefined || type.numbered;
    return [
      ...(numbered ? [{ code: 'number', name: t.number, width: 7.5, sort: 'number' }] : []),
      { code: 'title', name: t.title, width: 0, sort: 'title' },
      ...(type === undefined ? [{ code: 'type', name: t.type, width: 8, sort: 'typeCode' }] : []),
      ...(type === undefined || type.states.length > 0
        ? [{ code: 'workflowState', name: t.state, width: 9, sort: 'workflowState' }]
        : []),
      ...fields
        .filter((field) => field.code !== type?.titleField)
        .map((field) => ({
          code: field.code,
          name: field.name,
          width: layoutOf(field.dataType).width,
          field,
          ...(isSortable(field) ? { sort: field.code } : {}),
        })),
      ...(type === undefined || type.states.length > 0
        ? [
            { code: 'sla.remaining', name: t.slaRemaining, width: 11, sort: 'sla.remaining' },
            { code: 'sla.dueAt', name: t.slaDue, width: 10, sort: 'sla.dueAt' },
          ]
        : []),
      ...(['createdAt', 'createdBy', 'updatedAt', 'updatedBy'] as const).map((code) => ({
        code,
        name: t[code],
        width: code.endsWith('At') ? 8 : 11,
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

/** The default columns: number and title, priority, assignee and last change, as far as available. */
export function defaultColumns(columns: readonly ListColumn[]): string[] {
  const first = (dataType: FieldSchema['dataType'], code?: string): string[] => {
    const found = columns.filter(({ field }) => field?.dataType === dataType && !field.multiple);
    const own = found.find((column) => column.code === code) ?? found[0];
    return own === undefined ? [] : [own.code];
  };
  return [...COMMON, ...first('enum', 'priority'), ...first('user', 'assignee'), 'updatedAt'];
}

/** The chosen columns in order; the title is always included. */
export function chosenColumns(columns: readonly ListColumn[], codes: readonly string[] | undefined): ListColumn[] {
  const wanted = new Set(codes ?? defaultColumns(columns));
  wanted.add('title');
  return columns.filter((column) => wanted.has(column.code));
}

const storageKey = (type: string | undefined): string => `docket.columns.${type ?? 'all'}`;

/** The width of a column in the grid of the list; the same for the head and every row. */
export const trackOf = ({ width }: ListColumn): string => (width === 0 ? 'minmax(16rem, 1fr)' : `${width}rem`);

export function storedColumns(type: string | undefined): string[] | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(storageKey(type)) ?? 'null');
    return Array.isArray(value) && value.every((code) => typeof code === 'string') ? value : undefined;
  } catch {
    return undefined;
  }
}

export function storeColumns(type: string | undefined, codes: readonly string[]): void {
  try {
    localStorage.setItem(storageKey(type), JSON.stringify(codes));
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
}
