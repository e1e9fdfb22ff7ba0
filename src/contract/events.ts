/**
 * All events, declared once. A declaration decides where the event is shown (history of the record, webhooks, audit log) and which
 * properties its data must have. `ctx.emit`, the webhook catalogue and its schemas in the OpenAPI document, the texts of the
 * console and docs/reference/events.md derive from these declarations; an event that is not declared here does not compile.
 *
 * To add an event: declare it here and add its text to the console's `event-texts.ts`.
 */
import Type, { type Static, type TObject, type TProperties } from 'typebox';
import { Id } from './schemas.ts';
import type { Scope } from './scopes.ts';

interface Declaration {
  /** What the event is about. Events of a record's parts carry the record's id, too. */
  readonly subject: 'record' | 'comment' | 'attachment' | 'relation' | 'sla' | 'article' | 'service';
  /** Whether the record's history shows it. */
  readonly history: boolean;
  /** Whether webhook subscriptions can name it. */
  readonly webhook: boolean;
  /** Whether the audit log shows it. */
  readonly audit: boolean;
  readonly summary: string;
  /** Properties that `data` always has. Webhooks deliver them. */
  readonly data: TProperties;
}

/** An event of a record or of one of its parts: in the history and for webhooks. */
function ofRecord<S extends Declaration['subject'], D extends TProperties>(subject: S, summary: string, data: D) {
  return { subject, history: true as const, webhook: true as const, audit: false as const, summary, data };
}

/** An event that only the history of the record shows. */
function inHistory<D extends TProperties>(summary: string, data: D) {
  const subject = 'record' as const;
  return { subject, history: true as const, webhook: false as const, audit: false as const, summary, data };
}

/** An event of an article: in the audit log and for webhooks. */
function ofArticle<D extends TProperties>(summary: string, data: D) {
  const subject = 'article' as const;
  return { subject, history: false as const, webhook: true as const, audit: true as const, summary, data };
}

/** An event of the audit log. */
function audited(summary: string) {
  const subject = 'service' as const;
  return { subject, history: false as const, webhook: false as const, audit: true as const, summary, data: NO_DATA };
}

const NO_DATA = {} as const;
const COMMENT = { commentId: Id };
const ATTACHMENT = { attachmentId: Id, commentId: Type.Optional(Id) };
const RELATION = { relationId: Id, definitionCode: Type.String(), sourceObjectId: Id, targetObjectId: Id };
const SLA = { slaInstanceId: Id };
const ARTICLE = {
  articleId: Id,
  versionId: Id,
  code: Type.String(),
  locale: Type.String(),
  title: Type.String(),
};
const TRANSITION = { transition: Type.Object({ id: Id, code: Type.String() }) };

export const EVENTS = {
  ObjectCreated: ofRecord('record', 'A record was created.', NO_DATA),
  ObjectUpdated: ofRecord('record', 'Values of a record changed.', NO_DATA),
  ObjectTransitioned: ofRecord('record', 'A record changed its workflow state.', TRANSITION),
  ObjectArchived: ofRecord('record', 'A record was archived.', NO_DATA),
  ObjectRestored: ofRecord('record', 'An archived record was restored.', NO_DATA),
  CommentAdded: ofRecord('comment', 'A comment was added to a record.', COMMENT),
  CommentUpdated: ofRecord('comment', 'A comment changed.', COMMENT),
  CommentArchived: ofRecord('comment', 'A comment was archived.', COMMENT),
  AttachmentAdded: ofRecord('attachment', 'A file was attached to a record.', ATTACHMENT),
  AttachmentArchived: ofRecord('attachment', 'A file of a record was archived.', ATTACHMENT),
  RelationAdded: ofRecord('relation', 'A relation from a record was created.', RELATION),
  RelationArchived: ofRecord('relation', 'A relation from a record was removed.', RELATION),
  RuleNotified: inHistory('A rule notified users.', { rule: Type.String() }),
  RulePosted: inHistory('A rule sent a message to another system.', { rule: Type.String() }),
  SlaStarted: ofRecord('sla', 'An SLA instance started.', SLA),
  SlaPaused: ofRecord('sla', 'An SLA instance was paused.', SLA),
  SlaResumed: ofRecord('sla', 'An SLA instance was resumed.', SLA),
  SlaStopped: ofRecord('sla', 'An SLA instance was stopped.', SLA),
  SlaRecalculated: ofRecord('sla', 'Target or calendar of an SLA instance changed.', SLA),
  SlaWarning: ofRecord('sla', 'A warning threshold of the target was reached.', SLA),
  SlaBreached: ofRecord('sla', 'The target was breached.', SLA),
  ArticlePublished: ofArticle('A version of an article was published.', ARTICLE),
  ArticleArchived: ofArticle('A version of an article was archived.', ARTICLE),
  ConfigChanged: audited('A configuration item changed.'),
  KeyCreated: audited('An API key was issued.'),
  KeyRotated: audited('An API key was rotated.'),
  KeyRevoked: audited('An API key was revoked.'),
  SignedIn: audited('A user signed in.'),
  SignInRefused: audited('A sign-in was rejected.'),
  SignedOut: audited('A user signed out.'),
  SessionsEnded: audited('A user ended sessions of their own.'),
  RequestExplained: audited('It was explained how a request of a user or key is decided.'),
  NotificationsExplained: audited('It was explained which notifications of a record a user got.'),
  PasswordSet: audited('A password was set.'),
  UserCreated: audited('A user was created.'),
  UserChanged: audited('A user changed.'),
  UserArchived: audited('A user was archived.'),
  UserRestored: audited('A user was restored.'),
  GroupCreated: audited('A group was created.'),
  GroupChanged: audited('A group changed.'),
  GroupArchived: audited('A group was archived.'),
  GroupRestored: audited('A group was restored.'),
  GroupMemberAdded: audited('A member was added to a group.'),
  GroupMemberRemoved: audited('A member was removed from a group.'),
  OrgUnitCreated: audited('An organisation unit was created.'),
  OrgUnitChanged: audited('An organisation unit changed.'),
  OrgUnitArchived: audited('An organisation unit was archived.'),
  OrgUnitRestored: audited('An organisation unit was restored.'),
  OrgMemberSet: audited('A user was assigned to an organisation unit.'),
  OrgMemberRemoved: audited('A user was removed from an organisation unit.'),
  SigningSecretCreated: audited('A signing secret was created.'),
  SigningSecretRotated: audited('A signing secret was rotated.'),
  WebhookDeliveryRetried: audited('A webhook delivery was retried by hand.'),
  WebhookTested: audited('A sample delivery was sent to the endpoint of a webhook subscription.'),
  MailSentAgain: audited('A mail to a user was sent again by hand.'),
  QueueShared: audited('A queue was shared.'),
  QueueRemoved: audited('A shared queue was deleted.'),
  DashboardShared: audited('A dashboard was shared.'),
  DashboardRemoved: audited('A shared dashboard was deleted.'),
  ArticleAudiencesSet: audited('The audiences of an article were set.'),
  ArticleDrafted: audited('A draft of an article was created.'),
  ArticleDraftChanged: audited('A draft of an article changed.'),
  ArticleDraftArchived: audited('A draft of an article was archived.'),
  ArticleRestored: audited('A version of an article was restored.'),
  ArticleReviewSet: audited('The review date of an article was set.'),
} as const;

type Events = typeof EVENTS;
export type EventType = keyof Events;
type EventsWith<Part extends Partial<Declaration>> = {
  [T in EventType]: Events[T] extends Part ? T : never;
}[EventType];

/** Events about one kind of subject, for example the comments of a record. */
export type EventOf<Subject extends Declaration['subject']> = EventsWith<{ subject: Subject }>;
export type HistoryEventType = EventsWith<{ history: true }>;
export type WebhookEvent = EventsWith<{ webhook: true }>;
export type AuditEvent = EventsWith<{ audit: true }>;

/** The data of an event: the declared properties and any others. */
export type EventData<T extends EventType> = Static<TObject<Events[T]['data']>> & Record<string, unknown>;

/** The events that a subscription can name, in the order of their declarations. */
export const WEBHOOK_EVENTS = (Object.keys(EVENTS) as EventType[]).filter(
  (type): type is WebhookEvent => EVENTS[type].webhook,
);

const SCOPES: { readonly [Subject in Declaration['subject']]?: Scope } = {
  comment: 'comments:read',
  attachment: 'files:read',
  relation: 'relations:read',
  sla: 'sla:read',
  article: 'kb:read',
};

/** The scope that reading events of this type needs besides `objects:read`. */
export function scopeOf(type: EventType): Scope | undefined {
  return SCOPES[EVENTS[type].subject];
}

/** Whether an event is about this kind of subject. */
export function isAbout(type: EventType, subject: Declaration['subject']): boolean {
  return EVENTS[type].subject === subject;
}
