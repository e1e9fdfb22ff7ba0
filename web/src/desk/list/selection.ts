/** Selection of rows. A range always starts at the anchor: the row that was selected or deselected last. */
import { useRef } from 'react';

interface Anchor {
  id: string;
  /** What was selected when the anchor was set. A range adds to it; another range from the same anchor replaces the first. */
  base: ReadonlySet<string>;
}

/**
 * @param at index of the current row: where a range starts if nothing is selected
 * @returns `toggle` selects or deselects one row and makes it the anchor, `extend` selects from the anchor to a row
 */
export function useRangeSelection(
  rows: readonly { id: string }[],
  at: number,
  selection: ReadonlySet<string>,
  onSelection: ((ids: ReadonlySet<string>) => void) | undefined,
) {
  // An id, not an index: the list may be reloaded between two clicks.
  const anchor = useRef<Anchor>(undefined);
  const toggle = (index: number): void => {
    const id = rows[index]?.id;
    if (id === undefined || onSelection === undefined) return;
    const next = new Set(selection);
    if (!next.delete(id)) next.add(id);
    anchor.current = { id, base: next };
    onSelection(next);
  };
  const extend = (index: number): void => {
    if (onSelection === undefined) return;
    const known = selection.size === 0 ? -1 : rows.findIndex(({ id }) => id === anchor.current?.id);
    const from = known === -1 ? at : known;
    if (known === -1) anchor.current = { id: rows[from]?.id ?? '', base: new Set(selection) };
    const range = rows.slice(Math.min(from, index), Math.max(from, index) + 1);
    onSelection(new Set([...(anchor.current?.base ?? []), ...range.map(({ id }) => id)]));
  };
  return { toggle, extend };
}
