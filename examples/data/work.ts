/** Limited concurrency. */

/** Processes each item with the given concurrency; the first failure ends it. */
export async function inParallel<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
  atOnce = 8,
): Promise<void> {
  const waiting = [...items].reverse();
  const worker = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await work(next);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
