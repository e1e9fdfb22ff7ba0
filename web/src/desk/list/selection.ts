/** Selection of rows, and the keys of a list. A range always starts at the anchor: the row that was selected or deselected last. */
import { type KeyboardEvent, useRef } from 'react';

interface Anchor {
  id: string;
  /** What was selected when the anchor was set. A range adds to it; another range from the same anchor replaces the first. */
  base: ReadonlySet<string>;
}

/**
 * @param at index of the current row: where a range starts if nothing is selected
 * @returns `toggle` selects or deselects one row and makes it the anchor, `extend` selects from the anchor to a row,
 *   `all` selects all rows
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
  const all = (): void => onSelection?.(new Set(rows.map(({ id }) => id)));
  return { toggle, extend, all };
}

/** Ctrl A selects all loaded rows, like the check box of the head. */
export const ALL = 'Ctrl+a';
/** Keys that do the same with Ctrl, as in other lists. */
const ALSO_WITH_CTRL = new Set(['ArrowDown', 'ArrowUp', 'Home', 'End', ' ']);

/** Calls the function of a key. Letters go by their place on the keyboard, so that they work with any layout. */
export function keyHandler(stepsOf: (shift: boolean) => Readonly<Record<string, () => void>>) {
  return (event: KeyboardEvent): void => {
    if (event.altKey || event.target !== event.currentTarget) return;
    const steps = stepsOf(event.shiftKey);
    const plain = /^Key([A-Z])$/.exec(event.code)?.[1]?.toLowerCase() ?? event.key;
    const key = (event.ctrlKey || event.metaKey) && !ALSO_WITH_CTRL.has(plain) ? `Ctrl+${plain}` : plain;
    const step = Object.hasOwn(steps, key) ? steps[key] : undefined;
    if (step === undefined) return;
    event.preventDefault();
    step();
  };
}
