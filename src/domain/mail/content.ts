/** The text and the files of a received message, as they become a record or a comment. */
import { checkRichText, markdownOf } from '../metadata/index.ts';
import { hasLongMarkRun } from '../../lib/text.ts';
import { withoutQuotedHtml } from './quoting-html.ts';
import { withoutQuotedText } from './quoting.ts';

/** Maximum number of characters of a comment and of a record's text. A longer one is cut, and says so. */
const LONGEST_TEXT = 100_000;
const LONGEST_TITLE = 255;
const CUT = '\n\n[…]';

export interface MailFile {
  filename: string | null;
  mediaType: string;
  content: Uint8Array;
  /** Whether the HTML shows it, such as the logo in a signature. */
  isInline: boolean;
}

/** A message after its encoding was undone. */
export interface ReceivedMail {
  subject: string;
  /** The plain text; null if the message has none. */
  text: string | null;
  html: string | null;
  files: readonly MailFile[];
}

/** The parts of a message that a record or a comment is made of. Made in a worker thread: long HTML takes time to read. */
export interface MailContent {
  /** Subject in one line, or the start of the text. */
  title: string;
  /** The whole text as Markdown. */
  text: string;
  /** The text without quoted messages. */
  reply: string;
  files: MailFile[];
}

export function mailContent(mail: ReceivedMail): MailContent {
  const text = mailText(mail, false);
  const files = mailFiles(mail, text);
  return { title: mailTitle(mail.subject, text, files), text, reply: mailText(mail, true), files };
}

/** Text that a record can hold: no U+0000, no lone surrogates, no long runs of combining marks. */
function storable(text: string): string {
  const plain = text.toWellFormed().replaceAll('\u0000', '').replace(/\r\n?/g, '\n');
  return hasLongMarkRun(plain) ? plain.replace(/\p{M}{3,}/gu, '') : plain;
}

/** HTML as Markdown. Only elements that rich texts may contain are kept. */
function markdownFrom(html: string): string {
  // Images of mails are attachments or trackers, so the text keeps none.
  const checked = checkRichText(html.replace(/<img\b[^<>]{0,100000}>/gi, ''), '');
  return checked.ok && checked.stored !== null ? markdownOf(checked.stored).trim() : '';
}

function cutTo(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - CUT.length).toWellFormed()}${CUT}`;
}

/**
 * The text of a message as Markdown; empty if it has none.
 *
 * @param isReply whether quoted messages are cut. In a new record they are kept: a forwarded message is its content
 */
export function mailText({ text, html }: ReceivedMail, isReply: boolean): string {
  const plain = text === null ? '' : storable(text).trim();
  const source = plain === '' && html !== null ? ofHtml(storable(html), isReply) : plain;
  return cutTo(isReply ? withoutQuotedText(source) : source, LONGEST_TEXT);
}

function ofHtml(html: string, isReply: boolean): string {
  const answer = isReply ? markdownFrom(withoutQuotedHtml(html)) : '';
  return answer === '' ? markdownFrom(html) : answer;
}

/** One line of at most so many characters, without marks that reverse the direction of text. */
export function storedLine(text: string, most: number): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
  return line.slice(0, most).toWellFormed();
}

/** The subject as a title of one line; without a subject the start of the text, without both the name of the first file. */
export function mailTitle(subject: string, text: string, [first]: readonly MailFile[]): string {
  const line = (given: string): string => given.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  const title =
    line(storable(subject)) ||
    line(text.slice(0, LONGEST_TITLE)) ||
    (first === undefined ? '' : line(safeFilename(first, 0)));
  return title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE - 1).toWellFormed()}…` : title;
}

/** File name extensions of parts that mail programs send without a name. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'message/rfc822': '.eml',
  'text/calendar': '.ics',
  'text/plain': '.txt',
  'text/html': '.html',
  'application/pdf': '.pdf',
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
};

/**
 * A name that attachments accept: without folders, control characters and marks that reverse the direction of text.
 *
 * @param index of the file in the message, from 0; it names files without a name
 */
export function safeFilename(file: Pick<MailFile, 'filename' | 'mediaType'>, index: number): string {
  const last = (file.filename ?? '').toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const clean = last.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '').trim();
  if (clean === '' || /^\.+$/.test(clean)) return `file-${index + 1}${EXTENSIONS[file.mediaType.toLowerCase()] ?? ''}`;
  const letters = [...clean];
  if (letters.length <= LONGEST_TITLE) return clean;
  // The end of the name says what kind of file it is.
  return [...letters.slice(0, 200), '…', ...letters.slice(-50)].join('');
}

/** The files that become attachments. Pictures of the layout are left out unless the message is nothing else. */
export function mailFiles({ files }: Pick<ReceivedMail, 'files'>, text: string): MailFile[] {
  const own = files.filter(({ content }) => content.byteLength > 0);
  const attached = own.filter(({ isInline }) => !isInline);
  return attached.length === 0 && text === '' ? own : attached;
}
