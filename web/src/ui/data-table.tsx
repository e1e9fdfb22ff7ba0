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
import { CsvButton } from './csv-button.tsx';
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
  /** Shown beside the filter. */
  tools?: ReactNode;
  /** Hides the filter, for tables of a few rows. */
  short?: boolean;
}

/** Number of rows rendered at first, and added with each step. Rendering thousands would be slow. */
const STEP = 200;

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel(), sortFns });

export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { columns, rows, rowKey, onOpen, label } = props;
  const t = useText(texts);
  const [filter, setFilter] = useState('');
  const [most, setMost] = useState(STEP);
  const shown = useMemo(() => {
    const wanted = filter.trim().toLowerCase();
    if (rows === undefined || wanted === '') return rows ?? [];
    return rows.filter((row) =>
      columns.some((column) =>
        String(column.value(row) ?? '')
          .toLowerCase()
          .includes(wanted),
      ),
    );
  }, [rows, columns, filter]);
  const definitions = useMemo(
    () =>
      columns.map(
        (column): ColumnDef<typeof features, Row> => ({
          id: column.key,
          accessorFn: (row) => column.value(row) ?? '',
          header: column.title,
        }),
      ),
    [columns],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: shown as Row[],
    getRowId: rowKey,
    enableSortingRemoval: true,
  });
  const sorted = table.getRowModel().rows;
  const byKey = new Map(columns.map((column) => [column.key, column]));
  if (rows !== undefined && rows.length === 0) return <Empty action={props.tools}>{props.empty ?? t.empty}</Empty>;
  const open = (row: Row) => (event: KeyboardEvent) => {
    if (event.key === 'Enter' && event.target === event.currentTarget) onOpen?.(row);
  };
  return (
    <div>
      <Group justify="space-between" mb="xs" gap="xs">
        <Group gap="xs">
          {props.short !== true && (
            <TextInput
              value={filter}
              onChange={(event) => setFilter(event.currentTarget.value)}
              placeholder={t.filter}
              aria-label={t.filter}
              leftSection={<IconSearch size={14} />}
              type="search"
            />
          )}
          {props.tools}
        </Group>
        <Group gap={4}>
          <Text size="xs" c="dimmed" aria-live="polite">
            {t.rows(shown.length)}
          </Text>
          <CsvButton
            name={label}
            header={columns.map((column) => column.title)}
            rows={() => sorted.map((row) => columns.map((column) => column.value(row.original)))}
          />
        </Group>
      </Group>
      <div className={classes.scroll} tabIndex={0} role="group" aria-label={label}>
        <table className={classes.table} aria-label={label}>
          <thead>
            {table.getHeaderGroups().map((group) => (
              <tr key={group.id}>
                {group.headers.map((header) => {
                  const column = byKey.get(header.column.id);
                  const order = header.column.getIsSorted();
                  return (
                    <th
                      key={header.id}
                      scope="col"
                      style={{ width: column?.width }}
                      data-align={column?.align}
                      data-minor={column?.minor}
                      aria-sort={order === 'asc' ? 'ascending' : order === 'desc' ? 'descending' : undefined}
                    >
                      <button type="button" onClick={header.column.getToggleSortingHandler()}>
                        {column?.title}
                        {order === 'asc' && <IconArrowUp size={12} />}
                        {order === 'desc' && <IconArrowDown size={12} />}
                      </button>
                    </th>
                  );
                })}
                {props.rowActions !== undefined && <td className={classes.actions} />}
              </tr>
            ))}
          </thead>
          <tbody>
            {rows === undefined &&
              [1, 2, 3].map((line) => (
                <tr key={line}>
                  <td colSpan={columns.length + 1}>
                    <Skeleton height={14} my={4} />
                  </td>
                </tr>
              ))}
            {sorted.slice(0, most).map(({ id, original }) => (
              <tr
                key={id}
                {...(onOpen === undefined
                  ? {}
                  : { tabIndex: 0, onClick: () => onOpen(original), onKeyDown: open(original), 'data-opens': true })}
              >
                {columns.map((column) => (
                  <td key={column.key} data-label={column.title} data-align={column.align} data-minor={column.minor}>
                    {column.render?.(original) ?? String(column.value(original) ?? '')}
                  </td>
                ))}
                {props.rowActions !== undefined && (
                  <td className={classes.actions} onClick={(event) => event.stopPropagation()}>
                    {props.rowActions(original)}
                  </td>
                )}
              </tr>
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
