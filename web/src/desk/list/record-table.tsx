/**
 * A virtualized list of records. Only visible rows are rendered, and further pages are prefetched. It has the ARIA role grid
 * and keyboard control: j, k and the arrows, Enter, x, Home, End; with Shift, these select.
 */
import { Checkbox } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type MouseEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { FieldValue } from '../../fields/value.tsx';
import { useText } from '../../i18n/text.ts';
import { PersonName } from '../../ui/person.tsx';
import { Time } from '../../ui/time.tsx';
import {
  commentPagesQuery,
  type DeskType,
  permissionsQuery,
  recordQuery,
  recordSchemaQuery,
  workflowQuery,
} from '../queries.ts';
import { StateBadge } from '../record/state-badge.tsx';
import { ColumnHead } from './column-head.tsx';
import type { ColumnControl } from './column-layout.ts';
import { type ListColumn, movedColumn, TITLE, trackOf, valueIn } from './columns.ts';
import classes from './list.module.css';
import { type ListPlace, takePlace, useListPlace } from './place.ts';
import { ALL, keyHandler, useRangeSelection } from './selection.ts';
import type { Row } from './source.ts';
import { texts } from './texts.ts';
import { TitleText } from './title-text.tsx';
import { Breached, TimeLeft } from './time-left.tsx';

const ROW_HEIGHT = 36;
const CARD_HEIGHT = 62;
/** The next page is loaded when fewer than this many rows remain: few at first, more once the user scrolls. */
const AHEAD = 40;
const AHEAD_SCROLLING = 400;
/** The user counts as scrolling after this row. */
const SCROLLED = 60;

export interface RecordTableProps {
  label: string;
  rows: readonly Row[];
  columns: readonly ListColumn[];
  types: readonly DeskType[];
  /** On narrow screens, a record is shown in two lines. */
  cards: boolean;
  selection: ReadonlySet<string>;
  onSelection?: ((ids: ReadonlySet<string>) => void) | undefined;
  hasMore: boolean;
  onMore: () => void;
  /** Column to sort by, with `-` in front for descending. */
  sort: string | undefined;
  onSort: (sort: string) => void;
  layout: ColumnControl;
  /** Names the list; the place in it is kept under this name while a record is open. */
  name: string;
  /** Called with the current row; then a click shows the row instead of opening it. */
  onCurrent?: ((row: Row | undefined) => void) | undefined;
}

export function RecordTable(props: RecordTableProps) {
  const { rows, columns, cards, selection, onSelection, hasMore } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [place] = useState(() => takePlace(props.name));
  const virtual = useVirtualRows(props, scroller, place);
  const items = virtual.getVirtualItems();
  const control = useControl(props, place, (index) => virtual.scrollToIndex(index));
  useListPlace(props.name, () => ({
    offset: scroller.current?.scrollTop ?? 0,
    record: rows[control.at]?.id,
    selection,
  }));
  const template = [...(onSelection === undefined ? [] : ['2rem']), ...columns.map(trackOf)].join(' ');
  return (
    <div
      ref={scroller}
      id="list"
      className={classes.scroller}
      style={{ '--d-list-width': `calc(${minimum(columns)}rem + 4rem)` } as CSSProperties}
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      aria-multiselectable={onSelection !== undefined}
      aria-activedescendant={
        items.some((item) => item.index === control.at) ? `row-${rows[control.at]?.id}` : undefined
      }
      onKeyDown={control.onKey}
      {...useRecordPage()}
      data-cards={cards || undefined}
    >
      {!cards && (
        <div role="rowgroup" className={classes.headerGroup}>
          <HeadRow {...props} template={template} />
        </div>
      )}
      <div role="rowgroup" className={classes.body} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start, size }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const place = { transform: `translateY(${start}px)`, height: size };
          return (
            <RecordRow
              key={row.id}
              {...props}
              row={row}
              index={index}
              current={index === control.at}
              selected={selection.has(row.id)}
              style={cards ? place : { ...place, gridTemplateColumns: template }}
              onClick={(event) => control.click(event, index)}
              onToggle={(shift) => control.check(index, shift)}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Handlers that load the code of the record page before a row is opened. */
function useRecordPage(): { onPointerEnter: () => void; onFocus: () => void } {
  const router = useRouter();
  const load = (): void => void router.loadRouteChunk(router.routesById['/inside/records/$recordId']);
  return { onPointerEnter: load, onFocus: load };
}

/** The least width of all columns in rem. All rows have it, so that long texts do not move columns. */
function minimum(columns: readonly ListColumn[]): number {
  return columns.reduce((sum, { width }) => sum + (width === 0 ? TITLE : width), 0);
}

/** The rows to render. Loads the next page before the last loaded row becomes visible. */
function useVirtualRows(
  { rows, cards, hasMore, onMore }: RecordTableProps,
  scroller: RefObject<HTMLDivElement | null>,
  place: ListPlace | undefined,
) {
  const virtual = useVirtualizer({
    count: rows.length,
    initialOffset: place?.offset ?? 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => (cards ? CARD_HEIGHT : ROW_HEIGHT),
    overscan: 12,
  });
  const last = virtual.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= rows.length - (last > SCROLLED ? AHEAD_SCROLLING : AHEAD)) onMore();
  }, [hasMore, last, rows.length, onMore]);
  useEffect(() => {
    virtual.measure();
  }, [cards, virtual]);
  return virtual;
}

/** Returns a function that opens the page of a record. */
function useOpen(): (row: Row | undefined) => void {
  const navigate = useNavigate();
  return (row) => {
    if (row !== undefined) void navigate({ to: '/records/$recordId', params: { recordId: row.id } });
  };
}

/** The current row, and what keys and clicks do with rows. */
function useControl(
  { rows, selection, onSelection, onCurrent }: RecordTableProps,
  place: ListPlace | undefined,
  scrollTo: (index: number) => void,
) {
  const [cursor, setCursor] = useState(() =>
    Math.max(
      0,
      rows.findIndex(({ id }) => id === place?.record),
    ),
  );
  const at = Math.min(cursor, Math.max(0, rows.length - 1));
  const current = rows[at];
  useEffect(() => onCurrent?.(current), [onCurrent, current]);
  const open = useOpen();
  const { toggle, extend, all } = useRangeSelection(rows, at, selection, onSelection);
  const move = (index: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setCursor(next);
    scrollTo(next);
  };
  /** With Shift, the keys that move also select. */
  const go = (index: number, shift: boolean): void => {
    if (shift) extend(Math.max(0, Math.min(rows.length - 1, index)));
    move(index);
  };
  const onKey = keyHandler((shift) => ({
    j: () => go(at + 1, shift),
    ArrowDown: () => go(at + 1, shift),
    k: () => go(at - 1, shift),
    ArrowUp: () => go(at - 1, shift),
    PageDown: () => go(at + 15, shift),
    PageUp: () => go(at - 15, shift),
    Home: () => go(0, shift),
    End: () => go(rows.length - 1, shift),
    Enter: () => open(rows[at]),
    o: () => open(rows[at]),
    x: () => toggle(at),
    ' ': () => toggle(at),
    Escape: () => onSelection?.(new Set()),
    [ALL]: all,
  }));
  const click = (event: MouseEvent, index: number): void => {
    if ((event.target as HTMLElement).closest('input, label, a') !== null) return;
    const { shiftKey, ctrlKey, metaKey } = event;
    if (onSelection === undefined && (ctrlKey || metaKey)) openTab(rows[index]);
    else if (shiftKey && onSelection !== undefined) extend(index);
    else if (ctrlKey || metaKey) toggle(index);
    else if (onCurrent === undefined || event.detail > 1) open(rows[index]);
    setCursor(index);
  };
  const check = (index: number, shift: boolean): void => {
    if (shift) extend(index);
    else toggle(index);
    setCursor(index);
  };
  return { at, onKey, click, check };
}

function openTab(row: Row | undefined): void {
  if (row !== undefined) window.open(`/records/${row.id}`, '_blank', 'noopener');
}

/** The titles of the columns, and the choice of all rows. */
function HeadRow({
  rows,
  columns,
  selection,
  onSelection,
  sort,
  onSort,
  layout,
  template,
}: RecordTableProps & { template: string }) {
  const t = useText(texts);
  // Beside a preview, columns that do not fit are not shown; they keep their places.
  const codes = layout.shown.map(({ code }) => code);
  const place = ({ code }: ListColumn): number => codes.indexOf(code);
  const all = rows.length > 0 && rows.every((row) => selection.has(row.id));
  return (
    <div role="row" className={classes.header} style={{ gridTemplateColumns: template }} aria-rowindex={1}>
      {onSelection !== undefined && (
        <div role="columnheader" className={classes.cell}>
          <Checkbox
            size="xs"
            tabIndex={-1}
            aria-label={t.selectAll}
            checked={all}
            indeterminate={!all && selection.size > 0}
            onChange={() => onSelection(all ? new Set() : new Set(rows.map((row) => row.id)))}
          />
        </div>
      )}
      {columns.map((column) => (
        <ColumnHead
          key={column.code}
          column={column}
          sort={sort}
          onSort={onSort}
          onResize={(rem) => layout.resize(column.code, rem)}
          onMove={(by) => layout.choose(movedColumn(codes, column.code, place(column) + by))}
          onDropColumn={(code) => codes.includes(code) && layout.choose(movedColumn(codes, code, place(column)))}
        />
      ))}
    </div>
  );
}

interface RecordRowProps extends Pick<RecordTableProps, 'columns' | 'types' | 'cards' | 'onSelection' | 'onCurrent'> {
  row: Row;
  index: number;
  /** True for the row that keys act on. */
  current: boolean;
  selected: boolean;
  style: CSSProperties;
  onClick: (event: MouseEvent) => void;
  onToggle: (shift: boolean) => void;
}

function RecordRow({ row, index, columns, types, cards, ...props }: RecordRowProps) {
  const t = useText(texts);
  const prefetch = usePrefetch(row);
  const selectable = props.onSelection !== undefined;
  return (
    <div
      id={`row-${row.id}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selectable ? props.selected : undefined}
      className={classes.row}
      data-cursor={props.current || undefined}
      data-shown={props.onCurrent !== undefined || undefined}
      style={props.style}
      onClick={props.onClick}
      onAuxClick={(event) => {
        if (event.button === 1) openTab(row);
      }}
      // Shift with a click selects records, not the text between them.
      onMouseDown={(event) => {
        if (event.shiftKey && selectable) event.preventDefault();
      }}
      onPointerDown={prefetch}
    >
      {cards && <Card row={row} columns={columns} types={types} />}
      {!cards && selectable && (
        <div role="gridcell" className={classes.cell}>
          <Checkbox
            size="xs"
            tabIndex={-1}
            aria-label={t.select(row.number ?? row.title ?? row.id)}
            checked={props.selected}
            onChange={(event) => props.onToggle((event.nativeEvent as globalThis.MouseEvent).shiftKey)}
          />
        </div>
      )}
      {!cards &&
        columns.map((column) => (
          <div key={column.code} role="gridcell" className={classes.cell} data-column={column.code}>
            <Cell row={row} column={column} types={types} />
          </div>
        ))}
    </div>
  );
}

/** Returns a function that loads the data of the record's page, on pointer down. */
function usePrefetch(row: Row): () => void {
  const client = useQueryClient();
  return () => {
    void client.prefetchQuery(recordQuery(row.id));
    void client.prefetchQuery(recordSchemaQuery(row.id));
    void client.prefetchQuery(permissionsQuery(row.id));
    void client.prefetchInfiniteQuery(commentPagesQuery(row.id));
    if (row.workflowState !== null) void client.prefetchQuery(workflowQuery(row.id));
  };
}

/** Two lines: the title, then the other chosen columns. The time left, or else the last change, is always in view. */
function Card({ row, columns, types }: Pick<RecordTableProps, 'columns' | 'types'> & { row: Row }) {
  const title = columns.find((column) => column.code === 'title');
  const hasTime = row.sla !== null && row.sla !== undefined && (row.sla.remainingMs !== null || row.sla.breached);
  const last = hasTime ? 'sla.remaining' : 'updatedAt';
  const facts = columns.filter(({ code }) => !['title', 'updatedAt', 'sla.remaining'].includes(code));
  // The state is cut last.
  const rest = facts.toSorted((a, b) => Number(a.code === 'type') - Number(b.code === 'type'));
  return (
    <div role="gridcell" className={classes.card}>
      <div className={classes.cardTitle}>{title !== undefined && <Cell row={row} column={title} types={types} />}</div>
      <div className={classes.cardMore}>
        <span className={classes.cardFacts}>
          {rest.slice(0, 4).map((column) => (
            <Cell key={column.code} row={row} column={column} types={types} />
          ))}
        </span>
        <span className={classes.cardTime}>
          <Cell row={row} column={{ code: last, name: '', width: 0 }} types={types} />
        </span>
      </div>
    </div>
  );
}

/** A table cell of a record. */
export function Cell({ row, column, types }: { row: Row; column: ListColumn; types: readonly DeskType[] }) {
  if (column.field !== undefined) return <FieldValue field={column.field} value={valueIn(row, column)} compact />;
  switch (column.code) {
    case 'number':
      return <span className="tabular">{row.number}</span>;
    case 'title':
      return <TitleText row={row} />;
    case 'type':
      return types.find((type) => type.id === row.typeDefinitionId)?.name ?? row.typeCode;
    case 'workflowState':
      return row.workflowState === null ? null : <StateBadge state={row.workflowState} />;
    case 'sla.remaining':
      return <TimeLeft sla={row.sla ?? null} />;
    case 'sla.dueAt':
      return typeof row.sla?.dueAt === 'string' ? <Time at={row.sla.dueAt} absolute /> : null;
    case 'sla.breached':
      return row.sla?.breached === true ? <Breached /> : null;
    case 'createdAt':
      return row.createdAt === undefined ? null : <Time at={row.createdAt} />;
    case 'updatedAt':
      return <Time at={row.updatedAt} />;
    case 'createdBy':
    case 'updatedBy': {
      const person = row[column.code];
      return person === null || person === undefined ? null : <PersonName name={person.displayName} />;
    }
    default:
      return null;
  }
}
