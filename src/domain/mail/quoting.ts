/**
 * Cuts the quoted message below (or above) a reply, for mail clients in English, Russian and some other languages. In doubt,
 * text is kept: a reply with too much text is better than one that lost its answer.
 */

/** Lines that clients put between the reply and the message that it answers. */
const MARKERS: readonly RegExp[] = [
  /^-{2,}\s*(?:original message|исходное сообщение|оригинальное сообщение|original appointment|ursprüngliche nachricht|message d['’]origine|mensaje original|mensagem original|messaggio originale|oorspronkelijk bericht|wiadomość oryginalna)\s*-{2,}$/iu,
  // Zoho.
  /^-{2,}\s*on .{1,300} wrote\s*-{2,}$/iu,
  // The line that this service puts above its own mails.
  /^##- .{1,200} -##$/u,
];

const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)';
/** A day: `20.11.2026`, `11/20/2026`, `2026-11-20`, `Nov 20, 2026` or `20 нояб. 2026 г.`. */
const DAY = new RegExp(
  `\\d{1,2}[./-]\\d{1,2}[./-]\\d{2,4}|\\d{4}-\\d{2}-\\d{2}|${MONTH}\\p{L}{0,9}\\.?\\s+\\d{1,2},?\\s+\\d{4}|\\d{1,2}\\s+${MONTH}\\p{L}{0,9}\\.?,?\\s+\\d{4}`,
  'iu',
);
const CLOCK_TIME = /\d{1,2}[:.]\d{2}/;
const ADDRESS = /[<([]?[^\s<>()@]{1,64}@[^\s<>()@]{1,255}[>)\]]?/u;
/** Verbs of the line that names the author of the quoted message; in some languages the name stands behind them. */
const WROTE =
  /(?:(?:\bwrote|\bwrites|(?<!\p{L})(?:писал|написал|пишет|пишут)(?:а|\(а\)|и)?|\ba écrit|\bescribió|\bescreveu|\bha scritto|\bskrev|\bkirjoitti|\bnapisał(?:a|\(a\))?)\s*|\b(?:schrieb|schreef|skrev)\s[^:]{1,200}):$/iu;

/** Names of the fields that Outlook repeats above the quoted message. */
const FROM_FIELD = /^[*_]{0,2}(?:from|от|от кого|von|de|da|van|från|od)[*_]{0,2}\s?:[*_]{0,2}\s*\S/iu;
const OTHER_FIELD =
  /^[*_]{0,2}(?:sent|date|to|cc|subject|отправлено|дата|кому|копия|тема|gesendet|datum|an|betreff|envoyé(?: le)?|à|objet|enviado(?: el| em)?|fecha|data|para|asunto|assunto|inviato|a|oggetto|verzonden|aan|onderwerp|skickat|till|ämne|wysłano|do|temat)[*_]{0,2}\s?:[*_]{0,2}(?:\s|$)/iu;

/** Longer lines are text. */
const LONGEST_LINE = 500;
/** Lines over which a client may wrap the line that names the author. */
const MAX_WRAPPED = 3;
/** Lines after `From:` in which the other fields are expected. */
const FIELD_LINES = 6;

function isQuoted(line: string): boolean {
  return line.startsWith('>');
}

function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === '';
}

function isMarker(line: string): boolean {
  return line.length <= LONGEST_LINE && MARKERS.some((marker) => marker.test(line.trim()));
}

/** Whether a message header as of Outlook begins here. */
function isFieldBlock(lines: readonly string[], at: number): boolean {
  const first = (lines[at] ?? '').trim();
  if (first.length > LONGEST_LINE || !FROM_FIELD.test(first)) return false;
  const others = lines.slice(at + 1, at + 1 + FIELD_LINES).filter((line) => OTHER_FIELD.test(line.trim()));
  return others.length >= 2;
}

/**
 * Whether the lines from here on, at most three, say who wrote the quoted message and when.
 *
 * @returns how many lines they are; 0 for none
 */
function attributionLines(lines: readonly string[], at: number): number {
  let text = '';
  for (let count = 1; count <= MAX_WRAPPED; count++) {
    const line = lines[at + count - 1];
    if (line === undefined || isBlank(line) || isQuoted(line)) return 0;
    text = `${text} ${line.trim()}`.trim();
    if (text.length > LONGEST_LINE) return 0;
    if (text.endsWith(':')) return isAttribution(text) ? count : 0;
  }
  return 0;
}

function isAttribution(text: string): boolean {
  const wrote = WROTE.test(text);
  const dated = DAY.test(text);
  const timed = CLOCK_TIME.test(text);
  const addressed = ADDRESS.test(text);
  // Yandex, Mail.ru and Gmail in Russian use no verb, but always a day, a time and an address.
  return wrote ? dated || addressed : dated && timed && addressed;
}

/** What stands below an attribution. */
interface Below {
  /** Number of separate quoted blocks. */
  blocks: number;
  /** First line after the first quoted block. */
  afterFirst: number;
  /** Whether other text stands below. */
  own: boolean;
}

function look(lines: readonly string[], from: number): Below {
  const below: Below = { blocks: 0, afterFirst: lines.length, own: false };
  let inside = false;
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] as string;
    if (isBlank(line)) continue;
    if (isQuoted(line)) {
      if (!inside) below.blocks++;
      inside = true;
    } else {
      if (below.blocks === 1 && inside) below.afterFirst = at;
      inside = false;
      below.own = true;
    }
  }
  return below;
}

/** Lines that remain when the quoted message is cut; undefined if nothing is cut. */
function remaining(lines: readonly string[]): readonly string[] | undefined {
  for (let at = 0; at < lines.length; at++) {
    if (isMarker(lines[at] as string)) return lines.slice(0, at);
    if (isFieldBlock(lines, at)) return lines.slice(0, withoutRule(lines, at));
    const count = attributionLines(lines, at);
    if (count === 0) continue;
    const below = look(lines, at + count);
    // Clients that do not mark quoted lines, or mark them all.
    if (below.blocks === 0 || !below.own) return lines.slice(0, at);
    // The answer stands below the quotation.
    const quoted = lines.slice(at + count).find((line) => !isBlank(line));
    if (below.blocks === 1 && quoted !== undefined && isQuoted(quoted)) {
      return [...lines.slice(0, at), ...lines.slice(below.afterFirst)];
    }
    // The answers stand between quoted lines, and cannot be understood without them.
    return undefined;
  }
  return trailingQuote(lines);
}

/** The place of the line of underscores that Outlook puts above its fields, or of the fields. */
function withoutRule(lines: readonly string[], at: number): number {
  let above = at - 1;
  while (above >= 0 && isBlank(lines[above])) above--;
  return above >= 0 && /^[_-]{5,}$/.test((lines[above] as string).trim()) ? above : at;
}

/** Quoted lines at the end that nothing announces, if they are the only ones. */
function trailingQuote(lines: readonly string[]): readonly string[] | undefined {
  let end = lines.length;
  while (end > 0 && (isBlank(lines[end - 1]) || isQuoted(lines[end - 1] as string))) end--;
  const quoted = lines.slice(end).some(isQuoted);
  return quoted && !lines.slice(0, end).some(isQuoted) ? lines.slice(0, end) : undefined;
}

/**
 * The reply without the quoted message. Answers between quoted lines keep them. If nothing would remain, nothing is cut.
 *
 * @param text plain text or Markdown
 * @returns the text without blank lines at its ends
 */
export function withoutQuotedText(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const kept = remaining(lines) ?? lines;
  const result = trimBlankLines(kept);
  return result === '' ? trimBlankLines(lines) : result;
}

function trimBlankLines(lines: readonly string[]): string {
  let [start, end] = [0, lines.length];
  while (start < end && isBlank(lines[start])) start++;
  while (end > start && isBlank(lines[end - 1])) end--;
  return lines
    .slice(start, end)
    .map((line) => line.trimEnd())
    .join('\n');
}
