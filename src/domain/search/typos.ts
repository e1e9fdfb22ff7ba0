/** Edit distance 1. Pure. */

/** Shorter words are too similar to each other. */
export const SHORTEST_WITH_TYPO = 5;

/** Whether the words differ by one inserted, deleted or replaced letter, or by two swapped neighbours. */
export function isWithinOneEdit(a: string, b: string): boolean {
  if (a === b) return false;
  const [short, long] = a.length <= b.length ? [[...a], [...b]] : [[...b], [...a]];
  if (long.length - short.length > 1) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  let end = 0;
  while (end < short.length - start && short[short.length - 1 - end] === long[long.length - 1 - end]) end++;
  const left = short.length - start - end;
  if (long.length > short.length) return left === 0;
  if (left === 1) return true;
  return left === 2 && short[start] === long[start + 1] && short[start + 1] === long[start];
}

/** Whether typos in the word are corrected: only in words of letters that are long enough. */
export function mayHoldTypo(word: string): boolean {
  return /^\p{L}+$/u.test(word) && [...word].length >= SHORTEST_WITH_TYPO;
}
