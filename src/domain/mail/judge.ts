/**
 * Judges a parsed message: gathers the facts that `decide` needs and says what the effect contains. It reads through `Lookups`
 * and changes nothing.
 */
import { checkValue, type FieldDefinition, type TypeDefinition } from '../metadata/index.ts';
import type { CompiledMailbox } from './registry.ts';
import type { MailFile } from './content.ts';
import {
  decide,
  type Decision,
  type MailFacts,
  mustBeProven,
  type RecordFacts,
  type Rights,
  type TokenFacts,
} from './decision.ts';
import { type Envelope, type ParsedMail, readEnvelope } from './envelope.ts';
import { mailFields } from './fields.ts';
import { checkReplyToken, handleOf, type MailThread } from './reply-token.ts';

/** A user with the address of `From`. */
export interface FoundSender {
  userId: string;
  /** Null if the user is archived. */
  rights: Rights | null;
}

/** What the judgement reads. */
export interface Lookups {
  /** The user with this address (`addressKey`). */
  sender(address: string): Promise<FoundSender | undefined>;
  thread(handle: number): Promise<MailThread | undefined>;
  /** The record as the user may read it; null if there is none for them. */
  record(userId: string, objectId: string): Promise<RecordFacts | null>;
  /** Of the first of these mails that was sent to the user about the record: see `MailFacts.answers`. */
  answered(userId: string, objectId: string, mailIds: readonly string[]): Promise<MailFacts['answers']>;
}

export interface Judging {
  mailbox: CompiledMailbox;
  /** Ids of all active record types. */
  typeIds: readonly string[];
  /** Key of the reply tokens. */
  key: Uint8Array;
  /** Milliseconds since the Unix epoch. */
  now: number;
  /** Whether the server that handed in the message may say whom it authenticated. */
  isTrusted: boolean;
  lookups: Lookups;
}

export interface Judged {
  envelope: Envelope;
  decision: Decision;
  files: readonly MailFile[];
  /** Body of the comment, or text of the record. */
  text: string;
}

async function tokenOf({ token }: Envelope, { key, now, lookups }: Judging): Promise<TokenFacts> {
  if (token === undefined) return { state: 'none' };
  if (token === null) return { state: 'invalid' };
  const thread = await lookups.thread(handleOf(key, token));
  const state = checkReplyToken(key, token, thread, now);
  return state === 'valid' && thread !== undefined
    ? { state, objectId: thread.objectId, userId: thread.userId }
    : { state: state === 'expired' ? 'expired' : 'invalid' };
}

export async function judge(mail: ParsedMail, judging: Judging): Promise<Judged> {
  const { mailbox, typeIds, lookups } = judging;
  const authServer = judging.isTrusted ? mailbox.authServer : undefined;
  const envelope = readEnvelope(mail, { address: mailbox.address, authServer });
  const token = await tokenOf(envelope, judging);
  const sender = envelope.from === null ? undefined : await lookups.sender(envelope.from);
  // The rights on the record are read only for the user to whom the token was sent.
  const isReply = token.state === 'valid' && sender?.userId === token.userId && sender.rights !== null;
  const record = isReply ? await lookups.record(token.userId, token.objectId) : null;
  const answers = record === null ? null : await answeredBy(envelope, record, sender?.userId ?? '', lookups);
  const { content } = mail;
  const text = token.state === 'valid' ? content.reply : content.text;
  const { files } = content;
  const decision = decide({
    enabled: mailbox.enabled,
    unknownSender: mailbox.unknownSender,
    automatic: envelope.automatic,
    hasSender: envelope.from !== null,
    dmarc: envelope.dmarc,
    sender: sender === undefined ? null : factsOf(sender, mailbox.typeId, typeIds),
    token,
    refers: envelope.refers,
    record,
    answers,
    // A subject alone is enough for a new record.
    empty: text === '' && files.length === 0 && (token.state === 'valid' || content.title === ''),
  });
  return { envelope, decision, files, text };
}

function factsOf({ userId, rights }: FoundSender, typeId: string | null, typeIds: readonly string[]) {
  return {
    userId,
    active: rights !== null,
    mustBeProven: rights === null || mustBeProven(rights, typeIds),
    mayCreate: rights !== null && typeId !== null && rights.mayEver(typeId, 'create'),
  };
}

async function answeredBy(
  { answered }: Envelope,
  { objectId }: RecordFacts,
  userId: string,
  lookups: Lookups,
): Promise<MailFacts['answers']> {
  return answered.length === 0 ? 'unknown' : await lookups.answered(userId, objectId, answered);
}

export interface NewRecord {
  /** Field code → value that the sender gives. Their requester is set by the configuration. */
  values: Record<string, unknown>;
  /** The text, if the type has no field that can hold it: the first comment. */
  comment: string | null;
}

/** The values of a mail that becomes a record. Fields of the mailbox's `defaults` are left out: the configuration fills them. */
export function recordOfMail(
  title: string,
  text: string,
  type: TypeDefinition,
  defaults: Readonly<Record<string, unknown>>,
): NewRecord {
  const fields = mailFields(type);
  const values: Record<string, unknown> = {};
  if (fields.title !== null && !Object.hasOwn(defaults, fields.title)) values[fields.title] = title;
  const field = fields.text;
  if (text === '') return { values, comment: null };
  if (field === null || Object.hasOwn(defaults, field.code) || !canHold(field, text)) return { values, comment: text };
  values[field.code] = text;
  return { values, comment: null };
}

function canHold(field: FieldDefinition, text: string): boolean {
  // A rich text takes Markdown of this length; it is read by the command, in a worker thread.
  return field.dataType === 'rich-text' || checkValue(field, text, '').ok;
}
