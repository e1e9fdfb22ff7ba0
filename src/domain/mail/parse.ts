/**
 * Parses a message: its header fields, text and files. It runs in a worker thread under limits of time and memory, because the
 * work depends on what a stranger sent.
 */
import { createHash } from 'node:crypto';
import { type ThreadTask, threads } from '../../platform/threads.ts';
import type { MailContent, MailFile } from './content.ts';
import { mailContent } from './content.ts';
import { type DeliveryReport, readDeliveryReport } from './delivery-report.ts';
import type { ParsedMail } from './envelope.ts';
import { Headers } from './headers.ts';

/** Limits of one message. */
const MOST_HEAD_BYTES = 256 * 1024;
/** The rest of the work with header fields and addresses is done in the event loop. Real messages have about 100 fields. */
const MOST_FIELDS = 1000;
const MOST_ADDRESSES = 1000;
const MOST_PARTS = 200;
const MOST_HTML_CHARACTERS = 1024 * 1024;

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

async function parse(raw: Uint8Array): Promise<Parsed> {
  const sha256 = createHash('sha256').update(raw).digest('hex');
  // Loaded at the first mail: other tasks of the thread do not need it.
  const { simpleParser } = await import('mailparser');
  try {
    const mail = await simpleParser(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength), {
      skipHtmlToText: true,
      skipTextToHtml: true,
      skipTextLinks: true,
      skipImageLinks: true,
      keepCidLinks: true,
      keepDeliveryStatus: true,
      checksumAlgo: false,
      maxHeadSize: MOST_HEAD_BYTES,
      maxChildNodes: MOST_PARTS,
      maxHtmlLengthToParse: MOST_HTML_CHARACTERS,
    });
    const lines = mail.headerLines.map(({ line }) => line);
    if (lines.length === 0) return { kind: 'unreadable', sha256 };
    const from = addresses(mail.from);
    const recipients = [...addresses(mail.to), ...addresses(mail.cc)];
    if (lines.length > MOST_FIELDS || from.length + recipients.length > MOST_ADDRESSES) {
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
    const html = typeof mail.html === 'string' ? mail.html.slice(0, MOST_HTML_CHARACTERS) : null;
    const subject = mail.subject ?? '';
    const text = mail.text ?? null;
    return {
      kind: 'parsed',
      subject,
      content: mailContent({ subject, text, html, files }),
      report: readDeliveryReport({ headers: Headers.ofLines(lines), text, parts: files }),
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
