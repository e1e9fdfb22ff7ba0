/** "Did you mean": names of a list that resemble a misspelt one. */

/** Longer names are not compared. */
const LONGEST = 64;
/** Names of a list that are compared at most. */
const MAX_COMPARED = 5000;
const MAX_PROPOSED = 3;

/** Spellings such as `data_type` and `DataType` count as the same as `dataType`. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, '');

/** Letters inserted, left out, replaced or swapped with the next one; `most + 1` if there are more than `most`. */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let at = 1; at <= b.length; at++) {
      const changed = a[row - 1] === b[at - 1] ? 0 : 1;
      let least = Math.min((last[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + changed);
      if (row > 1 && at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1]) {
        least = Math.min(least, (before[at - 2] ?? 0) + 1);
      }
      next.push(least);
    }
    if (Math.min(...next) > most) return most + 1;
    before = last;
    last = next;
  }
  return last[b.length] ?? most + 1;
}

/**
 * The names that differ least from the wrong one, at most three; empty if none resembles it.
 *
 * @param most letters that may differ, in longer names
 */
export function nearNames(wrong: string, known: Iterable<string>, most = 3): string[] {
  const sought = plain(wrong);
  if (sought === '' || wrong.length > LONGEST) return [];
  let least = Math.min(most, Math.max(1, Math.floor(sought.length / 3)));
  let found: string[] = [];
  let compared = 0;
  for (const name of known) {
    if (++compared > MAX_COMPARED) break;
    if (name === wrong || name.length > LONGEST) continue;
    const distance = editDistance(sought, plain(name), least);
    if (distance > least) continue;
    if (distance < least) found = [];
    least = distance;
    found.push(name);
  }
  return [...new Set(found)].slice(0, MAX_PROPOSED);
}
