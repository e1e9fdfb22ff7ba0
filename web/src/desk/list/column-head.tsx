/** The head of a column; pressing it sorts the list by the column, pressing it again in the other direction. */
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { ListColumn } from './columns.ts';
import classes from './list.module.css';

interface ColumnHeadProps {
  column: ListColumn;
  /** The order of the list: a column, with `-` in front for descending. */
  sort: string | undefined;
  onSort: (sort: string) => void;
}

export function ColumnHead({ column, sort, onSort }: ColumnHeadProps) {
  const own = column.sort;
  const ascending = own !== undefined && sort === own;
  const descending = own !== undefined && sort === `-${own}`;
  return (
    <div
      role="columnheader"
      className={classes.cell}
      aria-sort={ascending ? 'ascending' : descending ? 'descending' : undefined}
      data-head={column.code}
    >
      {own === undefined ? (
        column.name
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
    </div>
  );
}
