/**
 * Recognises messages that no person wrote: bounces, automatic replies, bulk mail and loops. None of them becomes a record or a
 * comment, and none is answered: two systems that answer each other never stop. Mail of mailing lists is not automatic, because
 * the address of a desk is often a list that forwards to the mailbox.
 */
import { addressKey, domainOf, type Headers, messageIds } from './headers.ts';
import { LIST_SUFFIX, readMessageId } from './threading.ts';

export type Automatic = 'LOOP' | 'BOUNCE' | 'AUTO_REPLY' | 'BULK_MAIL';

/** A message that passed more servers than this is in a loop. RFC 5321 recommends at least 100, but no real mail has 50. */
const MAX_HOPS = 50;

/** Local parts under which nobody but mail servers writes. Some give no domain or no address at all. */
const MAIL_SERVER = /^(?:[^<]*<)?["']?(?:mailer[-_. ]?daemon|mail-daemon|mdaemon)(?:[+@> "']|$)/i;
/** Local parts under which mail servers write, and people. */
const SYSTEM_SENDER = /^post[-_]?master(?:[+@]|$)/i;

/** Subjects of systems that set no header. Only at the start: people quote such a subject behind `Re:`. */
const AUTO_REPLY_SUBJECT =
  /^(?:auto(?:matic)?[ -]?(?:reply|response)|out of (?:the )?office|автоматический ответ|автоответ(?:чик)?)\s*[:([-]/iu;
/** Subjects of bounces; some systems put the subject of the returned mail behind them. */
const BOUNCE_SUBJECT =
  /^(?:undeliverable\b|undelivered mail\b|(?:mail |message )?(?:delivery|system) (?:fail(?:ed|ure)|error|problem|status|notification)|(?:permanent |mail )?delivery failure|(?:failure (?:notice|delivery|notification))|mail (?:failed|not delivered)|(?:mail|message) could not be delivered|returned mail\b|delayed mail\b|warning: (?:message|could not)|недоставленное сообщение|не удается доставить|не удалось доставить)/iu;

export interface MailSource {
  headers: Headers;
  /** Address of `From`; null if there is not exactly one. */
  from: string | null;
  subject: string;
  /** Address of the mailbox that received the message. */
  mailbox: string;
}

/** @returns why the message counts as automatic; null if a person wrote it */
export function automaticKind({ headers, from, subject, mailbox }: MailSource): Automatic | null {
  if (isLoop(headers, from, mailbox)) return 'LOOP';
  if (isBounce(headers, from, subject)) return 'BOUNCE';
  if (isAutoReply(headers, subject)) return 'AUTO_REPLY';
  return hasPrecedence(headers, /^(?:bulk|junk)$/i) ? 'BULK_MAIL' : null;
}

/** Each field counts: a relay can add one to that of the sender. */
function hasPrecedence(headers: Headers, pattern: RegExp): boolean {
  return headers.all('precedence').some((value) => pattern.test(value));
}

/** A mail of this service came back, for example by forwarding, or a message is in a loop. */
function isLoop(headers: Headers, from: string | null, mailbox: string): boolean {
  const [id] = messageIds(headers.first('message-id'));
  if (id !== undefined && readMessageId(id, mailbox) !== undefined) return true;
  // Gateways can change the message id.
  const lists = headers.all('list-id').map((value) => /<([^<>]*)>/.exec(value)?.[1]?.toLowerCase());
  if (lists.some((list) => list?.endsWith(`${LIST_SUFFIX}${domainOf(mailbox)}`) === true)) return true;
  if (from !== null && withoutDetail(from) === withoutDetail(mailbox)) return true;
  return headers.count('received') > MAX_HOPS;
}

/** The address without the part after `+`. */
function withoutDetail(address: string): string {
  return addressKey(address).replace(/\+[^@]*(?=@)/, '');
}

/** Reports about delivery or reading (RFC 6522), and mail with the empty return path, which must not be answered. */
function isBounce(headers: Headers, from: string | null, subject: string): boolean {
  const type = headers.first('content-type') ?? '';
  if (/^multipart\/report\b/i.test(type)) return true;
  if (headers.has('x-failed-recipients') || headers.all('return-path').some((value) => /^<\s*>$/.test(value)))
    return true;
  if (MAIL_SERVER.test(from ?? headers.first('from') ?? '')) return true;
  return from !== null && SYSTEM_SENDER.test(from) && (headers.has('auto-submitted') || BOUNCE_SUBJECT.test(subject));
}

function isAutoReply(headers: Headers, subject: string): boolean {
  // RFC 3834: every value but `no` is automatic, with or without parameters.
  if (headers.all('auto-submitted').some((value) => !/^no\s*(?:[;(]|$)/i.test(value))) return true;
  if (['x-autoreply', 'x-autorespond', 'x-autoresponder', 'x-auto-reply-from'].some((name) => headers.has(name))) {
    return true;
  }
  return hasPrecedence(headers, /^auto[_-]?reply$/i) || AUTO_REPLY_SUBJECT.test(subject);
}
