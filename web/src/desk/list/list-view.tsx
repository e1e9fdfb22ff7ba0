/** A list of records with filters, columns, selection and bulk actions. */
import { VisuallyHidden } from '@mantine/core';
import { useDocumentTitle, useLocalStorage, useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { type DeskType, deskTypesQuery, type QueueDefinition, typeFieldsQuery } from '../queries.ts';
import type { BulkBarProps } from './bulk-bar.tsx';
import { useColumnLayout, useFittingColumns } from './column-layout.ts';
import { ExportButton } from './export-button.tsx';
import { FilterChips } from './filter-chips.tsx';
import classes from './list.module.css';
import {
  ColumnsButton,
  CreateButton,
  Filters,
  type OnDefinition,
  PreviewButton,
  RefreshButton,
} from './list-tools.tsx';
import { takePlace, useOpenedList } from './place.ts';
import { RecordTable, type RecordTableProps } from './record-table.tsx';
import { useRows, useSharedFields } from './rows.ts';
import { namesOf, type Row, type RowPage } from './source.ts';
import { texts } from './texts.ts';

const BulkBar = lazy(async () => ({ default: (await import('./bulk-bar.tsx')).BulkBar }));
const Preview = lazy(async () => ({ default: (await import('./preview.tsx')).Preview }));

const NO_FIELDS: readonly FieldSchema[] = [];

export interface ListViewProps {
  title: string;
  /** The address of the list, under which the place in it is kept. */
  href: string;
  definition: QueueDefinition;
  onDefinition: OnDefinition;
  /** Additional tools, such as saving the queue. */
  tools?: ReactNode;
}

export function ListView({ title, href, definition, onDefinition, tools }: ListViewProps) {
  const t = useText(texts);
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  useDocumentTitle(`${title} · Docket`);
  const { types, type, fields } = useListTypes(definition);
  const shared = useSharedFields(definition);
  const layout = useColumnLayout(definition, onDefinition, type, type === undefined ? shared : fields);
  const [selection, setSelection] = useState<ReadonlySet<string>>(() => takePlace(href)?.selection ?? new Set());
  const { list, rows, more } = useRows(definition, type);
  const [total, hasMore] = countOf(list.data?.pages[0], rows.length, list.hasNextPage);
  useOpenedList({ href, ids: rows.map(({ id }) => id), total, more: hasMore });
  const preview = usePreview();
  const selectable =
    definition.state !== 'ARCHIVED' && !narrow && (type === undefined ? types : [type]).some(mayChange);
  const about = { definition, onDefinition, type, types, fields };
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <h1>{title}</h1>
        <span className={classes.count} aria-live="polite">
          {list.data !== undefined && t.shown(total, hasMore)}
        </span>
        <div className={classes.tools}>
          <Filters {...about} />
          <ColumnsButton {...layout} />
          {preview.possible && <PreviewButton shown={preview.shown} onToggle={preview.toggle} />}
          <RefreshButton refreshing={list.isRefetching} onRefresh={() => void list.refetch()} />
          <ExportButton {...about} title={title} rows={rows} columns={layout.shown} />
          {tools}
          {type?.canCreate === true && <CreateButton type={type} />}
        </div>
      </header>
      <FilterChips {...about} />
      {rows.length === 0 && (list.error !== null || list.data !== undefined) ? (
        <NoRows
          definition={definition}
          error={list.data === undefined ? list.error : null}
          retry={() => void list.refetch()}
        />
      ) : (
        <Records
          preview={preview.shown}
          label={title}
          name={href}
          rows={rows}
          layout={layout}
          types={types}
          cards={narrow}
          selection={selection}
          onSelection={selectable ? setSelection : undefined}
          sort={definition.sort ?? '-createdAt'}
          onSort={(sort) => onDefinition({ ...definition, sort })}
          hasMore={list.hasNextPage}
          onMore={more}
        />
      )}
      <Selected rows={rows.filter(({ id }) => selection.has(id))} types={types} onSelection={setSelection} />
    </div>
  );
}

/** The types of the desk, the one that the list is about, and the fields of that one. */
function useListTypes(definition: QueueDefinition) {
  const { data: types = [] } = useQuery(deskTypesQuery);
  const type = types.find((one) => one.code === definition.type || one.id === definition.type);
  const { data } = useQuery({ ...typeFieldsQuery(type?.id ?? ''), enabled: type !== undefined });
  return { types, type, fields: (data?.fields as FieldSchema[] | undefined) ?? NO_FIELDS };
}

/** Whether the preview is shown: the choice of this device, on screens that are wide enough. */
function usePreview() {
  const possible = useMediaQuery('(min-width: 80em)', false, { getInitialValueInEffect: false });
  const [wanted, setWanted] = useLocalStorage({
    key: 'docket.preview',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  return { possible, shown: possible && wanted, toggle: () => setWanted(!wanted) };
}

/** The table, and the preview of its current record. */
function Records({ preview, ...table }: Omit<RecordTableProps, 'columns'> & { preview: boolean }) {
  const { ref, columns } = useFittingColumns(table.layout, preview);
  const [current, setCurrent] = useState<Row>();
  return (
    <div ref={ref} className={classes.split}>
      <RecordTable {...table} columns={columns} onCurrent={preview ? setCurrent : undefined} />
      {preview && (
        <Suspense>
          <Preview row={current} />
        </Suspense>
      )}
    </div>
  );
}

/** What can be done with the selected records. Loaded with the first selection. */
function Selected(props: BulkBarProps) {
  // Once loaded it stays: it also shows results of records that are no longer selected.
  const [used, setUsed] = useState(false);
  if (props.rows.length > 0 && !used) setUsed(true);
  return (
    <>
      <SelectionStatus rows={props.rows} />
      <Suspense>{used && <BulkBar {...props} />}</Suspense>
    </>
  );
}

/** Tells screen readers what is selected. It is always in the page: a region that appears with its text is not read. */
function SelectionStatus({ rows }: { rows: readonly Row[] }) {
  const t = useText(texts);
  return (
    <VisuallyHidden role="status">{rows.length > 0 && t.selectedNames(namesOf(rows), rows.length)}</VisuallyHidden>
  );
}

const mayChange = (type: DeskType): boolean => type.canUpdate || type.canArchive || type.canTransition;

/** The number of records, and whether there are more: exact up to the bound of the settings, then what is loaded. */
function countOf(first: RowPage | undefined, loaded: number, hasMore: boolean): [count: number, more: boolean] {
  if (first === undefined) return [loaded, hasMore];
  return first.totalExact ? [first.total, false] : [Math.max(first.total, loaded), true];
}

interface NoRowsProps {
  definition: QueueDefinition;
  error: Error | null;
  retry: () => void;
}

/** Shown instead of the rows: the error, or that there are none. */
function NoRows({ definition: { filter, q, state, sla, done, slaPolicy }, error, retry }: NoRowsProps) {
  const t = useText(texts);
  const filtered = [filter, q, state, sla, done, slaPolicy].some((one) => one !== undefined);
  return (
    <div className={classes.center}>
      <FaultAlert error={error} retry={retry} />
      {error === null && <Empty>{filtered ? t.emptyFilter : t.empty}</Empty>}
    </div>
  );
}
