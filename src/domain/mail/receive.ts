/**
 * Receiving: a message becomes a record, a comment, or an entry in the list, with its row in one unit of work. The same command
 * serves relays, IMAP and repeated attempts. The effect runs as the sender, by the ordinary commands.
 */
import { isActive, isArchived } from '../../contract/state.ts';
import { DEFAULT_VISIBILITY } from '../../contract/comment-visibility.ts';
import { RECORD_ACTIONS } from '../../contract/rights.ts';
import { contractDetails, type Fault, isFault } from '../../lib/fault.ts';
import { statusOf } from '../../lib/fault-codes.ts';
import type { BlobStore } from '../../platform/blobs/store.ts';
import { ServicePart } from '../../platform/module.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { Actor, Caller, ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { systemActor } from '../access/index.ts';
import { findVisibleComments } from '../comments/index.ts';
import { addressesCreatedSince, createUser, findByEmail } from '../identity/index.ts';
import { registry, typeView } from '../metadata/index.ts';
import { findVisible } from '../objects/index.ts';
import { planBounce } from './bounces.ts';
import { storedLine } from './content.ts';
import type { ListReason, MailFacts, RecordFacts } from './decision.ts';
import { type ParsedMail, readEnvelope } from './envelope.ts';
import { mailFields } from './fields.ts';
import { domainOf } from './headers.ts';
import { makeComment, makeRecord } from './effects.ts';
import { judge, type Lookups } from './judge.ts';
import { type MailParse, parseMail } from './parse.ts';
import type { Mailbox } from './registry.ts';
import { TOKEN_KEY } from './reply-token.ts';
import * as store from './store.ts';
import { findAnswered } from './store-outgoing.ts';

export interface ReceiveParts {
  /** The rights of an ACTIVE user; undefined for all others. */
  actorOf(userId: string): Promise<Actor | undefined>;
  /** Key of the reply tokens. */
  tokenKey: Uint8Array;
}

export const mailParts = new ServicePart<ReceiveParts & { blobs: BlobStore }>(
  'receiving',
  ({ blobs, actorOf, secrets }) => ({
    blobs,
    actorOf,
    tokenKey: secrets.deriveKey(TOKEN_KEY),
  }),
);

/** Only the start of a larger message is received, so that it is listed. Common mail servers refuse such messages. */
export const MAX_BYTES = 64 * 1024 * 1024;
export const START_BYTES = 256 * 1024;

/** A message, and the mailbox that received it. */
export interface Incoming {
  mailbox: Mailbox;
  /** The message; of one that is larger than `MAX_BYTES` the start. */
  raw: Uint8Array;
  /** Size of the message in bytes; absent: that of `raw`. */
  size?: number;
  /** Whether the server that handed it in may say whom it authenticated. */
  trusted: boolean;
  /** Id of the listed message that is tried again. */
  listedId?: string;
}

/** The outcome of a message. */
export type Received = Pick<store.MessageRow, 'id' | 'state' | 'reason' | 'objectId' | 'commentId'>;

/** The sender's rights or the message's row changed while it was received. It is judged again. */
class Outdated extends Error {}

const MAX_ATTEMPTS = 5;

/**
 * Receives a message. Delivered again, it has no second effect.
 *
 * @param caller provides the configuration and the correlation id; its rights are not used
 * @throws Fault OVERLOADED and other transient errors; the message was not received then
 */
export async function receiveMail(
  { work, caller }: Pick<Runner, 'work' | 'caller'>,
  parts: ReceiveParts,
  incoming: Incoming,
): Promise<Received> {
  const parsed = await parseMail(incoming.raw, caller.keyId ?? incoming.mailbox.id);
  const system: Caller = { ...caller, actor: systemActor(caller.config.get(typeView)), via: 'mail' };
  const list = async (reason: ListReason, detail: store.MessageError | null): Promise<Received> => {
    const result = await work.write(
      system,
      async (ctx) => await listMessage(ctx, incoming, parsed, { reason, detail }),
    );
    return receivedOf(result);
  };
  if ((incoming.size ?? 0) > MAX_BYTES) return await list('TOO_LARGE', null);
  if (parsed.kind === 'listed') return await list(parsed.reason, null);
  for (let attempt = 1; ; attempt++) {
    try {
      const actor = await work.read(system, (ctx) => senderOf(ctx, parsed.mail, parts));
      const as: Caller = { ...system, actor: actor ?? system.actor };
      return receivedOf(await work.write(as, (ctx) => receiveParsed(ctx, parts, incoming, parsed.mail)));
    } catch (error) {
      if (isOutdated(error) && attempt < MAX_ATTEMPTS) continue;
      if (!isFault(error) || (statusOf(error.code) ?? 500) >= 429) throw error;
      return await list('REFUSED', errorOf(error));
    }
  }
}

function receivedOf(result: { kind: string; data?: Received }): Received {
  if (result.data === undefined) throw new Error('a received message has no stored answer');
  const { id, state, reason, objectId, commentId } = result.data;
  return { id, state, reason, objectId, commentId };
}

function isOutdated(error: unknown): boolean {
  if (error instanceof Outdated) return true;
  return (
    isFault(error) && error.code === 'ALREADY_EXISTS' && 'field' in error.details && error.details.field === 'message'
  );
}

function errorOf({ code, message, details }: Fault): store.MessageError {
  return { code, message, details: contractDetails(details) };
}

/** The actor of the user with the address of `From`; undefined if there is none, or they are archived. */
async function senderOf(ctx: ReadContext, mail: ParsedMail, parts: ReceiveParts): Promise<Actor | undefined> {
  const [address] = mail.from;
  const user = address === undefined ? undefined : await findByEmail(ctx, address);
  return isActive(user) ? await parts.actorOf(user.id) : undefined;
}

/** Judges the message with the facts of this unit and plans what it becomes. */
async function receiveParsed(
  ctx: WriteContext,
  parts: ReceiveParts,
  incoming: Incoming,
  mail: ParsedMail,
): Promise<Received> {
  const { mailbox } = incoming;
  const judged = await judge(mail, {
    mailbox: { ...mailbox, enabled: mailbox.enabled && isActive(mailbox) },
    typeIds: [...registry(ctx).byId.values()].filter(({ active }) => active).map(({ id }) => id),
    key: parts.tokenKey,
    now: Date.parse(ctx.now),
    isTrusted: incoming.trusted,
    lookups: lookups(ctx, parts),
  });
  const { decision, envelope } = judged;
  const facts: Facts = { messageKey: envelope.messageKey, sender: envelope.from, subject: mail.subject };
  // Read once, before the effect: if the message is used in the meantime, the guard of its row undoes this unit.
  const known = await store.findKnown(ctx, { mailboxId: mailbox.id, sha256: mail.sha256, ...facts });
  const row = { incoming, sha256: mail.sha256, known, facts };
  if (known?.state === 'USED') return keepUsed(ctx, incoming, known);
  if (decision.kind === 'listed') {
    const { reason } = decision;
    const isNewBounce = reason === 'BOUNCE' && (known?.mailId ?? null) === null;
    const mailId = isNewBounce ? await planBounce(ctx, mailbox, mail.report) : null;
    return planMessage(ctx, row, { reason, detail: null, mailId });
  }
  if (decision.kind === 'record-of-new-user') {
    const address = envelope.from ?? '';
    if (await isCreationLimited(ctx, address)) return planMessage(ctx, row, { reason: 'SENDER_UNKNOWN', detail: null });
    await createSender(ctx, mail, address);
    return planMessage(ctx, row, { reason: 'RIGHT_MISSING', detail: null });
  }
  // The unit acts as the sender whom the read before it found.
  if (decision.userId !== ctx.actor.userId) throw new Outdated();
  const effect =
    decision.kind === 'record'
      ? await makeRecord(ctx, mailbox, mail, judged)
      : await makeComment(ctx, decision, judged);
  return planMessage(ctx, row, effect);
}

/** Lists a message that could not be parsed, or that a command refused. */
async function listMessage(
  ctx: WriteContext,
  incoming: Incoming,
  parsed: MailParse,
  outcome: { reason: ListReason; detail: store.MessageError | null },
): Promise<Received> {
  const sha256 = parsed.kind === 'parsed' ? parsed.mail.sha256 : parsed.sha256;
  const { mailbox } = incoming;
  let facts: Facts = { messageKey: sha256, sender: null, subject: '' };
  if (parsed.kind === 'parsed') {
    const { messageKey, from } = readEnvelope(parsed.mail, { address: mailbox.address });
    facts = { messageKey, sender: from, subject: parsed.mail.subject };
  }
  const known = await store.findKnown(ctx, { mailboxId: mailbox.id, sha256, ...facts });
  if (known?.state === 'USED') return keepUsed(ctx, incoming, known);
  return planMessage(ctx, { incoming, sha256, known, facts }, outcome);
}

/** A message that was used keeps its effect. A listed copy of it is removed from the list. */
function keepUsed(ctx: WriteContext, { listedId }: Incoming, known: store.MessageRow): Received {
  if (listedId !== undefined && listedId !== known.id) ctx.plan(store.dropMessage, { id: listedId });
  return known;
}

/** What is known of a message, parsed or not. */
interface Facts {
  messageKey: string;
  sender: string | null;
  subject: string;
}

/** A listed reason, or the record and comment that the message became. */
type Outcome =
  | { reason: ListReason; detail: store.MessageError | null; mailId?: string | null }
  | { reason?: null; objectId: string | null; commentId: string | null };

/** Plans the row of the message, new or changed. */
function planMessage(
  ctx: WriteContext,
  row: { incoming: Incoming; sha256: string; known: store.MessageRow | undefined; facts: Facts },
  outcome: Outcome,
): Received {
  const { incoming, sha256, known, facts } = row;
  const { reason = null } = outcome;
  const { objectId, commentId } = 'objectId' in outcome ? outcome : { objectId: null, commentId: null };
  const detail = 'detail' in outcome ? outcome.detail : null;
  const state = reason === null ? 'USED' : 'LISTED';
  const mailId = 'mailId' in outcome ? (outcome.mailId ?? known?.mailId ?? null) : null;
  const common = { state, reason, detail, objectId, commentId, mailId } as const;
  const listed = incoming.listedId ?? known?.id;
  const id = listed ?? ctx.newId();
  if (listed !== undefined) ctx.plan(store.changeMessage, { id, ...common });
  else {
    if (reason !== null) ctx.storeBlob(sha256, incoming.raw);
    ctx.plan(store.insertMessage, {
      id,
      ...common,
      mailboxId: incoming.mailbox.id,
      messageKey: facts.messageKey,
      at: ctx.now,
      sender: facts.sender,
      subject: storedLine(facts.subject, LONGEST_SUBJECT),
      sha256: reason === null ? null : sha256,
      size: Math.min(incoming.size ?? incoming.raw.byteLength, LARGEST_SIZE),
      trusted: incoming.trusted,
    });
  }
  return { id, state, reason, objectId, commentId };
}

/** Of a column of this type. */
const LARGEST_SIZE = 2 ** 31 - 1;

const LONGEST_SUBJECT = 500;

function lookups(ctx: WriteContext, parts: ReceiveParts): Lookups {
  return {
    sender: async (address) => {
      const user = await findByEmail(ctx, address);
      if (user === undefined) return undefined;
      if (!isActive(user)) return { userId: user.id, rights: null };
      const rights = user.id === ctx.actor.userId ? ctx.actor : await parts.actorOf(user.id);
      return { userId: user.id, rights: rights ?? null };
    },
    thread: (handle) => store.findThread(ctx, handle),
    record: (userId, objectId) => recordFacts(ctx, userId, objectId),
    answered: (userId, objectId, mailIds) => answered(ctx, userId, objectId, mailIds),
  };
}

/** A comment that the sender may not see any more counts as the most restricted one. */
async function answered(
  ctx: ReadContext,
  userId: string,
  objectId: string,
  mailIds: readonly string[],
): Promise<MailFacts['answers']> {
  const id = await findAnswered(ctx, userId, objectId, mailIds);
  if (id === undefined) return 'unknown';
  if (id === null) return null;
  const found = (await findVisibleComments(ctx, [id])).get(id);
  return found?.row.visibility ?? DEFAULT_VISIBILITY;
}

/** The record as the sender may read it. */
async function recordFacts(ctx: WriteContext, userId: string, objectId: string): Promise<RecordFacts | null> {
  if (userId !== ctx.actor.userId) throw new Outdated();
  const object = await findVisible(ctx, objectId);
  if (object === undefined) return null;
  const { requester } = mailFields(object.version.definition);
  // An agent creates records for others, so the creator asked for it only if nobody is named.
  const asker = (requester === null ? null : object.row.values[requester]) ?? object.row.createdBy;
  return {
    objectId,
    archived: isArchived(object.row),
    isRequester: asker === userId,
    actions: new Set(RECORD_ACTIONS.filter((action) => object.right.can(action))),
  };
}

/** Users that mails create in an hour, of all mailboxes; and those with addresses of one domain. */
const MAX_CREATED = 100;
const MAX_CREATED_OF_DOMAIN = 20;
const HOUR_MS = 3_600_000;

/**
 * Whether too many users were created by mails in the last hour: senders can be forged, and each new user makes all processes
 * read the rights again. Messages that are received at the same moment are not counted, so there can be a few more.
 */
async function isCreationLimited(ctx: ReadContext, address: string): Promise<boolean> {
  const since = new Date(Date.parse(ctx.now) - HOUR_MS).toISOString();
  const created = await addressesCreatedSince(ctx, await store.sendersSince(ctx, since), since);
  const ofDomain = created.filter((one) => domainOf(one) === domainOf(address));
  return created.length >= MAX_CREATED || ofDomain.length >= MAX_CREATED_OF_DOMAIN;
}

const LONGEST_NAME = 200;

/** The system creates the user, without any role. Until they get one, their mails stay in the list. */
async function createSender(ctx: WriteContext, mail: ParsedMail, address: string): Promise<void> {
  // A stranger chooses the name.
  const displayName = storedLine(mail.fromName, LONGEST_NAME) || address.slice(0, LONGEST_NAME).toWellFormed();
  await createUser(ctx, { login: address, displayName, email: address });
}
