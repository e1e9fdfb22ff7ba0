/**
 * Parses a message: its header fields, text and files. It runs in a worker thread under limits of time and memory, because the
 * work depends on what a stranger sent.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { ParsedMail as Read } from 'mailparser';
import { type ThreadTask, threads } from '../../platform/threads.ts';
import type { MailContent, MailFile } from './content.ts';
import { mailContent } from './content.ts';
import { type DeliveryReport, readDeliveryReport } from './delivery-report.ts';
import type { ParsedMail } from './envelope.ts';
import { Headers } from './headers.ts';
import { readTnef, type Tnef, TnefError } from './tnef.ts';
import { isUnicode, namedCharsets, toUtf8 } from './unlabelled.ts';

/** Limits of one message. */
const MAX_HEAD_BYTES = 256 * 1024;
/** The rest of the work with header fields and addresses is done in the event loop. Real messages have about 100 fields. */
const MAX_FIELDS = 1000;
const MAX_ADDRESSES = 1000;
const MAX_PARTS = 200;
const MAX_HTML_CHARACTERS = 1024 * 1024;

type Parsed =
  | {
      kind: 'parsed';
      subject: string;
      content: MailContent;
      report: DeliveryReport | null;
      /** Raw header fields. */
      lines: string[];
      from: string[];
      fromName: string;
      recipients: string[];
      sha256: string;
    }
  | { kind: 'unreadable' | 'too-large'; sha256: string };

/** An address list of mailparser. */
interface AddressList {
  value: { address?: string; name?: string; group?: { address?: string; name?: string }[] }[];
}

function people(given: AddressList | AddressList[] | undefined): { address?: string; name?: string }[] {
  const lists = given === undefined ? [] : [given].flat();
  return lists.flatMap(({ value }) => value.flatMap((one) => one.group ?? [one]));
}

function addresses(given: AddressList | AddressList[] | undefined): string[] {
  return people(given).flatMap(({ address }) => (address === undefined || address === '' ? [] : [address]));
}

/** End of the header fields. */
function headEnd(raw: Buffer): number {
  const [crlf, lf] = [raw.indexOf('\r\n\r\n'), raw.indexOf('\n\n')];
  if (crlf === -1) return lf === -1 ? raw.length : lf;
  return lf === -1 ? crlf : Math.min(crlf, lf);
}

async function read(raw: Buffer, skipTextToHtml = true): Promise<Read> {
  // Loaded at the first mail: other tasks of the thread do not need it.
  const { simpleParser } = await import('mailparser');
  return await simpleParser(raw, {
    // No HTML is converted to text here. `textConversionError` says that there is HTML which is no alternative of a plain text.
    maxHtmlLengthToParse: 0,
    skipTextToHtml,
    skipTextLinks: true,
    skipImageLinks: true,
    keepCidLinks: true,
    keepDeliveryStatus: true,
    checksumAlgo: false,
    maxHeadSize: MAX_HEAD_BYTES,
    maxChildNodes: MAX_PARTS,
  });
}

const isBlank = (text: string | false | undefined): boolean => typeof text !== 'string' || text.trim() === '';

/** The texts of a message. If both are given, each has the whole content. */
interface Texts {
  text: string | null;
  html: string | null;
}

async function textsOf(raw: Buffer, mail: Read): Promise<Texts> {
  let found = mail;
  const replaced = `${mail.text ?? ''}${typeof mail.html === 'string' ? mail.html : ''}`.includes('\ufffd');
  let source = raw;
  if (replaced && namedCharsets(raw).every(isUnicode)) {
    source = toUtf8(raw);
    if (source !== raw) found = await read(source);
  }
  // Plain text beside HTML, for example the footer of a list: only the HTML can hold both in their order.
  const isBeside = found.textConversionError !== undefined && !isBlank(found.text);
  if (isBeside) found = await read(source, false);
  const html = typeof found.html === 'string' ? found.html.slice(0, MAX_HTML_CHARACTERS) : null;
  const text = isBeside ? null : (found.text ?? null);
  if (!isBlank(text ?? '') || !isBlank(html ?? '') || mail.attachments.length > 0) return { text, html };
  // Parts that cannot be found, for example because the boundary is another one than the header field says.
  return { text: toUtf8(raw.subarray(headEnd(raw))).toString(), html: null };
}

/** What `winmail.dat` contains; undefined if the file is another one or cannot be read. */
function tnefOf({ filename, mediaType, content }: MailFile): Tnef | undefined {
  if (!/^application\/(?:vnd\.)?ms-tnef$/i.test(mediaType) && !/^winmail\.dat$/i.test(filename ?? '')) return undefined;
  try {
    return readTnef(content);
  } catch (error) {
    if (error instanceof TnefError) return undefined;
    throw error;
  }
}

/** The files with those of `winmail.dat` in its place, and texts that only it has. What cannot be read stays attached in it. */
function unpacked(files: readonly MailFile[], texts: Texts): { files: MailFile[]; texts: Texts } {
  const found: MailFile[] = [];
  let result = texts;
  for (const file of files) {
    const tnef = found.length < MAX_PARTS ? tnefOf(file) : undefined;
    if (tnef === undefined || found.length + tnef.files.length > MAX_PARTS) {
      found.push(file);
      continue;
    }
    const isTextless = isBlank(result.text ?? '') && isBlank(result.html ?? '');
    if (isTextless) result = { text: tnef.text, html: tnef.html?.slice(0, MAX_HTML_CHARACTERS) ?? null };
    for (const { name, mediaType, content } of tnef.files) {
      const type = mediaType ?? 'application/octet-stream';
      // Copied: a thread would send the whole message with each part of it.
      found.push({ filename: name, mediaType: type, content: new Uint8Array(content), isInline: false });
    }
    const isNothing = tnef.files.length === 0 && tnef.text === null && tnef.html === null && !tnef.hasOtherBody;
    if (isNothing || !tnef.isComplete || (isTextless && tnef.hasOtherBody)) found.push(file);
  }
  return { files: found, texts: result };
}

async function parse(given: Uint8Array): Promise<Parsed> {
  const sha256 = createHash('sha256').update(given).digest('hex');
  let raw = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  try {
    const head = raw.subarray(0, headEnd(raw));
    if (head.length <= MAX_HEAD_BYTES && !isUtf8(head)) {
      raw = Buffer.concat([toUtf8(head, namedCharsets(raw)[0]), raw.subarray(head.length)]);
    }
    const mail = await read(raw);
    const lines = mail.headerLines.map(({ line }) => line);
    if (lines.length === 0) return { kind: 'unreadable', sha256 };
    const from = addresses(mail.from);
    const recipients = [...addresses(mail.to), ...addresses(mail.cc)];
    if (lines.length > MAX_FIELDS || from.length + recipients.length > MAX_ADDRESSES) {
      return { kind: 'too-large', sha256 };
    }
    const files = mail.attachments.map(
      (one): MailFile => ({
        filename: one.filename ?? null,
        mediaType: one.contentType,
        content: one.content,
        isInline: one.related === true,
      }),
    );
    const subject = mail.subject ?? '';
    const content = unpacked(files, await textsOf(raw, mail));
    return {
      kind: 'parsed',
      subject,
      content: mailContent({ subject, ...content.texts, files: content.files }),
      report: readDeliveryReport({ headers: Headers.ofLines(lines), text: mail.text ?? null, parts: files }),
      lines,
      from,
      fromName: people(mail.from)[0]?.name ?? '',
      recipients,
      sha256,
    };
  } catch (error) {
    return { kind: (error as { code?: unknown }).code === 'EMAXLEN' ? 'too-large' : 'unreadable', sha256 };
  }
}

export const parseMailTask: ThreadTask<Uint8Array, Parsed> = {
  name: 'parse-mail',
  // Always in a thread: the time depends on the structure of the message more than on its size.
  inline: -1,
  run: parse,
};

export type MailParse =
  | { kind: 'parsed'; mail: ParsedMail }
  /** It cannot be parsed, or exceeds a limit of size, parts or time. */
  | { kind: 'listed'; reason: 'UNREADABLE' | 'TOO_LARGE'; sha256: string };

/**
 * @param owner the caller or mailbox whose share of the threads is used
 * @throws Fault OVERLOADED
 */
export async function parseMail(raw: Uint8Array, owner: string): Promise<MailParse> {
  const result = await threads.run(parseMailTask, raw, { size: raw.byteLength, caller: owner });
  if (!result.ok) {
    // In a thread: it can be large.
    const sha256 = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(raw))).toString('hex');
    return { kind: 'listed', reason: 'TOO_LARGE', sha256 };
  }
  const parsed = result.value;
  if (parsed.kind !== 'parsed') {
    return { kind: 'listed', reason: parsed.kind === 'too-large' ? 'TOO_LARGE' : 'UNREADABLE', sha256: parsed.sha256 };
  }
  const { kind: _, lines, ...mail } = parsed;
  return { kind: 'parsed', mail: { ...mail, headers: Headers.ofLines(lines) } };
}
