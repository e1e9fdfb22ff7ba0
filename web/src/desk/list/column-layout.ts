/** The columns of a list as the user arranged them: which, in which order, and how wide. */
import { useElementSize } from '@mantine/hooks';
import { useState } from 'react';
import type { DeskType, QueueDefinition } from '../queries.ts';
import {
  chosenColumns,
  clampWidth,
  type ColumnLayout,
  fittingColumns,
  type ListColumn,
  type ListField,
  storedLayout,
  storeLayout,
  useColumns,
} from './columns.ts';

export interface ColumnControl {
  /** All available columns. */
  columns: readonly ListColumn[];
  /** The shown ones, in order. */
  shown: readonly ListColumn[];
  /** True if the user or the queue names the columns. */
  chosen: boolean;
  choose: (codes: string[]) => void;
  /** Sets the width of a column in rem. */
  resize: (code: string, rem: number) => void;
  /** Back to the columns and widths of the console. */
  reset: () => void;
}

/** The order is stored in the queue if it names columns, else on this device; widths are stored on this device. */
export function useColumnLayout(
  definition: QueueDefinition,
  onDefinition: (definition: QueueDefinition) => void,
  type: DeskType | undefined,
  fields: readonly ListField[],
): ColumnControl {
  const columns = useColumns(type, fields);
  const [changed, setChanged] = useState<{ type: string | undefined; layout: ColumnLayout }>();
  const own = changed !== undefined && changed.type === type?.code ? changed.layout : undefined;
  const stored = own ?? storedLayout(type?.code);
  const layout =
    own === undefined && definition.columns !== undefined ? { ...stored, codes: definition.columns } : stored;
  const set = (next: ColumnLayout): void => {
    setChanged({ type: type?.code, layout: next });
    storeLayout(type?.code, next);
  };
  return {
    columns,
    shown: chosenColumns(columns, layout),
    chosen: layout.codes !== undefined,
    choose: (codes) => {
      set({ ...layout, codes });
      if (definition.columns !== undefined) onDefinition({ ...definition, columns: codes });
    },
    resize: (code, rem) => set({ ...layout, widths: { ...layout.widths, [code]: clampWidth(rem) } }),
    reset: () => {
      set({ widths: {} });
      const { columns: _columns, ...rest } = definition;
      if (definition.columns !== undefined) onDefinition(rest);
    },
  };
}

/** Room for the check boxes and the padding of a row, in rem. */
const AROUND = 4;

/**
 * The shown columns; beside a preview only those that fit, unless the user or the queue names them: then the list scrolls.
 * `ref` belongs to the element that holds the list and the preview.
 */
export function useFittingColumns({ shown, chosen }: ColumnControl, preview: boolean) {
  const { ref, width } = useElementSize();
  if (!preview || chosen || width === 0) return { ref, columns: shown };
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  // The width of the preview, as the style sheet has it.
  const beside = Math.min(28 * rem, window.innerWidth * 0.26);
  return { ref, columns: fittingColumns(shown, (width - beside) / rem - AROUND) };
}
