/** The anchor of a Markdown heading: lower case, spaces as hyphens, other punctuation removed. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/** The anchors of all headings of a page. */
export function anchorsIn(markdown: string): Set<string> {
  return new Set([...markdown.matchAll(/^#{1,6} (.+)$/gm)].map((found) => anchorOf(found[1] ?? '')));
}
