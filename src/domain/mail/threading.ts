/**
 * Header fields that keep the mails about a record in one thread, and that tell other mail systems not to answer them. Read
 * again in replies, they propose a record; they prove nothing.
 */
import { domainOf, type Headers, messageIds } from './headers.ts';
import { isId } from '../../lib/ids.ts';

/** Start of the message ids of this service. */
const PREFIX = 'docket';
/** End of the list ids of this service, before the domain of the mailbox. */
export const LIST_SUFFIX = `.${PREFIX}.`;
/** In the place of a record in the ids of mails about several. */
const SEVERAL = 'several';

export interface OutgoingMail {
  /** Id of the mail in the queue. It is the same in each attempt, so that a repeated mail has the same message id. */
  mailId: string;
  /** Null for a mail about several records, such as a digest. It belongs to no thread. */
  objectId: string | null;
  /** Code of the record type; of a mail about several records, what it is. */
  typeCode: string;
  /** Address of the mailbox that receives the replies. */
  mailbox: string;
  /** Message id of the recipient's own mail that this one answers, without angle brackets. */
  answers?: string | undefined;
}

export function messageIdOf({ mailId, objectId, mailbox }: Pick<OutgoingMail, 'mailId' | 'objectId' | 'mailbox'>) {
  return `<${PREFIX}.${mailId}.${objectId ?? SEVERAL}@${domainOf(mailbox)}>`;
}

/** The id that all mails about a record refer to. No mail has it, but clients put mails with a common reference together. */
function threadId(objectId: string, mailbox: string): string {
  return `<${PREFIX}.thread.${objectId}@${domainOf(mailbox)}>`;
}

/** Only characters that a message id may contain in every mail client; anything else is left out of the thread. */
const PLAIN_ID = /^[\w.!#$%&'*+/=?^`{|}~-]+@[\w.[\]:-]+$/;

/**
 * The header fields of a mail about a record.
 *
 * `Auto-Submitted` (RFC 3834) and `X-Auto-Response-Suppress` (Exchange) stop automatic answers; `List-Id` (RFC 2919) lets
 * recipients filter by record type.
 */
export function threadHeaders(mail: OutgoingMail): Record<string, string> {
  return {
    'Message-ID': messageIdOf(mail),
    ...(mail.objectId === null ? {} : references(mail.objectId, mail)),
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
    'List-Id': `<${mail.typeCode}${LIST_SUFFIX}${domainOf(mail.mailbox)}>`,
  };
}

function references(objectId: string, { mailbox, answers }: OutgoingMail): Record<string, string> {
  const thread = threadId(objectId, mailbox);
  if (answers === undefined || !PLAIN_ID.test(answers)) return { 'In-Reply-To': thread, References: thread };
  return { 'In-Reply-To': `<${answers}>`, References: `${thread} <${answers}>` };
}

interface OwnId {
  /** Id of the sent mail; null for the id of a thread. */
  mailId: string | null;
  /** Null for a mail about several records. */
  objectId: string | null;
}

/** What a message id of this service names; undefined for ids of other systems. */
export function readMessageId(id: string, mailbox: string): OwnId | undefined {
  const at = id.lastIndexOf('@');
  if (at < 0 || id.slice(at + 1).toLowerCase() !== domainOf(mailbox)) return undefined;
  const [prefix, mailId = '', objectId = '', ...rest] = id.slice(0, at).toLowerCase().split('.');
  if (prefix !== PREFIX || rest.length > 0) return undefined;
  const record = isId(objectId) ? objectId : null;
  if (record === null && objectId !== SEVERAL) return undefined;
  if (mailId === 'thread') return record === null ? undefined : { mailId: null, objectId: record };
  return isId(mailId) ? { mailId, objectId: record } : undefined;
}

interface ProposedThread {
  /** Whether the message refers to any mail of this service. */
  refers: boolean;
  objectId: string | null;
  /** Ids of the mails about this record, the one that is answered first. */
  mailIds: string[];
}

/** What a message refers to. Anybody can write these fields. */
export function proposedThread(headers: Headers, mailbox: string): ProposedThread {
  const ids = [...messageIds(headers.first('in-reply-to')), ...messageIds(headers.first('references')).reverse()];
  const own = ids.flatMap((id) => readMessageId(id, mailbox) ?? []);
  const objectId = own.find((one) => one.objectId !== null)?.objectId ?? null;
  const refers = own.length > 0;
  if (objectId === null) return { refers, objectId, mailIds: [] };
  const mailIds = own.flatMap((one) => (one.objectId === objectId ? (one.mailId ?? []) : []));
  return { refers, objectId, mailIds: [...new Set(mailIds)] };
}
