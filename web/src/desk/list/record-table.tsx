/**
 * A virtualized list of records. Only visible rows are rendered, and further pages are prefetched. It has the ARIA role grid
 * and keyboard control: j, k and the arrows, Enter, x, Home, End.
 */
import { Checkbox } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type MouseEvent, useEffect, useRef, useState } from 'react';
import { useText } from '../../i18n/text.ts';
import { type DeskType, permissionsQuery, recordQuery, recordSchemaQuery } from '../queries.ts';
import { Cell } from './cell.tsx';
import type { ListColumn } from './columns.ts';
import type { Row } from './source.ts';
import classes from './list.module.css';
import { texts } from './texts.ts';

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
}

export function RecordTable(props: RecordTableProps) {
  const { rows, columns, cards, selection, onSelection, hasMore, onMore } = props;
  const t = useText(texts);
  const navigate = useNavigate();
  const client = useQueryClient();
  const scroller = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState(0);
  const at = Math.min(cursor, Math.max(0, rows.length - 1));
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (cards ? CARD_HEIGHT : ROW_HEIGHT),
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= rows.length - (last > SCROLLED ? AHEAD_SCROLLING : AHEAD)) onMore();
  }, [hasMore, last, rows.length, onMore]);
  useEffect(() => {
    virtual.measure();
  }, [cards, virtual]);

  const open = (row: Row | undefined): void => {
    if (row !== undefined) void navigate({ to: '/records/$recordId', params: { recordId: row.id } });
  };
  /** Prefetches the data of the record's page on pointer down. */
  const ahead = (id: string): void => {
    void client.prefetchQuery(recordQuery(id));
    void client.prefetchQuery(recordSchemaQuery(id));
    void client.prefetchQuery(permissionsQuery(id));
  };
  const toggle = (row: Row | undefined): void => {
    if (row === undefined || onSelection === undefined) return;
    const next = new Set(selection);
    if (!next.delete(row.id)) next.add(row.id);
    onSelection(next);
  };
  const selectTo = (index: number): void => {
    const [from, to] = [Math.min(at, index), Math.max(at, index)];
    onSelection?.(new Set([...selection, ...rows.slice(from, to + 1).map((row) => row.id)]));
  };
  const move = (index: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setCursor(next);
    virtual.scrollToIndex(next);
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    const steps: Record<string, () => void> = {
      j: () => move(at + 1),
      ArrowDown: () => move(at + 1),
      k: () => move(at - 1),
      ArrowUp: () => move(at - 1),
      PageDown: () => move(at + 15),
      PageUp: () => move(at - 15),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      Enter: () => open(rows[at]),
      o: () => open(rows[at]),
      x: () => toggle(rows[at]),
      ' ': () => toggle(rows[at]),
      Escape: () => onSelection?.(new Set()),
    };
    const step = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined;
    if (step === undefined) return;
    event.preventDefault();
    step();
  };
  const click = (index: number) => (event: MouseEvent) => {
    if ((event.target as HTMLElement).closest('input, label, a') !== null) return;
    if (event.shiftKey && onSelection !== undefined) selectTo(index);
    else if (event.ctrlKey || event.metaKey) window.open(`/records/${rows[index]?.id}`, '_blank', 'noopener');
    else open(rows[index]);
    setCursor(index);
  };
  const template = [
    ...(onSelection === undefined ? [] : ['2rem']),
    ...columns.map((column) => (column.width === 0 ? 'minmax(16rem, 1fr)' : `${column.width}rem`)),
  ].join(' ');
  const all = rows.length > 0 && rows.every((row) => selection.has(row.id));
  const head = (
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
        <div key={column.code} role="columnheader" className={classes.cell}>
          {column.name}
        </div>
      ))}
    </div>
  );
  return (
    <div
      ref={scroller}
      className={classes.scroller}
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      aria-multiselectable={onSelection !== undefined}
      aria-activedescendant={items.some((item) => item.index === at) ? `row-${rows[at]?.id}` : undefined}
      onKeyDown={keys}
      data-cards={cards || undefined}
    >
      {!cards && (
        <div role="rowgroup" className={classes.headerGroup}>
          {head}
        </div>
      )}
      <div role="rowgroup" className={classes.body} style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          const place = { transform: `translateY(${item.start}px)`, height: item.size };
          return (
            <div
              key={row.id}
              id={`row-${row.id}`}
              role="row"
              aria-rowindex={item.index + 2}
              aria-selected={onSelection === undefined ? undefined : selection.has(row.id)}
              className={classes.row}
              data-cursor={item.index === at || undefined}
              style={cards ? place : { ...place, gridTemplateColumns: template }}
              onClick={click(item.index)}
              onPointerDown={() => ahead(row.id)}
            >
              {cards ? (
                <Card row={row} columns={columns} types={props.types} />
              ) : (
                <>
                  {onSelection !== undefined && (
                    <div role="gridcell" className={classes.cell}>
                      <Checkbox
                        size="xs"
                        tabIndex={-1}
                        aria-label={t.select(row.number ?? row.title ?? row.id)}
                        checked={selection.has(row.id)}
                        onChange={() => toggle(row)}
                      />
                    </div>
                  )}
                  {columns.map((column) => (
                    <div key={column.code} role="gridcell" className={classes.cell} data-column={column.code}>
                      <Cell row={row} column={column} types={props.types} />
                    </div>
                  ))}
                </>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Two lines: the title, then the other chosen columns. */
function Card({ row, columns, types }: Pick<RecordTableProps, 'columns' | 'types'> & { row: Row }) {
  const title = columns.find((column) => column.code === 'title');
  const rest = columns.filter((column) => column.code !== 'title' && column.code !== 'updatedAt');
  const updated = columns.find((column) => column.code === 'updatedAt');
  return (
    <div role="gridcell" className={classes.card}>
      <div className={classes.cardTitle}>{title !== undefined && <Cell row={row} column={title} types={types} />}</div>
      <div className={classes.cardMore}>
        <span className={classes.cardFacts}>
          {rest.slice(0, 4).map((column) => (
            <Cell key={column.code} row={row} column={column} types={types} />
          ))}
        </span>
        {updated !== undefined && (
          <span className={classes.cardTime}>
            <Cell row={row} column={updated} types={types} />
          </span>
        )}
      </div>
    </div>
  );
}
