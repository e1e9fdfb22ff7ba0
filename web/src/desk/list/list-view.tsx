/** A list of records with filters, columns, selection and bulk actions. */
import { ActionIcon, Button, Checkbox, Loader, Popover, Select, Stack, TextInput, Tooltip } from '@mantine/core';
import { useDebouncedCallback, useDocumentTitle, useMediaQuery } from '@mantine/hooks';
import { IconColumns3, IconPlus, IconRefresh, IconSearch } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import type { FieldSchema } from '../../api/types.ts';
import { useSession } from '../../app/session.ts';
import { useText } from '../../i18n/text.ts';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { deskTypesQuery, type QueueDefinition, typeFieldsQuery } from '../queries.ts';
import { BulkBar } from './bulk-bar.tsx';
import { chosenColumns, storeColumns, storedColumns, useColumns } from './columns.ts';
import { ExportButton } from './export-button.tsx';
import { FilterButton } from './filter-panel.tsx';
import classes from './list.module.css';
import { RecordTable } from './record-table.tsx';
import { useHead } from './head.ts';
import { isLong, rowsOf, rowsQuery } from './source.ts';
import { texts } from './texts.ts';

/** Refresh interval of a visible list in milliseconds. */
const REFRESH = 8000;
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
  const session = useSession();
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  useDocumentTitle(`${title} · Docket`);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const type = types.find((one) => one.code === definition.type || one.id === definition.type);
  const schema = useQuery({ ...typeFieldsQuery(type?.id ?? ''), enabled: type !== undefined });
  const fields = (schema.data?.fields as FieldSchema[] | undefined) ?? NO_FIELDS;
  const columns = useColumns(type, fields);
  const [stored, setStored] = useState<{ type: string | undefined; codes: string[] | undefined }>();
  const codes =
    stored !== undefined && stored.type === type?.code
      ? stored.codes
      : (definition.columns ?? storedColumns(type?.code));
  const shown = chosenColumns(columns, codes);
  const [selection, setSelection] = useState<ReadonlySet<string>>(new Set());
  const list = useInfiniteQuery({
    ...rowsQuery(definition, type, session),
    enabled: definition.type === undefined || type !== undefined,
    refetchInterval: (query) => !isLong(query.state.data) && REFRESH,
    refetchOnWindowFocus: (query) => !isLong(query.state.data),
    refetchOnMount: (query) => query.state.isInvalidated || !isLong(query.state.data),
  });
  useHead(definition, type, isLong(list.data));
  const rows = useMemo(() => rowsOf(list.data), [list.data]);
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = list;
  const more = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [fetchNextPage, isFetchingNextPage]);
  const setWords = useDebouncedCallback((q: string) => onDefinition(without({ ...definition, q }, 'q')), 350);
  const setColumns = (next: string[]): void => {
    setStored({ type: type?.code, codes: next });
    storeColumns(type?.code, next);
    if (definition.columns !== undefined) onDefinition({ ...definition, columns: next });
  };
  const archived = definition.state === 'ARCHIVED';
  const mayChange = (one: { canUpdate: boolean; canArchive: boolean; canTransition: boolean }): boolean =>
    one.canUpdate || one.canArchive || one.canTransition;
  const selectable = !archived && !narrow && (type === undefined ? types.some(mayChange) : mayChange(type));
  const chosen = rows.filter((row) => selection.has(row.id));
  const { total, totalExact } = list.data?.pages[0] ?? {};
  const filtered = definition.filter !== undefined || definition.q !== undefined || definition.state !== undefined;
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <h1>{title}</h1>
        <span className={classes.count} aria-live="polite">
          {list.data !== undefined &&
            t.shown(total ?? rows.length, total === undefined ? hasNextPage : totalExact === false)}
        </span>
        <div className={classes.tools}>
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
            <Select
              aria-label={t.state}
              className={classes.state}
              data={[
                { value: 'ACTIVE', label: t.anyState },
                ...type.states.map((state) => ({ value: state.code, label: state.name })),
                { value: 'ARCHIVED', label: t.archivedState },
              ]}
              value={definition.state ?? 'ACTIVE'}
              onChange={(state) =>
                onDefinition(
                  state === null || state === 'ACTIVE' ? without(definition, 'state') : { ...definition, state },
                )
              }
              allowDeselect={false}
            />
          )}
          {!archived && (
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
          <Popover position="bottom-end" shadow="md" trapFocus>
            <Popover.Target>
              <Tooltip label={t.columns}>
                <ActionIcon variant="default" size={30} aria-label={t.columns}>
                  <IconColumns3 size={16} />
                </ActionIcon>
              </Tooltip>
            </Popover.Target>
            <Popover.Dropdown mah={420} style={{ overflowY: 'auto' }}>
              <Checkbox.Group value={shown.map((column) => column.code)} onChange={setColumns} label={t.columns}>
                <Stack gap={6} mt="xs">
                  {columns.map((column) => (
                    <Checkbox
                      key={column.code}
                      value={column.code}
                      label={column.name}
                      disabled={column.code === 'title'}
                    />
                  ))}
                </Stack>
              </Checkbox.Group>
            </Popover.Dropdown>
          </Popover>
          <Tooltip label={t.refreshed}>
            <ActionIcon variant="default" size={30} aria-label={t.refresh} onClick={() => void list.refetch()}>
              {list.isRefetching ? <Loader size={14} /> : <IconRefresh size={16} />}
            </ActionIcon>
          </Tooltip>
          <ExportButton title={title} definition={definition} type={type} types={types} rows={rows} columns={shown} />
          {tools}
          {type?.canCreate === true && (
            <Button
              leftSection={<IconPlus size={14} />}
              renderRoot={(props) => <Link {...props} to="/new/$typeCode" params={{ typeCode: type.code }} />}
            >
              {t.create}
            </Button>
          )}
        </div>
      </header>
      {list.error !== null && list.data === undefined ? (
        <div className={classes.center}>
          <FaultAlert error={list.error} retry={() => void list.refetch()} />
        </div>
      ) : list.data !== undefined && rows.length === 0 ? (
        <div className={classes.center}>
          <Empty>{filtered ? t.emptyFilter : t.empty}</Empty>
        </div>
      ) : (
        <RecordTable
          label={title}
          rows={rows}
          columns={shown}
          types={types}
          cards={narrow}
          selection={selection}
          onSelection={selectable ? setSelection : undefined}
          hasMore={hasNextPage}
          onMore={more}
        />
      )}
      {chosen.length > 0 && <BulkBar rows={chosen} types={types} onClear={() => setSelection(new Set())} />}
    </div>
  );
}

/** Removes the filter `key` from the definition; a non-blank `q` is kept. */
function without(definition: QueueDefinition, key: 'q' | 'state' | 'filter'): QueueDefinition {
  if (key === 'q' && definition.q !== undefined && definition.q.trim() !== '') return definition;
  const { [key]: _gone, ...rest } = definition;
  return rest;
}
