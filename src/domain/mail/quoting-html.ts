/**
 * Cuts the elements in which mail clients put the quoted message. It is done before the HTML is sanitised, since their classes
 * and ids are not kept. Elements of the reply itself stay as they are.
 */
import { Parser } from 'htmlparser2';

/** Maximum number of characters of HTML that is searched; longer HTML is left as it is. */
const MAX_CHARACTERS = 1_048_576;
/** Maximum number of open elements: the parser searches all of them at each closing tag. */
const MAX_OPEN = 256;

/** Classes of quoted messages: Gmail, Yahoo, Thunderbird, Proton Mail, Mail.ru, Zoho. */
const QUOTE_CLASSES: ReadonlySet<string> = new Set([
  'gmail_quote',
  'gmail_attr',
  'yahoo_quoted',
  'moz-cite-prefix',
  'moz-email-headers-table',
  'protonmail_quote',
  'mailru-blockquote',
  'zmail_extra',
]);

/** Elements after which Outlook puts the quoted message; everything behind them belongs to it. */
const END_IDS: ReadonlySet<string> = new Set([
  'divrplyfwdmsg',
  'appendonsend',
  'mail-editor-reference-message-container',
]);
/** The line that Outlook draws above the fields of the quoted message. */
const OUTLOOK_RULE = /^border:\s*none;\s*border-top:\s*solid\s+#(?:e1e1e1|b5c4df)\s+1\.0pt/i;

type Attributes = Record<string, string>;

function isQuote(name: string, attributes: Attributes): boolean {
  const classes = (attributes['class'] ?? '').toLowerCase().split(/\s+/);
  if (classes.some((one) => QUOTE_CLASSES.has(one))) return true;
  return name === 'blockquote' && attributes['type']?.toLowerCase() === 'cite';
}

function endsReply(attributes: Attributes): boolean {
  return END_IDS.has((attributes['id'] ?? '').toLowerCase()) || OUTLOOK_RULE.test(attributes['style'] ?? '');
}

/** A forwarded message is content, although Gmail gives it the class of a quotation. */
const FORWARDED = /-{5,}\s*(?:forwarded message|пересылаемое сообщение|пересланное сообщение)/iu;

/**
 * The HTML without quoted messages. Malformed HTML is cut at most where its elements end.
 *
 * @returns the same HTML if it is too long or too deeply nested
 */
export function withoutQuotedHtml(html: string): string {
  if (html.length > MAX_CHARACTERS) return html;
  const cuts: [number, number][] = [];
  let open = 0;
  let depthOfCut: number | undefined;
  let start = 0;
  let end: number | undefined;
  let tooDeep = false;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        open++;
        tooDeep ||= open > MAX_OPEN;
        if (depthOfCut !== undefined || end !== undefined) return;
        if (endsReply(attributes)) end = parser.startIndex;
        else if (isQuote(name, attributes)) {
          depthOfCut = open;
          start = parser.startIndex;
        }
      },
      onclosetag() {
        if (depthOfCut === open) {
          cuts.push([start, parser.endIndex + 1]);
          depthOfCut = undefined;
        }
        open--;
      },
    },
    { decodeEntities: false },
  );
  for (let at = 0; at < html.length && !tooDeep; at += 4096) parser.write(html.slice(at, at + 4096));
  if (tooDeep) return html;
  parser.end();
  if (end !== undefined) cuts.push([end, html.length]);
  return withoutRanges(html, cuts);
}

function withoutRanges(html: string, cuts: readonly [number, number][]): string {
  let kept = '';
  let from = 0;
  for (const [start, end] of cuts) {
    if (FORWARDED.test(html.slice(start, Math.min(end, start + 2000)))) continue;
    kept += html.slice(from, start);
    from = end;
  }
  return kept + html.slice(from);
}
