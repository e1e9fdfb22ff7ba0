/**
 * Decides what a received mail becomes: a record, a comment, or an entry in the list of unusable messages with the reason. One
 * pure function over facts, so that the rule can be read and tested as a whole.
 *
 * Mail never widens rights. The effect runs as the sender, through the ordinary commands, which check the rights once more. A
 * sender is the person that `From` names; `From` alone is believed only for users whose rights would gain a forger little. A mail
 * becomes a comment only with a valid token of this record and this sender.
 */
import {
  COMMENT_RIGHTS,
  type CommentVisibility,
  mostRestrictedVisibility,
  REPLY_VISIBILITY,
  seenVisibilities,
} from '../../contract/comment-visibility.ts';
import { ADMINISTRATION_RIGHTS, type GlobalRight, type RecordAction } from '../../contract/rights.ts';
import type { DmarcVerdict } from './authentication-results.ts';
import type { Automatic } from './automatic.ts';

export const LIST_REASONS = [
  /** The mailbox is disabled or archived. */
  'MAILBOX_DISABLED',
  /** It cannot be parsed. */
  'UNREADABLE',
  /** It exceeds a limit of size, parts, nesting or time. */
  'TOO_LARGE',
  'LOOP',
  'BOUNCE',
  'AUTO_REPLY',
  'BULK_MAIL',
  /** There is not exactly one address in `From`. */
  'SENDER_INVALID',
  /** No user has the address, and the mailbox creates none. */
  'SENDER_UNKNOWN',
  'SENDER_ARCHIVED',
  /** DMARC does not prove the address, and the user holds rights for which it must. */
  'SENDER_NOT_PROVEN',
  'TOKEN_INVALID',
  'TOKEN_EXPIRED',
  /** The token was sent to another user. */
  'TOKEN_OF_ANOTHER_USER',
  /** It refers to a mail of this service, and no token proves the record. */
  'TOKEN_MISSING',
  /** The record does not exist, or the sender may not read it. */
  'RECORD_NOT_FOUND',
  'RECORD_ARCHIVED',
  /** The sender may not comment, may not see the comment that the mail answers, or may not create such records. */
  'RIGHT_MISSING',
  /** Neither text nor files. */
  'EMPTY',
  /** A value or file is refused like in a request. The entry names the error. */
  'REFUSED',
] as const;
export type ListReason = (typeof LIST_REASONS)[number];

/** Global rights whose holders must be proven. */
const PROVEN_RIGHTS: readonly GlobalRight[] = [...ADMINISTRATION_RIGHTS, 'catalog.impersonate'];
/** Actions whose holders must be proven: `update`, `transition`, and those that show comments which requesters do not see. */
const PROVEN_ACTIONS: readonly RecordAction[] = ['update', 'transition', ...COMMENT_RIGHTS];

/** The part of an actor that `mustBeProven` asks. */
export interface Rights {
  has(right: GlobalRight): boolean;
  /** Whether the actor may do this to some record of the type. */
  mayEver(typeId: string, action: RecordAction): boolean;
}

/** Whether `From` alone is too little for this user: they hold rights that requesters do not have. */
export function mustBeProven(actor: Rights, typeIds: readonly string[]): boolean {
  if (PROVEN_RIGHTS.some((right) => actor.has(right))) return true;
  return typeIds.some((typeId) => PROVEN_ACTIONS.some((action) => actor.mayEver(typeId, action)));
}

export interface SenderFacts {
  userId: string;
  active: boolean;
  /** See `mustBeProven`. */
  mustBeProven: boolean;
  /** Whether they may create records of the mailbox's type. */
  mayCreate: boolean;
}

export interface RecordFacts {
  objectId: string;
  archived: boolean;
  /** Whether the sender asked for it: they are its requester, or created it and it names none. */
  isRequester: boolean;
  /** The sender's actions on the record. */
  actions: ReadonlySet<RecordAction>;
}

/** A checked token; the ids are those that it proves. */
export type TokenFacts =
  | { state: 'none' | 'invalid' | 'expired' }
  | { state: 'valid'; objectId: string; userId: string };

export interface MailFacts {
  enabled: boolean;
  /** What a mailbox does with mail of unknown addresses. */
  unknownSender: 'refuse' | 'create';
  automatic: Automatic | null;
  /** Whether `From` has exactly one valid address. */
  hasSender: boolean;
  dmarc: DmarcVerdict;
  /** The user with the address of `From`; null if there is none. */
  sender: SenderFacts | null;
  token: TokenFacts;
  /** Whether the header fields refer to a mail of this service. It proves nothing. */
  refers: boolean;
  /** The record of a valid token, as the sender may read it; null if there is none. */
  record: RecordFacts | null;
  /** Visibility of the comment that the mail answers; null if it answers a mail about none, `unknown` if it names no mail. */
  answers: CommentVisibility | null | 'unknown';
  /** Neither text nor files remain. */
  empty: boolean;
}

export type Decision =
  | { kind: 'record'; userId: string }
  /** A new user without any role is created first. It succeeds only where everybody may create such records. */
  | { kind: 'record-of-new-user' }
  | { kind: 'comment'; userId: string; objectId: string; visibility: CommentVisibility }
  | { kind: 'listed'; reason: ListReason };

const listed = (reason: ListReason): Decision => ({ kind: 'listed', reason });

/** What the mail becomes. The first reason that applies is the one that is shown. */
export function decide(facts: MailFacts): Decision {
  const { sender, token } = facts;
  if (!facts.enabled) return listed('MAILBOX_DISABLED');
  if (facts.automatic !== null) return listed(facts.automatic);
  if (!facts.hasSender) return listed('SENDER_INVALID');
  if (token.state === 'invalid') return listed('TOKEN_INVALID');
  if (token.state === 'expired') return listed('TOKEN_EXPIRED');
  if (token.state === 'none' && facts.refers) return listed('TOKEN_MISSING');
  if (facts.empty) return listed('EMPTY');
  if (sender === null) return ofUnknownSender(facts);
  if (!sender.active) return listed('SENDER_ARCHIVED');
  if (token.state === 'valid' && token.userId !== sender.userId) return listed('TOKEN_OF_ANOTHER_USER');
  if (sender.mustBeProven && facts.dmarc !== 'pass') return listed('SENDER_NOT_PROVEN');
  if (token.state === 'valid') return commentOf(facts, sender, token.objectId);
  return sender.mayCreate ? { kind: 'record', userId: sender.userId } : listed('RIGHT_MISSING');
}

function ofUnknownSender({ token, unknownSender, dmarc }: MailFacts): Decision {
  if (token.state === 'valid') return listed('TOKEN_OF_ANOTHER_USER');
  // A failed check says that somebody else wrote it. Their victim gets no account by that.
  if (unknownSender === 'refuse' || dmarc === 'fail') return listed('SENDER_UNKNOWN');
  return { kind: 'record-of-new-user' };
}

function commentOf({ record, answers }: MailFacts, { userId }: SenderFacts, objectId: string): Decision {
  if (record === null || record.objectId !== objectId || !record.actions.has('read')) return listed('RECORD_NOT_FOUND');
  if (!record.actions.has('comment.create')) return listed('RIGHT_MISSING');
  if (record.archived) return listed('RECORD_ARCHIVED');
  // A client that left out what the mail answers must not publish a reply to an internal comment. Requesters see public ones only.
  const visibility = answers === 'unknown' ? mostRestricted(record) : (answers ?? ownVisibility(record));
  // A reply to a comment that the sender may not see any more is not published: it can repeat what was hidden.
  if (!seenBy(record).includes(visibility)) return listed('RIGHT_MISSING');
  return { kind: 'comment', userId, objectId, visibility };
}

function seenBy(record: RecordFacts): CommentVisibility[] {
  return seenVisibilities((action) => record.actions.has(action));
}

/** The most restricted visibility that the sender may use. */
function mostRestricted(record: RecordFacts): CommentVisibility {
  return mostRestrictedVisibility((action) => record.actions.has(action));
}

/** The visibility of a reply to a mail about no comment. */
function ownVisibility(record: RecordFacts): CommentVisibility {
  return record.isRequester ? REPLY_VISIBILITY : mostRestricted(record);
}
