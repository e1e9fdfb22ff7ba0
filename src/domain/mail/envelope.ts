/** What the header fields of a received message say, before anything is looked up. */
import { hash } from 'node:crypto';
import { isEmail } from '../../lib/data-types/index.ts';
import { dmarcVerdict, type DmarcVerdict } from './authentication-results.ts';
import { type Automatic, automaticKind } from './automatic.ts';
import type { MailContent } from './content.ts';
import type { DeliveryReport } from './delivery-report.ts';
import { addressKey, type Headers, messageIds } from './headers.ts';
import { findReplyToken, type UncheckedToken } from './reply-token.ts';
import { proposedThread } from './threading.ts';

/** A message after parsing. */
export interface ParsedMail {
  subject: string;
  content: MailContent;
  /** What a bounce says about a message that was not delivered; null for other messages. */
  report: DeliveryReport | null;
  headers: Headers;
  /** SHA-256 of the message as it was received, in hex. */
  sha256: string;
  /** Addresses of `From`, without names. */
  from: readonly string[];
  /** The name beside the first of them; empty if there is none. */
  fromName: string;
  /** Addresses of `To` and `Cc`, without names. */
  recipients: readonly string[];
}

export interface Envelope {
  /** Identifies the message in the mailbox: messages with equal keys have one effect. */
  messageKey: string;
  /** The `Message-ID` without brackets; null if there is none. Answers to the sender refer to it. */
  messageId: string | null;
  automatic: Automatic | null;
  /** The one valid address of `From`, in the form of `addressKey`; null otherwise. */
  from: string | null;
  dmarc: DmarcVerdict;
  /** Undefined without a token, null if it is malformed. */
  token: UncheckedToken | null | undefined;
  /** Whether it refers to a mail of this service. */
  refers: boolean;
  /** Ids of this service's mails that it refers to, the one that it answers first. */
  answered: string[];
}

/** Fields in which servers note the recipient, if `To` does not name it. */
const RECIPIENT_FIELDS = ['delivered-to', 'x-original-to', 'envelope-to'];

/** The sender, if there is one `From` with one address. Of several, clients show different ones, so several prove nothing. */
function senderOf({ headers, from }: ParsedMail): string | null {
  const [address, ...others] = from;
  if (headers.count('from') !== 1 || address === undefined || others.length > 0) return null;
  const key = addressKey(address);
  return isEmail(key) ? key : null;
}

/** @param mailbox the mailbox that received the message */
export function readEnvelope(
  mail: ParsedMail,
  mailbox: { address: string; authServer?: string | undefined },
): Envelope {
  const { headers, subject } = mail;
  const from = senderOf(mail);
  const ids = headers.count('message-id') === 1 ? messageIds(headers.first('message-id')) : [];
  const messageId = ids.length === 1 ? (ids[0] as string) : null;
  const noted = RECIPIENT_FIELDS.flatMap((name) => headers.all(name).map((value) => value.replace(/^<|>$/g, '')));
  const { refers, mailIds } = proposedThread(headers, mailbox.address);
  return {
    // The sender is part of the key, so that nobody can use up the message id of somebody else's mail.
    messageKey: messageId === null ? mail.sha256 : hash('sha256', `${from ?? ''}\n${messageId}`),
    messageId,
    automatic: automaticKind({ headers, from, subject, mailbox: mailbox.address }),
    from,
    dmarc: from === null ? 'none' : dmarcVerdict(headers, mailbox.authServer ?? null, from),
    token: findReplyToken(mailbox.address, [...mail.recipients, ...noted]),
    refers,
    answered: mailIds,
  };
}
