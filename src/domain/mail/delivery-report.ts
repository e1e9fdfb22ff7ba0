/**
 * Reads bounces: reports of delivery status (RFC 3464), and the notices of servers that use no report but return the message or
 * its header fields. Pure. Anybody can send such a message, so it proves nothing.
 */
import { addressKey, Headers, messageIds } from './headers.ts';

export interface DeliveryReport {
  /** Ids of the message that was returned, without angle brackets; without repetition. */
  messageIds: string[];
  recipients: ReportedRecipient[];
}

export interface ReportedRecipient {
  /** The address to which the message was sent, and the one to which it was forwarded, in the form of `addressKey`. */
  addresses: string[];
  /** Whether the server gave up; false for a delay. */
  isPermanent: boolean;
  /** Status and diagnostic text as the server gave them; can be empty. */
  text: string;
}

export interface ReportSource {
  /** Header fields of the bounce. */
  headers: Headers;
  /** The plain text; null if the message has none. */
  text: string | null;
  /** The parts that are no text, in their order. */
  parts: readonly { mediaType: string; content: Uint8Array }[];
}

/** Limits of what is read; longer parts are cut. */
const MAX_REPORT_BYTES = 64 * 1024;
const MAX_RETURNED_BYTES = 64 * 1024;
const MAX_NOTICE_CHARACTERS = 16 * 1024;
const MAX_RECIPIENTS = 100;
/** Maximum number of lines that follow an address in a notice and are taken as the reason. */
const MAX_REASON_LINES = 6;

const REPORT = /^message\/(?:global-)?delivery-status$/i;
const RETURNED = /^(?:message\/rfc822|text\/rfc822-headers|message\/global|message\/global-headers)$/i;

/** @returns null if nothing says which message was returned, or whom it did not reach */
export function readDeliveryReport({ headers, text, parts }: ReportSource): DeliveryReport | null {
  const notice = text?.slice(0, MAX_NOTICE_CHARACTERS) ?? '';
  const returned = parts.filter(({ mediaType }) => RETURNED.test(mediaType)).map(({ content }) => headOf(content));
  const ids = returned.flatMap((head) => messageIds(head.first('message-id')));
  const copy = /^[> \t]*message-id:\s*(<[^<>\s]{1,900}>)/im.exec(notice);
  if (ids.length === 0) ids.push(...messageIds(copy?.[1]));
  const report = parts.find(({ mediaType }) => REPORT.test(mediaType));
  const recipients =
    report === undefined
      ? recipientsOfNotice(headers, notice.slice(0, copy?.index), ids.length > 0)
      : recipientsOfReport(decoded(report.content, MAX_REPORT_BYTES));
  return ids.length === 0 || recipients.length === 0 ? null : { messageIds: [...new Set(ids)], recipients };
}

function decoded(content: Uint8Array, most: number): string {
  return new TextDecoder().decode(content.subarray(0, most));
}

/** Header fields up to the first empty line. */
function headOf(content: Uint8Array): Headers {
  return fieldsOf(decoded(content, MAX_RETURNED_BYTES).split(/\r?\n\r?\n/, 1)[0] ?? '');
}

function fieldsOf(text: string): Headers {
  return Headers.ofLines(text.split(/\r?\n(?![ \t])/));
}

/** One group of fields for each recipient, after a group about the message. */
function recipientsOfReport(text: string): ReportedRecipient[] {
  const groups = text.split(/(?:\r?\n[ \t]*){2,}/).map(fieldsOf);
  return groups
    .filter((group) => group.has('final-recipient') || group.has('original-recipient'))
    .slice(0, MAX_RECIPIENTS)
    .map((group) => {
      const addresses = ['original-recipient', 'final-recipient'].flatMap((name) => addressOf(group.first(name)) ?? []);
      const action = /^\s*([a-z]+)/i.exec(group.first('action') ?? '')?.[1]?.toLowerCase();
      const status = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(group.first('status') ?? '')?.[0] ?? '';
      const said = (group.first('diagnostic-code') ?? '').replace(/^\s*[\w.-]+\s*;/, '').trim();
      return {
        addresses: [...new Set(addresses)],
        isPermanent: action === undefined ? status.startsWith('5') : action === 'failed',
        text: said.includes(status) ? said : `${status} ${said}`.trim(),
      };
    });
}

/** `rfc822; <user@example.org>` → `user@example.org` */
function addressOf(field: string | undefined): string | undefined {
  const address = field?.replace(/^[^;]*;/, '').replace(/^[\s<]+|[\s>]+$/g, '') ?? '';
  return address.includes('@') ? addressKey(address) : undefined;
}

/** A line that begins with an address, as qmail, Exim, Sendmail and Exchange write it. */
const ADDRESS_LINE = /^\s*<?([^\s<>@:,;"]{1,64}@[^\s<>@:,;"]{1,253}?)>?\.?(?=[\s:]|$)/;
const DELAYED =
  /\bdelayed\b|\bwarning\b|\bnot yet been delivered\b|\bwill (?:be retried|continue|keep trying)\b|\btemporar/i;
const PERMANENT = /\bpermanent\b|\b5\.\d{1,3}\.\d{1,3}\b|\b55[0-9]\b/i;

/** @param notice the text before the copy of the message */
function recipientsOfNotice(headers: Headers, notice: string, isReturned: boolean): ReportedRecipient[] {
  if (!isReturned) return [];
  // Exim sets this field when it gave up, not in warnings.
  const failed = (headers.first('x-failed-recipients') ?? '').split(',').flatMap((one) => addressOf(one) ?? []);
  const lines = notice.split(/\r?\n/);
  const isPermanent = failed.length > 0 || (PERMANENT.test(notice) && !DELAYED.test(notice));
  const found = lines.flatMap((line, index) => {
    const address = ADDRESS_LINE.exec(line);
    return address === null ? [] : [{ address: addressKey(address[1] as string), index, rest: address[0].length }];
  });
  const reasons = new Map(found.map(({ address, index, rest }) => [address, reasonAt(lines, index, rest)]));
  const addresses = failed.length > 0 ? failed : [...reasons.keys()];
  return addresses.slice(0, MAX_RECIPIENTS).map((address) => ({
    addresses: [address],
    isPermanent,
    text: reasons.get(address) ?? '',
  }));
}

/** The rest of the line with the address, and the lines after it up to an empty one. */
function reasonAt(lines: readonly string[], index: number, rest: number): string {
  const said = [(lines[index] as string).slice(rest).replace(/^[\s:]+/, '')];
  for (const line of lines.slice(index + 1, index + 1 + MAX_REASON_LINES)) {
    if (line.trim() === '' || ADDRESS_LINE.test(line)) break;
    said.push(line.trim());
  }
  return said.join(' ').trim();
}
