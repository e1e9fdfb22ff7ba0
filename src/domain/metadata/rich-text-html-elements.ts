/** HTML elements, grouped by how they are converted to rich text. */

/** Elements that are dropped with their content. */
export const SKIPPED: ReadonlySet<string> = new Set(
  'script style template head title textarea select option noscript iframe object embed svg math audio video canvas'.split(
    ' ',
  ),
);

export const MARKS: ReadonlyMap<string, string> = new Map([
  ['b', 'bold'],
  ['strong', 'bold'],
  ['i', 'italic'],
  ['em', 'italic'],
  ['cite', 'italic'],
  ['var', 'italic'],
  ['s', 'strike'],
  ['strike', 'strike'],
  ['del', 'strike'],
  ['u', 'underline'],
  ['ins', 'underline'],
  ['code', 'code'],
  ['kbd', 'code'],
  ['samp', 'code'],
  ['tt', 'code'],
]);

export const FRAMES: ReadonlyMap<string, string> = new Map([
  ['blockquote', 'blockquote'],
  ['ul', 'bulletList'],
  ['menu', 'bulletList'],
  ['ol', 'orderedList'],
  ['li', 'listItem'],
  ['table', 'table'],
  ['tr', 'tableRow'],
  ['td', 'tableCell'],
  ['th', 'tableHeader'],
]);

/** Block elements without a node of their own. They only separate text blocks. */
export const BLOCKS: ReadonlySet<string> = new Set(
  'p div section article header footer main nav aside address figure figcaption center dl dt dd form fieldset legend details summary thead tbody tfoot caption html body'.split(
    ' ',
  ),
);

/** Elements of which only the text is kept. */
const PLAIN: ReadonlySet<string> = new Set(
  'span font small big sub sup mark abbr acronym time q bdo bdi wbr data dfn ruby rt rp label input button'.split(' '),
);

const STANDING: ReadonlySet<string> = new Set('a br hr img pre h1 h2 h3 h4 h5 h6'.split(' '));

/** Whether this is the name of an HTML element. Anything else between angle brackets is text. */
export function isHtmlElement(name: string): boolean {
  return [SKIPPED, MARKS, FRAMES, BLOCKS, PLAIN, STANDING].some((names) => names.has(name));
}

/** Whether the element is dropped with its content. */
export function isSkippedElement(name: string): boolean {
  return SKIPPED.has(name);
}
