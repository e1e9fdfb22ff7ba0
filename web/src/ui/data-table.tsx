/**
 * The table of administration screens, for some hundreds of loaded rows. It sorts, filters and exports to CSV in the browser. A
 * row opens with a click or the Enter key. Long lists of records use `desk/list`.
 */
import { Button, Group, Skeleton, Text, TextInput } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconSearch } from '@tabler/icons-react';
import {
  type ColumnDef,
  createSortedRowModel,
  rowSortingFeature,
  sortFns,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { type KeyboardEvent, type ReactNode, useMemo, useState } from 'react';
import { useText } from '../i18n/text.ts';
import { CsvButton } from './download.tsx';
import classes from './data-table.module.css';
import { Empty } from './empty.tsx';
import { texts } from './texts.ts';

export interface Column<Row> {
  key: string;
  title: string;
  /** The value for sorting, filtering and export. */
  value: (row: Row) => string | number | boolean | null | undefined;
  /** The displayed content, if it differs from the value. */
  render?: (row: Row) => ReactNode;
  align?: 'end';
  /** CSS width; the other columns share the rest. */
  width?: string;
  /** Hidden on narrow screens. */
  minor?: boolean;
}

export interface DataTableProps<Row> {
  /** Accessible name of the table, and name of the exported file. */
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined while loading. */
  rows: readonly Row[] | undefined;
  rowKey: (row: Row) => string;
  onOpen?: (row: Row) => void;
  /** Buttons at the end of a row. */
  rowActions?: (row: Row) => ReactNode;
  /** Shown if there are no rows. */
  empty?: ReactNode;
  /** Shown below it: a button that makes the first row. */
  emptyAction?: ReactNode;
  /** Shown beside the filter. */
  tools?: ReactNode;
  /** Hides the filter, for tables of a few rows. */
  short?: boolean;
}

/** Number of rows rendered at first, and added with each step. Rendering thousands would be slow. */
const STEP = 200;

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel(), sortFns });

export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { columns, rows, rowKey, label } = props;
  const t = useText(texts);
  const [filter, setFilter] = useState('');
  const [most, setMost] = useState(STEP);
  const shown = useMemo(() => filtered(rows ?? [], columns, filter), [rows, columns, filter]);
  const definitions = useMemo(() => columns.map((column) => definitionOf(column)), [columns]);
  const table = useTable({
    features,
    columns: definitions,
    data: shown as Row[],
    getRowId: rowKey,
    enableSortingRemoval: true,
  });
  const sorted = table.getRowModel().rows;
  if (rows !== undefined && rows.length === 0) return <NoRows {...props} />;
  const headers = table.getHeaderGroups().flatMap((group) => group.headers);
  return (
    <div>
      <TableTools {...props} filter={filter} onFilter={setFilter} sorted={sorted.map(({ original }) => original)} />
      <div className={classes.scroll} tabIndex={0} role="group" aria-label={label}>
        <table className={classes.table} aria-label={label}>
          <thead>
            <tr>
              {headers.map(({ id, column }, index) => (
                <HeadCell
                  key={id}
                  column={columns[index]}
                  order={column.getIsSorted()}
                  onSort={column.getToggleSortingHandler()}
                />
              ))}
              {props.rowActions !== undefined && <td className={classes.actions} />}
            </tr>
          </thead>
          <tbody>
            {rows === undefined && <LoadingRows width={columns.length + 1} />}
            {sorted.slice(0, most).map(({ id, original }) => (
              <TableRow key={id} {...props} row={original} />
            ))}
          </tbody>
        </table>
        {rows !== undefined && shown.length === 0 && <Empty>{t.noneFits}</Empty>}
      </div>
      {sorted.length > most && (
        <Group justify="center" mt="xs">
          <Button variant="default" onClick={() => setMost(most + STEP)}>
            {t.moreRows(Math.min(STEP, sorted.length - most))}
          </Button>
        </Group>
      )}
    </div>
  );
}

function NoRows<Row>({ empty, emptyAction, tools }: DataTableProps<Row>) {
  const t = useText(texts);
  const action = (
    <>
      {emptyAction}
      {tools}
    </>
  );
  return <Empty action={action}>{empty ?? t.empty}</Empty>;
}

/** The rows of which a value contains the filter, in upper or lower case. */
function filtered<Row>(rows: readonly Row[], columns: readonly Column<Row>[], filter: string): readonly Row[] {
  const wanted = filter.trim().toLowerCase();
  if (wanted === '') return rows;
  const text = (row: Row, column: Column<Row>): string => String(column.value(row) ?? '').toLowerCase();
  return rows.filter((row) => columns.some((column) => text(row, column).includes(wanted)));
}

function definitionOf<Row extends object>({ key, title, value }: Column<Row>): ColumnDef<typeof features, Row> {
  return { id: key, accessorFn: (row) => value(row) ?? '', header: title };
}

interface TableToolsProps<Row> extends DataTableProps<Row> {
  filter: string;
  onFilter: (filter: string) => void;
  /** The rows that pass the filter, in display order. */
  sorted: readonly Row[];
}

/** Above the table: the filter, tools of the screen, the number of rows, and the export. */
function TableTools<Row>({ label, columns, short, tools, filter, onFilter, sorted }: TableToolsProps<Row>) {
  const t = useText(texts);
  return (
    <Group justify="space-between" mb="xs" gap="xs">
      <Group gap="xs">
        {short !== true && (
          <TextInput
            value={filter}
            onChange={(event) => onFilter(event.currentTarget.value)}
            placeholder={t.filter}
            aria-label={t.filter}
            leftSection={<IconSearch size={14} />}
            type="search"
          />
        )}
        {tools}
      </Group>
      <Group gap={4}>
        <Text size="xs" c="dimmed" aria-live="polite">
          {t.rows(sorted.length)}
        </Text>
        <CsvButton
          name={label}
          header={columns.map((column) => column.title)}
          rows={() => sorted.map((row) => columns.map((column) => column.value(row)))}
        />
      </Group>
    </Group>
  );
}

interface HeadCellProps<Row> {
  column: Column<Row> | undefined;
  order: 'asc' | 'desc' | false;
  onSort: ((event: unknown) => void) | undefined;
}

function HeadCell<Row>({ column, order, onSort }: HeadCellProps<Row>) {
  return (
    <th
      scope="col"
      style={{ width: column?.width }}
      data-align={column?.align}
      data-minor={column?.minor}
      aria-sort={order === 'asc' ? 'ascending' : order === 'desc' ? 'descending' : undefined}
    >
      <button type="button" onClick={onSort}>
        {column?.title}
        {order === 'asc' && <IconArrowUp size={12} />}
        {order === 'desc' && <IconArrowDown size={12} />}
      </button>
    </th>
  );
}

function LoadingRows({ width }: { width: number }) {
  return [1, 2, 3].map((line) => (
    <tr key={line}>
      <td colSpan={width}>
        <Skeleton height={14} my={4} />
      </td>
    </tr>
  ));
}

function TableRow<Row>({ row, columns, onOpen, rowActions }: DataTableProps<Row> & { row: Row }) {
  const openByKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && event.target === event.currentTarget) onOpen?.(row);
  };
  const opens = { tabIndex: 0, onClick: () => onOpen?.(row), onKeyDown: openByKey, 'data-opens': true };
  return (
    <tr {...(onOpen === undefined ? {} : opens)}>
      {columns.map((column) => (
        <td key={column.key} data-label={column.title} data-align={column.align} data-minor={column.minor}>
          {column.render?.(row) ?? String(column.value(row) ?? '')}
        </td>
      ))}
      {rowActions !== undefined && (
        <td className={classes.actions} onClick={(event) => event.stopPropagation()}>
          {rowActions(row)}
        </td>
      )}
    </tr>
  );
}
