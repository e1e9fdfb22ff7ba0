/** Excerpts of two long texts that show where they differ. */

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/**
 * The texts, each cut to `most` characters around the first difference if it is longer. Cut ends have an ellipsis.
 *
 * @param whole what is said about the length of a text that was cut
 */
export function excerpts(
  before: string,
  after: string,
  { most, whole }: { most: number; whole: (length: number) => string },
): [string, string] {
  const at = firstDifference(before, after);
  const cut = (text: string): string => {
    if (text.length <= most) return text;
    const start = Math.max(0, Math.min(at - Math.floor(most / 3), text.length - most));
    const end = start + most;
    const part = text.slice(start, end).toWellFormed();
    return `${start > 0 ? '…' : ''}${part}${end < text.length ? '…' : ''} (${whole(text.length)})`;
  };
  return [cut(before), cut(after)];
}
