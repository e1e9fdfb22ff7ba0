/**
 * The head of a column. Pressing it sorts the list by the column, pressing it again in the other direction. Its edge changes the
 * width: by dragging, or with the arrow keys. Dragging the head, or Alt with an arrow key, moves the column.
 */
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { KeyboardEvent, PointerEvent as ReactPointerEvent } from 'react';
import { useText } from '../../i18n/text.ts';
import type { ListColumn } from './columns.ts';
import classes from './list.module.css';
import { texts } from './texts.ts';

interface ColumnHeadProps {
  column: ListColumn;
  /** The order of the list: a column, with `-` in front for descending. */
  sort: string | undefined;
  onSort: (sort: string) => void;
  /** Sets the width in rem. */
  onResize: (rem: number) => void;
  /** Moves the column by this many places. */
  onMove: (by: number) => void;
  /** Moves the column with this code to the place of this one. */
  onDropColumn: (code: string) => void;
}

const DRAGGED = 'application/x-docket-column';

export function ColumnHead({ column, sort, onSort, onResize, onMove, onDropColumn }: ColumnHeadProps) {
  const own = column.sort;
  const ascending = own !== undefined && sort === own;
  const descending = own !== undefined && sort === `-${own}`;
  const keys = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!event.altKey || by === undefined) return;
    event.preventDefault();
    onMove(by);
  };
  return (
    <div
      role="columnheader"
      aria-label={column.name}
      tabIndex={-1}
      className={classes.headCell}
      aria-sort={ascending ? 'ascending' : descending ? 'descending' : undefined}
      data-head={column.code}
      draggable
      onDragStart={(event) => event.dataTransfer.setData(DRAGGED, column.code)}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes(DRAGGED)) event.preventDefault();
      }}
      onDrop={(event) => onDropColumn(event.dataTransfer.getData(DRAGGED))}
      onKeyDown={keys}
    >
      {own === undefined ? (
        <span className={classes.headName}>{column.name}</span>
      ) : (
        <button
          type="button"
          className={classes.sort}
          title={column.name}
          onClick={() => onSort(ascending ? `-${own}` : own)}
        >
          <span>{column.name}</span>
          {ascending && <IconArrowUp size={12} aria-hidden />}
          {descending && <IconArrowDown size={12} aria-hidden />}
        </button>
      )}
      <Edge column={column} onResize={onResize} />
    </div>
  );
}

/** Width of a step with the arrow keys, in rem. */
const STEP = 1;

function Edge({ column, onResize }: Pick<ColumnHeadProps, 'column' | 'onResize'>) {
  const t = useText(texts);
  const widthOf = (edge: Element): number => {
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    return (edge.parentElement?.getBoundingClientRect().width ?? 0) / rem;
  };
  const keys = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    if (by === undefined || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    onResize(widthOf(event.currentTarget) + by);
  };
  const drag = (event: ReactPointerEvent): void => {
    event.preventDefault();
    const edge = event.currentTarget;
    const [from, width] = [event.clientX, widthOf(edge)];
    const perRem = (edge.parentElement?.getBoundingClientRect().width ?? 0) / width;
    const move = (moved: PointerEvent): void => onResize(width + (moved.clientX - from) / perRem);
    const stop = (): void => {
      window.removeEventListener('pointermove', move);
      window.removeEventListener('pointerup', stop);
    };
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', stop);
  };
  return (
    <span
      role="separator"
      aria-orientation="vertical"
      aria-label={t.widthOf(column.name)}
      aria-valuenow={Math.round(column.width)}
      tabIndex={-1}
      className={classes.edge}
      onPointerDown={drag}
      onKeyDown={keys}
    />
  );
}
