/** A conversation with many comments, newest first. Only the visible ones are rendered; they scroll with the page. */
import { Button } from '@mantine/core';
import { useViewportSize } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react';
import type { RecordComment } from '../../api/types.ts';
import { useText } from '../../i18n/text.ts';
import { texts } from '../texts.ts';
import classes from './comments.module.css';

const ESTIMATE = 110;
const GAP = 12;
/** The way back to the newest comment is offered after this many pixels. */
const FAR = 600;

function scrollParent(element: HTMLElement): HTMLElement {
  for (let at = element.parentElement; at !== null; at = at.parentElement) {
    if (['auto', 'scroll'].includes(getComputedStyle(at).overflowY)) return at;
  }
  return document.documentElement;
}

interface LongConversationProps {
  comments: readonly RecordComment[];
  show: (comment: RecordComment) => ReactNode;
  /** Scrolls to a comment. */
  handle: RefObject<((id: string) => void) | null>;
  /** Called when the comment is rendered. */
  onReached: (id: string) => void;
}

export function LongConversation({ comments, show, handle, onReached }: LongConversationProps) {
  const t = useText(texts);
  const list = useRef<HTMLDivElement>(null);
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const [margin, setMargin] = useState(0);
  const virtual = useVirtualizer({
    count: comments.length,
    getScrollElement: () => scroller,
    estimateSize: () => ESTIMATE,
    getItemKey: (index) => comments[index]?.id ?? index,
    scrollMargin: margin,
    gap: GAP,
    overscan: 6,
  });
  const { scrollOffset } = virtual;
  const { width } = useViewportSize();
  // Also while scrolling: texts above the list may have been opened. The width decides which element scrolls.
  useLayoutEffect(() => {
    if (list.current === null) return;
    const parent = scrollParent(list.current);
    const top = list.current.getBoundingClientRect().top - parent.getBoundingClientRect().top + parent.scrollTop;
    setScroller(parent);
    setMargin(Math.round(top));
  }, [comments, scrollOffset, width]);
  useImperativeHandle(handle, () => (id) => {
    const index = comments.findIndex((comment) => comment.id === id);
    if (index !== -1) virtual.scrollToIndex(index, { align: 'center' });
    setTimeout(() => onReached(id), 100);
  });
  const far = (scrollOffset ?? 0) > margin + FAR;
  return (
    <div
      ref={list}
      className={classes.long}
      style={{ height: virtual.getTotalSize() }}
      role="feed"
      aria-label={t.activity}
    >
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const comment = comments[index];
        if (comment === undefined) return null;
        return (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            className={classes.place}
            style={{ transform: `translateY(${start - margin}px)` }}
          >
            {show(comment)}
          </div>
        );
      })}
      {far && <ToNewest onClick={() => scroller?.scrollTo({ top: 0 })} />}
    </div>
  );
}

function ToNewest({ onClick }: { onClick: () => void }) {
  const t = useText(texts);
  return (
    <Button className={classes.jump} size="compact-sm" onClick={onClick}>
      {t.toNewest}
    </Button>
  );
}
