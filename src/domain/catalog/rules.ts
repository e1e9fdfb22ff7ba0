/** Pure rules of the catalogue. */
import type { Category } from './registry.ts';

/** The categories that contain an item, directly or in a subcategory, in the given order. */
export function filledCategories(categories: readonly Category[], itemCategories: readonly string[]): Category[] {
  const parents = new Map(categories.map(({ id, parentId }) => [id, parentId]));
  const filled = new Set<string>();
  for (const id of itemCategories) {
    for (let at: string | null = id; at !== null && !filled.has(at); at = parents.get(at) ?? null) filled.add(at);
  }
  return categories.filter(({ id }) => filled.has(id));
}
