/** The table of a list of configuration: its error, what it says while it is empty, and what uses each item. */
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useText } from '../../i18n/text.ts';
import { type Column, DataTable, type DataTableProps } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { CreateButton, missingTexts } from './missing.tsx';
import type { PagedSection } from './pages.ts';
import { useUsageColumns } from './usage.tsx';

interface QueryTableProps<Row> extends Omit<DataTableProps<Row>, 'rows' | 'rowKey' | 'empty' | 'emptyAction'> {
  section: PagedSection;
  query: UseQueryResult<Row[]>;
  /** The rows that are shown; default: all of the query. */
  rows?: readonly Row[] | undefined;
  /** Columns after those of use and last change. */
  last?: readonly Column<Row>[];
  /** The button for the first item. */
  create: { label: string; onClick: () => void };
}

export function QueryTable<Row extends { id: string }>(props: QueryTableProps<Row>) {
  const { section, query, columns, last, create, ...table } = props;
  const missing = useText(missingTexts);
  const usage = useUsageColumns<Row>(section);
  const all = useMemo(() => [...columns, ...usage, ...(last ?? [])], [columns, usage, last]);
  return (
    <>
      <FaultAlert error={query.error} retry={() => void query.refetch()} />
      <DataTable
        {...table}
        columns={all}
        rows={'rows' in props ? props.rows : query.data}
        rowKey={(row) => row.id}
        empty={missing[section]}
        emptyAction={<CreateButton {...create} />}
      />
    </>
  );
}
