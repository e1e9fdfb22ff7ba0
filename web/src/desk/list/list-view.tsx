/** A list of records with filters, columns, selection and bulk actions. */
import { ActionIcon, Button, Loader, NativeSelect, TextInput, VisuallyHidden } from '@mantine/core';
import { useDebouncedCallback, useDocumentTitle, useMediaQuery } from '@mantine/hooks';
import { IconColumns3, IconPlus, IconRefresh, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { OnFirstUse } from '../../ui/on-first-use.tsx';
import { type DeskType, deskTypesQuery, type QueueDefinition, typeFieldsQuery } from '../queries.ts';
import type { BulkBarProps } from './bulk-bar.tsx';
import { chosenColumns, storeColumns, storedColumns, useColumns } from './columns.ts';
import { ExportButton } from './export-button.tsx';
import { FilterChips } from './filter-chips.tsx';
import { FilterButton } from './filter-button.tsx';
import classes from './list.module.css';
import { RecordTable } from './record-table.tsx';
import { useRows } from './rows.ts';
import { namesOf, type Row, type RowPage } from './source.ts';
import { texts } from './texts.ts';

const BulkBar = lazy(async () => ({ default: (await import('./bulk-bar.tsx')).BulkBar }));
const loadColumnChoice = async () => (await import('./column-choice.tsx')).ColumnChoice;

const NO_FIELDS: readonly FieldSchema[] = [];

export interface ListViewProps {
  title: string;
  definition: QueueDefinition;
  onDefinition: (definition: QueueDefinition) => void;
  /** Additional tools, such as saving the queue. */
  tools?: ReactNode;
}

export function ListView({ title, definition, onDefinition, tools }: ListViewProps) {
  const t = useText(texts);
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  useDocumentTitle(`${title} · Docket`);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const type = types.find((one) => one.code === definition.type || one.id === definition.type);
  const schema = useQuery({ ...typeFieldsQuery(type?.id ?? ''), enabled: type !== undefined });
  const fields = (schema.data?.fields as FieldSchema[] | undefined) ?? NO_FIELDS;
  const choice = useColumnChoice(definition, onDefinition, type, fields);
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set());
  const { list, rows, more } = useRows(definition, type);
  const selectable =
    definition.state !== 'ARCHIVED' && !narrow && (type === undefined ? types : [type]).some(mayChange);
  const chosen = rows.filter((row) => selection.has(row.id));
  const refresh = (): void => void list.refetch();
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <h1>{title}</h1>
        <span className={classes.count} aria-live="polite">
          {list.data !== undefined && t.shown(...countOf(list.data.pages[0], rows.length, list.hasNextPage))}
        </span>
        <div className={classes.tools}>
          <Filters definition={definition} onDefinition={onDefinition} type={type} types={types} fields={fields} />
          <ColumnsButton {...choice} />
          <RefreshButton refreshing={list.isRefetching} onRefresh={refresh} />
          <ExportButton
            title={title}
            definition={definition}
            type={type}
            types={types}
            rows={rows}
            columns={choice.shown}
          />
          {tools}
          {type?.canCreate === true && <CreateButton type={type} />}
        </div>
      </header>
      <FilterChips definition={definition} onDefinition={onDefinition} type={type} />
      {rows.length === 0 && (list.error !== null || list.data !== undefined) ? (
        <NoRows definition={definition} error={list.data === undefined ? list.error : null} retry={refresh} />
      ) : (
        <RecordTable
          label={title}
          rows={rows}
          columns={choice.shown}
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
      <Selected rows={chosen} types={types} onSelection={setSelection} />
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
function NoRows({ definition: { filter, q, state, sla }, error, retry }: NoRowsProps) {
  const t = useText(texts);
  const filtered = filter !== undefined || q !== undefined || state !== undefined || sla !== undefined;
  return (
    <div className={classes.center}>
      <FaultAlert error={error} retry={retry} />
      {error === null && <Empty>{filtered ? t.emptyFilter : t.empty}</Empty>}
    </div>
  );
}

type OnDefinition = ListViewProps['onDefinition'];

/** The available and the shown columns. The choice is stored in the queue if it names columns, else in the browser. */
function useColumnChoice(
  definition: QueueDefinition,
  onDefinition: OnDefinition,
  type: DeskType | undefined,
  fields: readonly FieldSchema[],
) {
  const columns = useColumns(type, fields);
  const [chosen, setChosen] = useState<{ type: string | undefined; codes: string[] | undefined }>();
  const codes =
    chosen !== undefined && chosen.type === type?.code
      ? chosen.codes
      : (definition.columns ?? storedColumns(type?.code));
  const choose = (next: string[]): void => {
    setChosen({ type: type?.code, codes: next });
    storeColumns(type?.code, next);
    if (definition.columns !== undefined) onDefinition({ ...definition, columns: next });
  };
  return { columns, shown: chosenColumns(columns, codes), choose };
}

function ColumnsButton(choice: ReturnType<typeof useColumnChoice>) {
  const t = useText(texts);
  const [opened, setOpened] = useState(false);
  return (
    <OnFirstUse popup="dialog" load={loadColumnChoice} more={choice} opened={opened} onOpened={setOpened}>
      <ActionIcon variant="default" size={30} aria-label={t.columns} title={t.columns}>
        <IconColumns3 size={16} />
      </ActionIcon>
    </OnFirstUse>
  );
}

interface FiltersProps {
  definition: QueueDefinition;
  onDefinition: OnDefinition;
  type: DeskType | undefined;
  types: readonly DeskType[];
  fields: readonly FieldSchema[];
}

/** The quick search, the state, and the condition of the list. */
function Filters({ definition, onDefinition, type, types, fields }: FiltersProps) {
  const t = useText(texts);
  const setWords = useDebouncedCallback((q: string) => onDefinition(without({ ...definition, q }, 'q')), 350);
  return (
    <>
      <TextInput
        key={`${definition.type ?? ''}${definition.state ?? ''}`}
        className={classes.search}
        type="search"
        placeholder={t.quick}
        aria-label={t.quick}
        leftSection={<IconSearch size={14} />}
        defaultValue={definition.q ?? ''}
        onChange={(event) => setWords(event.currentTarget.value)}
      />
      {type !== undefined && type.states.length > 0 && (
        <NativeSelect
          aria-label={t.state}
          className={classes.state}
          data={[
            { value: 'ACTIVE', label: t.anyState },
            ...type.states.map((state) => ({ value: state.code, label: state.name })),
            { value: 'ARCHIVED', label: t.archivedState },
          ]}
          value={definition.state ?? 'ACTIVE'}
          onChange={(event) => {
            const state = event.currentTarget.value;
            onDefinition(state === 'ACTIVE' ? without(definition, 'state') : { ...definition, state });
          }}
        />
      )}
      {definition.state !== 'ARCHIVED' && (
        <FilterButton
          size={30}
          value={definition.filter}
          onApply={(filter) =>
            onDefinition(filter === undefined ? without(definition, 'filter') : { ...definition, filter })
          }
          fields={fields}
          types={type === undefined ? types : [type]}
        />
      )}
    </>
  );
}

function RefreshButton({ refreshing, onRefresh }: { refreshing: boolean; onRefresh: () => void }) {
  const t = useText(texts);
  return (
    <ActionIcon variant="default" size={30} aria-label={t.refresh} title={t.refreshed} onClick={onRefresh}>
      {refreshing ? <Loader size={14} /> : <IconRefresh size={16} />}
    </ActionIcon>
  );
}

function CreateButton({ type }: { type: DeskType }) {
  const t = useText(texts);
  return (
    <Button
      leftSection={<IconPlus size={14} />}
      renderRoot={(props) => <Link {...props} to="/new/$typeCode" params={{ typeCode: type.code }} />}
    >
      {t.create}
    </Button>
  );
}

/** Removes the filter `key` from the definition; a non-blank `q` is kept. */
function without(definition: QueueDefinition, key: 'q' | 'state' | 'filter'): QueueDefinition {
  if (key === 'q' && definition.q !== undefined && definition.q.trim() !== '') return definition;
  const { [key]: _gone, ...rest } = definition;
  return rest;
}
