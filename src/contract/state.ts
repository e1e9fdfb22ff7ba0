/**
 * The state of records, users, groups, units, configuration items and everything else that can be archived. Archived items stay
 * in the database. Statements compare with the literal `state = 'ACTIVE'`, so that the planner can use partial indexes.
 */
export type ItemState = 'ACTIVE' | 'ARCHIVED';

export function isItemState(text: string): text is ItemState {
  return text === 'ACTIVE' || text === 'ARCHIVED';
}

interface Item {
  readonly state: string;
}

/** Whether the item exists and is not archived. */
export function isActive(item: Item): boolean;
export function isActive<T extends Item>(item: T | undefined): item is T;
export function isActive(item: Item | undefined): boolean {
  return item?.state === 'ACTIVE';
}

/** Whether the item exists and is archived. */
export function isArchived(item: Item | undefined): boolean {
  return item?.state === 'ARCHIVED';
}
