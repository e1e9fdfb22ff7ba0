/**
 * The place in a list, kept in memory while a record of it is open: how far it was scrolled, the current row and the selection.
 * Also the list that was left last, so that the record's page can go to the next and the previous record.
 */
import { useEffect, useLayoutEffect, useRef } from 'react';

export interface ListPlace {
  /** Scrolled distance in pixels. */
  offset: number;
  /** Id of the current row. */
  record: string | undefined;
  selection: ReadonlySet<string>;
}

interface LeftList {
  name: string;
  place: ListPlace;
}

/** The records of a list, in its order. */
export interface OpenedList {
  /** The address of the list. */
  href: string;
  ids: readonly string[];
  /** The number of records, as the list showed it. */
  total: number;
  /** Whether there are more than `total`. */
  more: boolean;
}

const state: { left: LeftList | undefined; opened: OpenedList | undefined } = { left: undefined, opened: undefined };

/** The place in which the user left this list to open a record; undefined if the last list was another one. */
export function takePlace(name: string): ListPlace | undefined {
  return state.left?.name === name ? state.left.place : undefined;
}

/** Keeps the place when the list is left. */
export function useListPlace(name: string, place: () => ListPlace): void {
  const latest = useRef(place);
  useEffect(() => {
    latest.current = place;
  });
  // A layout effect: when it ends, the elements of the list are still in the page.
  useLayoutEffect(
    () => () => {
      state.left = { name, place: latest.current() };
    },
    [name],
  );
}

/** Keeps the records of the shown list for the pages of its records. */
export function useOpenedList(list: OpenedList): void {
  useEffect(() => {
    state.opened = list;
  });
}

/** The list from which records are opened; undefined if the user came to the record in another way. */
export const openedList = (): OpenedList | undefined => state.opened;

/** The current record changed while it was open: the list shows it when the user comes back. */
export function moveInList(record: string): void {
  if (state.left !== undefined) state.left = { ...state.left, place: { ...state.left.place, record } };
}
